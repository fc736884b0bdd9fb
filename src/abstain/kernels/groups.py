"""Experts grouped by count, for plain UCB: only the least of each group competes.

In a group all widths are equal, so its least index is that of its least sum of losses. Groups lie side by side, largest
count first, so that the usual move, the least expert of one group to the group before it, shifts little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .index import index_of
from .jit import part
from .state import Estimates, Floats, Ints, Search


class Groups(NamedTuple):
    """Derived from the estimates: never saved."""

    order: Ints  # (K,) experts by count (largest first), sum of losses, number
    first: Ints  # (K + 2,) where each group begins in ``order``; behind the last group: K
    counts: Floats  # (K + 1,) Q of each group
    size: Ints  # (1,) the number of groups


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
def _place(expert: int, total: float, low: int, high: int, price: float, learnt: Estimates, grouped: Groups) -> int:
    """The first place in ``low:high`` not before (total, expert); ``total`` counts for the expert itself, too."""
    while low < high:
        middle = (low + high) // 2
        other = grouped.order[middle]
        other_total = total if other == expert else learnt.losses[other] + price * learnt.paid[other]
        if other_total < total or (other_total == total and other < expert):
            low = middle + 1
        else:
            high = middle
    return low


@part
def move(expert: int, old_total: float, price: float, learnt: Estimates, grouped: Groups) -> None:
    """Regroup an expert whose count has just grown by one and whose sum of losses was ``old_total``."""
    order, first, count = grouped.order, grouped.first, grouped.counts
    updates, total = learnt.updates[expert], learnt.losses[expert] + price * learnt.paid[expert]
    g = 0
    while count[g] != updates - 1.0:
        g += 1
    place = _place(expert, old_total, first[g], first[g + 1], price, learnt, grouped)
    for k in range(place, first[g], -1):
        order[k] = order[k - 1]
    hole = first[g]
    if g > 0 and count[g - 1] == updates:
        place = _place(expert, total, first[g - 1], hole, price, learnt, grouped)
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
def least_of_groups(
    width: float, price: float, sums: bool, random_ties: bool, learnt: Estimates, search: Search, grouped: Groups
) -> int:
    """Put the experts of the least index into the ties (of equal sums the first, if ties are not random)."""
    lowest = np.inf
    for g in range(grouped.size[0]):
        expert = grouped.order[grouped.first[g]]
        index = index_of(learnt.losses[expert], learnt.paid[expert], price, grouped.counts[g], width, sums)
        search.indices[g] = index
        lowest = min(lowest, index)
    n_ties = 0
    for g in range(grouped.size[0]):
        place, behind = grouped.first[g], grouped.first[g + 1]
        while place < behind and search.indices[g] == lowest:
            expert = grouped.order[place]
            losses, paid = learnt.losses[expert], learnt.paid[expert]
            if index_of(losses, paid, price, grouped.counts[g], width, sums) != lowest:
                break
            search.tied_cell[n_ties] = expert
            search.tied_slot[n_ties] = expert
            n_ties += 1
            if random_ties:
                place += 1
            else:
                place = _place(learnt.updates.size, losses + price * paid, place, behind, price, learnt, grouped)
    return n_ties
