"""Data sets: features in [-1, 1], labels -1 and +1."""

from .download import fetch
from .known import names
from .loading import Info, info, load
from .reading import read_file

__all__ = ["Info", "fetch", "info", "load", "names", "read_file"]
