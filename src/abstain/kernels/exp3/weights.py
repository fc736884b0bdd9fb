"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses.

Weights are kept up to date by multiplication, and made anew from the cumulative estimates whenever the rate steps,
their sum gets small, or errors could have added up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...typing import Bools, Floats
from ..jit import inline, kernel
from .own_rules import learn_own_rules, predicting
from .rate import ADAPTIVE, ANYTIME, LEAST_PROBABILITY, adaptive
from .shared_rules import learn_shared_rules
from .state import ETA, LEARNT, SQUARES, TINY, WeightState, total

REMAKE = 1024
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12."""
SMALL = 1e-9
"""The sum of the weights, K at first, below which they are made anew."""


@kernel
def remake(s: WeightState) -> None:
    """Make the weights from the cumulative estimates: the best expert's is 1, so that nothing over- or underflows."""
    eta, n_groups = s.numbers[ETA], s.paid.size
    base = np.inf
    for group in range(n_groups):
        low = np.inf
        for slot in range(s.start[group], s.start[group + 1]):
            low = min(low, s.losses[slot])
        s.sums[group], s.factor[group] = low, low + s.paid[group]  # for the time being
        base = min(base, s.factor[group])
    for group in range(n_groups):
        first, last = s.start[group], s.start[group + 1]
        low = base if s.layout.alone else s.sums[group]
        for slot in range(first, last):
            weight = math.exp(-eta * (s.losses[slot] - low))
            s.weight[slot] = weight if weight > TINY else 0.0
        s.sums[group] = total(s.weight, np.uint64(first), np.uint64(last))
        factor = 1.0 if s.layout.alone else math.exp(-eta * (s.factor[group] - base))
        s.factor[group] = factor if factor > TINY else 0.0


@inline
def _draw(target: float, s: WeightState) -> int:
    """The slot at ``target`` when the weights are laid end to end; by rounding it may lie behind the last."""
    group = 0
    for k in range(s.factor.size):
        mass = s.factor[k] * s.sums[k]
        if mass > 0.0:
            group = k
            if target < mass:
                break
            target -= mass
    target /= s.factor[group]
    slot = s.start[group]
    for k in range(s.start[group], s.start[group + 1]):
        if s.weight[k] > 0.0:
            slot = k
            if target < s.weight[k]:
                break
            target -= s.weight[k]
    return int(slot)


@kernel
def choose(t: int, u: float, x: Any, abstains: Bools, carry: Floats, s: WeightState) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the q_t-mass P_t of the experts that predict, also carried."""
    if s.rate.kind == ANYTIME:
        s.numbers[ETA] = s.rate.scale / math.sqrt(t)
        remake(s)
    everybody, seeing = 0.0, 0.0
    if s.layout.alone:
        everybody, seeing = total(s.sums, np.uint64(0), np.uint64(s.sums.size)), predicting(abstains, s)
    else:
        for team in range(s.factor.size):
            mass = s.factor[team] * s.sums[team]
            everybody += mass
            if not abstains[s.layout.rule[team]]:
                seeing += mass
    carry[0] = min(1.0, seeing / everybody)
    return s.layout.expert[_draw(u * everybody, s)], carry[0]


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: WeightState) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    eta, estimate, shrink, n = s.numbers[ETA], s.estimate, s.shrink, np.uint64(losses.size)
    certainty = 1.0 / (max(carry[0], LEAST_PROBABILITY) + s.ix) if seen else 0.0
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
    if s.layout.alone:
        squares, after = learn_own_rules(abstains, seen, cost, cheaper, s)
    else:
        squares, after = learn_shared_rules(abstains, seen, cost, cheaper, s)
    s.numbers[LEARNT] += 1.0
    old = s.numbers[ETA]
    if s.rate.kind == ADAPTIVE:
        s.numbers[SQUARES] += squares
        s.numbers[ETA] = adaptive(s.rate.log_experts, s.numbers[SQUARES])
    if s.numbers[ETA] != old or after < SMALL or s.numbers[LEARNT] % REMAKE == 0.0:
        remake(s)
