"""A table as Markdown."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .cells import EXPLAINED, MOVING, Strong, factor, shown
from .settings import counts, settings

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
    n = "; ".join(f"{n} repetitions, errors over {units}" for n, units in counts(finals))
    parts += ["## Settings", f"Means ± standard errors ({n}); in bold what is above 2 max(FS, 0) + 0.002."]
    return "\n\n".join([*parts, grid(*settings(finals, "tracking" in heads))]) + "\n"


def grid(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of these cells."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(cell: str) -> str:
    text = cell.replace("|", "&#124;")
    return f"**{text}**" if isinstance(cell, Strong) else text
