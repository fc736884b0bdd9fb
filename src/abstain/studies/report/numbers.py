"""The final numbers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..claims.roles import Roles
from ..claims.settings import PAPER
from ..sharing import repeated
from ..spec import AnyStudy
from ..tables.cells import number
from .cells import Cell, Grid

if TYPE_CHECKING:
    import polars as pl


class Finals(NamedTuple):
    """R_T / T in a study, a row a setting and a column a learner."""

    study: str
    title: str
    grid: Grid
    below: tuple[int, int] | None
    """In how many settings EXP3-ABS has less than UCB-GT, and of how many; None if they were not both played."""


def finals(summary: "pl.DataFrame", titles: Mapping[str, str], studies: Sequence[AnyStudy] = ()) -> list[Finals]:
    """One for each study, but other readings; studies that share their runs are shown once."""
    import polars as pl

    names = sorted(summary["study"].unique(), key=lambda name: ([*titles, name].index(name), name))
    roles, twice = Roles(studies), repeated([study for study in studies if study.name in names])
    found = []
    for name in (name for name in names if name not in twice and not roles[name].is_reading):
        rows = summary.filter(pl.col("study") == name)
        rows = rows.filter(pl.col("t") == pl.col("t").max().over("dataset", "cost"))
        found.append(Finals(name, titles.get(name) or name, _grid(rows), _below(rows)))
    return found


def _below(rows: "pl.DataFrame") -> tuple[int, int] | None:
    import polars as pl

    if not {"EXP3-ABS", "UCB-GT"} <= set(rows["learner"]):  # first: older versions of Polars cannot pivot a single row
        return None
    both = rows.pivot(on="learner", index=("dataset", "cost"), values="regret").drop_nulls(("EXP3-ABS", "UCB-GT"))
    return len(both.filter(pl.col("EXP3-ABS") < pl.col("UCB-GT"))), len(both)


def _grid(rows: "pl.DataFrame") -> Grid:
    learners = sorted(rows["learner"].unique(), key=lambda label: (_place(label), label))
    several, bodies = bool((rows["regret_sd"] > 0).any()), []
    for _, of_set in rows.sort("dataset", "cost").partition_by("dataset", as_dict=True, maintain_order=True).items():
        lines = []
        for (dataset, cost), here in of_set.partition_by("dataset", "cost", as_dict=True, maintain_order=True).items():
            values = {row["learner"]: (row["regret"], row["regret_sd"]) for row in here.iter_rows(named=True)}
            least = min((mean for label, (mean, _) in values.items() if label != "FS"), default=None)
            cells = (_cell(values.get(label), least, label, several) for label in learners)
            lines.append([Cell(f"{dataset}, {cost:g}"), *cells])
        bodies.append(lines)
    return Grid(("Set, cost", *learners), bodies)


def _place(label: str) -> int:
    """The paper's learners in their order, FS last, others between."""
    first = [paper for paper in PAPER if label == paper or label.startswith(f"{paper},")]
    return len(PAPER) + 1 if label == "FS" else PAPER.index(first[0]) if first else len(PAPER)


def _cell(value: tuple[float, float] | None, least: float | None, label: str, several: bool) -> Cell:
    """Mean and, with several expert sets, deviation; the least mean is bold."""
    if value is None:
        return Cell("")
    mean, deviation = value
    return Cell(number(mean), mean == least and label != "FS", f" ± {deviation:.4f}" if several else "")
