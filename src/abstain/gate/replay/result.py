"""What a replay found: all that the table, the files and the report page show."""

from dataclasses import dataclass, field


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
    """What was unknown to the gate: labels never seen, labels late, cases no model answered, forced, explored."""
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
    most_error: float | None = None
    """For numbers: the error that is a whole mistake."""
