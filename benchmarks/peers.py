"""Against other libraries' UCB on 2,000 arms, and against the pseudocode written out in NumPy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mabwiser.mab import MAB, LearningPolicy
from river import bandit

import abstain as ab

from . import literal
from .data import COST, LEARNERS, Floats, problem, simulation
from .floor import ROUNDS
from .table import at_least, number, show
from .timing import Task, best

DIM = 8
PEER_ROUNDS = {"river": 300, "MABWiser": 40, "literal UCB": 1_000, "literal UCBGT": 15}
DELTA = math.sqrt(literal.BETA)
"""Makes both peers' widths, DELTA sqrt(2 log(t) / Q), ours."""


def river_rounds(rewards: Floats) -> Task:
    """Pull and update, after each arm was pulled once."""

    def prepare() -> Callable[[], object]:
        arms: list[Any] = list(range(rewards.shape[1]))
        policy: Any = bandit.UCB(delta=DELTA, seed=0)
        for arm in arms:
            policy.update(arm, rewards[0, arm])

        def run() -> None:
            for reward in rewards:
                arm = policy.pull(arms)
                policy.update(arm, reward[arm])

        return run

    return prepare


def mabwiser_rounds(rewards: Floats) -> Task:
    """Predict and learn one arm at a time, after each arm was pulled once."""

    def prepare() -> Callable[[], object]:
        arms = list(range(rewards.shape[1]))
        model = MAB(arms, LearningPolicy.UCB1(alpha=DELTA))
        model.fit(arms, rewards[0])

        def run() -> None:
            for reward in rewards:
                arm: Any = model.predict()
                model.partial_fit([arm], [reward[arm]])

        return run

    return prepare


def run() -> None:
    experts = ab.experts.hyperplanes(dim=DIM, seed=0)
    K = experts.n_experts
    X, y = problem(K + ROUNDS, DIM)
    advice = experts.advise(X[: ROUNDS // 10])
    abstains = advice.abstains[:, experts.rule_of]
    losses = (advice.predictions * y[: len(abstains), np.newaxis] <= 0.0)[:, experts.predictor_of].astype(np.float64)
    rewards = 1.0 - np.where(abstains, COST, losses)
    written = {"literal UCB": literal.ucb, "literal UCBGT": literal.ucb_gt}
    for name, function in written.items():
        n = PEER_ROUNDS[name]
        ours = ab.simulate(LEARNERS[name.split()[1]](experts), X[:n], y[:n]).expert
        if not np.array_equal(function(abstains[:n], losses[:n], COST), ours):
            raise AssertionError(f"{name} and the library choose different experts")

    def literally(name: str) -> Task:
        n = PEER_ROUNDS[name]
        return lambda: lambda: written[name](abstains[:n], losses[:n], COST)

    tasks = {
        "river": river_rounds(rewards[: PEER_ROUNDS["river"]]),
        "MABWiser": mabwiser_rounds(rewards[: PEER_ROUNDS["MABWiser"]]),
        "UCB": simulation("UCB", experts, X, y, warm=K),
        "literal UCB": literally("literal UCB"),
        "UCBGT": simulation("UCBGT", experts, X, y, warm=K),
        "literal UCBGT": literally("literal UCBGT"),
    }
    time = {name: value / PEER_ROUNDS.get(name, ROUNDS) for name, value in best(tasks, 5).items()}
    pairs = [
        ("UCB", "river", "river bandit.UCB: pull, update", 300.0),
        ("UCB", "MABWiser", "MABWiser UCB1: predict, partial_fit", 300.0),
        ("UCB", "literal UCB", "algorithm 1 with self-loops in NumPy", None),
        ("UCBGT", "literal UCBGT", "algorithm 2 in NumPy, K x K", 1000.0),
    ]
    rows = []
    for ours_name, name, text, target in pairs:
        ratio = time[name] / time[ours_name]
        rows.append([text, ours_name, number(ratio), "" if target is None else at_least(ratio, target)])
    show(f"Time a round on {K:,} arms, divided by ours", ["", "ours", "times", "target"], rows)
