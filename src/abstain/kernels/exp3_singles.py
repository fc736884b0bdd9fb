"""EXP3-ABS where every cell is one expert: slot, cell and rule are the same, and all goes in loops without branches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .exp3_state import ADAPTIVE, ETA, TINY, Weights, total
from .jit import part
from .state import CHUNK, Bools, Floats


@part
def _eight(x: Floats, i: Any) -> float:
    """The sum of eight numbers from i on."""
    one, two, three, four = i + np.uint64(1), i + np.uint64(2), i + np.uint64(3), i + np.uint64(4)
    five, six, seven = i + np.uint64(5), i + np.uint64(6), i + np.uint64(7)
    return ((x[i] + x[one]) + (x[two] + x[three])) + ((x[four] + x[five]) + (x[six] + x[seven]))


@part
def _add_up(w: Weights) -> None:
    """The sum of the weights of each chunk: four to a lane, then the lanes.

    The compiler makes vectors of loops over elements, not of running sums; and not of loops so short that it can unroll
    them, so it must not know the number of lanes.
    """
    weight, n_lanes = w.weight, np.uint64(w.lanes.shape[1])
    first = np.uint64(0)
    for c in range(w.lanes.shape[0]):
        lane = w.lanes[c]
        for j in range(n_lanes):
            i = first + j
            lane[j] = (weight[i] + weight[i + n_lanes]) + (weight[i + np.uint64(2) * n_lanes] + weight[i + np.uint64(3) * n_lanes])
        first += np.uint64(CHUNK)
    for c in range(w.lanes.shape[0]):
        w.sums[c] = _eight(w.lanes[c], np.uint64(0)) + _eight(w.lanes[c], np.uint64(8))
    if w.lanes.shape[0] < w.sums.size:
        w.sums[w.sums.size - 1] = total(weight, first, np.uint64(weight.size))


@part
def remake_singles(w: Weights) -> None:
    """Make the weights from the cumulative estimates; the best expert's is 1."""
    eta, base = w.numbers[ETA], np.inf
    for k in range(w.losses.size):
        base = min(base, w.losses[k])
    for k in range(w.losses.size):
        weight = math.exp(-eta * (w.losses[k] - base))
        w.weight[k] = weight if weight > TINY else 0.0
    _add_up(w)


@part
def _predicting(abstains: Bools, w: Weights) -> float:
    """The sum of the weights of those who predict, by as many running sums as a chunk has slots."""
    weight, sums = w.weight, w.scratch
    n = np.uint64(weight.size)
    for i in range(min(np.uint64(CHUNK), n)):
        sums[i] = 0.0 if abstains[i] else weight[i]
    first = np.uint64(CHUNK)
    while first + np.uint64(CHUNK) <= n:
        for i in range(np.uint64(CHUNK)):
            x = weight[first + i]
            sums[i] += 0.0 if abstains[first + i] else x
        first += np.uint64(CHUNK)
    if first < n:
        for i in range(n - first):
            x = weight[first + i]
            sums[i] += 0.0 if abstains[first + i] else x
    return total(sums, np.uint64(0), min(np.uint64(CHUNK), n))


@part
def draw_single(u: float, abstains: Bools, w: Weights) -> tuple[int, float]:
    """As `exp3.draw`: first the chunk, then the slot in it."""
    mass = total(w.sums, np.uint64(0), np.uint64(w.sums.size))
    target, chunk = u * mass, -1
    for c in range(w.sums.size):
        if w.sums[c] > 0.0:
            chunk = c  # by rounding the target may lie behind the last
            if target < w.sums[c]:
                break
            target -= w.sums[c]
    slot = -1
    for k in range(chunk * CHUNK, min((chunk + 1) * CHUNK, w.weight.size)):
        if w.weight[k] > 0.0:
            slot = k
            if target < w.weight[k]:
                break
            target -= w.weight[k]
    return slot, min(1.0, _predicting(abstains, w) / mass)


@part
def _squares(abstains: Bools, cost: float, w: Weights) -> float:
    """The sum of weight Lhat^2."""
    weight, terms, estimate = w.weight, w.scratch, w.estimate
    run, predictor, of_cost = w.places.run, w.places.predictor, cost * cost
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        lost = estimate[np.uint64(predictor[first])]
        square = lost * lost
        for i in range(np.uint64(run[r + np.uint64(1)]) - first):
            terms[first + i] = weight[first + i] * (of_cost if abstains[first + i] else square)
    return total(terms, np.uint64(0), np.uint64(terms.size))


@part
def learn_singles(abstains: Bools, cost: float, cheaper: float, w: Weights) -> tuple[float, float]:
    """Learn the estimates of a round: the mean of Lhat^2 before, if it is asked for, and the sum of the weights after.

    Slots of one predictor lie next to each other in runs.
    """
    losses, weight, estimate, shrink = w.losses, w.weight, w.estimate, w.shrink
    run, predictor = w.places.run, w.places.predictor
    n_sums = np.uint64(w.sums.size)
    squares = 0.0
    if w.how.rate == ADAPTIVE:
        squares = _squares(abstains, cost, w) / total(w.sums, np.uint64(0), n_sums)
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        n = np.uint64(run[r + np.uint64(1)]) - first
        p = np.uint64(predictor[first])
        lost, keep = estimate[p], shrink[p]
        for i in range(n):  # one array a loop: of two the compiler would have to know that they do not overlap
            losses[first + i] += cost if abstains[first + i] else lost
        for i in range(n):
            less = weight[first + i] * (cheaper if abstains[first + i] else keep)
            weight[first + i] = less if less > TINY else 0.0
    _add_up(w)
    return squares, total(w.sums, np.uint64(0), n_sums)
