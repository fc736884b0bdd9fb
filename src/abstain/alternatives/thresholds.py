"""One model and one threshold: tuned on the first rounds, or the best in hindsight."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import costs
from .._core.validation import as_count, as_floats
from ..errors import InputError
from ..kernels.compiling import kernel
from ..typing import Bools, Floats, Ints


class Rounds(NamedTuple):
    """A checked log: confidence and losses (n, P), cost (n,); answers (n, P), equal numbers for equal answers; the time
    since the round before, in microseconds (n,), for capacities per day; what a mistake would lose (n, P), for a stack.
    """

    confidence: Floats
    losses: Floats
    cost: Floats
    of_answers: Floats | None = None
    passed: Ints | None = None
    risk: Floats | None = None

    @property
    def risks(self) -> Floats:
        """What a mistake of each model would lose; without any, 1."""
        return np.ones(self.confidence.shape) if self.risk is None else self.risk

    @property
    def answers(self) -> Floats:
        """The answers; without any, no two models ever agree."""
        if self.of_answers is not None:
            return self.of_answers
        return np.broadcast_to(np.arange(float(self.confidence.shape[1])), self.confidence.shape)

    def cut(self, rows: "slice | Bools") -> "Rounds":
        """Some of the rounds."""
        return Rounds(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Played:
    """What a policy did and lost."""

    loss: Floats
    """The loss of each round (n,)."""
    abstained: Bools
    """Whether it abstained in each round (n,)."""


def as_rounds(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike) -> Rounds:
    """Check a log, or raise an error that says what is wrong."""
    sure, lost = as_floats(confidence, "confidence"), as_floats(losses, "losses")
    if sure.ndim != 2 or sure.size == 0:
        raise InputError(f"confidence: expected one row per round and one column per model, got shape {sure.shape}")
    if lost.shape != sure.shape:
        raise InputError(f"losses: expected the shape of confidence, {sure.shape}, got {lost.shape}")
    if not (sure < np.inf).all():
        raise InputError(f"confidence: expected numbers below infinity, got {sure[~(sure < np.inf)][0]}")
    if not ((lost >= 0.0) & (lost <= 1.0)).all():
        raise InputError(f"losses: expected values in [0, 1], got {lost[~((lost >= 0.0) & (lost <= 1.0))][0]}")
    price = costs.get(cost)
    if not isinstance(price, (costs.Constant, costs.PerRound)):
        raise InputError(f"cost: expected a number or one per round, got {type(cost).__name__}")
    if isinstance(price, costs.PerRound) and len(price.values) != len(sure):
        raise InputError(f"cost: expected one value or {len(sure)}, one per round, got {len(price.values)}")
    return Rounds(sure, lost, np.ascontiguousarray(price.of(None, 1, len(sure))))


@kernel
def sweep(order: Ints, sure: Floats, lost: Floats, cost: Floats, thresholds: Floats, totals: Floats) -> None:
    """For increasing ``thresholds``, the cost of the rounds at or below each and the losses of those above it.

    ``order`` has the rounds that count, by ``sure``, increasing.
    """
    n, whole = len(order), 0.0
    for i in range(n):
        whole += lost[order[i]]
    silent, gone, i = 0.0, 0.0, 0
    for k in range(len(thresholds)):
        while i < n and sure[order[i]] <= thresholds[k]:
            silent += cost[order[i]]
            gone += lost[order[i]]
            i += 1
        totals[k] = silent + (whole - gone)


QUANTILES = 200
"""Thresholds to try for each model; on that many rounds or fewer, all that make a difference."""


@dataclass(frozen=True, eq=False)
class Tuned(Played):
    """A model and the threshold that its confidence has to exceed.

    A threshold of minus infinity always answers (if the model has an answer), infinity never does.
    """

    model: int
    threshold: float


def tuned(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike, first: int) -> Tuned:
    """Choose the model and threshold with the least loss on the first rounds, and keep them.

    It tries 200 quantiles of each model's confidence in those rounds, and always or never answering.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        cost: The cost of abstaining: a number, or one per round.
        first: How many rounds to tune on; all their labels are known.

    Returns:
        The policy with its loss in every round.

    Raises:
        InputError: If a shape or a value is wrong.

    >>> confidence = np.array([[0.9], [0.6], [0.8], [0.5], [0.7]])
    >>> losses = np.array([[0.0], [1.0], [0.0], [1.0], [1.0]])
    >>> policy = tuned(confidence, losses, cost=0.2, first=4)
    >>> policy.model, policy.threshold, policy.loss
    (0, 0.6, array([0. , 0.2, 0. , 0.2, 1. ]))
    """
    rounds = as_rounds(confidence, losses, cost)
    return _best_in(rounds, 0, as_count(first, "first", most=len(rounds.cost)))


def hindsight(
    confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike, first: int = 0, last: int | None = None
) -> Tuned:
    """Choose the model and threshold with the least loss afterwards: a yardstick that no policy could have known.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        cost: The cost of abstaining: a number, or one per round.
        first: The first round to choose on, from 0.
        last: The round to stop before; by default all rounds count.

    Returns:
        The policy with its loss in every round.

    Raises:
        InputError: If a shape or a value is wrong.
    """
    rounds = as_rounds(confidence, losses, cost)
    end = len(rounds.cost) if last is None else as_count(last, "last", most=len(rounds.cost))
    begin = as_count(first, "first", least=0)
    if begin >= end:
        raise InputError(f"first: expected a round before {end}, got {begin}")
    return _best_in(rounds, begin, end)


def _best_in(rounds: Rounds, first: int, last: int) -> Tuned:
    model, threshold, _ = best(rounds.cut(slice(first, last)))
    played = follow(rounds, model, threshold)
    return Tuned(played.loss, played.abstained, model, threshold)


def follow(rounds: Rounds, model: int, threshold: float) -> Played:
    """Play one pair of a model and a threshold."""
    silent = rounds.confidence[:, model] <= threshold
    return Played(np.where(silent, rounds.cost, rounds.losses[:, model]), silent)


def first_tenth(n: int) -> int:
    """How many of n rounds a threshold is tuned on; they do not count afterwards."""
    return n // 10


def best(
    rounds: Rounds, orders: Sequence[Ints] | None = None, share: float | None = None
) -> tuple[int, float, float]:  # fmt: skip
    """The best model, its threshold and their total loss; among equals the first model, then the lowest threshold.

    ``orders`` are the rounds that count, sorted by the confidence of each model, if they are known. With ``share``, no
    threshold abstains on more than this share of the rounds, unless more have no answer.
    """
    models = range(rounds.confidence.shape[1])
    found = (sums(rounds, model, None if orders is None else orders[model]) for model in models)
    if share is None or len(rounds.cost) == 0:
        return _least(found)
    most = np.sort(rounds.confidence, axis=0)[max(0, int(share * len(rounds.cost)) - 1)]
    most = most if share * len(rounds.cost) >= 1.0 else np.full(len(models), -np.inf)
    return _least((at[at <= most[m]], totals[at <= most[m]]) for m, (at, totals) in enumerate(found))


def _least(of_models: Iterable[tuple[Floats, Floats]]) -> tuple[int, float, float]:
    """The model, threshold and total with the least total, from each model's thresholds and totals."""
    found = (0, -np.inf, np.inf)
    for model, (thresholds, totals) in enumerate(of_models):
        k = int(np.argmin(totals))
        if totals[k] < found[2]:
            found = (model, float(thresholds[k]), float(totals[k]))
    return found


