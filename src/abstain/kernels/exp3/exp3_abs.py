"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...typing import Bools, Floats
from ..jit import kernel
from .drawing import draw
from .rate import LEAST_PROBABILITY
from .state import ETA, Memories, one_of
from .weights import REMAKE, learn, weigh


@kernel
def choose(t: int, u: float, x: Any, abstains: Bools, carry: Floats, s: Memories) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting."""
    return draw(t, u, s.sight.least, abstains, carry, s)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: Memories) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(losses.size)
    certainty = 1.0 / (max(carry[0], LEAST_PROBABILITY) + s.sight.ix) if seen else 0.0
    others = 0  # losses but 0 and 1, which are by far the most common
    for p in range(n):
        estimate[p] = certainty * losses[p]
    for p in range(n):
        others += (losses[p] != 0) & (losses[p] != 1)
    for j in range(s.mix.size):
        one = one_of(s, j)
        eta = one.numbers[ETA]
        of_one = math.exp(-eta * certainty)
        for p in range(n):
            shrink[p] = 1.0 if losses[p] == 0 else of_one
        if others > 0:
            for p in range(n):
                shrink[p] = math.exp(-eta * estimate[p])
        cheaper, every, keep = math.exp(-eta * cost), s.memory.every[j], s.memory.keep[j]
        s.means[j] = learn(abstains, seen, cost, cheaper, 0.0, 0.0, REMAKE, every, keep, one)
    if s.mix.size > 1:
        weigh(s)


@kernel
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: Memories) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    carry[0] = 1.0
    update(0, abstains, losses, losses.size > 0, cost, carry, s)
