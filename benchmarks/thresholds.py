"""Confidence thresholds: 2,000 experts with 2,000 different rules, so that nothing can be shared between experts."""

import numpy as np

import abstain as ab

from .data import LEARNERS, problem, simulation
from .floor import ROUNDS, floor
from .table import at_most, number, show
from .timing import best

TARGET = 40.0


def run() -> None:
    experts = ab.experts.thresholds(100, np.linspace(0.0, 0.25, 20))
    X, y = problem(ROUNDS, experts.n_predictors)
    times = best(
        {"floor": floor(), "unlucky": floor(offset=16)} | {name: simulation(name, experts, X, y) for name in LEARNERS},
        12,
    )
    rows = []
    for name in LEARNERS:
        ratio = times[name] / times["floor"]
        unlucky = number(times[name] / times["unlucky"])
        rows.append([name, number(ratio), at_most(ratio, TARGET) if name == "UCBGT" else "", unlucky])
    show(
        f"simulate with 100 models x 20 thresholds: passes a round",
        ["learner", "passes", "target", "slower passes"],
        rows,
    )
