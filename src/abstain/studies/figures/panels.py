"""Curves in a grid of panels: what it holds."""

import math
from typing import NamedTuple

from .played import Played
from .style import styles

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
