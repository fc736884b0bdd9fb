"""EXP3-ABS: rates and kinds of experts, from features to trace, and river's Exp3 with 2,000 arms."""

from collections.abc import Callable
from typing import Any

import numpy as np

import abstain as ab

from .bandits import river_exp3, river_rounds
from .data import COST, Floats, problem
from .floor import ROUNDS, UNIT, in_passes
from .table import at_least, at_most, number, show
from .timing import Task, best

DIMENSIONS = (2, 8, 25)
TARGET, GOAL, TARGET_THRESHOLDS, TARGET_ADAPTIVE, TARGET_RIVER = 12.0, 6.0, 15.0, 3.0, 200.0
TARGET_SHARE, SHORT, TURNS = 1.3, 400, 100
THEIR_ROUNDS = 300


def simulation(eta: Any, experts: ab.experts.ExpertSet, X: Floats, y: Floats) -> Task:
    """Play a table with a new learner."""

    def prepare() -> Callable[[], object]:
        learner = ab.Exp3Abs(experts, cost=COST, eta=eta, seed=0)
        return lambda: ab.simulate(learner, X, y)

    return prepare


def of_shares(experts: ab.experts.ExpertSet, X: Floats, y: Floats) -> float:
    """Time fixed share against no memory: rounds that are prepared, learners that have learnt, many short turns."""
    half = ROUNDS // 2
    rounds = ab.prepare(experts, X[half : half + SHORT], y[half : half + SHORT])
    learners = {}
    for memory in (None, "share"):
        learners[memory] = ab.Exp3Abs(experts, cost=COST, memory=memory, seed=0)
        ab.simulate(learners[memory], X[:half], y[:half])
    tasks = {str(memory): lambda one=one: lambda: ab.simulate(one, rounds) for memory, one in learners.items()}
    times = best(tasks, TURNS)
    return times["share"] / times["None"]


def run() -> None:
    tasks = dict(UNIT)
    for dim in DIMENSIONS:
        X, y = problem(ROUNDS, dim)
        experts = ab.experts.hyperplanes(dim=dim, seed=0)
        tasks.update({f"eta {eta}, rings, d = {dim}": simulation(eta, experts, X, y) for eta in (0.01, "adaptive")})
    X, y = problem(ROUNDS, 100)
    scores = ab.experts.thresholds(100, np.linspace(0.0, 0.25, 20))
    tasks.update({f"eta {eta}, thresholds": simulation(eta, scores, X, y) for eta in (0.01, "adaptive")})
    times = best(tasks, 8)
    rows = []
    for name in tasks:
        if "adaptive" in name:
            ratio = times[name] / times[name.replace("adaptive", "0.01")]
            rows.append(
                [name, in_passes(times, name)[0], f"{number(ratio)} x fixed: {at_most(ratio, TARGET_ADAPTIVE)}"]
            )
        elif "rings" in name:
            rows.append([name, *in_passes(times, name, TARGET, GOAL)])
        elif "thresholds" in name:
            rows.append([name, *in_passes(times, name, TARGET_THRESHOLDS)])
    X8, y8 = problem(ROUNDS, 8)
    for name, ratio in (
        ("rings, d = 8", of_shares(ab.experts.hyperplanes(dim=8, seed=0), X8, y8)),
        ("thresholds", of_shares(scores, X, y)),
    ):
        rows.append([f"fixed share, {name}, in rounds without", number(ratio), at_most(ratio, TARGET_SHARE)])
    rewards = np.random.default_rng(0).random((THEIR_ROUNDS, 2000))
    theirs = best({"river": river_rounds(rewards, river_exp3)}, 3)["river"] / THEIR_ROUNDS
    ratio = theirs / (times["eta 0.01, rings, d = 8"] / ROUNDS)
    rows.append(["river bandit.Exp3 on 2,000 arms, in our rounds", number(ratio), at_least(ratio, TARGET_RIVER)])
    show(f"EXP3-ABS: passes a round (target {TARGET:g}, goal {GOAL:g})", ["", "passes", ""], rows)
