"""Compiling takes its time at the first example: no deadlines."""

import matplotlib
from hypothesis import settings

matplotlib.use("Agg")
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
