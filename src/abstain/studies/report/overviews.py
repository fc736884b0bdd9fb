"""The overviews of the tables of final numbers."""

from collections.abc import Sequence

from ..tables import Table
from ..tables.cells import EXPLAINED, MOVING, Strong, shown
from ..tables.settings import counts, settings
from .markup import table as as_table
from .markup import text

FEW = 40
"""Rows up to which a table of settings is shown at once."""


def overviews(tables: Sequence[Table]) -> str:
    """A table for each, a row a learner."""
    parts = [f"<p>{text(EXPLAINED)} {text(MOVING)}</p>"]
    for table in tables:
        heads, rows = shown(table.overview)
        parts.append(f"<h3>{text(table.title)} <code>{text(table.name)}</code></h3>")
        parts.append(as_table(heads, [[[text(cell) for cell in row] for row in rows]], "numbers"))
        parts.append(_settings(table))
    return "\n".join(parts)


def _settings(table: Table) -> str:
    """Final numbers and paired differences; many fold away."""
    heads, rows = settings(table.finals, table.moves)
    first = int(table.finals["study"].n_unique() == 1)  # then it need not be said
    lines = [[_cell(cell) for cell in row[first:]] for row in rows]
    shown = "open" if len(lines) <= FEW else ""
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts(table.finals))
    return (
        f"<details {shown}><summary>Every setting, with paired differences</summary>\n<p>Means ± standard errors "
        f"({text(n)}), and differences in the same repetitions with their 95 % intervals; in bold what is above "
        f"2 max(FS, 0) + 0.002.</p>\n"
        f"{as_table(heads[first:], [lines], 'numbers')}</details>"
    )


def _cell(cell: str) -> str:
    return f"<strong>{text(cell)}</strong>" if isinstance(cell, Strong) else text(cell)
