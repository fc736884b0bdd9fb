"""A small framework for experiments: studies as data, run as jobs, collected, tabled, drawn, judged and compared."""
