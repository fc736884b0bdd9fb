"""The arrays a learner of the UCB family works on.

Experts that are always updated together form a *cell* and share their counts: for a graph between rules a cell is all
experts of one rule, for a graph between experts every expert is a cell of its own. The experts of a cell lie next to
each other in *slots*.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

HISTORY_BITS = 64
"""Rounds held by one word of the history of abstentions."""

CHUNK = 64
"""Cells searched together."""


class Layout(NamedTuple):
    """Which expert sits where; never changes."""

    start: Ints  # (G + 1,) the first slot of each cell
    predictor: Ints  # (K,) of each slot
    expert: Ints  # (K,) of each slot, increasing within a cell
    rule: Ints  # (G,) of each cell
    run: Ints  # (R + 1,) where runs of slots with one predictor begin
    single: bool  # every cell has one slot
    product: bool  # every cell has all predictors, in order
    own_rules: bool  # cell i is all of rule i


class Estimates(NamedTuple):
    """What has been learnt: for an expert, E (its slot), c*n and Q (its cell)."""

    losses: NDArray[Any]  # E (K,): int32 for losses in {0, 1}, else float64
    paid: Floats  # (G,) n, or where costs vary the sum of the costs
    updates: Floats  # Q (G,)


class Search(NamedTuple):
    """What makes finding the least index fast, and scratch space. Derived: never saved."""

    least: NDArray[Any]  # (G,) the least E of each cell when last looked at, so never more than it is
    fresh: Bools  # (G,) whether it still is the least
    near: NDArray[Any]  # (1,) scratch: what is close to it
    indices: Floats  # (G,) scratch
    rough: NDArray[np.float32]  # (G,) scratch: the index of cells with one expert, to single precision
    chunk: NDArray[np.float32]  # scratch: the least rough index of each chunk of cells
    row: NDArray[Any]  # (P,) scratch: the losses of the round being learnt
    tied_cell: Ints  # (K,) scratch: the cells and slots tied for the least index
    tied_slot: Ints  # (K,)


class Disagreements(NamedTuple):
    """How often rule j abstained where rule i predicted, kept up to date only for the rows that are asked for."""

    counts: NDArray[np.int32]  # (A, A)
    history: NDArray[np.uint64]  # (W, A) a bit a round, set where the rule predicts; W words in a ring
    absorbed: Ints  # (A,) words of the history already in a row of counts
    row: NDArray[np.int32]  # (A,) scratch: the row of the rule chosen


class Groups(NamedTuple):
    """Experts grouped by count (`groups`). Derived: never saved."""

    order: Ints  # (K,) experts by count (largest first), sum of losses, number
    first: Ints  # (K + 2,) where each group begins in ``order``; behind the last group: K
    counts: Floats  # (K + 1,) Q of each group
    size: Ints  # (1,) the number of groups


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


def flat(game: Game) -> tuple[Any, ...]:
    """The game as a plain tuple: calls from Python take named ones apart slowly. `entry.whole` puts it together."""
    parts = (game.how, game.places, game.learnt, game.search, game.grouped, game.seen)
    return (*(value for part in parts for value in part), game.relation, game.mask, game.abstains, game.scratch)


def layout(predictor_of: Ints, rule_of: Ints, n_predictors: int, by_rule: bool) -> Layout:
    """Lay out experts in cells, by rule or one by one; ``rule_of`` must use every rule from 0 on."""
    n_experts = len(rule_of)
    cell_of = rule_of if by_rule else np.arange(n_experts)
    expert = np.argsort(cell_of, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(cell_of))])
    predictor = predictor_of[expert]
    n_cells = len(start) - 1
    whole_cells = bool(np.all(np.diff(start) == n_predictors))
    product = whole_cells and bool(np.all(predictor == np.tile(np.arange(n_predictors), n_cells)))
    return Layout(
        start=start,
        predictor=predictor,
        expert=expert,
        rule=rule_of[expert[start[:-1]]],
        run=np.append(np.flatnonzero(np.diff(predictor, prepend=-1)), n_experts),
        single=n_cells == n_experts,
        product=product,
        own_rules=by_rule or bool(np.array_equal(rule_of, np.arange(n_experts))),
    )


def estimates(places: Layout, binary: bool) -> Estimates:
    """Nothing learnt yet."""
    n_cells = len(places.rule)
    losses = np.zeros(len(places.expert), np.int32 if binary else np.float64)
    return Estimates(losses, np.zeros(n_cells), np.zeros(n_cells))


def search(places: Layout, n_predictors: int, binary: bool) -> Search:
    """Nothing looked at yet: no E is below 0."""
    n_experts, n_cells = len(places.expert), len(places.rule)
    n_single = n_cells if places.single else 0
    dtype = np.int32 if binary else np.float64
    return Search(
        least=np.zeros(n_cells, dtype),
        fresh=np.zeros(n_cells, np.bool_),
        near=np.zeros(1, dtype),
        indices=np.zeros(n_cells),
        rough=np.zeros(n_single, np.float32),
        chunk=np.zeros(-(-n_single // CHUNK), np.float32),
        row=np.zeros(n_predictors, dtype),
        tied_cell=np.zeros(n_experts, np.int64),
        tied_slot=np.zeros(n_experts, np.int64),
    )


def disagreements(n_rules: int, counts: NDArray[np.int32] | None = None, rounds: int = 0) -> Disagreements:
    """The counts of ``rounds`` rounds and an empty history; bits left at zero add nothing to any count."""
    return Disagreements(
        counts=np.zeros((n_rules, n_rules), np.int32) if counts is None else counts.copy(),
        # Memory is then half of what the counts take; longer would put off more work, shorter would put off less.
        history=np.zeros((max(4, n_rules // 4), n_rules), np.uint64),
        absorbed=np.full(n_rules, rounds // HISTORY_BITS),
        row=np.zeros(n_rules, np.int32),
    )
