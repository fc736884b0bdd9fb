"""The nearest of a growing set of centres that are far from each other: a hashed grid in few dimensions, else a scan.

A new centre is farther than epsilon from all others, so a cell of the grid, twice as wide, holds few of them, and an
input has to look into at most two cells in each dimension.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.compiling import inline, kernel
from ...kernels.passes import mix
from ...typing import Bools, Floats, Ints
from ..exp3.state import ADAPTIVE, ANYTIME, LEAST_PROBABILITY, TINY, Rate, adaptive

EUCLIDEAN, CITYBLOCK, CHEBYSHEV = 0, 1, 2
FEW = 8
"""So many centres a cell to look into are compared one by one: it takes no longer than looking."""
SLACK = 1e-3
"""Cells are looked into a little farther than epsilon, so that rounding hides no centre ..."""
FINEST = 1e-11
"""... as long as epsilon is more than this part of the largest coordinate."""


class Cover(NamedTuple):
    """Centres and how to find them; the first row that is free holds the input of the round."""

    metric: int
    epsilon: float
    hashed: bool
    n_balls: Ints  # (1,)
    centre: Floats  # (capacity, d)
    heads: Ints  # (a power of 2,) the last centre of a cell, or -1
    chain: Ints  # (capacity,) the one before it in its cell, or -1
    low: Ints  # (d,) scratch: the first cell to look into
    span: Ints  # (d,) scratch: how many


@inline
def _cell(value: float, epsilon: float) -> Any:
    return np.int64(np.floor(value / (2.0 * epsilon)))


@kernel
def enter(cover: Cover) -> None:
    """Make the input of the round a centre."""
    ball = cover.n_balls[0]
    if cover.hashed:
        key = np.uint64(0)
        for k in range(cover.centre.shape[1]):
            key = mix(key, _cell(cover.centre[ball, k], cover.epsilon))
        place = key & np.uint64(cover.heads.size - 1)
        cover.chain[ball] = cover.heads[place]
        cover.heads[place] = ball
    cover.n_balls[0] = ball + 1


@kernel
def enter_all(n: int, cover: Cover) -> None:
    """Make the first n rows centres."""
    for _ in range(n):
        enter(cover)


@inline
def _distance(ball: Any, limit: float, cover: Cover) -> float:
    """From a centre to the input of the round (its square, for the Euclidean one), or something above the limit."""
    total, free = 0.0, cover.n_balls[0]
    for k in range(cover.centre.shape[1]):
        apart = abs(cover.centre[ball, k] - cover.centre[free, k])
        if cover.metric == EUCLIDEAN:
            total += apart * apart
        elif cover.metric == CITYBLOCK:
            total += apart
        else:
            total = max(total, apart)
        if total > limit:
            break
    return total


@kernel
def nearest(cover: Cover) -> int:
    """The centre nearest to the input of the round, the lowest among equals; ``n_balls`` if none is within epsilon."""
    count, dim = cover.n_balls[0], cover.centre.shape[1]
    found, least = count, cover.epsilon * cover.epsilon if cover.metric == EUCLIDEAN else cover.epsilon
    if not cover.hashed or count <= FEW << dim:
        for ball in range(count):
            distance = _distance(ball, least, cover)
            if distance < least or (distance == least and ball < found):
                found, least = ball, distance
        return int(found)
    n_cells, reach = 1, cover.epsilon * (1.0 + SLACK)
    for k in range(dim):
        cover.low[k] = _cell(cover.centre[count, k] - reach, cover.epsilon)
        cover.span[k] = _cell(cover.centre[count, k] + reach, cover.epsilon) - cover.low[k] + 1
        n_cells *= cover.span[k]
    for code in range(n_cells):
        key, rest = np.uint64(0), code
        for k in range(dim):
            key = mix(key, cover.low[k] + rest % cover.span[k])
            rest //= cover.span[k]
        ball = cover.heads[key & np.uint64(cover.heads.size - 1)]
        while ball >= 0:
            distance = _distance(ball, least, cover)
            if distance < least or (distance == least and ball < found):
                found, least = ball, distance
            ball = cover.chain[ball]
    return int(found)


POSITIVE, NEGATIVE, LEARNT, PAID, SQUARES, VISITS = 0, 1, 2, 3, 4, 5
"""Columns of `BallState.sums`: 1 / P over labels +1 and -1, rounds learnt, costs, q Lhat^2, rounds decided."""
N_SUMS = 6


class Actions(NamedTuple):
    """The pairs, those of equal loss together; actions that predict come first."""

    n_predicting: int
    stride: int  # the pair (i, j) has number i * stride + j
    loss: Floats  # (L, 4) of POSITIVE, NEGATIVE, LEARNT and PAID in the loss of a pair
    size: Floats  # (L,) how many pairs
    box: Ints  # (L, 4) their first i and number of i, first j and number of j
    weight: Floats  # (L,) scratch


class BallState(NamedTuple):
    """A learner: everything it knows."""

    rate: Rate
    actions: Actions
    cover: Cover
    sums: Floats  # (capacity, 6); rows from the number of balls on are 0


@kernel
def weigh(ball: int, b: BallState) -> tuple[float, float]:
    """The weights of all actions in a ball; their sum over those that predict, and over all."""
    actions, sums = b.actions, b.sums
    eta = b.rate.scale
    if b.rate.kind == ANYTIME:
        eta = b.rate.scale / math.sqrt(sums[ball, VISITS] + 1.0)
    elif b.rate.kind == ADAPTIVE:
        eta = adaptive(b.rate.log_experts, sums[ball, SQUARES])
    least = np.inf
    for k in range(actions.size.size):
        of_labels = actions.loss[k, 0] * sums[ball, POSITIVE] + actions.loss[k, 1] * sums[ball, NEGATIVE]
        estimate = of_labels + (actions.loss[k, 2] * sums[ball, LEARNT] + actions.loss[k, 3] * sums[ball, PAID])
        actions.weight[k] = estimate
        least = min(least, estimate)
    predicting = total = 0.0
    for k in range(actions.size.size):
        weight = actions.size[k] * math.exp(-eta * (actions.weight[k] - least))
        actions.weight[k] = weight if weight > TINY else 0.0
        total += actions.weight[k]
        if k < actions.n_predicting:
            predicting += actions.weight[k]
    return predicting, total


@inline
def _draw(u: float, predicting: float, total: float, actions: Actions) -> tuple[int, float]:
    """The pair drawn by ``u`` in [0, 1), by the weights of all actions, and the probability of predicting."""
    target, chosen = u * total, 0
    for k in range(actions.size.size):
        if actions.weight[k] > 0.0:
            chosen = k  # by rounding the target may lie behind the last
            if target < actions.weight[k]:
                break
            target -= actions.weight[k]
    box = actions.box[chosen]
    n_pairs = box[1] * box[3]
    inside = min(int(target / actions.weight[chosen] * n_pairs), n_pairs - 1)
    i = box[0] + inside // box[3]
    return i * actions.stride + box[2] + inside % box[3], predicting / total


@kernel
def full(b: BallState) -> bool:
    """Whether there is no room for a new ball, and for the input of one more round behind it."""
    return bool(b.cover.n_balls[0] >= b.sums.shape[0] - 1)


@kernel
def choose_in(ball: int, u: float, carry: Floats, b: BallState) -> tuple[int, float]:
    """The pair drawn in a ball, perhaps a new one; the ball and the probability of predicting are carried."""
    predicting, total = weigh(ball, b)
    expert, probability = _draw(u, predicting, total, b.actions)
    carry[0], carry[1] = ball, probability
    return expert, probability


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, b: BallState) -> tuple[int, float]:
    """The pair drawn in the ball of x; x is put into the first free row of the centres, where a new ball's belongs."""
    for k in range(x.size):
        b.cover.centre[b.cover.n_balls[0], k] = x[k]
    return choose_in(nearest(b.cover), u, carry, b)


