"""EXP3-ABS where every expert has a rule of its own: slot and rule are the same, and loops need no branches.

The compiler makes vector instructions of loops over elements that write one array (of two it would have to know that
they do not overlap), but not of running sums without fast-math: sums are taken side by side.
"""

from __future__ import annotations

import numpy as np

from ...typing import Bools, Ints
from ..jit import inline
from ..layout import CHUNK
from .rate import ADAPTIVE
from .state import TINY, WeightState, total


@inline
def predicting(abstains: Bools, s: WeightState) -> float:
    """The sum of the weights of those who predict, by as many running sums as a chunk has slots."""
    weight, sums = s.weight, s.scratch
    first, n, size = np.uint64(0), np.uint64(weight.size), np.uint64(CHUNK)
    for i in range(min(size, n)):
        sums[i] = 0.0
    while first + np.uint64(4) * size <= n:
        for i in range(size):
            a, b, c, d = first + i, first + size + i, first + np.uint64(2) * size + i, first + np.uint64(3) * size + i
            x, y, z, v = weight[a], weight[b], weight[c], weight[d]
            two = (0.0 if abstains[a] else x) + (0.0 if abstains[b] else y)
            sums[i] += two + ((0.0 if abstains[c] else z) + (0.0 if abstains[d] else v))
        first += np.uint64(4) * size
    while first < n:
        for i in range(min(size, n - first)):
            x = weight[first + i]
            sums[i] += 0.0 if abstains[first + i] else x
        first += size
    return total(sums, np.uint64(0), min(size, n))


@inline
def _weighted(squared: bool, run: Ints, abstains: Bools, cost: float, s: WeightState) -> float:
    """The sum of weight Lhat, or of weight Lhat^2."""
    weight, terms, estimate, predictor = s.weight, s.scratch, s.estimate, s.layout.predictor
    of_cost = cost * cost if squared else cost
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        lost = estimate[np.uint64(predictor[first])]
        of_loss = lost * lost if squared else lost
        for i in range(np.uint64(run[r + np.uint64(1)]) - first):
            terms[first + i] = weight[first + i] * (of_cost if abstains[first + i] else of_loss)
    return total(terms, np.uint64(0), np.uint64(terms.size))


@inline
def _learn_runs(run: Ints, abstains: Bools, cost: float, cheaper: float, s: WeightState) -> None:
    """Learn where slots of one predictor lie next to each other: nothing to gather."""
    losses, weight = s.losses, s.weight
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        n = np.uint64(run[r + np.uint64(1)]) - first
        p = np.uint64(s.layout.predictor[first])
        lost, keep = s.estimate[p], s.shrink[p]
        for i in range(n):
            losses[first + i] += cost if abstains[first + i] else lost
        for i in range(n):
            less = weight[first + i] * (cheaper if abstains[first + i] else keep)
            weight[first + i] = less if less > TINY else 0.0


@inline
def _learn_scattered(abstains: Bools, cost: float, cheaper: float, s: WeightState) -> None:
    """Learn where they do not: gather first, so that the rest is vector instructions."""
    losses, weight, gathered, predictor = s.losses, s.weight, s.scratch, s.layout.predictor
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(s.weight.size)
    for k in range(n):
        gathered[k] = estimate[np.uint64(predictor[k])]
    for k in range(n):
        lost = gathered[k]
        losses[k] += cost if abstains[k] else lost
    for k in range(n):
        gathered[k] = shrink[np.uint64(predictor[k])]
    for k in range(n):
        keep = gathered[k]
        less = weight[k] * (cheaper if abstains[k] else keep)
        weight[k] = less if less > TINY else 0.0


@inline
def _add_up(s: WeightState) -> None:
    """The sum of each chunk: four weights to a lane, then the lanes.

    The compiler unrolls short loops instead of using vectors: it must not know the number of lanes.
    """
    weight, one = s.weight, np.uint64(s.lanes.shape[1])
    two, three, first = np.uint64(2) * one, np.uint64(3) * one, np.uint64(0)
    for c in range(s.lanes.shape[0]):
        lane = s.lanes[c]
        for j in range(one):
            i = first + j
            lane[j] = (weight[i] + weight[i + one]) + (weight[i + two] + weight[i + three])
        first += np.uint64(CHUNK)
    for c in range(s.lanes.shape[0]):
        x = s.lanes[c]
        a = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
        s.sums[c] = a + (((x[8] + x[9]) + (x[10] + x[11])) + ((x[12] + x[13]) + (x[14] + x[15])))
    if s.lanes.shape[0] < s.sums.size:
        s.sums[s.sums.size - 1] = total(weight, first, np.uint64(weight.size))


@inline
def learn_own_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, s: WeightState
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round: the means of Lhat and Lhat^2 before, if asked for, the sum of the weights after.

    If not ``moved``, all predictors are alike: their estimates are 0.
    """
    run, n_sums = s.layout.run if moved else s.whole, np.uint64(s.sums.size)
    mean = squares = 0.0
    if s.rate.kind == ADAPTIVE or s.scored:
        before = total(s.sums, np.uint64(0), n_sums)
        if s.rate.kind == ADAPTIVE:
            squares = _weighted(True, run, abstains, cost, s) / before
        if s.scored:
            mean = _weighted(False, run, abstains, cost, s) / before
    if 8 * (run.size - 1) > s.weight.size:
        _learn_scattered(abstains, cost, cheaper, s)
    else:
        _learn_runs(run, abstains, cost, cheaper, s)
    _add_up(s)
    return mean, squares, total(s.sums, np.uint64(0), n_sums)


@inline
def mean_of_own_rules(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    return _weighted(False, s.layout.run, abstains, 0.0, s) / total(s.sums, np.uint64(0), np.uint64(s.sums.size))