def sums(rounds: Rounds, model: int, order: Ints | None = None) -> tuple[Floats, Floats]:
    """The thresholds of a model, increasing, and the total loss of each, from one sort."""
    sure, lost, cost = (
        np.ascontiguousarray(part) for part in (rounds.confidence[:, model], rounds.losses[:, model], rounds.cost)
    )
    if order is None:
        order = np.argsort(sure, kind="stable")
    thresholds = np.concatenate([[-np.inf], sure[order[_quantiles(len(order))]], [np.inf]])
    totals = np.empty(len(thresholds))
    sweep(order, sure, lost, cost, thresholds, totals)
    return thresholds, totals


@lru_cache(maxsize=16)
def _quantiles(n: int) -> Ints:
    """The places of the quantiles among n sorted numbers."""
    return np.linspace(0, n - 1, min(n, QUANTILES)).round().astype(np.int64)


class Totals:
    """For each model and each of its thresholds: how often it answered, and its total loss.

    ``thresholds`` are increasing, one array per model. Each round is counted once, between two of them.
    """

    def __init__(self, thresholds: Sequence[Floats]) -> None:
        self.thresholds = [np.asarray(one) for one in thresholds]
        # Bin k: the confidence is above k of the thresholds.
        self._count, self._lost, self._cost = ([np.zeros(len(one) + 1) for one in thresholds] for _ in range(3))
        self.n = 0

    def add(self, rounds: Rounds) -> None:
        """Add rounds."""
        self.n += len(rounds.cost)
        for model, thresholds in enumerate(self.thresholds):
            above, n = np.searchsorted(thresholds, rounds.confidence[:, model], side="left"), len(thresholds) + 1
            self._count[model] += np.bincount(above, minlength=n)
            self._lost[model] += np.bincount(above, rounds.losses[:, model], n)
            self._cost[model] += np.bincount(above, rounds.cost, n)

    def answered(self, model: int) -> tuple[Ints, Floats]:
        """For each threshold of a model: the rounds above it, and their losses."""
        return _above(self._count[model]).astype(np.int64), _above(self._lost[model])

    def sums(self, model: int) -> Floats:
        """The total loss of each threshold of a model: losses above it, costs of the other rounds."""
        return _above(self._lost[model]) + np.cumsum(self._cost[model])[:-1]

    def total(self, model: int, threshold: float) -> float:
        """The total loss of a model with one of its thresholds."""
        return float(self.sums(model)[np.searchsorted(self.thresholds[model], threshold)])

    def best(self) -> tuple[int, float, float]:
        """The best model, its threshold and their total loss; among equals the first model, then the lowest threshold.

        >>> totals = Totals([np.array([-np.inf, 0.5])])
        >>> totals.add(Rounds(np.array([[0.9], [0.4]]), np.array([[0.0], [1.0]]), np.array([0.25, 0.25])))
        >>> totals.best()
        (0, 0.5, 0.25)
        """
        return _least((thresholds, self.sums(model)) for model, thresholds in enumerate(self.thresholds))


def _above(bins: Floats) -> Floats:
    """For each threshold the sum of the bins above it."""
    return np.cumsum(bins[::-1])[::-1][1:]
