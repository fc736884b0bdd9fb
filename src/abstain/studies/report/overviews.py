"""The overviews of the tables of final numbers."""

from collections.abc import Sequence
from typing import NamedTuple

from ..tables import Table
from ..tables.cells import Strong, shown
from ..tables.settings import counts, settings
from .cells import Cell, Grid

FEW = 40
"""Rows up to which a table of settings is shown at once."""


class Overview(NamedTuple):
    """A table of final numbers, a row a learner; and a row a setting and learner, with paired differences."""

    name: str
    title: str
    grid: Grid
    settings: Grid
    repetitions: str
    """How many there are, in words."""
    is_open: bool


def overviews(tables: Sequence[Table]) -> list[Overview]:
    """One for each table."""
    return [_overview(table) for table in tables]


def _overview(table: Table) -> Overview:
    heads, rows = settings(table.finals, table.moves)
    first = int(table.finals["study"].n_unique() == 1)  # then it need not be said
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts(table.finals))
    return Overview(
        table.name,
        table.title,
        _grid(*shown(table.overview)),
        _grid(heads[first:], [row[first:] for row in rows]),
        n,
        len(rows) <= FEW,
    )


def _grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    return Grid(heads, [[[Cell(cell, isinstance(cell, Strong)) for cell in row] for row in rows]])
