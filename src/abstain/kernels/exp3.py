"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses.

Experts of one rule form a cell, as in `state`. The cumulative estimate of an expert is split: what it lost while
predicting, per expert, and what it paid while abstaining, per cell. Weights are kept up to date by multiplication, and
made anew from the cumulative estimates whenever the rate steps, their sum gets small, or errors could have added up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .jit import jit, part
from .state import Bools, Floats, Ints, Layout

FIXED, ANYTIME, ADAPTIVE = 0, 1, 2
ETA, SQUARES, LEARNT = 0, 1, 2
"""Places in `Weights.numbers`: the rate in use, V (the sum of q Lhat^2 so far), and the rounds learnt."""
REMAKE = 1024
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12."""
SMALL = 1e-9
"""The sum of the weights, K at first, below which they are made anew."""
TINY = 1e-200
"""Weights below this count as 0 until they are made anew: processors are slow with numbers near the least."""


class Settings(NamedTuple):
    """How the rate is set."""

    rate: int
    scale: float  # the rate itself, or for the anytime rate eta_t sqrt(t)
    log_experts: float
    ix: float  # added to the observation probability (implicit exploration)


class Weights(NamedTuple):
    """A learner: everything it knows."""

    how: Settings
    places: Layout
    rule_of: Ints  # (K,) of each expert
    losses: Floats  # (K,) estimated losses while predicting, summed
    paid: Floats  # (G,) costs while abstaining, summed
    weight: Floats  # (K,) exp(-eta losses), up to a factor of the cell
    factor: Floats  # (G,) that factor and exp(-eta paid), up to a common one
    sums: Floats  # (G,) of the weights of a cell
    numbers: Floats  # see the places above
    shrink: Floats  # (P,) scratch: exp(-eta Lhat) of each predictor
    estimate: Floats  # (P,) scratch: Lhat of each predictor


@part
def _sum(x: Floats, first: Any, last: Any) -> float:
    """The sum of ``x[first:last]`` by eight running sums: a fixed order that the processor's vectors can follow."""
    a = b = c = d = e = f = g = h = 0.0
    i = first
    while i + np.uint64(8) <= last:
        a += x[i]
        b += x[i + np.uint64(1)]
        c += x[i + np.uint64(2)]
        d += x[i + np.uint64(3)]
        e += x[i + np.uint64(4)]
        f += x[i + np.uint64(5)]
        g += x[i + np.uint64(6)]
        h += x[i + np.uint64(7)]
        i += np.uint64(8)
    while i < last:
        a += x[i]
        i += np.uint64(1)
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@jit
def remake(w: Weights) -> None:
    """Make the weights from the cumulative estimates: the best expert's is 1, so that nothing over- or underflows."""
    eta, n_cells = w.numbers[ETA], w.paid.size
    base = np.inf
    for cell in range(n_cells):
        low = np.inf
        for slot in range(w.places.start[cell], w.places.start[cell + 1]):
            low = min(low, w.losses[slot])
        w.factor[cell] = low + w.paid[cell]
        base = min(base, w.factor[cell])
        for slot in range(w.places.start[cell], w.places.start[cell + 1]):
            w.weight[slot] = math.exp(-eta * (w.losses[slot] - low))
        w.sums[cell] = _sum(w.weight, np.uint64(w.places.start[cell]), np.uint64(w.places.start[cell + 1]))
    for cell in range(n_cells):
        w.factor[cell] = math.exp(-eta * (w.factor[cell] - base))


@jit
def set_rate(eta: float, w: Weights) -> None:
    """Bring the weights to another rate."""
    if eta != w.numbers[ETA]:
        w.numbers[ETA] = eta
        remake(w)


@jit
def adaptive_rate(w: Weights) -> float:
    """``min(1, sqrt(log K / (1 + V)))``, rounded down to a power of 2^(1/8); 1 for a single expert."""
    eta = min(1.0, math.sqrt(w.how.log_experts / (1.0 + w.numbers[SQUARES])))
    return 2.0 ** (math.floor(8.0 * math.log2(eta)) / 8.0) if eta > 0.0 else 1.0


@jit
def draw(t: int, u: float, abstains: Bools, w: Weights) -> tuple[int, float]:
    """The slot drawn from q_t by ``u`` in [0, 1), and the q_t-mass of the experts that predict."""
    if w.how.rate == ANYTIME:
        w.numbers[ETA] = w.how.scale / math.sqrt(t)
        remake(w)
    total, predicting = 0.0, 0.0
    for cell in range(w.factor.size):
        mass = w.factor[cell] * w.sums[cell]
        total += mass
        if not abstains[w.places.rule[cell]]:
            predicting += mass
    target, chosen = u * total, -1
    for cell in range(w.factor.size):
        mass = w.factor[cell] * w.sums[cell]
        if mass > 0.0:
            chosen = cell  # by rounding the target may lie behind the last
            if target < mass:
                break
            target -= mass
    target /= w.factor[chosen]
    slot = -1
    for k in range(w.places.start[chosen], w.places.start[chosen + 1]):
        if w.weight[k] > 0.0:
            slot = k
            if target < w.weight[k]:
                break
            target -= w.weight[k]
    return slot, predicting / total


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
    w.sums[cell] = _sum(weight, first, last)
    return squares


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


@jit
def learn(abstains: Bools, losses: Any, seen: bool, probability: float, cost: float, w: Weights) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    eta = w.numbers[ETA]
    if seen:
        certainty = 1.0 / (probability + w.how.ix)
        of_one = math.exp(-eta * certainty)  # by far the most common, where it is not the only one
        for p in range(losses.size):
            w.estimate[p] = losses[p] * certainty
            if losses[p] == 0.0:
                w.shrink[p] = 1.0
            else:
                w.shrink[p] = of_one if losses[p] == 1.0 else math.exp(-eta * w.estimate[p])
    cheaper = math.exp(-eta * cost)
    before = squares = after = 0.0
    for cell in range(w.paid.size):
        mass = w.factor[cell] * w.sums[cell]
        before += mass
        if abstains[w.places.rule[cell]]:
            squares += mass * (cost * cost)
            w.paid[cell] += cost
            w.factor[cell] *= cheaper
        elif seen:
            squares += w.factor[cell] * _shrink_cell(cell, w)
        after += w.factor[cell] * w.sums[cell]
    w.numbers[LEARNT] += 1.0
    if w.how.rate == ADAPTIVE:
        w.numbers[SQUARES] += squares / before
        set_rate(adaptive_rate(w), w)
    if after < SMALL or w.numbers[LEARNT] % REMAKE == 0.0:
        remake(w)
