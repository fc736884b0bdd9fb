"""EXP3-ABS on cells of several experts: those that abstain take a step a cell, those that predict a step an expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from .exp3_state import ADAPTIVE, TINY, Weights, total
from .jit import part
from .state import Bools, Floats


@part
def _weighted_squares(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y^2`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        a += x[first + i] * (y[i] * y[i])
        b += x[first + i + np.uint64(1)] * (y[i + np.uint64(1)] * y[i + np.uint64(1)])
        c += x[first + i + np.uint64(2)] * (y[i + np.uint64(2)] * y[i + np.uint64(2)])
        d += x[first + i + np.uint64(3)] * (y[i + np.uint64(3)] * y[i + np.uint64(3)])
        i += np.uint64(4)
    while i < n:
        a += x[first + i] * (y[i] * y[i])
        i += np.uint64(1)
    return (a + b) + (c + d)


@part
def _shrink_cell(cell: int, w: Weights) -> float:
    """Learn the estimates of a predicting cell; the sum of weight Lhat^2 before."""
    losses, weight, predictor = w.losses, w.weight, w.places.predictor
    estimate, shrink = w.estimate, w.shrink
    first, last = np.uint64(w.places.start[cell]), np.uint64(w.places.start[cell + 1])
    squares = 0.0
    if w.places.product:
        for i in range(last - first):
            losses[first + i] += estimate[i]
        if w.how.rate == ADAPTIVE:
            squares = _weighted_squares(weight, first, last, estimate)
        for i in range(last - first):
            less = weight[first + i] * shrink[i]
            weight[first + i] = less if less > TINY else 0.0
    else:
        for k in range(first, last):
            p = np.uint64(predictor[k])
            squares += weight[k] * (estimate[p] * estimate[p])
            losses[k] += estimate[p]
            less = weight[k] * shrink[p]
            weight[k] = less if less > TINY else 0.0
    w.sums[cell] = total(weight, first, last)
    return squares


@part
def learn_cells(abstains: Bools, seen: bool, cost: float, cheaper: float, w: Weights) -> tuple[float, float]:
    """Learn the estimates of a round: the mean of Lhat^2 before, if asked for, and the sum of the weights after."""
    before = squares = after = 0.0
    for cell in range(w.paid.size):
        mass = w.factor[cell] * w.sums[cell]
        before += mass
        if abstains[w.places.rule[cell]]:
            squares += mass * (cost * cost)
            w.paid[cell] += cost
            less = w.factor[cell] * cheaper
            w.factor[cell] = less if less > TINY else 0.0
        elif seen:
            squares += w.factor[cell] * _shrink_cell(cell, w)
        after += w.factor[cell] * w.sums[cell]
    return squares / before, after
