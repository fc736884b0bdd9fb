"""The expert with the least index, ties to the lowest number.

All indices move every round (the width grows, counts and losses change), but only the least one matters.

Where cells have many experts, the index of a cell is that of its least E, and the least E last seen is a lower bound of
it, as losses only grow: only cells whose bound is not above the least index found are looked at again.

Where every cell is one expert, indices are first computed roughly; only those within the error of the least are
computed in full. Plain UCB, which changes one expert a round, groups them instead (`groups`).
"""

from __future__ import annotations

import math

import numpy as np

from .groups import Groups, least_of_groups
from .index import index_of
from .jit import part
from .state import CHUNK, Estimates, Layout, Search

# More than twice what single precision can be wrong by, relative to 1 + width: a mean is at most 1 and Q at least 1.
ROUGH_ERROR = 1e-6
_ALL_BUT_SIGN = 0x7FFFFFFFFFFFFFFF


@part
def look_again(cell: int, price: float, sums: bool, places: Layout, learnt: Estimates, search: Search) -> None:
    """Bring what the search knows of a cell up to date."""
    losses = learnt.losses
    offset = np.uint64(places.start[cell])
    lowest = losses[offset]
    for i in range(np.uint64(places.start[cell + 1]) - offset):
        lowest = min(lowest, losses[offset + i])
    search.least[cell] = lowest
    search.fresh[cell] = True
    if places.single:
        updates = learnt.updates[cell]
        search.mean[cell] = index_of(lowest, learnt.paid[cell], price, updates, 0.0, sums)
        search.inverse_root[cell] = 1.0 / math.sqrt(updates) if updates > 0.0 else 0.0


@part
def look_roughly(price: float, sums: bool, learnt: Estimates, search: Search) -> None:
    """`look_again` for all cells where each is one expert, to single precision."""
    losses, paid, updates = learnt.losses, learnt.paid, learnt.updates
    mean, inverse_root = search.mean, search.inverse_root
    zero, one, price32 = np.float32(0.0), np.float32(1.0), np.float32(price)
    for c in range(np.uint64(mean.size)):
        q = np.float32(updates[c])
        total = np.float32(losses[c]) + price32 * np.float32(paid[c])
        rough = total / (one if sums else q)
        mean[c] = rough if q > zero else -np.inf
        inverse_root[c] = one / np.sqrt(q) if q > zero else zero


@part
def _index_cells(width: float, price: float, sums: bool, learnt: Estimates, search: Search) -> None:
    """The index of each cell with the least E last seen."""
    least, paid, updates, index = search.least, learnt.paid, learnt.updates, search.indices
    for c in range(np.uint64(index.size)):
        index[c] = index_of(least[c], paid[c], price, updates[c], width, sums)


@part
def _first_least(search: Search) -> int:
    """The first cell with the least index: likely the one to choose."""
    index = search.indices
    best, lowest = 0, index[0]
    for c in range(1, index.size):
        if index[c] < lowest:
            best, lowest = c, index[c]
    return best


@part
def _least_of_many(
    width: float, price: float, sums: bool, random_ties: bool, places: Layout, learnt: Estimates, search: Search
) -> int:
    """Put the slots of the least index into the ties (of each cell the first, if ties are not random)."""
    _index_cells(width, price, sums, learnt, search)
    best = _first_least(search)
    _refresh(best, width, price, sums, places, learnt, search)
    lowest = search.indices[best]
    for cell in range(search.indices.size):
        if search.indices[cell] <= lowest and not search.fresh[cell]:
            _refresh(cell, width, price, sums, places, learnt, search)
        lowest = min(lowest, search.indices[cell])
    n_ties = 0
    for cell in range(search.indices.size):
        if search.indices[cell] == lowest:
            n_ties = _collect(cell, width, price, sums, random_ties, n_ties, places, learnt, search)
    return n_ties


@part
def _refresh(
    cell: int, width: float, price: float, sums: bool, places: Layout, learnt: Estimates, search: Search
) -> None:
    look_again(cell, price, sums, places, learnt, search)
    search.indices[cell] = index_of(search.least[cell], learnt.paid[cell], price, learnt.updates[cell], width, sums)


