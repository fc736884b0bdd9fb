"""Experts grouped by count, for plain UCB: only the least of each group competes.

In a group all widths are equal, so its least index is that of its least sum of losses. Groups lie side by side, largest
count first, so that the usual move, the least expert of one group to the group before it, shifts little.
"""

from __future__ import annotations

import numpy as np

from .index import index_of
from .jit import part
from .state import Estimates, Game, Groups


def groups(learnt: Estimates, price: float) -> Groups:
    """Group the experts by what has been learnt; only for cells of one expert each, in the order of experts."""
    n_experts = len(learnt.updates)
    order = np.lexsort((learnt.losses + price * learnt.paid, -learnt.updates))
    counts = learnt.updates[order]
    begins = np.flatnonzero(np.diff(counts, prepend=-1.0))
    first, count = np.full(n_experts + 2, n_experts), np.zeros(n_experts + 1)
    first[: len(begins)], count[: len(begins)] = begins, counts[begins]
    return Groups(order, first, count, np.array([len(begins)]))


@part
def _place(expert: int, total: float, low: int, high: int, game: Game) -> int:
    """The first place in ``low:high`` not before (total, expert); ``total`` counts for the expert itself, too."""
    price, learnt, order = game.how.price, game.learnt, game.grouped.order
    while low < high:
        middle = (low + high) // 2
        other = order[middle]
        other_total = total if other == expert else learnt.losses[other] + price * learnt.paid[other]
        if other_total < total or (other_total == total and other < expert):
            low = middle + 1
        else:
            high = middle
    return low


@part
def move(expert: int, old_total: float, game: Game) -> None:
    """Regroup an expert whose count has just grown by one and whose sum of losses was ``old_total``."""
    grouped, learnt = game.grouped, game.learnt
    order, first, count = grouped.order, grouped.first, grouped.counts
    updates, total = learnt.updates[expert], learnt.losses[expert] + game.how.price * learnt.paid[expert]
    g = 0
    while count[g] != updates - 1.0:
        g += 1
    place = _place(expert, old_total, first[g], first[g + 1], game)
    for k in range(place, first[g], -1):
        order[k] = order[k - 1]
    hole = first[g]
    if g > 0 and count[g - 1] == updates:
        place = _place(expert, total, first[g - 1], hole, game)
        for k in range(hole, place, -1):
            order[k] = order[k - 1]
        order[place] = expert
        first[g] += 1
    else:
        order[hole] = expert
        for k in range(grouped.size[0], g, -1):
            first[k], count[k] = first[k - 1], count[k - 1]
        count[g] = updates
        grouped.size[0] += 1
        first[grouped.size[0]] = order.size
        g += 1
        first[g] = hole + 1
    if first[g] == first[g + 1]:
        for k in range(g, grouped.size[0]):
            first[k] = first[k + 1]
        for k in range(g, grouped.size[0] - 1):
            count[k] = count[k + 1]
        grouped.size[0] -= 1


@part
def least_of_groups(width: float, game: Game) -> int:
    """Put the experts of the least index into the ties (of equal sums the first, if ties are not random)."""
    grouped, learnt, search = game.grouped, game.learnt, game.search
    lowest = np.inf
    for g in range(grouped.size[0]):
        expert = grouped.order[grouped.first[g]]
        index = index_of(learnt.losses[expert], learnt.paid[expert], grouped.counts[g], width, game.how)
        search.indices[g] = index
        lowest = min(lowest, index)
    n_ties = 0
    for g in range(grouped.size[0]):
        place, behind = grouped.first[g], grouped.first[g + 1]
        while place < behind and search.indices[g] == lowest:
            expert = grouped.order[place]
            losses, paid = learnt.losses[expert], learnt.paid[expert]
            if index_of(losses, paid, grouped.counts[g], width, game.how) != lowest:
                break
            search.tied_cell[n_ties] = expert
            search.tied_slot[n_ties] = expert
            n_ties += 1
            if game.how.random_ties:
                place += 1
            else:
                place = _place(learnt.updates.size, losses + game.how.price * paid, place, behind, game)
    return n_ties
