"""The least index where cells have many experts.

The index of a cell is that of its least E. The least E last seen is a lower bound of it, as losses only grow: only
cells whose bound is not above the least index found are looked at again.
"""

from __future__ import annotations

import numpy as np

from .index import index_of
from .jit import part
from .state import Game

STEP = np.uint64(16)


@part
def _look_again(cell: int, width: float, game: Game) -> None:
    """Find the least E of a cell and its index."""
    losses, learnt, search = game.learnt.losses, game.learnt, game.search
    offset = np.uint64(game.places.start[cell])
    least = losses[offset]
    for i in range(np.uint64(game.places.start[cell + 1]) - offset):
        least = min(least, losses[offset + i])
    search.least[cell] = least
    search.fresh[cell] = True
    search.indices[cell] = index_of(least, learnt.paid[cell], learnt.updates[cell], width, game.how)


@part
def _bound_all(width: float, game: Game) -> int:
    """The index of each cell with the least E last seen, and the first cell with the least of them."""
    how, least, paid, updates = game.how, game.search.least, game.learnt.paid, game.learnt.updates
    indices = game.search.indices
    for c in range(np.uint64(indices.size)):
        indices[c] = index_of(least[c], paid[c], updates[c], width, how)
    best, lowest = 0, indices[0]
    for cell in range(1, indices.size):
        if indices[cell] < lowest:
            best, lowest = cell, indices[cell]
    return best


@part
def _collect(cell: int, width: float, n_ties: int, game: Game) -> int:
    """Append the slots of ``cell`` with its least index to the ties; if ties are not random, only the first of them."""
    search, losses = game.search, game.learnt.losses
    least, paid, updates = search.least[cell], game.learnt.paid[cell], game.learnt.updates[cell]
    search.near[0] = least + 1e-12 * (1.0 + least)  # losses up to here may have the same index; integers are cut off
    near = search.near[0]
    slot, behind = np.uint64(game.places.start[cell]), np.uint64(game.places.start[cell + 1])
    while slot + STEP <= behind and not game.how.random_ties:  # skip in steps what the compiler can compare at once
        hits = 0
        for i in range(STEP):
            hits += losses[slot + i] <= near
        if hits > 0:
            break
        slot += STEP
    while slot < behind:
        if losses[slot] <= near and (
            losses[slot] == least or index_of(losses[slot], paid, updates, width, game.how) == search.indices[cell]
        ):
            search.tied_cell[n_ties] = cell
            search.tied_slot[n_ties] = slot
            n_ties += 1
            if not game.how.random_ties:
                break
        slot += np.uint64(1)
    return n_ties


@part
def least_of_many(width: float, game: Game) -> int:
    """Put the slots of the least index into the ties, and return their number."""
    indices, fresh = game.search.indices, game.search.fresh
    best = _bound_all(width, game)
    if not fresh[best]:
        _look_again(best, width, game)
    lowest = indices[best]
    for cell in range(indices.size):
        if indices[cell] <= lowest and not fresh[cell]:
            _look_again(cell, width, game)
        lowest = min(lowest, indices[cell])
    n_ties = 0
    for cell in range(indices.size):
        if indices[cell] == lowest:
            n_ties = _collect(cell, width, n_ties, game)
    return n_ties
