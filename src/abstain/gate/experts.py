"""Models and their thresholds as experts of a learner, and what their answers lose."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import MOST, as_count, as_floats, as_number, is_number, trusted
from ..capacity import Capacity
from ..engine import Learner, Seed
from ..engine.decision import MOST_ROUNDS
from ..errors import InputError, LabelError, shown
from ..experts import Advice, ExpertSet
from ..experts.base import nested
from ..experts.columns import ALWAYS_ANSWER, ALWAYS_REVIEW, spaced
from ..experts.columns import as_thresholds as as_row_of_thresholds
from ..learners import DoublyRobust
from ..losses import Loss
from ..typing import Array, Bools, Floats, Ints
from .answers import Labels, Task
from .prices import Prices

NO_ANSWER = -2.0
"""A confidence below all thresholds."""
QUANTILES = 48
LEAST = 0.1
"""Where thresholds begin with more than two classes. With two they begin at a half: no confidence is below it."""


WIDE = 50.0
"""With stakes, thresholds answer up to expected losses from so many times less to so many times the review price."""
STAKED_MEMORY = 100_000
"""With stakes, rare and expensive mistakes decide: the cases that the past counts for are many."""
CHEAP = 0.001
"""The cost that thresholds are made for if reviews cost nothing."""


def as_thresholds(thresholds: Any, n_models: int, task: Task, prices: Prices) -> Floats | None:
    """Return the thresholds (P, L) of all models; None for "quantiles", which come from a log."""
    if isinstance(thresholds, str):
        if thresholds != "quantiles":
            raise InputError(f'thresholds: expected a number of them, a list, or "quantiles", got {shown(thresholds)}')
        return None
    if isinstance(thresholds, (int, np.integer)):
        n = as_count(thresholds, "thresholds", least=2, most=MOST // n_models)
        row = spaced(n, 0.5 if task.two else LEAST)
        if prices.staked:  # expected losses around the price of a review, in equal ratios
            low, high = (np.log(min(1.0, r * (prices.cost or CHEAP))) for r in (WIDE, 1.0 / WIDE))
            row[1:-1] = 1.0 - np.exp(np.linspace(low, high, n))[1:-1]
    else:
        given = as_row_of_thresholds(thresholds)
        if ((given < 0.0) | (given > 1.0)).any():
            raise InputError(f"thresholds: expected numbers in [0, 1], got {shown(thresholds)}")
        row = np.unique([ALWAYS_ANSWER, *given, ALWAYS_REVIEW])
    return np.tile(row, (n_models, 1))


def as_start(start: Any, models: list[str]) -> tuple[str, float | None]:
    """Return a model and a threshold to begin with; raise an error if they cannot be such."""
    if not isinstance(start, (tuple, list)) or len(start) != 2 or start[0] not in models:
        raise InputError(f"start: expected a model ({', '.join(models)}) and a threshold, got {shown(start)}")
    if start[1] is None:
        return start[0], None
    return start[0], as_number(start[1], "start", "a threshold in [0, 1], or None", lambda t: 0.0 <= t <= 1.0)


def supposed(thresholds: Floats, task: Task) -> tuple[Bools, Floats]:
    """Return how thresholds (P, L) abstain on confidences between two of them, and what confidences say is lost there.

    >>> _, losses = supposed(np.array([[-1.0, 0.5, 0.8, 1.0]]), Task("classes", None, 1.0))
    >>> losses.ravel().round(2).tolist()
    [0.7, 0.35, 0.1]
    """
    models, n = thresholds.shape
    level = np.maximum(thresholds, 0.5 if task.two else LEAST)
    abstains = np.tile(np.arange(n) > np.arange(n - 1)[:, np.newaxis], models)
    return abstains, 1.0 - (level[:, 1:] + level[:, :-1]).T / 2.0


def with_threshold(thresholds: Floats, model: int, threshold: float | None) -> tuple[Floats, int]:
    """Return thresholds (P, L) of which one of a model's is this, and its place. None never answers, and 0 always.

    Another one is moved there: the nearest, except the first and the last.

    >>> with_threshold(np.array([[-1.0, 0.5, 0.8, 1.0]]), 0, 0.7)
    (array([[-1. ,  0.5,  0.7,  1. ]]), 2)
    """
    row = thresholds[model]
    if threshold is None or threshold >= ALWAYS_REVIEW:
        return thresholds, len(row) - 1
    if threshold <= 0.0:
        return thresholds, 0
    if len(row) < 3:
        raise InputError(f"start: expected more than two thresholds with it, got {len(row)}")
    place = 1 + int(np.argmin(np.abs(row[1:-1] - threshold)))
    made = thresholds.copy()
    made[model, place] = threshold
    made[model].sort()
    return made, int(np.searchsorted(made[model], threshold))


def quantiles(confidence: Floats, models: list[str]) -> Floats:
    """Return thresholds (P, 48) that divide the confidences (n, P) of a log evenly."""
    thresholds = np.empty((len(models), QUANTILES))
    for row, column, model in zip(thresholds, confidence.T, models, strict=True):
        known = column[~np.isnan(column)]
        if len(known) == 0:
            raise InputError(f"log: expected answers of every model, got none of {shown(model)}")
        row[:] = np.quantile(known, np.linspace(0.0, 1.0, QUANTILES), method="lower")
    thresholds[:, 0], thresholds[:, -1] = ALWAYS_ANSWER, ALWAYS_REVIEW
    return thresholds


def threshold_text(threshold: float, digits: int = 2) -> str:
    """Return a threshold for people; one near 1 has as many digits as tell it from 1.

    >>> threshold_text(0.8512), threshold_text(0.0423), threshold_text(0.9982), threshold_text(0.8512, 3)
    ('0.85', '0.042', '0.9982', '0.851')
    """
    if threshold < 0.5:
        return f"{threshold:.{digits}g}"
    near = 1.0 - threshold
    return f"{threshold:.{max(digits, 1 - math.floor(math.log10(near))) if 0.0 < near < 0.05 else digits}f}"


class ModelThresholds(ExpertSet):
    """Experts for P models with L thresholds each: expert ``m * L + k`` follows model m if its confidence is above its
    threshold k, and else abstains.

    An input has the confidences of all models (`NO_ANSWER` if there is none), what they say (with two classes a
    negative or a positive number as large as the stake, else 0), and the microseconds since the previous case.
    """

    kind = "model thresholds"

    def __init__(self, thresholds: ArrayLike) -> None:
        table = np.array(as_floats(thresholds, "thresholds"))
        if table.ndim != 2 or table.size == 0 or not (np.diff(table, axis=1) >= 0.0).all():
            raise InputError(f"thresholds: expected a row of increasing numbers for every model, got {shown(table)}")
        if not ((table >= ALWAYS_ANSWER) & (table <= ALWAYS_REVIEW)).all():
            raise InputError(f"thresholds: expected numbers from -1 to 1, got {shown(table)}")
        n, rules = len(table), np.arange(table.size)
        super().__init__(n, table.size, 2 * n + 1, np.column_stack([rules // table.shape[1], rules]))
        table.flags.writeable = False
        self.thresholds = table

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        models = self.n_predictors
        abstains = np.less_equal(X[:, :models, np.newaxis], self.thresholds)
        return Advice(X[:, models:-1], abstains.reshape(len(X), -1))

    def find_subset(self) -> Bools:
        return nested(np.full(self.n_rules, -np.inf), self.thresholds.ravel(), self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        return {"thresholds": self.thresholds}


@dataclass(frozen=True)
class ModelLosses(Loss):
    """Losses that the gate has worked out: the label of a case is what each model's answer loses (P,).

    They are floats even where all are 0 or 1, so that compiled functions are compiled once for all gates.
    """

    of_signs: tuple[float, float] | None = None
    """With two classes, the loss of wrongly saying the second, and of wrongly saying the first."""
    name = "model losses"

    def __post_init__(self) -> None:
        given = self.of_signs
        if given is None:
            return
        pair = (
            isinstance(given, tuple) and len(given) == 2 and all(is_number(one) and 0.0 <= one <= 1.0 for one in given)
        )
        if not pair:
            raise InputError(f"of_signs: expected two losses in [0, 1], got {shown(given)}")

    def like(self, other: Loss) -> bool:
        """Whether another loss is the same, but for the rounding of prices that all changed by one factor."""
        if not isinstance(other, ModelLosses) or self.of_signs is None or other.of_signs is None:
            return self == other
        return bool(np.allclose(self.of_signs, other.of_signs, rtol=1e-9, atol=0.0))

    def labels(self, y: ArrayLike) -> Array:
        losses = as_floats(y, "losses", LabelError)
        if losses.shape[:-1] == (1,):  # of one case: faster than four passes over a small array
            right = all(0.0 <= loss <= 1.0 for loss in losses[0].tolist())
        else:
            right = losses.ndim == 2 and bool(((losses >= 0.0) & (losses <= 1.0)).all())
        if not right:
            raise LabelError(f"losses: expected a number in [0, 1] for every model, got {shown(losses)}")
        return losses

    @trusted
    def values(self, predictions: Array, y: Array) -> Array:
        return y

    def __call__(self, predictions: Array, y: Array) -> Array:
        if y.shape != predictions.shape:
            raise LabelError(f"losses: expected those of {predictions.shape[1]} models, got shape {y.shape}")
        return y

    @trusted
    def outcomes(self, predictions: Array) -> Array | None:
        if self.of_signs is None:
            return None
        positive, negative = np.maximum(predictions, 0.0), np.maximum(-predictions, 0.0)
        return np.stack([self.of_signs[0] * positive, self.of_signs[1] * negative], axis=2)


class Tally:
    """How often the confidence of each model was between which of its thresholds."""

    def __init__(self, thresholds: Floats, counts: Any = None) -> None:
        """Begin with the counts (P, L + 1) of a file, if given; raise a `ValueError` unless they fit."""
        self.thresholds: list[list[float]] = thresholds.tolist()
        self.n_thresholds = thresholds.shape[1]
        shape = len(self.thresholds), self.n_thresholds + 1
        if counts is None:
            counts = np.zeros(shape, np.int64)
        if not isinstance(counts, np.ndarray) or counts.shape != shape or counts.dtype != np.int64:
            raise InputError(f"counts: expected whole numbers of shape {shape}, got {shown(counts)}")
        if (counts < 0).any() or (counts > MOST_ROUNDS).any():
            raise InputError(f"counts: expected 0 to {MOST_ROUNDS}, got {counts.min()} to {counts.max()}")
        self._counts: list[list[int]] = counts.tolist()  # lists: adding 1 to an array takes five times as long

    @property
    def counts(self) -> Ints:
        """The counts (P, L + 1): the last one of a model is above all its thresholds."""
        return np.array(self._counts, np.int64)

    @property
    def n(self) -> int:
        """The number of cases that were counted."""
        return max(map(sum, self._counts))

    @property
    def empty(self) -> bool:
        """Whether nothing was counted yet."""
        return not any(map(any, self._counts))

    def add(self, confidences: list[float]) -> None:
        """Count the confidences of all models in one case."""
        for counts, thresholds, confidence in zip(self._counts, self.thresholds, confidences, strict=True):
            counts[bisect_left(thresholds, confidence)] += 1

    def add_all(self, X: Floats) -> None:
        """Count the confidences in many cases, the first columns of X."""
        for counts, thresholds, confidences in zip(self._counts, self.thresholds, X.T, strict=False):
            found = np.bincount(np.searchsorted(thresholds, confidences), minlength=len(counts))
            counts[:] = (found + counts).tolist()

    def shares(self) -> Floats:
        """Return the share of cases in which each model was more certain than each of its thresholds (P, L)."""
        above = self.counts[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.asarray(above[:, 1:] / np.maximum(above[:, :1], 1))


def make_learner(
    kind: Callable[..., Learner],
    thresholds: Floats,
    prices: Prices,
    labels: Labels,
    capacity: Capacity | None,
    seed: Seed,
) -> Learner:
    """Return a learner of this kind, or of this function, that follows models with these thresholds."""
    name = getattr(kind, "__name__", "this learner")
    options: dict[str, Any] = {}
    if labels.feedback != "predicted":
        if "feedback" not in getattr(kind, "options", ("feedback",)):
            raise InputError(f"labels: {name} takes no feedback but that of predictions; DoublyRobust and Exp3Abs do")
        options["feedback"] = labels.feedback
    if kind is DoublyRobust:
        options |= {"memory": STAKED_MEMORY if prices.staked else "adaptive", "min_observe": labels.floor}
    if capacity is not None:
        if "capacity" not in getattr(kind, "options", ("capacity",)):
            raise InputError(f"capacity: {name} has none; DoublyRobust and Exp3Abs do")
        options["capacity"] = capacity
    loss, experts = ModelLosses(prices.of_signs), ModelThresholds(thresholds)
    try:
        learner = kind(experts, cost=prices.cost, seed=seed, loss=loss, **options)
    except TypeError as error:
        raise InputError(f"learner: expected one that takes the gate's experts and options ({error})") from None
    if not isinstance(learner, Learner) or not isinstance(learner.experts, ModelThresholds):
        raise InputError(f"learner: expected a class of learner that takes the gate's experts, got {shown(learner)}")
    if learner.supervised:
        raise InputError(f"learner: {type(learner).__name__} needs the labels of all cases, which no gate has")
    return learner
