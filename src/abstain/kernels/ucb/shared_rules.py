"""The least index where experts share rules, so that teams have many experts.

The index of a team is that of its least E. Losses only grow, so the least E found when a team was last looked at is a
lower bound on its least E now: only teams whose bound is not above the least index found are looked at again.
"""

from __future__ import annotations

import numpy as np

from ..jit import inline
from .index import index_of
from .state import UCBState

STEP = np.uint64(16)


@inline
def _look_again(team: int, width: float, s: UCBState) -> None:
    """Find the least E of a team and its index."""
    losses, estimates, search = s.estimates.losses, s.estimates, s.search
    offset = np.uint64(s.layout.start[team])
    least = losses[offset]
    for i in range(np.uint64(s.layout.start[team + 1]) - offset):
        least = min(least, losses[offset + i])
    search.least[team] = least
    search.fresh[team] = True
    search.indices[team] = index_of(least, estimates.paid[team], estimates.updates[team], width, s.variant)


@inline
def _bound_all(width: float, s: UCBState) -> int:
    """The index of each team with its lower bound for E, and the first team with the least of them."""
    variant, least, paid, updates = s.variant, s.search.least, s.estimates.paid, s.estimates.updates
    indices = s.search.indices
    for c in range(np.uint64(indices.size)):
        indices[c] = index_of(least[c], paid[c], updates[c], width, variant)
    best, lowest = 0, indices[0]
    for team in range(1, indices.size):
        if indices[team] < lowest:
            best, lowest = team, indices[team]
    return best


@inline
def _collect(team: int, width: float, n_ties: int, s: UCBState) -> int:
    """Append the slots of ``team`` with its least index to the ties; if ties are not random, only the first of them."""
    search, losses = s.search, s.estimates.losses
    least, paid, updates = search.least[team], s.estimates.paid[team], s.estimates.updates[team]
    search.near[0] = least + 1e-12 * (1.0 + least)  # losses up to here may have the same index; integers are cut off
    near = search.near[0]
    slot, behind = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
    while slot + STEP <= behind and not s.variant.random_ties:  # skip in steps what the compiler can compare at once
        hits = 0
        for i in range(STEP):
            hits += losses[slot + i] <= near
        if hits > 0:
            break
        slot += STEP
    while slot < behind:
        if losses[slot] <= near and (
            losses[slot] == least or index_of(losses[slot], paid, updates, width, s.variant) == search.indices[team]
        ):
            search.tied_team[n_ties] = team
            search.tied_slot[n_ties] = slot
            n_ties += 1
            if not s.variant.random_ties:
                break
        slot += np.uint64(1)
    return n_ties


@inline
def least_of_shared_rules(width: float, s: UCBState) -> int:
    """Put the slots of the least index into the ties, and return their number."""
    indices, fresh = s.search.indices, s.search.fresh
    best = _bound_all(width, s)
    if not fresh[best]:
        _look_again(best, width, s)
    lowest = indices[best]
    for team in range(indices.size):
        if indices[team] <= lowest and not fresh[team]:
            _look_again(team, width, s)
        lowest = min(lowest, indices[team])
    n_ties = 0
    for team in range(indices.size):
        if indices[team] == lowest:
            n_ties = _collect(team, width, n_ties, s)
    return n_ties
