"""Curves in a grid of panels: what it shows, from the summary of results."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .figure import Source
from .played import Played, n_experts
from .style import styles

if TYPE_CHECKING:
    import polars

QUANTITIES = {
    "regret": "average regret $R_t / t$",
    "abstained": "fraction abstained",
    "edges": "edges of the graph (millions)",
}
"""The columns of the summary that a panel can show (each with its ``_sd``), and what an axis calls them."""
UNITS = {"edges": 1e-6}
RANGES = {"abstained": (0.0, 1.0), "loss": (0.0, 1.0), "edges": (0.0, math.inf)}
"""What a quantity cannot leave, and so its bands do not; regret may be negative."""
START = 10
"""Earlier rounds are left out: an average of a few losses of 0 or 1 says nothing, and would set the scale."""


class Line(NamedTuple):
    """One learner: mean and standard deviation over the expert sets, at the checkpoints."""

    learner: str
    t: tuple[int, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]


class Marks(NamedTuple):
    """Values from the paper."""

    learner: str
    t: tuple[int, ...]
    value: tuple[float, ...]


class Place(NamedTuple):
    """A panel that is wanted: where, and of which results; the first of the studies that has them gives them."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    studies: tuple[str, ...]
    published: tuple[Marks, ...] = ()

    @property
    def name(self) -> str:
        """The setting in words, whatever is shown of it."""
        return f"{self.row} at {' '.join(self.column.removeprefix(QUANTITIES[self.quantity]).split())}"


class Panel(NamedTuple):
    """A panel that is there."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    lines: tuple[Line, ...]
    published: tuple[Marks, ...] = ()
    title: str = ""
    """What stands above it, where rows and columns mean nothing."""
    played: Played = Played(1, 1)

    def last(self, learner: str) -> float | None:
        """The value a learner's line ends with."""
        return next((line.mean[-1] for line in self.lines if line.learner == learner), None)

    def band(self, line: Line) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """A standard deviation below and above a line, within what is possible."""
        least, most = RANGES.get(self.quantity, (-math.inf, math.inf))
        pairs = list(zip(line.mean, line.sd, strict=True))
        return (
            tuple(min(max(mean - sd, least), most) for mean, sd in pairs),
            tuple(min(max(mean + sd, least), most) for mean, sd in pairs),
        )


class Grid(NamedTuple):
    """A figure of panels; rows and columns without any panel are left out."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]
    """What was wanted and had no results: rows, or single panels."""
    label: str = ""
    """What all panels show, if they show the same."""
    own_scales: bool = False
    """Whether each panel has its own scale; else those of a row that show the same share it."""

    @property
    def learners(self) -> tuple[str, ...]:
        """All learners, in the order of the legend."""
        return tuple(styles(line.learner for panel in self.panels for line in panel.lines))

    @property
    def rounds(self) -> int:
        """The last round shown."""
        return max(line.t[-1] for panel in self.panels for line in panel.lines)


def grid(source: Source, places: Sequence[Place]) -> Grid | None:
    """The panels there are results for; None if there is none."""
    parts = {
        (str(study), str(dataset), round(float(cost), 9)): part
        for (study, dataset, cost), part in source.summary.partition_by(
            "study", "dataset", "cost", as_dict=True
        ).items()
    }
    often = repeated(source.curves)
    panels, absent = [], []
    for place in places:
        keys = [(study, place.dataset, round(place.cost, 9)) for study in place.studies]
        key = next((key for key in keys if key in parts), None)
        if key is None:
            absent.append(place)
            continue
        played = Played(*often[key], n_experts(source.study(key[0]), place.dataset, place.cost))
        lines = lines_of(parts[key], place.quantity)
        panels.append(Panel(*place[:5], lines=lines, published=place.published, played=played))
    if not panels:
        return None
    rows = _there([place.row for place in places], {panel.row for panel in panels})
    columns = _there([place.column for place in places], {panel.column for panel in panels})
    missing = dict.fromkeys(place.name if place.row in rows else place.row for place in absent)
    quantities = {panel.quantity for panel in panels}
    label = QUANTITIES[quantities.pop()] if len(quantities) == 1 else ""
    return Grid(rows, columns, tuple(panels), tuple(missing), label)


def repeated(curves: "polars.DataFrame") -> dict[tuple[str, str, float], tuple[int, int]]:
    """How many expert sets and draws of the data there are of each study, set and cost."""
    import polars

    counts = curves.group_by("study", "dataset", "cost").agg(polars.col("expert_set", "draw").n_unique())
    return {(study, dataset, round(cost, 9)): (sets, draws) for study, dataset, cost, sets, draws in counts.rows()}


def lines_of(part: "polars.DataFrame", quantity: str) -> tuple[Line, ...]:
    """The lines of one set and cost, in the order of the legend."""
    unit = UNITS.get(quantity, 1.0)
    lines = []
    for label in styles(part["learner"].to_list()):
        own = part.filter(part["learner"] == label).sort("t")
        own = own.filter((own["t"] >= START) | (own["t"] == own["t"].max()))
        mean, sd = (own[name] * unit for name in (quantity, f"{quantity}_sd"))
        lines.append(Line(label, tuple(own["t"]), tuple(mean), tuple(sd)))
    return tuple(lines)


def _there(wanted: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if name in found))
