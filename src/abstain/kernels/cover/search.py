"""The nearest of a growing set of centres that are far from each other: a hashed grid in few dimensions, else a scan.

A new centre is farther than epsilon from all others, so a cell of the grid, twice as wide, holds few of them, and an
input has to look into at most two cells in each dimension.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...typing import Floats, Ints
from ..hashing import mix
from ..jit import inline, kernel

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
