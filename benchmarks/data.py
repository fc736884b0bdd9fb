"""The data and learners the sections share."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import abstain as ab

from .timing import Task

Floats: TypeAlias = NDArray[np.float64]

COST = 0.2

LEARNERS: dict[str, Callable[[ab.experts.ExpertSet], ab.Learner]] = {
    "UCB": lambda experts: ab.UCB(experts, cost=COST),
    "UCBNT (subset)": lambda experts: ab.UCBNT(experts, cost=COST),
    "UCBGT": lambda experts: ab.UCBGT(experts, cost=COST),
    "FullSupervision": lambda experts: ab.FullSupervision(experts, cost=COST),
}


def problem(n: int, dim: int) -> tuple[Floats, Floats]:
    """Uniform features in [-1, 1]^dim; labels: the sign of a linear function, one in ten flipped."""
    random = np.random.default_rng(dim)
    X = random.uniform(-1.0, 1.0, (n, dim))
    right = np.where(X @ random.standard_normal(dim) > 0.0, 1.0, -1.0)
    return X, np.where(random.random(n) < 0.1, -right, right)


def simulation(name: str, experts: ab.experts.ExpertSet, X: Floats, y: Floats, *, warm: int = 0) -> Task:
    """Play a table with a new learner that has played the first ``warm`` rows before."""

    def prepare() -> Callable[[], object]:
        learner = LEARNERS[name](experts)
        if warm > 0:
            ab.simulate(learner, X[:warm], y[:warm])
        return lambda: ab.simulate(learner, X[warm:], y[warm:])

    return prepare
