"""Final numbers as text: tables for the terminal, in Markdown and in LaTeX."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

    from .tables import FinalNumbers

Row: TypeAlias = dict[str, Any]


class Strong(str):
    """A cell in bold, in whatever form the table takes."""

    __slots__ = ()


EXPLAINED = (
    "Medians over the settings: average regret, its ratio to that of FS, and the time per round relative to UCB-GT (or "
    "to the fastest learner) on the same draw. Then the mean rank among the learners that compete, the number of "
    "settings within 2 FS + 0.002 (FS counts as 0 if its regret is negative) with the largest excess, and the number "
    "of settings with negative mean regret."
)
MOVING = (
    "Tracking regret compares with the best sequence of experts, one per regime of a stream. Slopes are those of log "
    "regret against log T, the steepest of all settings. Regret that is not positive at some T has no slope."
)


def number(value: float | None) -> str:
    """A regret as text; empty if there is none."""
    return "" if value is None else f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def factor(value: float | None) -> str:
    """A ratio, rank or slope as text; empty if there is none."""
    return "" if value is None else f"{value:.2f}"


def overview_cells(overview: "pl.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Heads and rows of an overview. Columns that say nothing are left out."""
    moves = bool((overview["tracking"] != overview["regret"]).any())
    grows = overview["slope"].count() + overview["tracking_slope"].count() > 0
    limited = bool((overview["limits"] > 0).any())
    columns: list[tuple[str, bool, Callable[[Row], str]]] = [
        ("learner", True, lambda row: str(row["learner"])),
        ("R_T / T", True, lambda row: number(row["regret"])),
        ("tracking", moves, lambda row: number(row["tracking"])),
        ("to FS", limited, lambda row: factor(row["ratio"])),
        ("rank", True, lambda row: factor(row["rank"])),
        ("within", limited, lambda row: f"{row['within']} of {row['limits']}" if row["limits"] else ""),
        ("excess", limited, lambda row: number(row["excess"])),
        ("negative", True, lambda row: f"{row['negative']} of {row['settings']}"),
        ("slope", grows, lambda row: factor(row["slope"])),
        ("tracking slope", grows and moves, lambda row: factor(row["tracking_slope"])),
        ("time", True, lambda row: factor(row["time"])),
    ]
    used = [(head, show) for head, here, show in columns if here]
    return [head for head, _ in used], [[show(row) for _, show in used] for row in overview.iter_rows(named=True)]


