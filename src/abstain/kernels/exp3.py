"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses.

Weights are kept up to date by multiplication, and made anew from the cumulative estimates whenever the rate steps,
their sum gets small, or errors could have added up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .exp3_cells import learn_cells
from .exp3_singles import learn_singles, predicting
from .exp3_state import ADAPTIVE, ANYTIME, ETA, LEARNT, SQUARES, TINY, Weights, total
from .jit import jit
from .rates import adaptive
from .state import Bools

REMAKE = 1024
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12."""
SMALL = 1e-9
"""The sum of the weights, K at first, below which they are made anew."""


@jit
def remake(w: Weights) -> None:
    """Make the weights from the cumulative estimates: the best expert's is 1, so that nothing over- or underflows."""
    eta, n_groups = w.numbers[ETA], w.paid.size
    base = np.inf
    for group in range(n_groups):
        low = np.inf
        for slot in range(w.start[group], w.start[group + 1]):
            low = min(low, w.losses[slot])
        w.sums[group], w.factor[group] = low, low + w.paid[group]  # for the time being
        base = min(base, w.factor[group])
    for group in range(n_groups):
        first, last = w.start[group], w.start[group + 1]
        low = base if w.places.single else w.sums[group]
        for slot in range(first, last):
            weight = math.exp(-eta * (w.losses[slot] - low))
            w.weight[slot] = weight if weight > TINY else 0.0
        w.sums[group] = total(w.weight, np.uint64(first), np.uint64(last))
        factor = 1.0 if w.places.single else math.exp(-eta * (w.factor[group] - base))
        w.factor[group] = factor if factor > TINY else 0.0


@jit
def draw(t: int, u: float, abstains: Bools, w: Weights) -> tuple[int, float]:
    """The slot drawn from q_t by ``u`` in [0, 1), and the q_t-mass of the experts that predict."""
    if w.how.rate == ANYTIME:
        w.numbers[ETA] = w.how.scale / math.sqrt(t)
        remake(w)
    everybody, seeing = 0.0, 0.0
    if w.places.single:
        everybody, seeing = total(w.sums, np.uint64(0), np.uint64(w.sums.size)), predicting(abstains, w)
    else:
        for cell in range(w.factor.size):
            mass = w.factor[cell] * w.sums[cell]
            everybody += mass
            if not abstains[w.places.rule[cell]]:
                seeing += mass
    target, chosen = u * everybody, -1
    for group in range(w.factor.size):
        mass = w.factor[group] * w.sums[group]
        if mass > 0.0:
            chosen = group  # by rounding the target may lie behind the last
            if target < mass:
                break
            target -= mass
    target /= w.factor[chosen]
    slot = -1
    for k in range(w.start[chosen], w.start[chosen + 1]):
        if w.weight[k] > 0.0:
            slot = k
            if target < w.weight[k]:
                break
            target -= w.weight[k]
    return slot, min(1.0, seeing / everybody)


@jit
def learn(abstains: Bools, losses: Any, seen: bool, probability: float, cost: float, w: Weights) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    eta, estimate, shrink, n = w.numbers[ETA], w.estimate, w.shrink, np.uint64(losses.size)
    certainty = 1.0 / (probability + w.how.ix) if seen else 0.0
    of_one = math.exp(-eta * certainty)
    others = 0  # losses but 0 and 1, which are by far the most common
    for p in range(n):
        estimate[p] = certainty * losses[p]
    for p in range(n):
        shrink[p] = 1.0 if losses[p] == 0 else of_one
    for p in range(n):
        others += (losses[p] != 0) & (losses[p] != 1)
    if others > 0:
        for p in range(n):
            shrink[p] = math.exp(-eta * estimate[p])
    cheaper = math.exp(-eta * cost)
    if w.places.single:
        squares, after = learn_singles(abstains, seen, cost, cheaper, w)
    else:
        squares, after = learn_cells(abstains, seen, cost, cheaper, w)
    w.numbers[LEARNT] += 1.0
    old = w.numbers[ETA]
    if w.how.rate == ADAPTIVE:
        w.numbers[SQUARES] += squares
        w.numbers[ETA] = adaptive(w.how.log_experts, w.numbers[SQUARES])
    if w.numbers[ETA] != old or after < SMALL or w.numbers[LEARNT] % REMAKE == 0.0:
        remake(w)
