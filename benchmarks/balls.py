"""ContEXP3-ABS: rounds a second against the number of balls, and against a scan of all centres."""

from collections.abc import Callable
from unittest.mock import patch

import numpy as np

import abstain as ab

from .data import COST, Floats
from .table import number, show
from .timing import Task, best

DIMENSIONS = (1, 2, 5, 20)
BALLS = (10, 100, 1000, 10_000)
ROUNDS = 20_000


def covered(dim: int, epsilon: float, X: Floats, y: Floats) -> ab.ContExp3Abs:
    """A learner that has seen these inputs."""
    learner = ab.ContExp3Abs(dim, cost=COST, epsilon=epsilon, seed=0)
    ab.simulate(learner, X, y)
    return learner


def radius_for(n_balls: int, dim: int, X: Floats, y: Floats) -> float:
    """The radius by which these inputs make about so many balls."""
    low, high = 1e-5, 2.0 * np.sqrt(dim)
    while True:
        middle = float(np.sqrt(low * high))
        n = covered(dim, middle, X, y).n_balls
        if abs(n - n_balls) <= 0.1 * n_balls:
            return middle
        low, high = (middle, high) if n > n_balls else (low, middle)


def known(learner: ab.ContExp3Abs, X: Floats, y: Floats) -> Task:
    """Play inputs that are all in balls."""

    def prepare() -> Callable[[], object]:
        return lambda: ab.simulate(learner, X, y)

    return prepare


def run() -> None:
    rows = []
    for dim in DIMENSIONS:
        rng = np.random.default_rng(dim)
        X, y = rng.uniform(-1.0, 1.0, (ROUNDS, dim)), rng.choice([-1.0, 1.0], ROUNDS)
        for n_balls in BALLS:
            epsilon = radius_for(n_balls, dim, X, y)
            found = covered(dim, epsilon, X, y)
            with patch("abstain.learners.cover.cont_exp3_abs.MOST_HASHED", 0):
                scanned = covered(dim, epsilon, X, y)
            times = best({"found": known(found, X, y), "scanned": known(scanned, X, y)}, 3)
            rate = f"{ROUNDS / times['found']:,.0f}"
            ratio = number(times["scanned"] / times["found"]) if dim <= 5 else "is one"
            rows.append([f"d = {dim}", f"{found.n_balls:,}", rate, ratio])
    show("ContEXP3-ABS: rounds a second", ["", "balls", "rounds a second", "a scan takes, times as long"], rows)
