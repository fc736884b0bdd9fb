"""Where a cell's rounds come from: rows of a data set, a synthetic set drawn afresh, or an instance of the paper."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import datasets
from ..instances import Instance, bias_problem, proposition_1

Floats: TypeAlias = NDArray[np.float64]

INSTANCES: dict[str, Callable[[float], Instance]] = {
    "bias-problem": lambda cost: bias_problem(cost=cost),
    "proposition-1": lambda cost: proposition_1(cost=cost),
}
"""Problems with experts and a loss of their own, by their cost: anything with ``experts``, ``loss`` and ``draw``."""
TEN = ("higgs", "phishing", "ijcnn", "covtype", "eye", "skin", "cod-rna", "guide", "cifar", "synthetic")
DRAWN = ("synthetic",)
"""Sets that are drawn afresh every time."""


def names() -> tuple[str, ...]:
    """The sets a study may name."""
    return tuple(dict.fromkeys((*datasets.names, *TEN, *INSTANCES)))


def draw(X: Floats, y: Floats, rounds: int, seed: np.random.SeedSequence) -> tuple[Floats, Floats]:
    """Rows of a table in random order, without replacement unless it has fewer rows than there are rounds."""
    rows = np.random.default_rng(seed).choice(len(X), rounds, replace=len(X) < rounds)
    return X[rows], y[rows]
