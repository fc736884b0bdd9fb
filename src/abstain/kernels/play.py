"""Rounds of the UCB family: one decision, one label, or a block of a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .choose import choose, look_again
from .graph import ESTIMATED, GIVEN, count, n_edges, neighbours, record
from .groups import Groups
from .index import round_width
from .jit import jit, part
from .learn import learn
from .state import Bools, Disagreements, Estimates, Floats, Ints, Layout, Search


class Settings(NamedTuple):
    """What tells one learner of the family from another."""

    kind: int  # of graph, see `graph`
    beta: float
    sums: bool  # follow the least sum of losses, without a width
    optimistic: bool  # step (*) of UCB-GT
    supervised: bool  # learn from every label, also of abstained rounds, and only then
    constant: bool  # the cost is the same in every round
    price: float  # that cost, or 1 where costs vary
    random_ties: bool


class Game(NamedTuple):
    """A learner of the family: everything it knows."""

    how: Settings
    places: Layout
    learnt: Estimates
    search: Search
    grouped: Groups  # empty but for self-loops
    seen: Disagreements  # empty but for the estimated graph
    relation: Bools  # (G, G), empty but for fixed graphs
    mask: Bools  # (G,) the out-neighbours of the round at hand; empty for self-loops
    abstains: Bools  # (A,) the rules' abstentions in the round at hand; its losses are in search.row
    scratch: Bools  # (G,)


class Late(NamedTuple):
    """The rounds whose label is still to come, in a ring; empty where labels come at once."""

    cell: Ints  # (delay,)
    mask: Bools  # (delay, G)
    abstains: Bools  # (delay, A)
    losses: NDArray[Any]  # (delay, P)
    cost: Floats  # (delay,)


class Played(NamedTuple):
    """What happened, a row a round."""

    expert: Ints
    abstained: Bools
    loss: Floats


@jit
def look_everywhere(game: Game) -> None:
    """Derive the search from what has been learnt."""
    for cell in range(game.places.rule.size):
        look_again(cell, game.how.price, game.how.sums, game.places, game.learnt, game.search)


@part
def _choose(t: int, u: float, game: Game) -> tuple[int, int]:
    how = game.how
    width = 0.0 if how.sums else round_width(t, how.beta)
    cell, slot = choose(
        width, how.price, how.sums, how.random_ties, u, game.places, game.learnt, game.search, game.grouped
    )
    if how.kind != GIVEN:
        neighbours(
            how.kind, t, how.beta, cell, game.abstains, game.relation, game.places, game.learnt, game.seen, game.mask
        )
    return cell, slot


@part
def _record(t: int, game: Game) -> None:
    if game.how.kind == ESTIMATED:
        record(t, game.abstains, game.seen)


@part
def _learn(cell: int, seen: bool, cost: float, game: Game) -> None:
    how = game.how
    learn(
        cell, game.mask, game.abstains, seen, how.optimistic, cost, how.constant, how.price, how.sums,
        game.places, game.learnt, game.search, game.grouped,
    )  # fmt: skip


@jit
def choose_round(t: int, u: float, game: Game) -> tuple[int, int]:
    """The (cell, slot) to follow at round t; its out-neighbours go into ``game.mask``. Nothing is learnt."""
    return _choose(t, u, game)


@jit
def record_round(t: int, game: Game) -> None:
    """Take note of round t's abstentions, if the graph depends on them."""
    _record(t, game)


@jit
def learn_round(cell: int, seen: bool, cost: float, game: Game) -> None:
    """Learn from a round in which ``cell`` was chosen, with or without its label."""
    _learn(cell, seen, cost, game)


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
        learn_round(cell, seen, cost, game)
    _exchange(i, k, abstains, losses, late, game)
    late.cell[k], cell = cell if seen else -1, late.cell[k]
    late.cost[k], cost = cost, late.cost[k]
    seen = cell >= 0
    if seen:
        learn_round(cell, seen, cost, game)


@jit
def edges_now(t: int, game: Game) -> int:
    """The number of edges of the graph in use at round t."""
    return n_edges(
        game.how.kind, t, game.how.beta, game.abstains, game.relation, game.places, game.learnt, game.seen,
        game.scratch,
    )  # fmt: skip


@jit
def count_all(t: int, counts: Any, game: Game) -> None:
    """How often, in the rounds before t, each rule abstained where each other predicted (A, A)."""
    for rule in range(counts.shape[0]):
        count(rule, t, game.seen)
        for i in range(counts.shape[1]):
            counts[rule, i] = game.seen.row[i]


@jit
def play(
    t: int, u: Floats, abstains: Bools, losses: Any, costs: Floats, at: Ints, edges: Ints, late: Late, game: Game,
    out: Played,
) -> None:  # fmt: skip
    """Play a block of rounds from round t on.

    ``at`` holds the 0-based rows before which the edges are to be counted into ``edges``. A label is learnt right after
    as many further decisions as ``late`` has places.
    """
    delay = late.cell.size
    checkpoint = 0
    for i in range(abstains.shape[0]):
        for a in range(np.uint64(abstains.shape[1])):
            game.abstains[a] = abstains[i, a]
        while checkpoint < at.size and at[checkpoint] == i:
            edges[checkpoint] = edges_now(t + i, game)
            checkpoint += 1
        cell, slot = _choose(t + i, u[i], game)
        _record(t + i, game)
        abstained = game.abstains[game.places.rule[cell]]
        out.expert[i] = game.places.expert[slot]
        out.abstained[i] = abstained
        out.loss[i] = costs[i] if abstained else losses[i, game.places.predictor[slot]]
        seen = game.how.supervised or not abstained
        if delay > 0:
            _learn_and_wait(i, (t + i) % delay, cell, seen, costs[i], abstains, losses, late, game)
            continue
        if seen:
            for p in range(np.uint64(losses.shape[1])):
                game.search.row[p] = losses[i, p]
        _learn(cell, seen, costs[i], game)


@jit
def learn_late(k: int, late: Late, game: Game) -> None:
    """Learn the round waiting at place k of the ring, if there is one."""
    seen = late.cell[k] >= 0
    if seen:
        _exchange(k, k, late.abstains, late.losses, late, game)
        learn_round(late.cell[k], seen, late.cost[k], game)
        late.cell[k] = -1


def no_late(delay: int, game: Game) -> Late:
    """An empty ring for labels that come ``delay`` rounds late."""
    return Late(
        cell=np.full(delay, -1),
        mask=np.zeros((delay, len(game.mask)), np.bool_),
        abstains=np.zeros((delay, len(game.abstains)), np.bool_),
        losses=np.zeros((delay, len(game.search.row)), game.search.row.dtype),
        cost=np.zeros(delay),
    )
