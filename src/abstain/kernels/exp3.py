"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses.

Weights are kept up to date by multiplication, and made anew from the cumulative estimates whenever the rate steps,
their sum gets small, or errors could have added up.
"""

from __future__ import annotations

import math
from typing import Any

from .exp3_cells import draw_in_cells, learn_cells, remake_cells
from .exp3_singles import draw_single, learn_singles, remake_singles
from .exp3_state import ADAPTIVE, ANYTIME, ETA, LEARNT, SQUARES, Weights
from .jit import jit
from .state import Bools

REMAKE = 1024
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12."""
SMALL = 1e-9
"""The sum of the weights, K at first, below which they are made anew."""


@jit
def remake(w: Weights) -> None:
    """Make the weights from the cumulative estimates: the best expert's is 1, so that nothing over- or underflows."""
    if w.places.single:
        remake_singles(w)
    else:
        remake_cells(w)


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
    if w.places.single:
        return draw_single(u, abstains, w)
    return draw_in_cells(u, abstains, w)


@jit
def learn(abstains: Bools, losses: Any, seen: bool, probability: float, cost: float, w: Weights) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    eta = w.numbers[ETA]
    if seen:
        certainty = 1.0 / (probability + w.how.ix)
        of_one = math.exp(-eta * certainty)  # by far the most common, where it is not the only one
        others = 0
        for p in range(losses.size):
            loss = losses[p]
            w.estimate[p] = certainty * loss
            w.shrink[p] = 1.0 if loss == 0.0 else of_one
            others += (loss != 0.0) & (loss != 1.0)
        if others > 0:
            for p in range(losses.size):
                if losses[p] != 0.0:
                    w.shrink[p] = math.exp(-eta * w.estimate[p])
    else:
        for p in range(losses.size):
            w.estimate[p], w.shrink[p] = 0.0, 1.0
    cheaper = math.exp(-eta * cost)
    if w.places.single:
        squares, after = learn_singles(abstains, cost, cheaper, w)
    else:
        squares, after = learn_cells(abstains, seen, cost, cheaper, w)
    w.numbers[LEARNT] += 1.0
    old = w.numbers[ETA]
    if w.how.rate == ADAPTIVE:
        w.numbers[SQUARES] += squares
        w.numbers[ETA] = adaptive_rate(w)
    if w.numbers[ETA] != old or after < SMALL or w.numbers[LEARNT] % REMAKE == 0.0:
        remake(w)
