"""The overviews of the tables of final numbers."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ..tables import Table
from ..tables.cells import EXPLAINED, MOVING, Strong, shown
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


def explained(tables: Sequence[Overview]) -> list[str]:
    """What the columns are; of streams that move only where there are some."""
    moves = any({"tracking", "slope"} & set(table.grid.heads) for table in tables)
    return [EXPLAINED, MOVING] if moves else [EXPLAINED]


def _overview(table: Table) -> Overview:
    heads, rows = settings(table.finals, table.moves)
    first = int(table.finals["study"].n_unique() == 1)  # then it need not be said
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts(table.finals))
    columns, learners = shown(table.overview)
    learner = heads.index("learner")
    of_settings = [list(group) for _, group in groupby(rows, key=lambda row: row[:learner])]
    return Overview(
        table.name,
        table.title,
        _grid(columns, [learners]),
        _grid(heads[first:], [[row[first:] for row in group] for group in of_settings]),
        n,
        len(rows) <= FEW,
    )


def _grid(heads: Sequence[str], bodies: Sequence[Sequence[Sequence[str]]]) -> Grid:
    return Grid(heads, [[[Cell(cell, isinstance(cell, Strong)) for cell in row] for row in rows] for rows in bodies])
