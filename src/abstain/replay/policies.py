"""The results of a replay: policies with their intervals, values over time, curves of risk and coverage."""

from dataclasses import dataclass, field

import numpy as np

from ..gate.experts import threshold_text
from ..typing import Array, Floats, Ints
from .play import ALL, ALWAYS, GATE, HINDSIGHT, OWN, REVIEW, TUNED, Outcome
from .rows import Rows


@dataclass(frozen=True)
class Policy:
    """A row of the table: a way to decide, and its cost on the scored rows."""

    kind: str
    """gate, tuned, retuned-own, retuned-all, hindsight, review, always."""
    name: str
    """In words: "tuned: gbm from 0.85 on", "always gbm"."""
    loss: float
    """Mean loss per scored row, in [0, 1]."""
    reviewed: float
    """Share of the scored rows sent to review."""
    mistakes: float
    """Share of the scored rows answered wrongly; for numbers, with an answer that cost more than a review."""
    difference: float | None
    """Loss minus the loss of tuned; None for tuned itself."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference."""

    def beyond(self, share: float | None) -> bool:
        """Whether it reviews more than the capacity ``share``, which limits only the gate."""
        return share is not None and self.kind != "gate" and self.reviewed > share


@dataclass(frozen=True)
class Timeline:
    """All rows, the first tenth included, in up to 200 pieces."""

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
    """Risk and coverage of a model on the scored rows: the mean loss among its surest answers."""

    model: str
    coverage: list[float]
    risk: list[float]


@dataclass(frozen=True)
class Replay:
    """A log, played in time order."""

    log: str
    command: str
    rows: int
    scored_rows: int
    first: int
    """Rows before the scored ones."""
    task: str
    labels: str
    delay: str
    """In words: "2,000 rows late", "from the columns t and seen"."""
    models: list[str]
    cost: float
    """Cost of a review relative to the largest mistake."""
    unit: str
    """Unit of prices, "" or "EUR"."""
    price: float
    """What a loss of 1 is: the price of the largest mistake; with stakes it may be less."""
    capacity: str | None
    """In words: "8 % of cases, bursts of 200"."""
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
    """What the gate did not know: labels never seen or late, cases no model answered, over_capacity, explored."""
    warnings: list[str] = field(default_factory=list)
    """What the user almost certainly did not intend: a model that is never right, say."""
    beside: list[str] = field(default_factory=list)
    """The notes that belong to the verdict."""
    left_out: int = 0
    """Rows without a label."""
    days: float | None = None
    """Days between the first and the last scored row, if the log has times."""
    stakes: bool = False
    """Whether mistakes have different prices."""
    max_error: float | None = None
    """For numbers: the error that counts as a whole mistake."""


RESAMPLES = 2_000
_AT_A_TIME = 100


def intervals(differences: Floats, sizes: Ints, seed: int) -> tuple[Floats, Floats]:
    """The 95 % intervals of mean differences per row, by a block bootstrap.

    Blocks are drawn with replacement, as many as there are, 2,000 times; the interval holds the middle 95 % of the
    means. Consecutive rows are alike, so that resampling single rows would give intervals that are too narrow. Effects
    that last longer than a block, such as a drift, are not in the interval.

    Args:
        differences: Sums of differences in each block (policies, blocks).
        sizes: Rows of each block.
        seed: Seeds the draws.

    Returns:
        The lower and the upper ends, one per policy.
    """
    rng = np.random.default_rng([seed, 0xB007])
    n = len(sizes)
    means = np.empty((RESAMPLES, len(differences)))
    for begin in range(0, RESAMPLES, _AT_A_TIME):
        drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=_AT_A_TIME).astype(np.float64)
        means[begin : begin + _AT_A_TIME] = (drawn @ differences.T) / (drawn @ sizes.astype(np.float64))[:, np.newaxis]
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return low, high


SHOWN_OVER_TIME = (GATE, TUNED, OWN, ALL, HINDSIGHT)


def policies(out: Outcome, models: list[str], seed: int, max_error: float | None = None) -> list[Policy]:
    """The rows of the table, with differences from tuned. With ``max_error`` thresholds are shown as errors, too."""
    keys = list(out.policies)
    tuned = out.policies[TUNED]
    differences = np.array([out.policies[key].blocks - tuned.blocks for key in keys])
    low, high = intervals(differences, out.scored.sizes, seed)
    table = []
    for k, key in enumerate(keys):
        loss, reviewed, mistakes = out.policies[key].means
        name = name_of(key, models, out.tuned, out.hindsight, max_error)
        difference = float(differences[k].sum() / out.scored.sizes.sum())
        span = (None, None, None) if key == TUNED else (difference, float(low[k]), float(high[k]))
        table.append(Policy(kind_of(key), name, loss, reviewed, mistakes, *span))
    return table


