"""Confidence thresholds: 2,000 experts with 2,000 different rules, so that experts share nothing."""

import math

import numpy as np

import abstain as ab

from .data import LEARNERS, problem, simulation
from .floor import ROUNDS, UNIT, in_passes
from .table import show
from .timing import best

TARGET = 40.0


def run() -> None:
    experts = ab.experts.thresholds(100, np.linspace(0.0, 0.25, 20))
    X, y = problem(ROUNDS, experts.n_predictors)
    times = best(UNIT | {name: simulation(name, experts, X, y) for name in LEARNERS}, 12)
    show(
        f"simulate with 100 models x 20 thresholds: passes a round (target {TARGET:g})",
        ["learner", "passes", ""],
        [[name, *in_passes(times, name, TARGET if name == "UCBGT" else math.inf)] for name in LEARNERS],
    )
