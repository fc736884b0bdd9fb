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


MEANINGS = {
    "R_T / T": "regret per round against the best expert; median over settings",
    "tracking": "the same against the best sequence of experts, one per regime",
    "to FS": "regret divided by that of FS, which sees every label; median",
    "rank": "mean rank by regret among the learners that compete; 1 is best",
    "within": "settings with regret up to 2 FS + 0.002 (a negative FS counts as 0)",
    "excess": "regret minus that limit, in the worst setting; above 0: missed",
    "negative": "settings with less loss than the best expert",
    "slope": "of log regret against log T, the steepest; none if not positive",
    "tracking slope": "the same for tracking regret",
    "time": "per round, relative to UCB-GT or the fastest on the same draw; median",
    "difference (95 %)": "from the learner in the next column, paired, with its interval",
    "pseudo": "regret in expected losses, which are known here; it has less noise",
}
"""What the columns of tables are, one line each."""

PSEUDO = " Pseudo-regret counts the expected loss of the experts followed, which is known there, and has less noise."


def meanings(heads: Iterable[str]) -> list[tuple[str, str]]:
    """The columns that need words, and the words.

    >>> meanings(["learner", "negative", "negative"])
    [('negative', 'settings with less loss than the best expert')]
    """
    return [(head, MEANINGS[head]) for head in dict.fromkeys(heads) if head in MEANINGS]


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
    """Heads and rows of final numbers, the least regret of those that compete in bold; with tracking regret if streams
    move, and with pseudo-regret where the means of experts are known.
    """
    heads = ["study", "set", "cost", "T", "learner", "R_T / T", "difference (95 %)", "from", "to FS", "rank", "time"]
    known = finals["pseudo"].count() > 0
    heads[6:6] = [*(["pseudo"] if known else []), *(["tracking"] if moves else [])]
    first: dict[tuple[Any, ...], float] = {}
    for *place, rank in finals.select("study", "dataset", "cost", "rank").iter_rows():
        if rank is not None:
            first[tuple(place)] = min(rank, first.get(tuple(place), rank))
    rows = []
    for row in finals.iter_rows(named=True):
        regret, alone = with_error(row["regret"], row["se"]), row["learner"] == row["reference"]
        cells = [
            row["study"], row["dataset"], f"{row['cost']:g}", f"{row['rounds']:,}", row["learner"],
            Strong(regret) if row["rank"] == first.get((row["study"], row["dataset"], row["cost"]), 0.0) else regret,
            "" if alone else between(row), "" if alone else row["reference"],
            factor(row["ratio"]), "" if row["rank"] is None else f"{row['rank']:g}", factor(row["time"]),
        ]  # fmt: skip
        pseudo = "" if row["pseudo"] is None else with_error(row["pseudo"], row["pseudo_se"])
        cells[6:6] = [
            *([pseudo] if known else []), *([with_error(row["tracking"], row["tracking_se"])] if moves else []),
        ]  # fmt: skip
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

MOST_ROWS, MOST_LEARNERS = 40, 6
"""Settings and learners of a table in LaTeX: more do not fit on a page, and go on in another table."""


def latex(name: str, title: str, finals: "pl.DataFrame", moves: bool) -> str:
    """The final numbers in LaTeX: one row per setting, one column per learner, the least of those that compete in bold.

    Streams that move have tables of tracking regret, too.
    """
    lines = [f"% study {name}, needs \\usepackage{{booktabs}}"]
    for quantity, what in (("regret", "average regret"), ("tracking", "average tracking regret"))[: 1 + moves]:
        lines += _latex_tables(
            name if quantity == "regret" else f"{name}-{quantity}", title or name, finals, quantity, what
        )
    return "\n".join(lines) + "\n"