def timeline(out: Outcome, rows: Rows, models: list[str], time_is_date: bool) -> Timeline:
    """Values over time; NaN for the gate during its warm start."""
    sizes = out.over_time.sizes
    played = np.maximum(0, out.over_time.edges[1:] - np.maximum(out.over_time.edges[:-1], out.origin)).astype(
        np.float64
    )
    played[played == 0.0] = np.nan
    starts = out.over_time.edges[:-1].tolist()
    shares = {key: played if key == GATE else sizes for key in SHOWN_OVER_TIME}
    times = None
    if rows.has("time"):
        times = [_as_text(rows.read(start, start + 1).records["time"], time_is_date) for start in starts]
    return Timeline(
        [start + 1 for start in starts],
        times,
        {key: (out.policies[key].loss / size).tolist() for key, size in shares.items()},
        {key: (out.policies[key].reviewed / size).tolist() for key, size in shares.items()},
        {name: (out.followed[k] / played).tolist() for k, name in enumerate(models)},
        out.threshold.tolist(),
        {name: (out.answered[k] / sizes).tolist() for k, name in enumerate(models)},
    )


def days(out: Outcome, rows: Rows) -> float | None:
    """Days between the first and the last scored row; None without times."""
    if not rows.has("time"):
        return None
    first, last = (int(rows.read(row, row + 1).records["time"][0]) for row in (out.first, rows.n - 1))
    return (last - first) / 86_400e6


def _as_text(time: Array, is_date: bool) -> str:
    if is_date:
        return str(time.astype("datetime64[us]").astype("datetime64[s]")[0]).replace("T", " ")
    return f"{time[0] / 1e6:.12g}"


def curves(out: Outcome, models: list[str]) -> list[Curve]:
    """For each model, the surest answers first: the share of rows answered, and the mean loss among them."""
    n = int(out.scored.sizes.sum())
    found = []
    for model, name in enumerate(models):
        count, lost = out.totals.answered(model)
        count, at = np.unique(count, return_index=True)
        risk: Floats = lost[at][count > 0] / count[count > 0]
        found.append(Curve(name, (count[count > 0] / n).tolist(), risk.tolist()))
    return found


def operating(out: Outcome, cost: float) -> tuple[float, float]:
    """The share of scored rows that the gate answered, and its mean loss among them."""
    loss, reviewed, _ = out.policies[GATE].means
    coverage = 1.0 - reviewed
    return coverage, max(0.0, loss - cost * reviewed) / coverage if coverage > 0.0 else 0.0


def from_on(name: str, threshold: float, max_error: float | None = None) -> str:
    """A model and its threshold in words; for numbers, as an error in the unit of the log, too.

    >>> from_on("gbm", 0.8512), from_on("gbm", -1.0), from_on("gbm", 1.0), from_on("gbm", 0.99821)
    ('gbm from 0.851 on', 'gbm always', 'everything to review', 'gbm from 0.9982 on')
    >>> from_on("gbm", 0.36, 10.0)
    'gbm from an expected error of 6.4 down (0.36)'
    """
    if threshold >= 1.0:
        return "everything to review"
    if threshold < 0.0:
        return f"{name} always"
    level = threshold_text(threshold, 3)
    level = level.rstrip("0").rstrip(".") if "." in level else level
    if max_error is not None:
        return f"{name} from an expected error of {(1.0 - threshold) * max_error:.3g} down ({level})"
    return f"{name} from {level} on"


def kind_of(key: str) -> str:
    """The kind of a policy."""
    return ALWAYS if key.startswith(f"{ALWAYS} ") else key


def name_of(
    key: str, models: list[str], tuned: tuple[int, float], hindsight: tuple[int, float], max_error: float | None = None
) -> str:
    """The name of a policy in the table."""
    if key in (TUNED, HINDSIGHT):
        model, threshold = tuned if key == TUNED else hindsight
        return f"{key}: {from_on(models[model], threshold, max_error)}"
    plain = {GATE: "gate", OWN: "re-tuned, own labels", ALL: "re-tuned, all labels", REVIEW: "everything to review"}
    return plain.get(key, key)
