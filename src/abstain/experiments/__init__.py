"""The experiments of the paper and beyond: as data, run, drawn, tabled, judged."""
