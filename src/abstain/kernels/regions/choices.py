"""UCB-ABS: in each region predict with the least mean error there, or abstain.

Where a round predicts, the losses of all predictors are seen, so that a region counts its labels once for all of them.
Whom to follow in a region changes with its labels only: it is worked out when one comes, not when a round is decided.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...typing import Bools, Floats, Ints
from ..jit import inline, kernel
from .search import Patterns, enter, find, unpack

WIDTH = 5.0
"""The square of the width of a confidence interval, ``5 log t / n``: that of the paper."""


class Members(NamedTuple):
    """The experts, and those of each predictor side by side; never changes."""

    predictor: Ints  # (K,) of each expert
    rule: Ints  # (K,)
    expert: Ints  # (K,) by predictor, increasing within one
    start: Ints  # (P + 1,) where those of each predictor begin


class RegionState(NamedTuple):
    """A learner: everything it knows. Rows from the number of regions on are 0, or scratch."""

    members: Members
    patterns: Patterns
    labels: Floats  # (capacity,) how many were seen
    losses: Floats  # (capacity, P) the sum of each predictor's
    leader: Ints  # (capacity,) the expert to follow if one predicts, or -1
    silent: Ints  # (capacity,) the expert to follow if one abstains, or -1


@inline
def _first_of(predictor: Any, abstains: Bools, members: Members) -> int:
    """The first expert that predicts with this predictor, or -1."""
    for k in range(members.start[predictor], members.start[predictor + 1]):
        if not abstains[members.rule[members.expert[k]]]:
            return int(members.expert[k])
    return -1


@kernel
def _lead(region: int, abstains: Bools, s: RegionState) -> None:
    """Find the first expert with the predictor of least loss, the lowest among equals, of those that predict."""
    least, s.leader[region] = np.inf, -1
    for p in range(s.losses.shape[1]):
        if s.losses[region, p] < least:
            expert = _first_of(p, abstains, s.members)
            if expert >= 0:
                least, s.leader[region] = s.losses[region, p], expert


@kernel
def _survey(region: int, abstains: Bools, s: RegionState) -> None:
    """Find whom to follow in a region."""
    _lead(region, abstains, s)
    s.silent[region] = -1
    for k in range(s.members.rule.size):
        if abstains[s.members.rule[k]]:
            s.silent[region] = k
            break


@kernel
def enter_all(n: int, abstains: Bools, s: RegionState) -> None:
    """Make the first n rows regions; ``abstains`` is scratch."""
    for region in range(n):
        unpack(s.patterns.bits[region], abstains)
        _survey(region, abstains, s)
        enter(s.patterns)


@kernel
def full(s: RegionState) -> bool:
    """Whether there is no room for a new region, and for the pattern of one more round behind it."""
    return bool(s.patterns.n_regions[0] >= s.labels.size - 1)


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: RegionState) -> tuple[int, float]:
    """Predict if the least mean error of the region may be below the cost, x; the region is carried."""
    region = find(abstains, s.patterns)
    if region == s.patterns.n_regions[0]:
        _survey(region, abstains, s)
    carry[0] = region
    leader, silent, n = s.leader[region], s.silent[region], s.labels[region]
    predicts = leader >= 0
    if predicts and silent >= 0 and n > 0.0:
        mean = s.losses[region, s.members.predictor[leader]] / n
        predicts = mean - math.sqrt(WIDTH * math.log(t) / n) < x[0]
    return (leader, 1.0) if predicts else (silent, 0.0)


@kernel
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: RegionState) -> None:
    """A round was decided in a region, perhaps a new one."""
    if int(carry[0]) == s.patterns.n_regions[0]:
        enter(s.patterns)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: RegionState) -> None:
    """A label shows the losses of all predictors; without one there is nothing to learn."""
    if seen:
        region = int(carry[0])
        s.labels[region] += 1.0
        for p in range(np.uint64(losses.size)):
            s.losses[region, p] += losses[p]
        _lead(region, abstains, s)
