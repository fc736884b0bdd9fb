"""Rounds of the UCB family: one decision, one label, or a block of a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .choose import choose
from .graph import ESTIMATED, n_edges, neighbours, record
from .jit import jit
from .learn import learn
from .state import Bools, Floats, Game, Ints


class Late(NamedTuple):
    """The rounds whose label is still to come, in a ring."""

    cell: Ints  # (delay,) -1 where no round waits
    mask: Bools  # (delay, G)
    abstains: Bools  # (delay, A)
    losses: NDArray[Any]  # (delay, P)
    cost: Floats  # (delay,)
    probability: Floats  # (delay,) of predicting, for learners that draw


class Played(NamedTuple):
    """What happened, a row a round."""

    expert: Ints
    abstained: Bools
    loss: Floats


def no_late(delay: int, n_marked: int, n_rules: int, n_predictors: int, losses: Any) -> Late:
    """An empty ring for labels that come ``delay`` rounds late, with losses of that type."""
    return Late(
        cell=np.full(delay, -1),
        mask=np.zeros((delay, n_marked), np.bool_),
        abstains=np.zeros((delay, n_rules), np.bool_),
        losses=np.zeros((delay, n_predictors), losses),
        cost=np.zeros(delay),
        probability=np.zeros(delay),
    )


@jit
def _learn_round(cell: int, seen: bool, cost: float, game: Game) -> None:
    """Learn from a round in which ``cell`` was chosen, with or without its label."""
    learn(cell, seen, cost, game)


@jit
def _exchange(i: int, k: int, abstains: Bools, losses: Any, late: Late, game: Game) -> None:
    """Put row i at place k of the ring, and the round waiting there at hand."""
    for c in range(game.mask.size):
        late.mask[k, c], game.mask[c] = game.mask[c], late.mask[k, c]
    for a in range(game.abstains.size):
        game.abstains[a], late.abstains[k, a] = late.abstains[k, a], abstains[i, a]
    for p in range(game.search.row.size):
        game.search.row[p], late.losses[k, p] = late.losses[k, p], losses[i, p]


@jit
def _learn_and_wait(
    i: int, k: int, cell: int, seen: bool, cost: float, abstains: Bools, losses: Any, late: Late, game: Game
) -> None:
    """Learn what row i shows at once; let it wait for its label at place k of the ring, and learn the round there."""
    if not seen:
        _learn_round(cell, seen, cost, game)
    _exchange(i, k, abstains, losses, late, game)
    late.cell[k], cell = cell if seen else -1, late.cell[k]
    late.cost[k], cost = cost, late.cost[k]
    seen = cell >= 0
    if seen:
        _learn_round(cell, seen, cost, game)


@jit
def learn_late(k: int, late: Late, game: Game) -> None:
    """Learn the round waiting at place k of the ring, if there is one."""
    seen = late.cell[k] >= 0  # a variable: for a literal True all would be compiled once more
    if seen:
        _exchange(k, k, late.abstains, late.losses, late, game)
        _learn_round(late.cell[k], seen, late.cost[k], game)
        late.cell[k] = -1


@jit
def play(
    t: int, u: Floats, abstains: Bools, losses: Any, costs: Floats, at: Ints, edges: Ints, late: Late | None,
    game: Game, out: Played,
) -> None:  # fmt: skip
    """Play a block of rounds from round t on.

    ``at`` holds the 0-based rows before which the edges are to be counted into ``edges``. With ``late`` a label is
    learnt right after as many further decisions as it has places.
    """
    checkpoint = 0
    for i in range(abstains.shape[0]):
        for a in range(np.uint64(abstains.shape[1])):
            game.abstains[a] = abstains[i, a]
        while checkpoint < at.size and at[checkpoint] == i:
            edges[checkpoint] = n_edges(t + i, game)
            checkpoint += 1
        cell, slot = choose(t + i, u[i], game)
        neighbours(t + i, cell, game, game.mask)
        if game.how.kind == ESTIMATED:
            record(t + i, game)
        abstained = game.abstains[game.places.rule[cell]]
        out.expert[i] = game.places.expert[slot]
        out.abstained[i] = abstained
        out.loss[i] = costs[i] if abstained else losses[i, game.places.predictor[slot]]
        seen = game.how.supervised or not abstained
        if late is not None:
            _learn_and_wait(i, (t + i) % late.cell.size, cell, seen, costs[i], abstains, losses, late, game)
        else:
            if seen:
                for p in range(np.uint64(losses.shape[1])):
                    game.search.row[p] = losses[i, p]
            learn(cell, seen, costs[i], game)
