"""What came out of playing a log, in sums."""

from dataclasses import dataclass, field

from ...alternatives.totals import Totals
from ...typing import Floats, Ints
from .sums import Cuts, PolicySums

GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW, ALWAYS = (
    "gate", "tuned", "retuned-own", "retuned-all", "hindsight", "review", "always"
)  # fmt: skip
COUNTED = ("reviewed", "forced", "explored", "unanswered")


@dataclass
class Outcome:
    """What came out, in sums."""

    first: int
    origin: int
    """The first scored row, and the first row that the gate played."""
    over_time: Cuts
    scored: Cuts
    policies: dict[str, PolicySums]
    """By kind, and "always NAME"."""
    totals: Totals
    """Of the gate's thresholds and those tuned, on the scored rows."""
    tuned: tuple[int, float]
    hindsight: tuple[int, float]
    by_class: Ints
    """Scored rows of each class, mistakes of the gate, mistakes of tuned."""
    followed: Floats
    answered: Floats
    """By model, over time: cases in which the gate followed it, rows in which it had an answer."""
    threshold: Floats
    """The median, over time; NaN where the gate did not play."""
    counts: dict[str, int] = field(default_factory=dict)
    """Cases of the gate on all rows it played: reviewed, forced, explored, and without any answer."""
