"""The arrays a learner of the UCB family works on; see `layout` for teams and slots."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.layout import CHUNK, Layout
from ...typing import Array, Bools, Floats, Ints

HISTORY_BITS = 64
"""Rounds held by one word of the history of abstentions."""


class Variant(NamedTuple):
    """What tells one learner of the family from another."""

    graph: int  # which kind, see `graph`
    beta: float
    sums: bool  # follow the least sum of losses, without a width
    optimistic: bool  # step (*) of UCB-GT
    supervised: bool  # learn from every label, also of abstained rounds, and only then
    counted: bool  # abstentions are counted and multiplied by the price; else their costs are summed
    price: float  # the cost of abstaining if they are counted, else 1
    random_ties: bool


class Estimates(NamedTuple):
    """What has been learnt: of an expert, E (in its slot), c*n and Q (of its team)."""

    losses: Array  # E (K,): int32 for losses in {0, 1}, else float64
    paid: Floats  # (G,) n, or the sum of the costs
    updates: Floats  # Q (G,)
    open: NDArray[np.int32]  # (K,) choices of each expert that are not learnt yet
    n_open: Ints  # (1,) their sum


class Search(NamedTuple):
    """What makes finding the least index fast, and scratch space. Derived: never saved."""

    least: Array  # (G,) lower bound on each team's least E: what it was when last looked at
    fresh: Bools  # (G,) whether it still is the least
    near: Array  # (1,) scratch: a number rounded to the type of E
    indices: Floats  # (G,) scratch
    rough: NDArray[np.float32]  # (G,) scratch: the index of teams of one expert, to single precision
    chunk: NDArray[np.float32]  # scratch: the least rough index of each chunk of teams
    row: Array  # (P,) scratch: the losses of the round being learnt, in the type of E
    tied_team: Ints  # (K,) scratch: the teams and slots tied for the least index
    tied_slot: Ints  # (K,)
    mask: Bools  # (G,) scratch: out-neighbours, where edges are counted


SCRATCH = ("near", "indices", "rough", "chunk", "row", "tied_team", "tied_slot", "mask")


class CountGroups(NamedTuple):
    """Experts grouped by count (`counts`). Derived: never saved."""

    order: Ints  # (K,) experts by count (largest first), sum of losses, number
    first: Ints  # (K + 2,) where each group begins in ``order``; behind the last group: K
    counts: Floats  # (K + 1,) Q of each group
    size: Ints  # (1,) the number of groups


class Disagreements(NamedTuple):
    """How often rule j abstained where rule i predicted, kept up to date only for the rows that are asked for."""

    counts: NDArray[np.int32]  # (A, A)
    history: NDArray[np.uint64]  # (W, A) a bit a round, set where the rule predicts; W words in a ring
    absorbed: Ints  # (A,) words of the history already in a row of counts
    row: NDArray[np.int32]  # (A,) scratch: the row of the rule chosen


class UCBState(NamedTuple):
    """A learner of the family: everything it knows."""

    variant: Variant
    layout: Layout
    estimates: Estimates
    search: Search
    groups: CountGroups  # empty but for self-loops
    seen: Disagreements  # empty but for the estimated graph
    relation: Bools  # (G, G), empty but for fixed graphs


def estimates(layout: Layout, binary: bool) -> Estimates:
    """Nothing learnt yet."""
    n_experts, n_teams = len(layout.expert), len(layout.rule)
    losses = np.zeros(n_experts, np.int32 if binary else np.float64)
    return Estimates(losses, np.zeros(n_teams), np.zeros(n_teams), np.zeros(n_experts, np.int32), np.zeros(1, np.int64))


def search(layout: Layout, n_predictors: int, binary: bool) -> Search:
    """Nothing looked at yet: no E is below 0."""
    n_experts, n_teams = len(layout.expert), len(layout.rule)
    n_alone = n_teams if layout.alone else 0
    dtype = np.int32 if binary else np.float64
    return Search(
        least=np.zeros(n_teams, dtype),
        fresh=np.zeros(n_teams, np.bool_),
        near=np.zeros(1, dtype),
        indices=np.zeros(n_teams),
        rough=np.zeros(n_alone, np.float32),
        chunk=np.zeros(-(-n_alone // CHUNK), np.float32),
        row=np.zeros(n_predictors, dtype),
        tied_team=np.zeros(n_experts, np.int64),
        tied_slot=np.zeros(n_experts, np.int64),
        mask=np.zeros(n_teams, np.bool_),
    )


def no_groups() -> CountGroups:
    """For graphs other than self-loops."""
    return CountGroups(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


def disagreements(n_rules: int, counts: NDArray[np.int32] | None = None, rounds: int = 0) -> Disagreements:
    """The counts of ``rounds`` rounds and an empty history; bits left at zero add nothing to any count."""
    return Disagreements(
        counts=np.zeros((n_rules, n_rules), np.int32) if counts is None else counts.copy(),
        # Memory is then half of what the counts take; longer would put off more work, shorter would put off less.
        history=np.zeros((max(4, n_rules // 4), n_rules), np.uint64),
        absorbed=np.full(n_rules, rounds // HISTORY_BITS),
        row=np.zeros(n_rules, np.int32),
    )
