"""A table as Markdown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .cells import EXPLAINED, MOVING, Row, Strong, factor, number, shown

if TYPE_CHECKING:
    import polars as pl


def markdown(name: str, title: str, finals: "pl.DataFrame", overview: "pl.DataFrame", slopes: "pl.DataFrame") -> str:
    """The overview, how regret grows, then a row a setting and learner."""
    heads, rows = shown(overview)
    parts = [f"# {name}", title, grid(heads, rows), EXPLAINED]
    if "tracking" in heads or "slope" in heads:
        parts.append(MOVING)
    if len(slopes):
        grown = (
            [dataset, f"{cost:g}", label, *map(factor, both)] for dataset, cost, label, *both in slopes.iter_rows()
        )
        columns = ("set", "cost", "learner", "slope of log R_T", "slope of log tracking regret")
        parts += ["## How regret grows with T", grid(columns, grown)]
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in _counts(finals))
    parts += ["## Settings", f"Means ± standard errors ({n}); in bold what is above 2 max(FS, 0) + 0.002."]
    return "\n\n".join([*parts, _settings(finals, "tracking" in heads)]) + "\n"


def _counts(finals: "pl.DataFrame") -> list[tuple[int, ...]]:
    return finals.select("repetitions", "units").unique().sort("repetitions", "units").rows()


def _settings(finals: "pl.DataFrame", moves: bool) -> str:
    heads = ["study", "set", "cost", "T", "learner", "R_T / T", "difference (95 %)", "from", "to FS", "rank", "time"]
    if moves:
        heads.insert(6, "tracking")
    rows = []
    for row in finals.iter_rows(named=True):
        regret, alone = _with_error(row["regret"], row["se"]), row["learner"] == row["reference"]
        cells = [
            row["study"], row["dataset"], f"{row['cost']:g}", f"{row['rounds']:,}", row["learner"],
            Strong(regret) if row["within"] is False else regret,
            "" if alone else _between(row), "" if alone else row["reference"],
            factor(row["ratio"]), factor(row["rank"]), factor(row["time"]),
        ]  # fmt: skip
        if moves:
            cells.insert(6, _with_error(row["tracking"], row["tracking_se"]))
        rows.append(cells)
    return grid(heads, rows)


def _with_error(mean: float, error: float | None) -> str:
    return number(mean) if error is None else f"{number(mean)} ± {error:.4f}"


def _between(row: Row) -> str:
    ends = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
    return f"{number(row['difference'])}{ends}"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of these cells."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(cell: str) -> str:
    text = cell.replace("|", "&#124;")
    return f"**{text}**" if isinstance(cell, Strong) else text