def final_cells(finals: "pl.DataFrame", moves: bool) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of final numbers, with tracking regret if streams move."""
    heads = ["study", "set", "cost", "T", "learner", "R_T / T", "difference (95 %)", "from", "to FS", "rank", "time"]
    if moves:
        heads.insert(6, "tracking")
    rows = []
    for row in finals.iter_rows(named=True):
        regret, alone = with_error(row["regret"], row["se"]), row["learner"] == row["reference"]
        cells = [
            row["study"], row["dataset"], f"{row['cost']:g}", f"{row['rounds']:,}", row["learner"],
            Strong(regret) if row["within"] is False else regret,
            "" if alone else between(row), "" if alone else row["reference"],
            factor(row["ratio"]), factor(row["rank"]), factor(row["time"]),
        ]  # fmt: skip
        if moves:
            cells.insert(6, with_error(row["tracking"], row["tracking_se"]))
        rows.append(cells)
    return heads, rows


def repetitions(finals: "pl.DataFrame") -> str:
    """The number of repetitions, and of the means that standard errors are computed from, in words."""
    counts = finals.select("repetitions", "units").unique().sort("repetitions", "units").rows()
    return "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts)


def with_error(mean: float, error: float | None) -> str:
    """A mean and its standard error, if there is one."""
    return number(mean) if error is None else f"{number(mean)} ± {error:.4f}"


def between(row: Row) -> str:
    """A paired difference and its interval, if there is one."""
    ends = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
    return f"{number(row['difference'])}{ends}"


_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$",
    "β": r"$\beta$",
}  # fmt: skip

_WORDS = ("study", "set", "learner", "from")
"""Columns with words instead of numbers."""


def latex(name: str, title: str, finals: "pl.DataFrame", moves: bool) -> str:
    """The final numbers in LaTeX: one row per setting and learner."""
    heads, rows = final_cells(finals, moves)
    caption = f"{title or name}: average regret at the end, mean and standard error, and the paired difference."
    lines = [
        f"% study {name}, needs \\usepackage{{booktabs}}",
        r"\begin{table}",
        rf"\caption{{{text(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('l' if head in _WORDS else 'r' for head in heads)}}}",
        r"\toprule",
        _line(heads),
        r"\midrule",
        *map(_line, _grouped(rows)),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _grouped(rows: Sequence[Sequence[str]]) -> Iterable[Sequence[str]]:
    """The setting is printed in its first row only."""
    before: Sequence[str] = ()
    for row in rows:
        same = list(row[:4]) == list(before[:4])
        yield [*([""] * 4 if same else row[:4]), *row[4:]]
        before = row


def _line(cells: Iterable[str]) -> str:
    return (
        " & ".join(rf"\textbf{{{text(cell)}}}" if isinstance(cell, Strong) else text(cell) for cell in cells) + r" \\"
    )


def text(value: str) -> str:
    r"""Escape what LaTeX would interpret.

    >>> print(text("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_SPECIAL.get(character, character) for character in value)


def markdown(name: str, title: str, finals: "pl.DataFrame", overview: "pl.DataFrame", slopes: "pl.DataFrame") -> str:
    """The overview, how regret grows, then one row per setting and learner."""
    heads, rows = overview_cells(overview)
    parts = [f"# {name}", title, markdown_table(heads, rows), EXPLAINED]
    if "tracking" in heads or "slope" in heads:
        parts.append(MOVING)
    if len(slopes):
        grown = (
            [dataset, f"{cost:g}", label, *map(factor, both)] for dataset, cost, label, *both in slopes.iter_rows()
        )
        columns = ("set", "cost", "learner", "slope of log R_T", "slope of log tracking regret")
        parts += ["## How regret grows with T", markdown_table(columns, grown)]
    parts += [
        "## Settings",
        f"Means ± standard errors ({repetitions(finals)}). Values above 2 max(FS, 0) + 0.002 are bold.",
        markdown_table(*final_cells(finals, "tracking" in heads)),
    ]
    return "\n\n".join(parts) + "\n"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(cell: str) -> str:
    text = cell.replace("|", "&#124;")
    return f"**{text}**" if isinstance(cell, Strong) else text


GAP = 2
"""Characters between columns. The table has one more."""
LONG = 16
"""Longer cells are sentences, which may wrap."""


@dataclass(frozen=True)
class TextTable:
    """A table for terminals of any width: heads and sentences wrap, then columns continue in a table below.

    Rich alone would cut cells short. The first column, which names the row, is repeated in each table.

    Args:
        title: The title, above the first table.
        heads: The heads of the columns.
        rows: The cells, row by row.
        caption: A remark below the last table.
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
        """The columns of each table and their widths."""
        from rich.cells import cell_len

        columns = [[head, *(row[k] for row in self.rows)] for k, head in enumerate(self.heads)]
        widths = [max(map(cell_len, column)) for column in columns]
        if sum(widths) + GAP * len(widths) + 1 > room:
            widths[1:] = [max(_least(head, 0), *(_least(cell, LONG) for cell in cells)) for head, *cells in columns[1:]]
        first = max(1, min(widths[0], room // 2 - GAP - 1))
        most = max(1, room - 1 - first - 2 * GAP)  # for a column alone beside the first
        found: list[tuple[list[int], list[int]]] = [([0], [first])]
        for k, width in enumerate(widths[1:], 1):
            if len(found[-1][0]) > 1 and sum(found[-1][1]) + width + GAP * (len(found[-1][0]) + 1) + 1 > room:
                found.append(([0], [first]))
            found[-1][0].append(k)
            found[-1][1].append(min(width, most))
        return found


def _least(text: str, long: int) -> int:
    """The width a text needs if it wraps between words from ``long`` characters on."""
    from rich.cells import cell_len

    return max((min(long, cell_len(text)), *map(cell_len, text.split())))


def differences_table(table: "FinalNumbers", most: int) -> TextTable:
    """Final numbers and paired differences in the first ``most`` settings of a table."""
    heads, rows = final_cells(table.finals, False)
    keep = [heads.index(head) for head in ("set", "cost", "learner", "R_T / T", "difference (95 %)", "from")]
    several = table.finals["study"].n_unique() > 1
    lines = [
        [f"{f'{row[0]}: ' if several else ''}{row[keep[0]]}, {row[keep[1]]}", *(row[k] for k in keep[2:])]
        for row in rows
    ]
    places = list(dict.fromkeys(line[0] for line in lines))
    more = f"and {len(places) - most} more settings in the report" if len(places) > most else ""
    shown = [line for line in lines if line[0] in places[:most]]
    return TextTable(f"Paired differences, {table.name}", ["set, cost", *(heads[k] for k in keep[2:])], shown, more)


def overview_table(name: str, overview: "pl.DataFrame") -> TextTable:
    """One row per learner."""
    return TextTable(f"Final numbers, {name}", *overview_cells(overview))
