"""The expert with the least index, ties to the lowest number.

All indices move every round (the width grows, counts and losses change), but only the least one matters. There are
three ways to find it without computing all: by cells of many experts, by single experts, and by groups of equal count.
"""

from __future__ import annotations

from .groups import least_of_groups
from .index import round_width
from .jit import part
from .many import least_of_many
from .singles import least_of_singles
from .state import Game


@part
def _sort_ties(n_ties: int, game: Game) -> None:
    """Order the ties by expert (a shell sort: nothing may be allocated)."""
    cells, slots, expert = game.search.tied_cell, game.search.tied_slot, game.places.expert
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
def choose(t: int, u: float, game: Game) -> tuple[int, int]:
    """The (cell, slot) to follow at round t; ``u`` in [0, 1) picks among the tied experts where ties are random."""
    places, search = game.places, game.search
    width = 0.0 if game.how.sums else round_width(t, game.how.beta)
    if game.grouped.order.size > 0:
        n_ties = least_of_groups(width, game)
    elif places.single:
        n_ties = least_of_singles(width, game)
    else:
        n_ties = least_of_many(width, game)
    chosen = 0
    if game.how.random_ties:
        _sort_ties(n_ties, game)
        chosen = int(u * n_ties)
    else:
        for k in range(1, n_ties):
            if places.expert[search.tied_slot[k]] < places.expert[search.tied_slot[chosen]]:
                chosen = k
    return search.tied_cell[chosen], search.tied_slot[chosen]
