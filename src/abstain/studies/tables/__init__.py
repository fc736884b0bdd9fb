"""Tables of final numbers, of any study. What a table says is computed by pure functions and shown by others."""

from .finals import LIMIT, finals
from .overview import overview, slopes
from .table import Table, check_names, tables, write
from .terminal import Grid, differences, terminal

__all__ = [
    "LIMIT",
    "Grid",
    "Table",
    "check_names",
    "differences",
    "finals",
    "overview",
    "slopes",
    "tables",
    "terminal",
    "write",
]
