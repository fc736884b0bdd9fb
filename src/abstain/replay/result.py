"""Sums over stretches of rows, for rows that come in slices."""

import math
from dataclasses import dataclass, field

import numpy as np

from ..alternatives import Totals
from ..typing import Array, Bools, Floats, Ints

MOST_PIECES = 200
"""Points of a curve over time."""


class Cuts:
    """Where rows are cut: stretch k has the rows from ``edges[k]`` to before ``edges[k + 1]``."""

    def __init__(self, edges: Ints) -> None:
        self.edges = edges
        self.n = len(edges) - 1
        self.sizes = np.diff(edges)

    def add(self, sums: Floats, values: Array, begin: int) -> None:
        """Add the values of the rows from ``begin`` on to the sums of their stretches; others are left out."""
        low, high = max(begin, int(self.edges[0])), min(begin + len(values), int(self.edges[-1]))
        if low >= high:
            return
        first, last = np.searchsorted(self.edges, [low, high - 1], side="right") - 1
        starts = np.maximum(self.edges[first : last + 1], low) - low
        sums[first : last + 1] += np.add.reduceat(values[low - begin : high - begin], starts, dtype=np.float64)


def pieces(n: int) -> Cuts:
    """All rows, for curves over time."""
    k = min(n, MOST_PIECES)
    return Cuts(np.arange(k + 1) * n // k)


def blocks(first: int, n: int) -> Cuts:
    """The scored rows, in blocks as long as there are blocks: sqrt(n) rows each; the last may be shorter."""
    length = math.isqrt(n - first - 1) + 1
    return Cuts(np.append(np.arange(first, n, length), n))


class PolicySums:
    """What a policy paid and handed over: over time, and in the blocks of the scored rows."""

    def __init__(self, over_time: Cuts, scored: Cuts, mistake: float) -> None:
        """An answer that loses more than ``mistake`` is a mistake."""
        self._over_time, self._scored, self._mistake = over_time, scored, mistake
        self.loss, self.reviewed = np.zeros(over_time.n), np.zeros(over_time.n)
        self.blocks, self._reviewed, self._mistakes = (np.zeros(scored.n) for _ in range(3))

    def add(self, begin: int, loss: Floats, reviewed: Bools) -> Bools:
        """Count rows from ``begin`` on; which of them are mistakes."""
        wrong = ~reviewed & (loss > self._mistake)
        self._over_time.add(self.loss, loss, begin)
        self._over_time.add(self.reviewed, reviewed, begin)
        self._scored.add(self.blocks, loss, begin)
        self._scored.add(self._reviewed, reviewed, begin)
        self._scored.add(self._mistakes, wrong, begin)
        return wrong

    @property
    def means(self) -> tuple[float, float, float]:
        """Loss, share reviewed and share of mistakes, a scored row."""
        n = self._scored.sizes.sum()
        return tuple(float(part.sum() / n) for part in (self.blocks, self._reviewed, self._mistakes))  # type: ignore[return-value]


GATE, TUNED, OWN, ALL, HINDSIGHT, REVIEW, ALWAYS = (
    "gate", "tuned", "retuned-own", "retuned-all", "hindsight", "review", "always"
)  # fmt: skip
COUNTED = ("reviewed", "over_capacity", "explored", "unanswered")


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
    """Cases of the gate on all rows it played: reviewed, over_capacity, explored, and without any answer."""


@dataclass(frozen=True)
class Policy:
    """A row of the table: a way to decide, and what it cost on the scored rows."""

    kind: str
    """gate, tuned, retuned-own, retuned-all, hindsight, review, always."""
    name: str
    """As people say it: "tuned: gbm from 0.85 on", "always gbm"."""
    loss: float
    """Mean a scored row, in [0, 1]."""
    reviewed: float
    """Share of the scored rows handed over."""
    mistakes: float
    """Share of the scored rows answered wrongly; for numbers, by an answer that cost more than a review."""
    difference: float | None
    """Loss minus that of tuned; None for tuned itself."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference."""

    def beyond(self, share: float | None) -> bool:
        """Whether it reviews more than that capacity, which only the gate keeps to (but for bursts)."""
        return share is not None and self.kind != "gate" and self.reviewed > share


@dataclass(frozen=True)
class Timeline:
    """Pieces of the rows, up to 200, all rows (also the first tenth)."""

    row: list[int]
    """First row of each piece."""
    time: list[str] | None
    """Its time, if the log has times."""
    loss: dict[str, list[float]]
    """By policy kind (gate, tuned, retuned-own, retuned-all, hindsight): mean loss."""
    reviewed: dict[str, list[float]]
    """The same: share reviewed."""
    model: dict[str, list[float]]
    """By model name: share of cases in which the gate followed it."""
    threshold: list[float]
    """The median threshold followed (always review counts as 1, always answer as 0)."""
    answered: dict[str, list[float]]
    """By model name: share of cases in which the model had an answer."""


@dataclass(frozen=True)
class Curve:
    """Risk-coverage of a model on scored rows: the mean loss among the answered, the surest first."""

    model: str
    coverage: list[float]
    risk: list[float]


@dataclass(frozen=True)
class Replay:
    """A log, played as it would have come."""

    log: str
    command: str
    rows: int
    scored_rows: int
    first: int
    """Rows before those that are scored."""
    task: str
    labels: str
    delay: str
    """As people say it: "2,000 rows late", "from the columns t and seen"."""
    models: list[str]
    cost: float
    """Of a review, relative to the largest mistake."""
    unit: str
    """What prices are in, "" or "EUR"."""
    price: float
    """Of the largest mistake: what a loss of 1 costs."""
    capacity: str | None
    """As people say it: "8 % of cases, bursts of 200"."""
    share: float | None
    policies: list[Policy]
    timeline: Timeline
    curves: list[Curve]
    operating: tuple[float, float]
    """Coverage and risk of the gate on scored rows."""
    mistakes: list[tuple[str, int, int, int]]
    """Class (or "other"), rows, mistakes of the gate, mistakes of tuned; at most 20 classes."""
    verdict: str
    notes: list[str]
    """What is worth knowing: missing answers, labels no model gives, ..."""
    unknown: list[str]
    """What was unknown to the gate: labels never seen, labels late, cases no model answered, over_capacity, explored."""
    warnings: list[str] = field(default_factory=list)
    """What is surely, or nearly so, not as it was meant: a model that is never right, say."""
    beside: list[str] = field(default_factory=list)
    """Of the notes, those that belong to the verdict."""
    left_out: int = 0
    """Rows without a label."""
    days: float | None = None
    """Between the first and the last scored row, if the log has times."""
    stakes: bool = False
    """Whether mistakes have different prices."""
    max_error: float | None = None
    """For numbers: the error that is a whole mistake."""
