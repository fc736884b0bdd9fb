"""Out-neighbours, numbers of edges, and the counts behind UCB-GT's estimated graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .jit import jit, part
from .state import HISTORY_BITS, Bools, Disagreements, Game

SELF_LOOPS, COMPLETE, RELATION, ABSTENTION, ESTIMATED, GIVEN = range(6)
"""The kinds of graph: RELATION is a fixed matrix between cells, ESTIMATED is UCB-GT's, GIVEN comes from outside."""


@part
def _common_bits(x: Any, y: Any) -> Any:
    """The number of bits two words share, in a form that compilers know and vectorise."""
    x = x & y
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int32((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part
def _absorb(rule: int, place: int, seen: Disagreements) -> None:
    """Add to a rule's row of counts the rounds of one word of the history."""
    counts, history = seen.counts, seen.history
    r, w = np.uint64(rule), np.uint64(place)
    abstained = ~history[w, r]
    if abstained != np.uint64(0):
        for i in range(np.uint64(counts.shape[1])):
            counts[r, i] += _common_bits(history[w, i], abstained)


@part
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


@part
def count(rule: int, t: int, seen: Disagreements) -> None:
    """Put into ``seen.row`` how often, in the rounds before t, ``rule`` abstained where each rule predicted."""
    n_words = seen.history.shape[0]
    word = (t - 1) // HISTORY_BITS
    for full in range(seen.absorbed[rule], word):
        _absorb(rule, full % n_words, seen)
    seen.absorbed[rule] = word
    _count_last(rule, word % n_words, (t - 1) % HISTORY_BITS, seen)


@part
def record(t: int, game: Game) -> None:
    """Add round t's abstentions to the history; a word about to be overwritten is first absorbed by all rows."""
    abstains, seen, history = game.abstains, game.seen, game.seen.history
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


@part
def _estimated(t: int, game: Game, mask: Bools) -> None:
    """phat_{j,i}^{t-1} <= gamma_{i,t-1} for the rule j of ``seen.row``: both sides times (K-1)(t-1), squared."""
    row, updates = game.seen.row, game.learnt.updates
    others, scale = game.places.expert.size - 1.0, 2.0 * game.how.beta * math.log(t)
    if scale * (t - 1.0) < others * others:  # no Q is above t - 1, so that no threshold reaches one
        for i in range(np.uint64(mask.size)):
            mask[i] = row[i] == 0
    else:
        for i in range(np.uint64(mask.size)):
            left = others * row[i]
            mask[i] = left * left <= scale * updates[i]


@part
def neighbours(t: int, cell: int, game: Game, mask: Bools) -> None:
    """Mark in ``mask`` the cells of N_t(I_t) for a choice in ``cell``; self-loops have no mask (`learn.learn`)."""
    kind, abstains, rule = game.how.kind, game.abstains, game.places.rule
    if kind == COMPLETE or (kind == ABSTENTION and not abstains[rule[cell]]):
        for c in range(mask.size):
            mask[c] = True
    elif kind == RELATION:
        for c in range(mask.size):
            mask[c] = game.relation[cell, c]
    elif kind == ABSTENTION:
        for c in range(mask.size):
            mask[c] = abstains[rule[c]]
    elif kind == ESTIMATED:
        count(cell, t, game.seen)
        _estimated(t, game, mask)


@jit
def n_edges(t: int, game: Game) -> int:
    """The number of edges between experts of the graph in use at round t."""
    start, mask = game.places.start, game.scratch
    n_experts = game.places.expert.size
    if game.how.kind == SELF_LOOPS:
        return n_experts
    if game.how.kind == COMPLETE:
        return n_experts * n_experts
    total = 0
    for cell in range(mask.size):
        neighbours(t, cell, game, mask)
        reached = 0
        for c in range(mask.size):
            if mask[c]:
                reached += start[c + 1] - start[c]
        total += reached * (start[cell + 1] - start[cell])
    return total


@jit
def count_all(t: int, counts: Any, game: Game) -> None:
    """How often, in the rounds before t, each rule abstained where each other predicted (A, A)."""
    for rule in range(counts.shape[0]):
        count(rule, t, game.seen)
        for i in range(counts.shape[1]):
            counts[rule, i] = game.seen.row[i]