@part
def _collect(
    cell: int, width: float, price: float, sums: bool, all_ties: bool, n_ties: int,
    places: Layout, learnt: Estimates, search: Search,
) -> int:  # fmt: skip
    """Append the slots of ``cell`` with its least index to the ties, or only the first of them."""
    least, paid, updates = search.least[cell], learnt.paid[cell], learnt.updates[cell]
    near = least + 1e-12 * (1.0 + least)  # losses closer than this may have the same index
    for slot in range(places.start[cell], places.start[cell + 1]):
        losses = learnt.losses[slot]
        if losses > near:
            continue
        if losses != least and index_of(losses, paid, price, updates, width, sums) != search.indices[cell]:
            continue
        search.tied_cell[n_ties] = cell
        search.tied_slot[n_ties] = slot
        n_ties += 1
        if not all_ties:
            break
    return n_ties


@part
def _index_singles(width: float, search: Search) -> float:
    """The index of each cell from what the search knows, the least of each chunk, and the least of all.

    Compilers vectorise a minimum of integers, not of floats; flipping all but the sign bit of the negative ones makes
    the bits of floats order as the floats do.
    """
    mean, inverse_root, index = search.mean, search.inverse_root, search.indices
    bits, chunk_bits = index.view(np.int64), search.chunk.view(np.int64)
    n_cells = np.uint64(index.size)
    for c in range(n_cells):
        index[c] = mean[c] - width * inverse_root[c]
    lowest = np.int64(_ALL_BUT_SIGN)
    for chunk in range(chunk_bits.size):
        offset = np.uint64(chunk * CHUNK)
        least = np.int64(_ALL_BUT_SIGN)
        for i in range(min(np.uint64(CHUNK), n_cells - offset)):
            x = bits[offset + i]
            least = min(least, x ^ ((x >> 63) & _ALL_BUT_SIGN))
        chunk_bits[chunk] = least ^ ((least >> 63) & _ALL_BUT_SIGN)
        lowest = min(lowest, least)
    return np.int64(lowest ^ ((lowest >> 63) & _ALL_BUT_SIGN)).view(np.float64)


@part
def _least_of_singles(
    width: float, price: float, sums: bool, random_ties: bool, places: Layout, learnt: Estimates, search: Search
) -> int:
    """`_least_of_many` where every cell is one expert."""
    limit = _index_singles(width, search)
    limit += ROUGH_ERROR * (1.0 + width + abs(limit)) if limit > -np.inf else 0.0
    lowest, n_ties = np.inf, 0
    for chunk in range(search.chunk.size):
        if search.chunk[chunk] > limit:
            continue
        for cell in range(chunk * CHUNK, min((chunk + 1) * CHUNK, search.indices.size)):
            if search.indices[cell] > limit:
                continue
            index = index_of(learnt.losses[cell], learnt.paid[cell], price, learnt.updates[cell], width, sums)
            if index < lowest:
                lowest, n_ties = index, 0
            if index == lowest:
                search.tied_cell[n_ties] = cell
                search.tied_slot[n_ties] = cell
                n_ties += 1
    return n_ties


@part
def _sort_ties(n_ties: int, places: Layout, search: Search) -> None:
    """Order the ties by expert (a shell sort: nothing may be allocated)."""
    cells, slots, expert = search.tied_cell, search.tied_slot, places.expert
    gap = n_ties // 2
    while gap > 0:
        for k in range(gap, n_ties):
            cell, slot, i = cells[k], slots[k], k
            while i >= gap and expert[slots[i - gap]] > expert[slot]:
                cells[i], slots[i] = cells[i - gap], slots[i - gap]
                i -= gap
            cells[i], slots[i] = cell, slot
        gap //= 2


@part
def choose(
    width: float, price: float, sums: bool, random_ties: bool, u: float,
    places: Layout, learnt: Estimates, search: Search, grouped: Groups,
) -> tuple[int, int]:  # fmt: skip
    """The (cell, slot) to follow; ``u`` in [0, 1) picks among the tied experts where ties are random."""
    if grouped.order.size > 0:
        n_ties = least_of_groups(width, price, sums, random_ties, learnt, search, grouped)
    elif places.single:
        n_ties = _least_of_singles(width, price, sums, random_ties, places, learnt, search)
    else:
        n_ties = _least_of_many(width, price, sums, random_ties, places, learnt, search)
    chosen = 0
    if random_ties:
        _sort_ties(n_ties, places, search)
        chosen = int(u * n_ties)
    else:
        for k in range(1, n_ties):
            if places.expert[search.tied_slot[k]] < places.expert[search.tied_slot[chosen]]:
                chosen = k
    return search.tied_cell[chosen], search.tied_slot[chosen]
