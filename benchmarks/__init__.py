"""Benchmarks: ratios measured in one run. `python -m benchmarks` prints all, `... rings peers` some."""