@kernel
def note(t: int, expert: int, abstains: Bools, carry: Floats, b: BallState) -> None:
    """A round was decided in a ball, perhaps a new one."""
    ball = int(carry[0])
    if ball == b.cover.n_balls[0]:
        enter(b.cover)
    b.sums[ball, VISITS] += 1.0


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, b: BallState) -> None:
    """Learn from a round in a ball: its cost, and its label if it was seen.

    The label is read off the loss of the first predictor, which scores above 0.
    """
    actions, sums = b.actions, b.sums
    ball, certainty, positive = int(carry[0]), 1.0 / max(carry[1], LEAST_PROBABILITY), losses[0] < 0.5
    if b.rate.kind == ADAPTIVE:
        _, total = weigh(ball, b)
        squares = 0.0
        for k in range(actions.size.size):
            if k >= actions.n_predicting:
                loss = actions.loss[k, 2] + actions.loss[k, 3] * cost
                squares += actions.weight[k] * (loss * loss)
            elif seen:
                loss = (actions.loss[k, 0] if positive else actions.loss[k, 1]) / max(carry[1], LEAST_PROBABILITY)
                squares += actions.weight[k] * (loss * loss)
        sums[ball, SQUARES] += squares / total
    if seen:
        sums[ball, POSITIVE if positive else NEGATIVE] += certainty
    sums[ball, LEARNT] += 1.0
    sums[ball, PAID] += cost
