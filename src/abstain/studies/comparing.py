"""What learners are compared with: the best expert, and where the stream moves, the best sequence of experts."""

import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..engine.play import Prepared
from ..regret import losses_of, sums_of_all
from ..typing import Floats, Ints


class Draw(NamedTuple):
    """A draw of the data."""

    rounds: Prepared
    regime: Ints
    """The regime of each round: those of one come in the same way."""


class _Counted(threading.local):
    """What was summed up, as long as the rounds are kept."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[Prepared, tuple[Floats, Floats]] = WeakKeyDictionary()


_counted = _Counted()


def compare(draws: Sequence[Callable[[], Draw]], cost: float, at: Ints) -> dict[str, Any]:
    """The expert with the least mean total loss over the draws, the lowest number among equals, and its losses up to
    the rounds ``at``; where there are several regimes, the same for the best expert of each.
    """
    first = draws[0]()
    n_regimes = int(first.regime.max()) + 1
    erred, silent = np.zeros((2, n_regimes, first.rounds.experts.n_experts))
    for draw in draws:
        counts = _counts(draw(), n_regimes)
        erred += counts[0]
        silent += counts[1]
    # Abstentions are counted first and multiplied then: experts that abstain and err equally often are equal.
    best = int(np.argmin(erred.sum(axis=0) + cost * silent.sum(axis=0)))
    record: dict[str, Any] = {"expert": best, "best": _curves([best] * n_regimes, draws, cost, at)}
    if n_regimes > 1:
        sequence = np.argmin(erred + cost * silent, axis=1).tolist()
        record |= {"sequence": sequence, "tracked": _curves(sequence, draws, cost, at)}
    return record


def _counts(draw: Draw, n_regimes: int) -> tuple[Floats, Floats]:
    """The sum of the losses of each expert where it predicts, and how often it abstains, in each regime (R, K): once
    for all costs.
    """
    rounds, regime = draw
    if rounds not in _counted.of:
        erred, silent = np.zeros((2, n_regimes, rounds.experts.n_experts))
        once = np.ones(len(rounds))
        borders = [0, *(np.flatnonzero(np.diff(regime)) + 1).tolist(), len(rounds)]
        for first, last in pairwise(borders):
            sums = sums_of_all(rounds, once, first, last)
            erred[regime[first]] += sums[0]
            silent[regime[first]] += sums[1]
        _counted.of[rounds] = erred, silent
    return _counted.of[rounds]


def _curves(sequence: Sequence[int], draws: Sequence[Callable[[], Draw]], cost: float, at: Ints) -> list[list[float]]:
    """What a sequence of experts, one a regime, has lost on each draw."""
    curves = []
    for rounds, regime in (make() for make in draws):
        losses, paid = np.zeros(len(rounds)), np.full(len(rounds), cost)
        for expert in set(sequence):
            own = losses_of(expert, rounds, paid)
            losses = np.where(np.array(sequence)[regime] == expert, own, losses)
        curves.append(np.cumsum(losses)[at - 1].tolist())
    return curves
