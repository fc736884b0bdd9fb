"""Out-neighbours, numbers of edges, and the counts behind UCB-GT's estimated graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...graphs.base import ABSTENTION, COMPLETE, ESTIMATED, RELATION, SELF_LOOPS
from ...kernels.compiling import inline, kernel
from ...typing import Bools
from .state import HISTORY_BITS, Disagreements, UCBState


@inline
def _common_bits(x: Any, y: Any) -> Any:
    """The number of bits two words share, in a form that compilers know and vectorise."""
    x = x & y
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inline
def _absorb(rule: int, place: int, seen: Disagreements) -> None:
    """Add to a rule's row of counts the rounds of one word of the history."""
    counts, history = seen.counts, seen.history
    r, w = np.uint64(rule), np.uint64(place)
    abstained = ~history[w, r]
    if abstained != np.uint64(0):
        for i in range(np.uint64(counts.shape[1])):
            counts[r, i] += _common_bits(history[w, i], abstained)


@inline
def _count_last(rule: int, place: int, bits: int, seen: Disagreements) -> None:
    """Put into ``seen.row`` a rule's row of counts and the first ``bits`` rounds of the word not yet absorbed."""
    counts, history, row = seen.counts, seen.history, seen.row
    r, w = np.uint64(rule), np.uint64(place)
    abstained = ~history[w, r] & ((np.uint64(1) << np.uint64(bits)) - np.uint64(1))
    if abstained == np.uint64(0):
        for i in range(np.uint64(row.size)):
            row[i] = counts[r, i]
    else:
        for i in range(np.uint64(row.size)):
            row[i] = counts[r, i] + _common_bits(history[w, i], abstained)


@inline
def count(rule: int, t: int, seen: Disagreements) -> None:
    """Put into ``seen.row`` how often, in the rounds before t, ``rule`` abstained where each rule predicted."""
    n_words = seen.history.shape[0]
    word = (t - 1) // HISTORY_BITS
    for full in range(seen.absorbed[rule], word):
        _absorb(rule, full % n_words, seen)
    seen.absorbed[rule] = word
    _count_last(rule, word % n_words, (t - 1) % HISTORY_BITS, seen)


@inline
def record(t: int, abstains: Bools, s: Any) -> None:
    """Add round t's abstentions to the history; a word about to be overwritten is first absorbed by all rows."""
    seen, history = s.seen, s.seen.history
    word, bit = (t - 1) // HISTORY_BITS, (t - 1) % HISTORY_BITS
    place = word % history.shape[0]
    if bit == 0:
        oldest = word - history.shape[0]
        for rule in range(abstains.size):
            if seen.absorbed[rule] <= oldest:
                _absorb(rule, place, seen)
                seen.absorbed[rule] = oldest + 1
        for rule in range(abstains.size):
            history[place, rule] = np.uint64(0)
    w, b = np.uint64(place), np.uint64(bit)
    for i in range(np.uint64(abstains.size)):
        history[w, i] |= np.uint64(not abstains[i]) << b


@inline
def _estimated(t: int, s: UCBState, mask: Bools) -> None:
    """phat_{j,i}^{t-1} <= gamma_{i,t-1} for the rule j of ``seen.row``: both sides times (K-1)(t-1), squared."""
    row, updates = s.seen.row, s.estimates.updates
    others, scale = s.layout.expert.size - 1.0, 2.0 * s.variant.beta * math.log(t)
    if scale * (t - 1.0) < others * others:  # no Q is above t - 1, so that no threshold reaches one
        for i in range(np.uint64(mask.size)):
            mask[i] = row[i] == 0
    else:
        for i in range(np.uint64(mask.size)):
            left = others * row[i]
            mask[i] = left * left <= scale * updates[i]


@inline
def neighbours(t: int, team: int, abstains: Bools, s: UCBState, mask: Bools) -> None:
    """Mark in ``mask`` the teams of N_t(I_t) for a choice in ``team``; self-loops have no mask (`update.update`)."""
    kind, rule = s.variant.graph, s.layout.rule
    if kind == COMPLETE or (kind == ABSTENTION and not abstains[rule[team]]):
        for c in range(mask.size):
            mask[c] = True
    elif kind == RELATION:
        for c in range(mask.size):
            mask[c] = s.relation[team, c]
    elif kind == ABSTENTION:
        for c in range(mask.size):
            mask[c] = abstains[rule[c]]
    elif kind == ESTIMATED:
        count(team, t, s.seen)
        _estimated(t, s, mask)


@inline
def edges(t: int, abstains: Bools, s: UCBState) -> int:
    """The number of edges between experts of the graph in use at round t."""
    start, mask = s.layout.start, s.search.mask
    n_experts = s.layout.expert.size
    if s.variant.graph == SELF_LOOPS:
        return n_experts
    if s.variant.graph == COMPLETE:
        return n_experts * n_experts
    total = 0
    for team in range(mask.size):
        neighbours(t, team, abstains, s, mask)
        reached = 0
        for c in range(mask.size):
            if mask[c]:
                reached += start[c + 1] - start[c]
        total += reached * (start[team + 1] - start[team])
    return total


@kernel
def count_all(t: int, counts: Any, s: Any) -> None:
    """How often, in the rounds before t, each rule abstained where each other predicted (A, A)."""
    for rule in range(counts.shape[0]):
        count(rule, t, s.seen)
        for i in range(counts.shape[1]):
            counts[rule, i] = s.seen.row[i]
