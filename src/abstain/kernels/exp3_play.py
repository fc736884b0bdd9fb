"""Rounds of EXP3-ABS: a block of a table."""

from __future__ import annotations

from typing import Any

from .exp3 import draw, learn
from .exp3_state import Weights
from .jit import jit
from .play import Late, Played
from .state import Bools, Floats, Ints


@jit
def n_edges(abstains: Bools, w: Weights) -> int:
    """The size of G^ABS_t: who predicts shows everybody, who abstains shows those who abstain."""
    n_experts, silent = w.places.expert.size, 0
    for cell in range(w.places.rule.size):
        if abstains[w.places.rule[cell]]:
            silent += w.places.start[cell + 1] - w.places.start[cell]
    return (n_experts - silent) * n_experts + silent * silent


@jit
def learn_late(k: int, late: Late, w: Weights) -> None:
    """Learn the round waiting at place k of the ring, if there is one."""
    if late.cell[k] >= 0:
        learn(late.abstains[k], late.losses[k], late.cell[k] >= 0, late.probability[k], late.cost[k], w)
        late.cell[k] = -1


@jit
def _wait(i: int, k: int, cell: int, probability: float, cost: float, abstains: Bools, losses: Any, late: Late) -> None:
    """Put row i at place k of the ring."""
    late.cell[k], late.probability[k], late.cost[k] = cell, probability, cost
    for a in range(abstains.shape[1]):
        late.abstains[k, a] = abstains[i, a]
    for p in range(losses.shape[1]):
        late.losses[k, p] = losses[i, p]


@jit
def play(
    t: int, u: Floats, abstains: Bools, losses: Any, costs: Floats, at: Ints, edges: Ints, late: Late | None,
    w: Weights, out: Played,
) -> None:  # fmt: skip
    """Play a block of rounds from round t on, as `play.play` does."""
    checkpoint = 0
    for i in range(abstains.shape[0]):
        row = abstains[i]
        while checkpoint < at.size and at[checkpoint] == i:
            edges[checkpoint] = n_edges(row, w)
            checkpoint += 1
        slot, probability = draw(t + i, u[i], row, w)
        expert = w.places.expert[slot]
        abstained = row[w.rule_of[expert]]
        out.expert[i] = expert
        out.abstained[i] = abstained
        out.loss[i] = costs[i] if abstained else losses[i, w.places.predictor[slot]]
        if late is None or abstained:
            learn(row, losses[i], not abstained, probability, costs[i], w)
        if late is not None:
            k = (t + i) % late.cell.size
            learn_late(k, late, w)
            if not abstained:
                _wait(i, k, slot, probability, costs[i], abstains, losses, late)
