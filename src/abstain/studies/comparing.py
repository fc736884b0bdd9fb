"""What learners are compared with: the best expert, and where the stream moves, the best sequence of experts."""

import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..regret import losses_of, sums_of_all
from ..typing import Floats, Ints
from .told import Table


class _Counted(threading.local):
    """What was summed up, as long as the table is kept."""

    def __init__(self) -> None:
        self.of: WeakKeyDictionary[Table, tuple[Floats, Floats]] = WeakKeyDictionary()


_counted = _Counted()


def compare(tables: Sequence[Callable[[], Table]], cost: float, at: Ints) -> dict[str, Any]:
    """The expert with the least mean total loss over the draws, the lowest number among equals, and its losses up to
    the rounds ``at``; where there are several regimes, the same for the best expert of each.
    """
    first = tables[0]()
    n_regimes = int(first.regime.max()) + 1
    erred, silent = np.zeros((2, n_regimes, first.experts.n_experts))
    for table in tables:
        counts = _counts(table(), n_regimes)
        erred += counts[0]
        silent += counts[1]
    # Abstentions are counted first and multiplied then: experts that abstain and err equally often are equal.
    best = int(np.argmin(erred.sum(axis=0) + cost * silent.sum(axis=0)))
    record: dict[str, Any] = {"expert": best, "best": _curves([best] * n_regimes, tables, cost, at)}
    if n_regimes > 1:
        sequence = np.argmin(erred + cost * silent, axis=1).tolist()
        record |= {"sequence": sequence, "tracked": _curves(sequence, tables, cost, at)}
    return record


def _counts(table: Table, n_regimes: int) -> tuple[Floats, Floats]:
    """The sum of the losses of each expert where it predicts, and how often it abstains, in each regime (R, K): once
    for all costs.
    """
    if table not in _counted.of:
        erred, silent = np.zeros((2, n_regimes, table.experts.n_experts))
        borders = [0, *(np.flatnonzero(np.diff(table.regime)) + 1).tolist(), len(table.X)]
        for rows in map(slice, borders, borders[1:]):
            regime, once = table.regime[rows.start], np.ones(rows.stop - rows.start)
            sums = sums_of_all(table.experts, table.X[rows], table.y[rows], table.loss, once)
            erred[regime] += sums[0]
            silent[regime] += sums[1]
        _counted.of[table] = erred, silent
    return _counted.of[table]


def _curves(sequence: Sequence[int], tables: Sequence[Callable[[], Table]], cost: float, at: Ints) -> list[list[float]]:
    """What a sequence of experts, one a regime, has lost on each draw."""
    curves = []
    for table in (make() for make in tables):
        losses, paid = np.zeros(len(table.X)), np.full(len(table.X), cost)
        for expert in set(sequence):
            own = losses_of(expert, table.experts, table.X, table.y, table.loss, paid)
            losses = np.where(np.array(sequence)[table.regime] == expert, own, losses)
        curves.append(np.cumsum(losses)[at - 1].tolist())
    return curves
