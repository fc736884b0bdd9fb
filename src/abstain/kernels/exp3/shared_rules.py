"""EXP3-ABS on teams of several experts: those that abstain take a step a team, those that predict a step an expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Bools, Floats
from ..jit import inline
from .rate import ADAPTIVE
from .state import TINY, WeightState, total


@inline
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


@inline
def _weighted(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        a += x[first + i] * y[i]
        b += x[first + i + np.uint64(1)] * y[i + np.uint64(1)]
        c += x[first + i + np.uint64(2)] * y[i + np.uint64(2)]
        d += x[first + i + np.uint64(3)] * y[i + np.uint64(3)]
        i += np.uint64(4)
    while i < n:
        a += x[first + i] * y[i]
        i += np.uint64(1)
    return (a + b) + (c + d)


@inline
def _moments(x: Floats, first: Any, last: Any, y: Floats) -> tuple[float, float]:
    """`_weighted` and `_weighted_squares` in one go."""
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        k, o, q, r = y[i], y[i + np.uint64(1)], y[i + np.uint64(2)], y[i + np.uint64(3)]
        u, v = x[first + i] * k, x[first + i + np.uint64(1)] * o
        w, z = x[first + i + np.uint64(2)] * q, x[first + i + np.uint64(3)] * r
        a, b, c, d = a + u, b + v, c + w, d + z
        e, f, g, h = e + u * k, f + v * o, g + w * q, h + z * r
        i += np.uint64(4)
    while i < n:
        u = x[first + i] * y[i]
        a, e = a + u, e + u * y[i]
        i += np.uint64(1)
    return (a + b) + (c + d), (e + f) + (g + h)


@inline
def _shrink_team(team: int, s: WeightState) -> tuple[float, float]:
    """Learn the estimates of a predicting team; the sums of weight Lhat, if asked for, and of weight Lhat^2 before."""
    losses, weight, predictor = s.losses, s.weight, s.layout.predictor
    estimate, shrink = s.estimate, s.shrink
    first, last = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
    mean, squares = 0.0, 0.0
    if s.layout.product:
        for i in range(last - first):
            losses[first + i] += estimate[i]
        if s.scored:
            mean, squares = _moments(weight, first, last, estimate)
        elif s.rate.kind == ADAPTIVE:
            squares = _weighted_squares(weight, first, last, estimate)
        for i in range(last - first):
            less = weight[first + i] * shrink[i]
            weight[first + i] = less if less > TINY else 0.0
    else:
        for k in range(first, last):
            p = np.uint64(predictor[k])
            mean += weight[k] * estimate[p]
            squares += weight[k] * (estimate[p] * estimate[p])
            losses[k] += estimate[p]
            less = weight[k] * shrink[p]
            weight[k] = less if less > TINY else 0.0
    s.sums[team] = total(weight, first, last)
    return mean, squares


@inline
def learn_shared_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, s: WeightState
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round: the means of Lhat and Lhat^2 before, if asked for, the sum of the weights after.

    ``moved`` says whether there are estimates for those who predict, other than 0.
    """
    before = mean = squares = after = 0.0
    for team in range(s.paid.size):
        mass = s.factor[team] * s.sums[team]
        before += mass
        if abstains[s.layout.rule[team]]:
            mean += mass * cost
            squares += mass * (cost * cost)
            s.paid[team] += cost
            less = s.factor[team] * cheaper
            s.factor[team] = less if less > TINY else 0.0
        elif moved:
            of_team, of_squares = _shrink_team(team, s)
            mean += s.factor[team] * of_team
            squares += s.factor[team] * of_squares
        after += s.factor[team] * s.sums[team]
    return mean / before, squares / before, after


@inline
def mean_of_shared_rules(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    mean = everybody = 0.0
    for team in range(s.paid.size):
        everybody += s.factor[team] * s.sums[team]
        if not abstains[s.layout.rule[team]]:
            first, last = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
            if s.layout.product:
                mean += s.factor[team] * _weighted(s.weight, first, last, s.estimate)
            else:
                of_team = 0.0
                for k in range(first, last):
                    of_team += s.weight[k] * s.estimate[np.uint64(s.layout.predictor[k])]
                mean += s.factor[team] * of_team
    return mean / everybody
