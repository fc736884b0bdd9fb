"""The experiments of the paper: as data, run, drawn, judged."""
