"""A row a setting and learner: the final number, and the paired difference to the reference."""

from typing import TYPE_CHECKING

from .cells import Row, Strong, factor, number

if TYPE_CHECKING:
    import polars as pl


def settings(finals: "pl.DataFrame", moves: bool) -> tuple[list[str], list[list[str]]]:
    """Heads and rows; where streams move, with tracking regret."""
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


def counts(finals: "pl.DataFrame") -> list[tuple[int, ...]]:
    """How many repetitions there are, and over how many means errors are."""
    return finals.select("repetitions", "units").unique().sort("repetitions", "units").rows()


def with_error(mean: float, error: float | None) -> str:
    """A mean and its standard error, if there is one."""
    return number(mean) if error is None else f"{number(mean)} ± {error:.4f}"


def between(row: Row) -> str:
    """A paired difference and its interval, if there is one."""
    ends = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
    return f"{number(row['difference'])}{ends}"
