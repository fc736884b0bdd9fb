"""Whom to follow while the bucket is empty: somebody who predicts."""

from __future__ import annotations

from ...typing import Bools, Floats
from ..jit import inline
from .state import Memories

DRAWN, FOR_LABEL, FOR_CAPACITY, ANSWERED_ANYWAY = 0.0, 1.0, 2.0, 3.0
"""What the second number of a carry says of the expert that was followed: drawn; followed for the sake of the label;
instead of one who abstains, as the bucket was empty; drawn while it was empty."""


@inline
def _slot_of(expert: int, s: Memories) -> int:
    team = s.layout.team[expert]
    for slot in range(s.layout.start[team], s.layout.start[team + 1]):
        if s.layout.expert[slot] == expert:
            return int(slot)
    return -1


@inline
def abstains_on(expert: int, abstains: Bools, s: Memories) -> bool:
    """Whether an expert abstains."""
    return bool(abstains[s.layout.rule[s.layout.team[expert]]])


@inline
def _mass(group: int, slot: int, s: Memories) -> float:
    mass = 0.0
    for j in range(s.mix.size):
        mass += s.mix[j] * (s.factor[j, group] * s.weight[j, slot] / s.masses[j, 0])
    return mass


@inline
def _likeliest(abstains: Bools, s: Memories) -> int:
    """The predictor with the largest weight among those with an expert who predicts; ties go to the lowest."""
    weight, answers = s.estimate, s.shrink  # scratch
    for p in range(weight.size):
        weight[p] = answers[p] = 0.0
    for group in range(s.start.size - 1):
        for slot in range(s.start[group], s.start[group + 1]):
            p = s.layout.predictor[slot]
            weight[p] += _mass(group, slot, s)
            if not abstains[slot if s.layout.alone else s.layout.rule[group]]:
                answers[p] = 1.0
    found, most = 0, -1.0
    for p in range(weight.size):
        if answers[p] > 0.0 and weight[p] > most:
            found, most = p, weight[p]
    return found


@inline
def _heaviest_of(predictor: int, abstains: Bools, s: Memories) -> int:
    """Of the experts of a predictor who predict, the one with the largest weight; -1 if none does."""
    found, most = -1, -1.0
    for group in range(s.start.size - 1):
        for slot in range(s.start[group], s.start[group + 1]):
            silent = abstains[slot if s.layout.alone else s.layout.rule[group]]
            if s.layout.predictor[slot] == predictor and not silent:
                mass, expert = _mass(group, slot, s), s.layout.expert[slot]
                if mass > most or (mass == most and expert < found):
                    found, most = expert, mass
    return int(found)


@inline
def answer(expert: int, predicts: float, abstains: Bools, carry: Floats, s: Memories) -> tuple[int, float]:
    """Who is followed instead of the expert that was drawn, and the probability of predicting: 1, if anybody does.

    If the expert abstains, the heaviest who predicts of the same predictor is followed; if it has none, of the
    likeliest predictor that has. The label is seen as often as labels come after predicting, whoever was drawn.
    """
    silent = True
    for rule in range(abstains.size):
        silent = silent and abstains[rule]
    if silent:
        return expert, predicts
    carry[0] = s.sight.predicted
    if not abstains_on(expert, abstains, s):
        carry[1] = ANSWERED_ANYWAY
        return expert, 1.0
    carry[1] = FOR_CAPACITY
    followed = _heaviest_of(s.layout.predictor[_slot_of(expert, s)], abstains, s)
    if followed < 0:
        followed = _heaviest_of(_likeliest(abstains, s), abstains, s)
    return followed, 1.0


@inline
def teaches_nothing(carry: Floats) -> bool:
    """Whether the bucket was empty and labels of cases that were answered never come."""
    return bool(carry[1] >= FOR_CAPACITY and carry[0] == 0.0)
