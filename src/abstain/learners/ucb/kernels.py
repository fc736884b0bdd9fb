"""The compiled algorithm of the UCB family: find the least index (`choose`), update the out-neighbours (`update`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graphs.base import ESTIMATED
from ...kernels.compiling import inline, kernel
from ...kernels.layout import CHUNK
from ...typing import Bools
from .graph import neighbours, record
from .state import CountGroups, Estimates, UCBState, Variant


@inline
def round_width(t: int, beta: float) -> float:
    """The width's numerator at round t: ``sqrt(2 beta) sqrt(log(t - 1))``, so that S_{j,t-1} is it over sqrt(Q)."""
    return math.sqrt(2.0 * beta) * math.sqrt(math.log(t - 1.0)) if t > 1 else 0.0


@inline
def index_of(losses: Any, paid: float, updates: float, width: float, variant: Variant) -> float:
    """mu_{j,t-1} - S_{j,t-1}, or the sum of losses; an expert never observed comes before any other.

    The mean is (E + c*n) / Q and S is ``width`` over sqrt(Q); c*n is ``price * paid``.
    """
    index = (losses + variant.price * paid) / (1.0 if variant.sums else updates) - width / np.sqrt(updates)
    return index if updates > 0.0 else -np.inf


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
    rough, chunks, teams, slots, variant = search.rough, search.chunk, search.tied_team, search.tied_slot, s.variant
    _rough_indices(width, s)
    limit = np.float64(_least_rough(s))
    limit += ROUGH_ERROR * (1.0 + width + abs(limit)) if limit > -np.inf else 0.0
    lowest, n_ties, best = np.inf, 0, -1
    for chunk in range(chunks.size):
        if chunks[chunk] > limit:
            continue
        for team in range(chunk * CHUNK, min((chunk + 1) * CHUNK, rough.size)):
            if rough[team] > limit:
                continue
            index = lowest
            if best < 0 or updates[team] != updates[best] or losses[team] != losses[best] or paid[team] != paid[best]:
                index = index_of(losses[team], paid[team], updates[team], width, variant)
            if index < lowest:
                lowest, n_ties, best = index, 0, team
            if index == lowest:
                teams[n_ties] = team
                slots[n_ties] = team
                n_ties += 1
    return n_ties


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
def least(width: float, u: float, s: Any) -> tuple[int, int, int]:
    """The (team, slot) to follow, where ``u`` in [0, 1) picks if ties are random; and the number of ties."""
    layout, search = s.layout, s.search
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
    return search.tied_team[chosen], search.tied_slot[chosen], n_ties


@inline
def choose(t: int, u: float, x: Any, abstains: Bools, mask: Bools, s: UCBState) -> tuple[int, float]:
    """The expert to follow at round t, and the probability of predicting; its out-neighbours go into ``mask``."""
    team, slot, n_ties = least(0.0 if s.variant.sums else round_width(t, s.variant.beta), u, s)
    neighbours(t, team, abstains, s, mask)
    predicts = 0.0 if abstains[s.layout.rule[team]] else 1.0
    if s.variant.random_ties:
        predicts = 0.0
        for k in range(n_ties):
            predicts += 0.0 if abstains[s.layout.rule[s.search.tied_team[k]]] else 1.0
        predicts /= n_ties
    return s.layout.expert[slot], predicts


@inline
def add_losses(team: int, s: Any) -> None:
    """E += l for the experts of a team."""
    losses, row, predictor = s.estimates.losses, s.search.row, s.layout.predictor
    offset = np.uint64(s.layout.start[team])
    n_slots = np.uint64(s.layout.start[team + 1]) - offset
    if s.layout.product:
        for i in range(n_slots):
            losses[offset + i] += row[i]
    else:
        for i in range(n_slots):
            losses[offset + i] += row[predictor[offset + i]]


@inline
def _learn_team(team: int, abstains: Bools, seen: bool, step: float, s: UCBState) -> None:
    """Update one team, unless its loss stays hidden."""
    if abstains[s.layout.rule[team]]:
        s.estimates.paid[team] += step
    elif seen:
        add_losses(team, s)
    elif not s.variant.optimistic:  # else step (*) of UCB-GT: as if the loss were 0
        return
    s.estimates.updates[team] += 1.0


@inline
def _learn_own_rules(mask: Bools, abstains: Bools, seen: bool, step: float, s: UCBState) -> None:
    """`_learn_team` for all teams at once where each is one expert with a rule of its own: nothing to branch on."""
    losses, paid, updates = s.estimates.losses, s.estimates.paid, s.estimates.updates
    row, predictor, run = s.search.row, s.layout.predictor, s.layout.run
    n_teams = np.uint64(mask.size)
    for c in range(n_teams):
        paid[c] += step * (mask[c] & abstains[c])
    if seen and 8 * run.size > n_teams:
        for c in range(n_teams):
            losses[c] += (mask[c] & (not abstains[c])) * row[np.uint64(predictor[c])]
    elif seen:  # long runs of one predictor: no gathering, and nothing to add where it was right
        for r in range(run.size - 1):
            offset = np.uint64(run[r])
            loss = row[predictor[offset]]
            if loss != 0:
                for i in range(np.uint64(run[r + 1]) - offset):
                    losses[offset + i] += (mask[offset + i] & (not abstains[offset + i])) * loss
    if seen or s.variant.optimistic:
        for c in range(n_teams):
            updates[c] += mask[c]
    else:
        for c in range(n_teams):
            updates[c] += mask[c] & abstains[c]


@inline
def note(t: int, expert: int, abstains: Bools, mask: Bools, s: UCBState) -> None:
    """A choice is open until its round is learnt; UCB-GT records who abstained."""
    s.estimates.open[expert] += 1
    s.estimates.n_open[0] += 1
    if s.variant.graph == ESTIMATED:
        record(t, abstains, s)


@inline
def _close(expert: int, s: UCBState) -> None:
    """A choice was learnt, or its label will never come."""
    if s.estimates.open[expert] > 0:
        s.estimates.open[expert] -= 1
        s.estimates.n_open[0] -= 1


@kernel
def close(expert: int, s: UCBState) -> None:
    """`_close`, to be called from Python."""
    _close(expert, s)


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, mask: Bools, s: UCBState) -> None:
    """Update the teams of ``mask`` (or, where it is empty, the chosen expert's) from a round.

    ``losses`` are those of the predictors, if the label was ``seen``; an abstaining expert's loss is ``cost``.
    """
    chosen, step = s.layout.team[expert], 1.0 if s.variant.counted else cost
    _close(expert, s)
    if seen:
        row = s.search.row
        if mask.size == 0:  # the chosen expert's predictor is all that is asked for
            own = s.layout.predictor[s.layout.start[chosen]]
            row[own] = losses[own]
        else:
            for p in range(np.uint64(losses.size)):
                row[p] = losses[p]
    if mask.size == 0:
        total = s.estimates.losses[chosen] + s.variant.price * s.estimates.paid[chosen]
        _learn_team(chosen, abstains, seen, step, s)
        move(chosen, total, s)
    elif s.layout.alone and s.layout.own_rules:
        _learn_own_rules(mask, abstains, seen, step, s)
    else:
        for team in range(mask.size):
            if mask[team]:
                _learn_team(team, abstains, seen, step, s)
                s.search.fresh[team] = False
