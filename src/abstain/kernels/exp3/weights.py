"""Exponential weights: kept up to date by multiplication, and made anew from the cumulative estimates whenever the rate
steps, their sum gets small or large, the past fades, or errors could have added up.
"""

from __future__ import annotations

import math

import numpy as np

from ...typing import Bools
from ..jit import inline, kernel
from .own_rules import learn_own_rules, mean_of_own_rules
from .rate import ADAPTIVE, adaptive
from .shared_rules import learn_shared_rules, mean_of_shared_rules
from .state import ETA, LEARNT, SQUARES, TINY, Memories, WeightState, one_of, total

REMAKE, REMAKE_SIGNED = 1024, 64
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12. Where estimates may be negative,
weights may grow, by a factor of exp(10/3) a round at most: one that counts as 0 must not be missed when it has grown.
"""
SMALL, LARGE = 1e-9, 1e100
"""Sums of the weights, K at first, below and above which they are made anew."""
SCORES_KEPT = 0.9995
"""What is kept of the memories' scores in a round: the best of them may change, too."""


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
    s.base[0] = base
    for group in range(n_groups):
        first, last = s.start[group], s.start[group + 1]
        low = base if s.layout.alone else s.sums[group]
        for slot in range(first, last):
            weight = math.exp(-eta * (s.losses[slot] - low))
            s.weight[slot] = weight if weight > TINY else 0.0
        s.sums[group] = total(s.weight, np.uint64(first), np.uint64(last))
        factor = 1.0 if s.layout.alone else math.exp(-eta * (s.factor[group] - base))
        s.factor[group] = factor if factor > TINY else 0.0


@kernel
def remake_all(s: Memories) -> None:
    """Make the weights of every memory anew."""
    for j in range(s.mix.size):
        remake(one_of(s, j))


@inline
def learn(
    abstains: Bools, moved: bool, cost: float, cheaper: float, aside: float, square: float, renew: int, every: int,
    keep: float, s: WeightState,
) -> float:  # fmt: skip
    """Learn the estimates of a round, in `estimate` and (as factors of the weights) `shrink`; their mean before.

    ``cheaper`` is the factor of those who abstain and pay ``cost``; ``aside`` the mass of an expert that is not among
    these, and ``square`` that of its estimate; weights are made anew every ``renew`` rounds.
    """
    if s.layout.alone:
        mean, squares, after = learn_own_rules(abstains, moved, cost, cheaper, s)
    else:
        mean, squares, after = learn_shared_rules(abstains, moved, cost, cheaper, s)
    s.numbers[LEARNT] += 1.0
    old, anew = s.numbers[ETA], s.numbers[LEARNT] % renew == 0.0
    if s.rate.kind == ADAPTIVE:
        s.numbers[SQUARES] += (1.0 - aside) * squares + aside * square
    if every > 0 and s.numbers[LEARNT] % every == 0.0:
        anew = True
        s.numbers[SQUARES] *= keep * keep
        for slot in range(np.uint64(s.losses.size)):
            s.losses[slot] *= keep
        for group in range(np.uint64(s.paid.size)):
            s.paid[group] *= keep
    if s.rate.kind == ADAPTIVE:
        s.numbers[ETA] = adaptive(s.rate.log_experts, s.numbers[SQUARES])
    if anew or s.numbers[ETA] != old or after < SMALL or after > LARGE:
        remake(s)
    return mean


@inline
def mean_estimate(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates in `estimate`, 0 for those who abstain."""
    return mean_of_own_rules(abstains, s) if s.layout.alone else mean_of_shared_rules(abstains, s)


@inline
def weigh_guard(s: Memories) -> None:
    """Weigh the first row against the second, its guard: ``(1 - w0) h + w0`` for the guard, with odds h / (1 - h) of
    ``w0 / (1 - w0) exp(rate (score - score of the guard))``.
    """
    ahead = s.means[0] - s.means[1]
    s.spread[0] += s.mix[0] * s.mix[1] * (ahead * ahead)
    s.scores[0] += s.means[0]
    s.scores[1] += s.means[1]
    rate = min(0.5, math.sqrt(-math.log(s.guard) / (1.0 + s.spread[0])))
    odds = math.exp(min(700.0, max(-700.0, rate * (s.scores[0] - s.scores[1])))) * s.guard / (1.0 - s.guard)
    s.mix[0] = (1.0 - s.guard) / (1.0 + odds)
    s.mix[1] = 1.0 - s.mix[0]


@inline
def weigh(s: Memories) -> None:
    """Weigh the memories by what they achieve: ``mix`` proportional to ``exp(-rate score)``."""
    n = s.mix.size
    spread = 0.0
    for j in range(n):
        spread += s.mix[j] * (s.means[j] * s.means[j])
    s.spread[0] = SCORES_KEPT * SCORES_KEPT * s.spread[0] + spread
    rate = min(1.0, 2.0 * math.sqrt(math.log(n + 1.0) / (1.0 + s.spread[0])))
    least = np.inf
    for j in range(n):
        s.scores[j] = SCORES_KEPT * s.scores[j] + s.means[j]
        least = min(least, s.scores[j])
    everything = 0.0
    for j in range(n):
        s.mix[j] = math.exp(-rate * (s.scores[j] - least))
        everything += s.mix[j]
    for j in range(n):
        s.mix[j] /= everything
