"""EXP3-ABS: rates and kinds of experts, from features to trace, and river's Exp3 with 2,000 arms."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import bandit

import abstain as ab

from .data import COST, Floats, problem
from .floor import ROUNDS, UNIT, in_passes
from .table import at_least, at_most, number, show
from .timing import Task, best

DIMENSIONS = (2, 8, 25)
TARGET, GOAL, TARGET_THRESHOLDS, TARGET_ADAPTIVE, TARGET_RIVER = 12.0, 6.0, 15.0, 3.0, 200.0
THEIR_ROUNDS = 300


def simulation(eta: Any, experts: ab.experts.ExpertSet, X: Floats, y: Floats) -> Task:
    """Play a table with a new learner."""

    def prepare() -> Callable[[], object]:
        learner = ab.Exp3Abs(experts, cost=COST, eta=eta, seed=0)
        return lambda: ab.simulate(learner, X, y)

    return prepare


def river_rounds(n_arms: int) -> Task:
    """Pull and update on random rewards."""
    rewards = np.random.default_rng(0).random((THEIR_ROUNDS, n_arms))

    def prepare() -> Callable[[], object]:
        arms: list[Any] = list(range(n_arms))
        policy: Any = bandit.Exp3(gamma=0.1, seed=0)

        def run() -> None:
            for reward in rewards:
                arm = policy.pull(arms)
                policy.update(arm, reward[arm])

        return run

    return prepare


def run() -> None:
    tasks = dict(UNIT)
    for dim in DIMENSIONS:
        X, y = problem(ROUNDS, dim)
        experts = ab.experts.hyperplanes(dim=dim, seed=0)
        tasks.update({f"eta {eta}, rings, d = {dim}": simulation(eta, experts, X, y) for eta in (0.01, "adaptive")})
    X, y = problem(ROUNDS, 100)
    scores = ab.experts.thresholds(100, np.linspace(0.0, 0.25, 20))
    tasks["eta 0.01, thresholds"] = simulation(0.01, scores, X, y)
    times = best(tasks, 8)
    rows = []
    for name in tasks:
        if "rings" in name and "0.01" in name:
            rows.append([name, *in_passes(times, name, TARGET, GOAL)])
        elif "rings" in name:
            ratio = times[name] / times[name.replace("adaptive", "0.01")]
            rows.append(
                [name, in_passes(times, name)[0], f"{number(ratio)} x fixed: {at_most(ratio, TARGET_ADAPTIVE)}"]
            )
        elif "thresholds" in name:
            rows.append([name, *in_passes(times, name, TARGET_THRESHOLDS)])
    show(f"EXP3-ABS: passes a round (target {TARGET:g}, goal {GOAL:g})", ["", "passes", ""], rows)
    theirs = best({"river": river_rounds(2000)}, 3)["river"] / THEIR_ROUNDS
    ratio = theirs / (times["eta 0.01, rings, d = 8"] / ROUNDS)
    show(
        "river bandit.Exp3 on 2,000 arms, divided by ours",
        ["", "times", ""],
        [["", number(ratio), at_least(ratio, TARGET_RIVER)]],
    )
