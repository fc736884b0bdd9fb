"""Against other libraries' UCB on 2,000 arms, and against the pseudocode written out in NumPy.

The others are given what the experts say and lose, one number an expert; ours start from the features.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import abstain as ab

from . import literal
from .bandits import mabwiser_rounds, river_rounds, river_ucb
from .data import COST, LEARNERS, Floats, problem, simulation
from .floor import ROUNDS
from .table import at_least, number, show
from .timing import Task, best

DIM = 8
THEIR_ROUNDS = {"river": 300, "MABWiser": 40, "literal UCB": 3_000, "literal UCBGT": 40}
ROWS = [
    ("river bandit.UCB: pull, update", "river", "UCB", 300.0),
    ("MABWiser UCB1: predict, partial_fit", "MABWiser", "UCB", 300.0),
    ("algorithm 1 with self-loops in NumPy", "literal UCB", "UCB", None),
    ("algorithm 2 in NumPy, K x K", "literal UCBGT", "UCBGT", 1000.0),
]

Literal: TypeAlias = Callable[[literal.Bools, Floats, float], literal.Ints]


def literal_rounds(function: Literal, abstains: literal.Bools, losses: Floats, expected: literal.Ints) -> Task:
    """The pseudocode, if it chooses the experts expected: what differs is not to be compared."""
    if not np.array_equal(function(abstains, losses, COST), expected):
        raise AssertionError(f"{function.__name__} and the library choose different experts")
    return lambda: lambda: function(abstains, losses, COST)


def run() -> None:
    experts = ab.experts.hyperplanes(dim=DIM, seed=0)
    K = experts.n_experts
    X, y = problem(K + ROUNDS, DIM)
    first = slice(max(THEIR_ROUNDS.values()))
    advice = experts.advise(X[first])
    abstains = advice.abstains[:, experts.rule_of]
    losses = (advice.predictions * y[first, np.newaxis] <= 0.0)[:, experts.predictor_of].astype(np.float64)
    rewards = 1.0 - np.where(abstains, COST, losses)

    tasks = {name: simulation(name, experts, X, y, warm=K) for name in ("UCB", "UCBGT")}
    tasks["river"] = river_rounds(rewards[: THEIR_ROUNDS["river"]], river_ucb)
    tasks["MABWiser"] = mabwiser_rounds(rewards[: THEIR_ROUNDS["MABWiser"]])
    for name, function in (("UCB", literal.ucb), ("UCBGT", literal.ucb_gt)):
        n = THEIR_ROUNDS[f"literal {name}"]
        chosen = ab.simulate(LEARNERS[name](experts), X[:n], y[:n]).expert
        tasks[f"literal {name}"] = literal_rounds(function, abstains[:n], losses[:n], chosen)

    time = {name: seconds / THEIR_ROUNDS.get(name, ROUNDS) for name, seconds in best(tasks, 5).items()}
    rows = []
    for text, theirs, ours, target in ROWS:
        ratio = time[theirs] / time[ours]
        verdict = ["", ""] if target is None else [f"{target:,g}", at_least(ratio, target)]
        rows.append([text, ours, number(ratio), *verdict])
    show(f"Time a round on {K:,} arms, divided by ours", ["", "ours", "times", "at least", ""], rows)