def _latex_tables(name: str, title: str, finals: "pl.DataFrame", quantity: str, what: str) -> Iterator[str]:
    """As many tables as it takes; each has a label, tab:NAME, tab:NAME-2 and so on."""
    settings: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in finals.iter_rows(named=True):
        place = (row["study"], row["dataset"], row["cost"], row["rounds"])
        settings.setdefault(place, {})[row["learner"]] = row
    learners, keys = list(dict.fromkeys(finals["learner"])), list(settings)
    several, lengths = len({key[0] for key in keys}) > 1, len({key[3] for key in keys}) > 1
    blocks = [
        (keys[k : k + MOST_ROWS], learners[j : j + MOST_LEARNERS])
        for k in range(0, len(keys), MOST_ROWS)
        for j in range(0, len(learners), MOST_LEARNERS)
    ]
    for number_of, (rows, labels) in enumerate(blocks, 1):
        more = f" ({number_of} of {len(blocks)})" if len(blocks) > 1 else ""
        heads = ["set", "cost", *(["T"] if lengths else []), *labels]
        error = "" if finals[_error_of(quantity)].null_count() == len(finals) else ", mean and standard error"
        caption = f"{title}{more}: {what} at the end{error}. Bold: the least of the learners that compete."
        yield from (r"\begin{table}", r"\footnotesize\setlength{\tabcolsep}{3pt}", rf"\caption{{{text(caption)}}}")
        yield rf"\label{{tab:{_as_label(name)}{f'-{number_of}' if number_of > 1 else ''}}}"
        yield rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}"
        yield from (r"\toprule", " & ".join(map(text, heads)) + r" \\", r"\midrule")
        before = rows[0][0] if not several else None
        for key in rows:
            if key[0] != before:
                yield rf"\multicolumn{{{len(heads)}}}{{l}}{{\emph{{{text(key[0])}}}}} \\"
            before, here = key[0], settings[key]
            least = min((row[quantity] for row in here.values() if row["rank"] is not None), default=None)
            cells = [_latex_cell(here.get(label), quantity, least) for label in labels]
            yield " & ".join([text(key[1]), f"{key[2]:g}", *([f"{key[3]:,}"] if lengths else []), *cells]) + r" \\"
        yield from (r"\bottomrule", r"\end{tabular}", r"\end{table}")


def _error_of(quantity: str) -> str:
    return "se" if quantity == "regret" else f"{quantity}_se"


def _latex_cell(row: Row | None, quantity: str, least: float | None) -> str:
    if row is None:
        return ""
    value, error = number(row[quantity]), row[_error_of(quantity)]
    if row["rank"] is not None and row[quantity] == least:
        value = rf"\textbf{{{value}}}"
    return value if error is None else rf"{value} {{\scriptsize$\pm${error:.4f}}}"


def _as_label(name: str) -> str:
    """What LaTeX takes in a label: letters, digits and dashes."""
    return "-".join("".join(one if one.isalnum() and one.isascii() else " " for one in name).split()) or "study"


def text(value: str) -> str:
    r"""Escape what LaTeX would interpret.

    >>> print(text("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return "".join(_SPECIAL.get(character, character) for character in value)


def markdown(name: str, title: str, finals: "pl.DataFrame", overview: "pl.DataFrame", slopes: "pl.DataFrame") -> str:
    """The overview, how regret grows, then one row per setting and learner."""
    heads, rows = overview_cells(overview)
    parts = [f"# {name}", title, markdown_table(heads, rows)]
    parts.append("\n".join(f"- {head}: {words}" for head, words in meanings(heads)))
    if len(slopes):
        grown = (
            [dataset, f"{cost:g}", label, *map(factor, both)] for dataset, cost, label, *both in slopes.iter_rows()
        )
        columns = ("set", "cost", "learner", "slope of log R_T", "slope of log tracking regret")
        parts += ["## How regret grows with T", markdown_table(columns, grown)]
    parts += [
        "## Settings",
        f"Means ± standard errors ({repetitions(finals)}). The least of the learners that compete is bold."
        + (PSEUDO if finals["pseudo"].count() else ""),
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


@dataclass(frozen=True)
class Meanings:
    """The meanings of columns for a terminal, below a table."""

    heads: Sequence[str]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[Table]":
        from rich.table import Table

        result = Table.grid(padding=(0, 2, 0, 1))
        result.add_column(no_wrap=True)
        result.add_column()
        for head, words in meanings(self.heads):
            result.add_row(head, words, style="dim")
        yield result


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
