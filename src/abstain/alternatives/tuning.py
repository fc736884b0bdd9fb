"""One model, one threshold."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..kernels.thresholds import sweep
from ..tables import as_count
from ..typing import Floats, Ints
from .rounds import Played, Rounds, as_rounds

QUANTILES = 200
"""Thresholds tried for each model; on so many rounds or fewer, all that make a difference."""


@dataclass(frozen=True, eq=False)
class Tuned(Played):
    """A model and the threshold its confidence has to exceed.

    A threshold of minus infinity answers always (where the model has an answer), one of infinity never.
    """

    model: int
    threshold: float


def tuned(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike, first: int) -> Tuned:
    """The model and threshold that lose least on the ``first`` rounds, all of whose labels are known, kept for ever.

    Thresholds are 200 quantiles of each model's confidence in those rounds, and answering always or never.

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
    """The model and threshold that lose least on the rounds ``first``, ..., ``last - 1`` (all, if not given): nobody
    could have known.
    """
    rounds = as_rounds(confidence, losses, cost)
    end = len(rounds.cost) if last is None else as_count(last, "last", most=len(rounds.cost))
    begin = as_count(first, "first", least=0)
    if begin >= end:
        raise InputError(f"first: expected a round before {end}, got {begin}")
    return _best_in(rounds, begin, end)


def _best_in(rounds: Rounds, first: int, last: int) -> Tuned:
    model, threshold, _ = best(Rounds(*(part[first:last] for part in rounds)))
    silent = rounds.confidence[:, model] <= threshold
    return Tuned(np.where(silent, rounds.cost, rounds.losses[:, model]), silent, model, threshold)


def best(rounds: Rounds, orders: Sequence[Ints] | None = None) -> tuple[int, float, float]:
    """The best model, its threshold and what they lose in all; among equals the first model, the least threshold.

    ``orders`` are the rounds that count, sorted by the confidence of each model, where they are known.
    """
    found = (0, -np.inf, np.inf)
    for model in range(rounds.confidence.shape[1]):
        thresholds, totals = sums(rounds, model, None if orders is None else orders[model])
        k = int(np.argmin(totals))
        if totals[k] < found[2]:
            found = (model, float(thresholds[k]), float(totals[k]))
    return found


def sums(rounds: Rounds, model: int, order: Ints | None = None) -> tuple[Floats, Floats]:
    """The thresholds of a model, increasing, and what each loses in all rounds: by sorting once, not by trying."""
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
    """Their places among n sorted numbers."""
    return np.linspace(0, n - 1, min(n, QUANTILES)).round().astype(np.int64)
