"""Experts grouped by count, for plain UCB: only the least of each group competes.

In a group all widths are equal, so its least index is that of its least sum of losses. Groups lie side by side, largest
count first, so that the usual move, the least expert of one group to the group before it, shifts little.
"""

from __future__ import annotations

import numpy as np

from ..jit import inline
from .index import index_of
from .state import CountGroups, Estimates, UCBState


def groups_of(estimates: Estimates, price: float) -> CountGroups:
    """Group the experts by what has been learnt; only for teams of one expert each, in the order of experts."""
    n_experts = len(estimates.updates)
    order = np.lexsort((estimates.losses + price * estimates.paid, -estimates.updates))
    counts = estimates.updates[order]
    begins = np.flatnonzero(np.diff(counts, prepend=-1.0))
    first, count = np.full(n_experts + 2, n_experts), np.zeros(n_experts + 1)
    first[: len(begins)], count[: len(begins)] = begins, counts[begins]
    return CountGroups(order, first, count, np.array([len(begins)]))


@inline
def _place(expert: int, total: float, low: int, high: int, s: UCBState) -> int:
    """The first place in ``low:high`` not before (total, expert); ``total`` counts for the expert itself, too."""
    price, estimates, order = s.variant.price, s.estimates, s.groups.order
    while low < high:
        middle = (low + high) // 2
        other = order[middle]
        other_total = total if other == expert else estimates.losses[other] + price * estimates.paid[other]
        if other_total < total or (other_total == total and other < expert):
            low = middle + 1
        else:
            high = middle
    return low


@inline
def move(expert: int, old_total: float, s: UCBState) -> None:
    """Regroup an expert whose count has just grown by one and whose sum of losses was ``old_total``."""
    groups, estimates = s.groups, s.estimates
    order, first, count = groups.order, groups.first, groups.counts
    updates, total = estimates.updates[expert], estimates.losses[expert] + s.variant.price * estimates.paid[expert]
    g = 0
    while g < groups.size[0] and count[g] != updates - 1.0:
        g += 1
    if g == groups.size[0]:
        return  # cannot be: every expert is in a group
    place = _place(expert, old_total, first[g], first[g + 1], s)
    for k in range(place, first[g], -1):
        order[k] = order[k - 1]
    hole = first[g]
    if g > 0 and count[g - 1] == updates:
        place = _place(expert, total, first[g - 1], hole, s)
        for k in range(hole, place, -1):
            order[k] = order[k - 1]
        order[place] = expert
        first[g] += 1
    else:
        order[hole] = expert
        for k in range(groups.size[0], g, -1):
            first[k], count[k] = first[k - 1], count[k - 1]
        count[g] = updates
        groups.size[0] += 1
        first[groups.size[0]] = order.size
        g += 1
        first[g] = hole + 1
    if first[g] == first[g + 1]:
        for k in range(g, groups.size[0]):
            first[k] = first[k + 1]
        for k in range(g, groups.size[0] - 1):
            count[k] = count[k + 1]
        groups.size[0] -= 1


@inline
def least_of_groups(width: float, s: UCBState) -> int:
    """Put the experts of the least index into the ties (of equal sums the first, if ties are not random)."""
    groups, estimates, search = s.groups, s.estimates, s.search
    lowest = np.inf
    for g in range(groups.size[0]):
        expert = groups.order[groups.first[g]]
        index = index_of(estimates.losses[expert], estimates.paid[expert], groups.counts[g], width, s.variant)
        search.indices[g] = index
        lowest = min(lowest, index)
    n_ties = 0
    for g in range(groups.size[0]):
        place, behind = groups.first[g], groups.first[g + 1]
        while place < behind and search.indices[g] == lowest:
            expert = groups.order[place]
            losses, paid = estimates.losses[expert], estimates.paid[expert]
            if index_of(losses, paid, groups.counts[g], width, s.variant) != lowest:
                break
            search.tied_team[n_ties] = expert
            search.tied_slot[n_ties] = expert
            n_ties += 1
            if s.variant.random_ties:
                place += 1
            else:
                place = _place(estimates.updates.size, losses + s.variant.price * paid, place, behind, s)
    return n_ties
