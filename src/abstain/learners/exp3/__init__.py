"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses."""
