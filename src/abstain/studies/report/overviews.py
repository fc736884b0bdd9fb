"""The overviews of the tables of final numbers."""

from collections.abc import Sequence

from ..tables import Table
from ..tables.cells import EXPLAINED, MOVING, shown
from .markup import table as as_table
from .markup import text


def overviews(tables: Sequence[Table]) -> str:
    """A table for each, a row a learner."""
    parts = [f"<p>{text(EXPLAINED)} {text(MOVING)}</p>"]
    for table in tables:
        heads, rows = shown(table.overview)
        parts.append(f"<h3>{text(table.title)} <code>{text(table.name)}</code></h3>")
        parts.append(as_table(heads, [[[text(cell) for cell in row] for row in rows]], "numbers"))
    return "\n".join(parts)
