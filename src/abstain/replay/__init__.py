"""Replaying a log: what a gate would have cost, beside what people do today."""
