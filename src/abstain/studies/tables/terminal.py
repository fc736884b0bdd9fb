"""Tables for the terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cells import Strong, shown
from .settings import settings

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

    from .table import Table as FinalNumbers

GAP = 2
"""Between columns, in characters; there is one more in all."""
LONG = 16
"""A number is shorter than this. What is longer is a sentence, which may wrap."""


@dataclass(frozen=True)
class Grid:
    """A table for any width: where that is too small heads and sentences wrap, then columns go on in a table below.

    The first column, which says whose row it is, stands in each of them. Nothing is cut short.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Table]":
        from rich import box
        from rich.table import Table
        from rich.text import Text

        split = self._split(options.max_width)
        for k, (columns, widths) in enumerate(split):
            result = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
            result.title = Text(self.title) if k == 0 else None
            result.caption = self.caption if k == len(split) - 1 and self.caption else None
            for column, width in zip(columns, widths, strict=True):
                head = Text(self.heads[column])
                result.add_column(head, justify="right" if column else "left", width=width, overflow="fold")
            for row in self.rows:
                cells = (row[column] for column in columns)
                result.add_row(*(Text(cell, style="bold" if isinstance(cell, Strong) else "") for cell in cells))
            yield result

    def _split(self, room: int) -> list[tuple[list[int], list[int]]]:
        """The columns of each table, and their widths."""
        from rich.cells import cell_len

        columns = [[head, *(row[k] for row in self.rows)] for k, head in enumerate(self.heads)]
        widths = [max(map(cell_len, column)) for column in columns]
        if sum(widths) + GAP * len(widths) + 1 > room:
            widths[1:] = [max(_least(head, 0), *(_least(cell, LONG) for cell in cells)) for head, *cells in columns[1:]]
        first = max(1, min(widths[0], room // 2 - GAP - 1))
        most = max(1, room - 1 - first - 2 * GAP)  # of a column that stands alone beside the first
        found: list[tuple[list[int], list[int]]] = [([0], [first])]
        for k, width in enumerate(widths[1:], 1):
            if len(found[-1][0]) > 1 and sum(found[-1][1]) + width + GAP * (len(found[-1][0]) + 1) + 1 > room:
                found.append(([0], [first]))
            found[-1][0].append(k)
            found[-1][1].append(min(width, most))
        return found


def _least(text: str, long: int) -> int:
    """The width it needs; what is longer than ``long`` wraps between words."""
    from rich.cells import cell_len

    return max((min(long, cell_len(text)), *map(cell_len, text.split())))


def differences(table: "FinalNumbers", most: int) -> Grid:
    """The first settings of a table: final numbers and paired differences."""
    heads, rows = settings(table.finals, False)
    keep = [heads.index(head) for head in ("set", "cost", "learner", "R_T / T", "difference (95 %)", "from")]
    several = table.finals["study"].n_unique() > 1
    lines = [
        [f"{f'{row[0]}: ' if several else ''}{row[keep[0]]}, {row[keep[1]]}", *(row[k] for k in keep[2:])]
        for row in rows
    ]
    places = list(dict.fromkeys(line[0] for line in lines))
    more = f"and {len(places) - most} more settings in the report" if len(places) > most else ""
    shown = [line for line in lines if line[0] in places[:most]]
    return Grid(f"Paired differences, {table.name}", ["set, cost", *(heads[k] for k in keep[2:])], shown, more)


def terminal(name: str, overview: "pl.DataFrame") -> Grid:
    """A row a learner."""
    return Grid(f"Final numbers, {name}", *shown(overview))
