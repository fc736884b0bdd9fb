"""ContEXP3-ABS (algorithm 4): an EXP3-ABS on constants for every ball of a cover of the inputs."""
