"""Which expert to follow: one drawn from the weights, unless its label would be too unlikely to be seen."""

from __future__ import annotations

import numpy as np

from ...kernels.compiling import inline
from ...typing import Bools, Floats
from .mixture import predicting
from .state import ZERO, Memories, total


@inline
def _draw(target: float, j: int, s: Memories) -> int:
    """The slot at ``target`` when memory j's weights are laid end to end; by rounding it may lie behind the last."""
    weight, factor, sums, start = s.weight[j], s.factor[j], s.sums[j], s.start
    group = 0
    for k in range(factor.size):
        mass = factor[k] * sums[k]
        if mass > 0.0:
            group = k
            if target < mass:
                break
            target -= mass
    target /= factor[group]
    slot = start[group]
    for k in range(start[group], start[group + 1]):
        if weight[k] > 0.0:
            slot = k
            if target < weight[k]:
                break
            target -= weight[k]
    return int(slot)


@inline
def _draw_side(target: float, side: bool, abstains: Bools, j: int, s: Memories) -> int:
    """As `_draw`, among those who abstain, or those who predict, alone."""
    weight, factor, start, alone, rule = s.weight[j], s.factor[j], s.start, s.layout.alone, s.layout.rule
    found = -1
    for group in range(factor.size):
        for slot in range(start[group], start[group + 1]):
            mass = factor[group] * weight[slot]
            if mass > 0.0 and abstains[slot if alone else rule[group]] == side:
                found = slot
                if target < mass:
                    return int(found)
                target -= mass
    return int(found)


@inline
def _heaviest(side: bool, abstains: Bools, s: Memories) -> int:
    """The slot with the largest weight among those who abstain, or who predict; -1 if there is none."""
    found, most = -1, -1.0
    for group in range(s.start.size - 1):
        for slot in range(s.start[group], s.start[group + 1]):
            if abstains[slot if s.layout.alone else s.layout.rule[group]] == side:
                mass = 0.0
                for j in range(s.mix.size):
                    mass += s.mix[j] * (s.factor[j, group] * s.weight[j, slot] / s.masses[j, 0])
                if mass > most:
                    found, most = slot, mass
    return int(found)


@inline
def weigh_sides(abstains: Bools, s: Memories) -> float:
    """The sums of the weights in every memory, and the mass of those who predict in their mixture."""
    mass = 0.0
    for j in range(s.mix.size):
        factor, sums = s.factor[j], s.sums[j]
        everybody, seeing = 0.0, 0.0
        if s.layout.alone:
            everybody, seeing = total(sums, ZERO, np.uint64(sums.size)), predicting(abstains, j, s)
        else:
            for team in range(factor.size):
                of_team = factor[team] * sums[team]
                everybody += of_team
                if not abstains[s.layout.rule[team]]:
                    seeing += of_team
        s.masses[j, 0], s.masses[j, 1] = everybody, seeing
        mass += s.mix[j] * (seeing / everybody)
    return min(1.0, mass)


@inline
def _memory_at(target: float, s: Memories) -> tuple[int, float]:
    """The memory at ``target`` when they are laid end to end, and how far into it that is, from 0 to 1."""
    last = 0
    for j in range(s.mix.size):
        if s.mix[j] > 0.0:
            last = j
            if target < s.mix[j]:
                break
            target -= s.mix[j]
    return last, target / s.mix[last]


@inline
def _draw_from_side(u: float, side: bool, mass: float, abstains: Bools, s: Memories) -> int:
    """A slot of those who abstain, or who predict: ``mass`` of the whole."""
    target, slot = u * mass, -1
    for j in range(s.mix.size):
        everybody = s.masses[j, 0]
        own = everybody - s.masses[j, 1] if side else s.masses[j, 1]
        share = s.mix[j] * (own / everybody)
        if share > 0.0:
            drawn = _draw_side(target * everybody / s.mix[j], side, abstains, j, s)
            slot = drawn if drawn >= 0 else slot
            if target < share:
                break
            target -= share
    return slot


@inline
def draw(u: float, floor: float, abstains: Bools, carry: Floats, s: Memories) -> tuple[int, float]:
    """The expert drawn by ``u`` in [0, 1) and the probability of predicting; o, that of seeing the label, is carried.

    ``o = v_p Q + v_a (1 - Q)`` with Q the mass of those who predict. Where that is below the ``floor`` and somebody is
    on the side whose labels are seen more often, those drawn from the other side are now and then replaced by the
    heaviest expert of that side, so that o is the floor; then 1 is carried, too.
    """
    predicts = weigh_sides(abstains, s)
    seen = s.sight.predicted * predicts + s.sight.abstained * (1.0 - predicts)
    if seen < floor:
        side = s.sight.abstained > s.sight.predicted  # True: labels are seen by abstaining
        heaviest = _heaviest(side, abstains, s)
        if heaviest >= 0 and s.sight.predicted != s.sight.abstained:
            missing = (floor - seen) / abs(s.sight.predicted - s.sight.abstained)
            other = predicts if side else 1.0 - predicts
            carry[0] = floor
            if u < missing:
                carry[1] = 1.0
                slot = heaviest
            elif u < missing + (1.0 - other):
                slot = _draw_from_side((u - missing) / (1.0 - other), side, 1.0 - other, abstains, s)
            else:
                rest = (u - missing - (1.0 - other)) / (other - missing)
                slot = _draw_from_side(rest, not side, other, abstains, s)
            slot = slot if slot >= 0 else heaviest  # nobody, by rounding
            predicts += -missing if side else missing
            return s.layout.expert[slot], min(1.0, max(0.0, predicts))  # not below 0 by rounding
    carry[0] = seen
    j, target = _memory_at(u, s)
    return s.layout.expert[_draw(target * s.masses[j, 0], j, s)], predicts


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
