"""The expert with the least index, ties to the lowest number.

All indices move every round (the width grows, counts and losses change), but only the least one matters. There are
three ways to find it without computing all: by teams of many experts, by single experts, and by groups of equal count.
"""

from __future__ import annotations

from typing import Any

from ...typing import Bools
from ..jit import inline, kernel
from .counts import least_of_groups
from .graph import neighbours
from .index import round_width
from .own_rules import least_of_own_rules
from .shared_rules import least_of_shared_rules
from .state import UCBState


@inline
def _sort_ties(n_ties: int, s: UCBState) -> None:
    """Order the ties by expert (a shell sort: nothing may be allocated)."""
    teams, slots, expert = s.search.tied_team, s.search.tied_slot, s.layout.expert
    gap = n_ties // 2
    while gap > 0:
        for k in range(gap, n_ties):
            team, slot, i = teams[k], slots[k], k
            while i >= gap and expert[slots[i - gap]] > expert[slot]:
                teams[i], slots[i] = teams[i - gap], slots[i - gap]
                i -= gap
            teams[i], slots[i] = team, slot
        gap //= 2


@inline
def _fewest_open(s: UCBState) -> int:
    """Put the experts never updated that have the fewest open choices into the ties, and return their number."""
    start, expert, updates = s.layout.start, s.layout.expert, s.estimates.updates
    n_ties, fewest = 0, s.estimates.n_open[0] + 1
    for team in range(updates.size):
        if updates[team] == 0.0:
            for slot in range(start[team], start[team + 1]):
                n_open = s.estimates.open[expert[slot]]
                if n_open < fewest:
                    fewest, n_ties = n_open, 0
                if n_open == fewest:
                    s.search.tied_team[n_ties] = team
                    s.search.tied_slot[n_ties] = slot
                    n_ties += 1
    return n_ties


@inline
def _least(t: int, u: float, s: UCBState) -> tuple[int, int]:
    """The (team, slot) to follow at round t; ``u`` in [0, 1) picks among the tied experts where ties are random."""
    layout, search = s.layout, s.search
    width = 0.0 if s.variant.sums else round_width(t, s.variant.beta)
    if s.groups.order.size > 0:
        n_ties = least_of_groups(width, s)
    elif layout.alone:
        n_ties = least_of_own_rules(width, s)
    else:
        n_ties = least_of_shared_rules(width, s)
    # An expert never updated comes first. While labels are late that would be the same one again and again.
    if s.estimates.n_open[0] > 0 and s.estimates.updates[search.tied_team[0]] == 0.0 and not s.variant.sums:
        n_ties = _fewest_open(s)
    chosen = 0
    if s.variant.random_ties:
        _sort_ties(n_ties, s)
        chosen = int(u * n_ties)
    else:
        for k in range(1, n_ties):
            if layout.expert[search.tied_slot[k]] < layout.expert[search.tied_slot[chosen]]:
                chosen = k
    return search.tied_team[chosen], search.tied_slot[chosen]


@kernel
def choose(t: int, u: float, x: Any, abstains: Bools, mask: Bools, s: UCBState) -> tuple[int, float]:
    """The expert to follow at round t, and 1 if it predicts, else 0; its out-neighbours go into ``mask``."""
    team, slot = _least(t, u, s)
    neighbours(t, team, abstains, s, mask)
    return s.layout.expert[slot], 0.0 if abstains[s.layout.rule[team]] else 1.0
