"""Data sets: features in [-1, 1], labels -1 and +1."""

from .download import fetch
from .known import SETS
from .loading import Info, info, load

__all__ = ["Info", "fetch", "info", "load", "names"]

names = tuple(SETS)
"""What `load` knows: the paper's ten sets and two small ones of scikit-learn."""
