"""The least index where every cell is one expert: first roughly, then exactly for those close to the least."""

from __future__ import annotations

from typing import Any

import numpy as np

from .index import index_of
from .jit import part
from .state import CHUNK, Game

# More than twice what single precision can be wrong by, relative to 1 + width: a mean is at most 1 and Q at least 1.
ROUGH_ERROR = 1e-6
_ALL_BUT_SIGN = np.int32(0x7FFFFFFF)


@part
def _rough_indices(width: float, game: Game) -> None:
    """The index of each cell to single precision, as (E + c*n - width sqrt(Q)) / Q: one division less."""
    losses, paid, updates, rough = game.learnt.losses, game.learnt.paid, game.learnt.updates, game.search.rough
    width32, price, sums = np.float32(width), np.float32(game.how.price), game.how.sums
    zero, one = np.float32(0.0), np.float32(1.0)
    for c in range(np.uint64(rough.size)):
        q = np.float32(updates[c])
        total = np.float32(losses[c]) + price * np.float32(paid[c])
        index = (total - width32 * np.sqrt(q)) / (one if sums else q)
        rough[c] = index if q > zero else np.float32(-np.inf)


@part
def _least_rough(game: Game) -> Any:
    """The least rough index of each chunk of cells, and of all.

    Compilers vectorise a minimum of integers, not of floats; flipping all but the sign bit of the negative ones makes
    the bits of floats order as the floats do. Without the cast the integers would be of 64 bits, and half as many.
    """
    bits, chunk_bits = game.search.rough.view(np.int32), game.search.chunk.view(np.int32)
    n_cells = np.uint64(bits.size)
    lowest = _ALL_BUT_SIGN
    for chunk in range(chunk_bits.size):
        offset = np.uint64(chunk * CHUNK)
        least = _ALL_BUT_SIGN
        for i in range(min(np.uint64(CHUNK), n_cells - offset)):
            x = bits[offset + i]
            least = min(least, np.int32(x ^ ((x >> np.int32(31)) & _ALL_BUT_SIGN)))
        chunk_bits[chunk] = least ^ ((least >> np.int32(31)) & _ALL_BUT_SIGN)
        lowest = min(lowest, least)
    return np.int32(lowest ^ ((lowest >> np.int32(31)) & _ALL_BUT_SIGN)).view(np.float32)


@part
def least_of_singles(width: float, game: Game) -> int:
    """Put the slots of the least index into the ties, and return their number."""
    search, losses, paid, updates = game.search, game.learnt.losses, game.learnt.paid, game.learnt.updates
    _rough_indices(width, game)
    limit = np.float64(_least_rough(game))
    limit += ROUGH_ERROR * (1.0 + width + abs(limit)) if limit > -np.inf else 0.0
    lowest, n_ties, best = np.inf, 0, -1
    for chunk in range(search.chunk.size):
        if search.chunk[chunk] > limit:
            continue
        for cell in range(chunk * CHUNK, min((chunk + 1) * CHUNK, search.rough.size)):
            if search.rough[cell] > limit:
                continue
            index = lowest
            if best < 0 or updates[cell] != updates[best] or losses[cell] != losses[best] or paid[cell] != paid[best]:
                index = index_of(losses[cell], paid[cell], updates[cell], width, game.how)
            if index < lowest:
                lowest, n_ties, best = index, 0, cell
            if index == lowest:
                search.tied_cell[n_ties] = cell
                search.tied_slot[n_ties] = cell
                n_ties += 1
    return n_ties
