"""ContEXP3-ABS (algorithm 4): an EXP3-ABS on constant pairs (h, r) for every ball of a cover of the inputs.

A pair's cumulative estimate in a ball is a combination of four sums, the same for all pairs: of 1 / P over the rounds
learnt with label +1 and with label -1, of the costs, and of 1. So a ball keeps these, and no number for each pair.
Pairs with the same four coefficients are drawn together, as a level, and one of them uniformly then.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .cover import Cover, enter, nearest
from .exp3_state import ADAPTIVE, ANYTIME, TINY
from .jit import jit
from .play import Late, Played
from .rates import adaptive
from .state import Floats, Ints

POSITIVE, NEGATIVE, LEARNT, PAID, SQUARES, VISITS = 0, 1, 2, 3, 4, 5
"""Columns of `Balls.sums`: of 1 / P over labels +1 and -1, of rounds learnt, of costs, of q Lhat^2, of rounds decided.
"""
N_SUMS = 6


class Levels(NamedTuple):
    """The pairs, those of equal loss together; levels that predict come first."""

    n_predicting: int
    stride: int  # the pair (i, j) has number i * stride + j
    loss: Floats  # (L, 4) of POSITIVE, NEGATIVE, LEARNT and PAID in the loss of a pair
    size: Floats  # (L,) how many pairs
    box: Ints  # (L, 4) their first i and number of i, first j and number of j
    weight: Floats  # (L,) scratch


class Balls(NamedTuple):
    """A learner: everything it knows."""

    rate: int
    scale: float  # the rate itself, or for the anytime rate eta_t sqrt(t)
    log_pairs: float
    levels: Levels
    cover: Cover
    sums: Floats  # (capacity, 6); rows from the number of balls on are 0


@jit
def weigh(ball: int, b: Balls) -> tuple[float, float]:
    """The weights of all levels in a ball; their sum over those that predict, and over all."""
    levels, sums = b.levels, b.sums
    eta = b.scale
    if b.rate == ANYTIME:
        eta = b.scale / math.sqrt(sums[ball, VISITS] + 1.0)
    elif b.rate == ADAPTIVE:
        eta = adaptive(b.log_pairs, sums[ball, SQUARES])
    least = np.inf
    for k in range(levels.size.size):
        of_labels = levels.loss[k, 0] * sums[ball, POSITIVE] + levels.loss[k, 1] * sums[ball, NEGATIVE]
        estimate = of_labels + (levels.loss[k, 2] * sums[ball, LEARNT] + levels.loss[k, 3] * sums[ball, PAID])
        levels.weight[k] = estimate
        least = min(least, estimate)
    predicting = total = 0.0
    for k in range(levels.size.size):
        weight = levels.size[k] * math.exp(-eta * (levels.weight[k] - least))
        levels.weight[k] = weight if weight > TINY else 0.0
        total += levels.weight[k]
        if k < levels.n_predicting:
            predicting += levels.weight[k]
    return predicting, total


@jit
def draw(ball: int, u: float, b: Balls) -> tuple[int, int, bool, float]:
    """The pair drawn by ``u`` in [0, 1): its number, its first place, whether it abstains; and the mass predicting."""
    predicting, total = weigh(ball, b)
    levels = b.levels
    target, chosen = u * total, -1
    for k in range(levels.size.size):
        if levels.weight[k] > 0.0:
            chosen = k  # by rounding the target may lie behind the last
            if target < levels.weight[k]:
                break
            target -= levels.weight[k]
    box = levels.box[chosen]
    n_pairs = box[1] * box[3]
    inside = min(int(target / levels.weight[chosen] * n_pairs), n_pairs - 1)
    i = box[0] + inside // box[3]
    return i * levels.stride + box[2] + inside % box[3], i, chosen >= levels.n_predicting, predicting / total


@jit
def visit(ball: int, b: Balls) -> None:
    """A round was decided in a ball, perhaps a new one."""
    if ball == b.cover.n_balls[0]:
        enter(b.cover)
    b.sums[ball, VISITS] += 1.0


@jit
def learn(ball: int, seen: bool, positive: bool, probability: float, cost: float, b: Balls) -> None:
    """Learn from a round in a ball: its cost, and its label if it was seen."""
    levels, sums = b.levels, b.sums
    if b.rate == ADAPTIVE:
        _, total = weigh(ball, b)
        squares = 0.0
        for k in range(levels.size.size):
            if k >= levels.n_predicting:
                loss = levels.loss[k, 2] + levels.loss[k, 3] * cost
                squares += levels.weight[k] * (loss * loss)
            elif seen:
                loss = (levels.loss[k, 0] if positive else levels.loss[k, 1]) / probability
                squares += levels.weight[k] * (loss * loss)
        sums[ball, SQUARES] += squares / total
    if seen:
        sums[ball, POSITIVE if positive else NEGATIVE] += 1.0 / probability
    sums[ball, LEARNT] += 1.0
    sums[ball, PAID] += cost


@jit
def learn_late(k: int, late: Late, b: Balls) -> None:
    """Learn the round waiting at place k of the ring, if there is one."""
    seen = late.cell[k] >= 0
    if seen:
        learn(late.cell[k], seen, late.losses[k, 0] < 0.5, late.probability[k], late.cost[k], b)
        late.cell[k] = -1


@jit
def play(
    first: int, t: int, u: Floats, X: Floats, losses: Any, costs: Floats, late: Late | None, b: Balls, out: Played
) -> int:
    """Play rows from ``first`` on, in rounds from ``t + first``; where there is no room for a new ball, that row.

    The label is read off the loss of the first predictor, which scores above 0.
    """
    for i in range(first, X.shape[0]):
        count = b.cover.n_balls[0]
        if count == b.sums.shape[0] - 1:
            return i
        for k in range(X.shape[1]):
            b.cover.centre[count, k] = X[i, k]
        ball = nearest(b.cover)
        expert, predictor, abstained, probability = draw(ball, u[i], b)
        visit(ball, b)
        out.expert[i] = expert
        out.abstained[i] = abstained
        out.loss[i] = costs[i] if abstained else losses[i, predictor]
        if late is None or abstained:
            learn(ball, not abstained, losses[i, 0] < 0.5, probability, costs[i], b)
        if late is not None:
            k = (t + i) % late.cell.size
            learn_late(k, late, b)
            if not abstained:
                late.cell[k], late.probability[k], late.cost[k] = ball, probability, costs[i]
                late.losses[k, 0] = losses[i, 0]
    return int(X.shape[0])
