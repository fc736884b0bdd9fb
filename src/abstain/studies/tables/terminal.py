"""The overview for the terminal."""

from typing import TYPE_CHECKING

from .cells import shown

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table


def terminal(name: str, overview: "pl.DataFrame") -> "Table":
    """A row a learner."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    heads, rows = shown(overview)
    result = Table(title=Text(f"Final numbers, {name}"), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for k, head in enumerate(heads):
        result.add_column(head, justify="right" if k else "left", no_wrap=k > 0)
    for row in rows:
        result.add_row(*map(Text, row))
    return result
