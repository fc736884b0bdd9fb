"""The least index where every team is one expert: first roughly, then exactly for those close to the least."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inline
from ..layout import CHUNK
from .index import index_of
from .state import UCBState

# More than twice what single precision can be wrong by, relative to 1 + width: a mean is at most 1 and Q at least 1.
ROUGH_ERROR = 1e-6
_ALL_BUT_SIGN = np.int32(0x7FFFFFFF)


@inline
def _rough_indices(width: float, s: UCBState) -> None:
    """The index of each team to single precision, as (E + c*n - width sqrt(Q)) / Q: one division less."""
    losses, paid, updates, rough = s.estimates.losses, s.estimates.paid, s.estimates.updates, s.search.rough
    width32, price, sums = np.float32(width), np.float32(s.variant.price), s.variant.sums
    zero, one = np.float32(0.0), np.float32(1.0)
    for c in range(np.uint64(rough.size)):
        q = np.float32(updates[c])
        total = np.float32(losses[c]) + price * np.float32(paid[c])
        index = (total - width32 * np.sqrt(q)) / (one if sums else q)
        rough[c] = index if q > zero else np.float32(-np.inf)


@inline
def _least_rough(s: UCBState) -> Any:
    """The least rough index of each chunk of teams, and of all.

    Compilers vectorise a minimum of integers, not of floats; flipping all but the sign bit of the negative ones makes
    the bits of floats order as the floats do. Without the cast the integers would be of 64 bits, and half as many.
    """
    bits, chunk_bits = s.search.rough.view(np.int32), s.search.chunk.view(np.int32)
    n_teams = np.uint64(bits.size)
    lowest = _ALL_BUT_SIGN
    for chunk in range(chunk_bits.size):
        offset = np.uint64(chunk * CHUNK)
        least = _ALL_BUT_SIGN
        for i in range(min(np.uint64(CHUNK), n_teams - offset)):
            x = bits[offset + i]
            least = min(least, np.int32(x ^ ((x >> np.int32(31)) & _ALL_BUT_SIGN)))
        chunk_bits[chunk] = least ^ ((least >> np.int32(31)) & _ALL_BUT_SIGN)
        lowest = min(lowest, least)
    return np.int32(lowest ^ ((lowest >> np.int32(31)) & _ALL_BUT_SIGN)).view(np.float32)


@inline
def least_of_own_rules(width: float, s: UCBState) -> int:
    """Put the slots of the least index into the ties, and return their number."""
    search, losses, paid, updates = s.search, s.estimates.losses, s.estimates.paid, s.estimates.updates
    _rough_indices(width, s)
    limit = np.float64(_least_rough(s))
    limit += ROUGH_ERROR * (1.0 + width + abs(limit)) if limit > -np.inf else 0.0
    lowest, n_ties, best = np.inf, 0, -1
    for chunk in range(search.chunk.size):
        if search.chunk[chunk] > limit:
            continue
        for team in range(chunk * CHUNK, min((chunk + 1) * CHUNK, search.rough.size)):
            if search.rough[team] > limit:
                continue
            index = lowest
            if best < 0 or updates[team] != updates[best] or losses[team] != losses[best] or paid[team] != paid[best]:
                index = index_of(losses[team], paid[team], updates[team], width, s.variant)
            if index < lowest:
                lowest, n_ties, best = index, 0, team
            if index == lowest:
                search.tied_team[n_ties] = team
                search.tied_slot[n_ties] = team
                n_ties += 1
    return n_ties
