"""The actions of ContEXP3-ABS: pairs of constants (h, r), those of equal loss in one level."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, shown
from ..kernels.cover.balls import Levels
from ..surrogate import ramp_value
from ..tables import as_number

LEAST_GAMMA = 1e-100
"""Numbers over a smaller one may overflow."""
MOST_PAIRS = 4_000_000
"""Each pair takes 16 bytes, once for all balls."""


def as_gamma(gamma: Any, actions: str) -> float | None:
    """The gamma of the actions: the grid's, in (0, 1); the three have none."""
    if not isinstance(actions, str) or actions not in ("three", "grid"):
        raise InputError(f"actions: expected 'three' or 'grid', got {shown(actions)}")
    if actions == "three":
        if gamma is not None:
            raise InputError(f"gamma: the three actions have none (actions='grid' does), got {shown(gamma)}")
        return None
    return as_number(gamma, "gamma", "a number in (0, 1) for actions='grid'", lambda gamma: LEAST_GAMMA <= gamma < 1.0)


class Actions(NamedTuple):
    """Values h and r, which of them are paired, and the levels."""

    h: NDArray[np.float64]
    r: NDArray[np.float64]
    pairs: Any
    levels: Levels


def three() -> Actions:
    """Predict +1, predict -1, abstain."""
    loss = np.array([[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    box = np.array([[0, 1, 0, 1], [1, 1, 0, 1], [2, 1, 0, 1]])
    ends = np.array([1.0, -1.0])
    pairs = np.array([(0, 0), (1, 0), (0, 1)])
    return Actions(ends, ends, pairs, Levels(2, 1, loss, np.ones(3), box, np.zeros(3)))


def grid(epsilon: float, gamma: float) -> Actions:
    """The centres of n x n equal squares, each within epsilon of its square, numbered from (high h, high r) on.

    In the surrogate loss a predicting pair counts ``1 - (1 - f) m`` with ``m = min(r / gamma, 1)``, where f depends on
    h and the label; an abstaining one ``1 - s + s c`` with ``s = min(-r / gamma, 1)``.
    """
    n = max(2, math.ceil(math.sqrt(2.0) / epsilon))  # two at least: 0 alone would never predict
    if n * n > MOST_PAIRS:
        raise InputError(
            f"epsilon: expected a grid of at most {MOST_PAIRS:,} pairs, got {n:,} x {n:,} for epsilon = {epsilon:g}; "
            "actions='three' competes with all of them"
        )
    h = r = (n - 1.0 - 2.0 * np.arange(n)) / n
    of_positive, of_negative = ramp_value(-h, gamma), ramp_value(h, gamma)
    slope = np.clip(np.abs(r) / gamma, 0.0, 1.0)
    of_h, of_r = _runs(of_positive), _runs(np.where(r > 0.0, slope, -slope))
    loss, box = [], []
    for j, n_j in of_r:
        if r[j] > 0.0:
            for i, n_i in of_h:
                loss.append(
                    [1.0 - (1.0 - of_positive[i]) * slope[j], 1.0 - (1.0 - of_negative[i]) * slope[j], 0.0, 0.0]
                )
                box.append([i, n_i, j, n_j])
    n_predicting = len(loss)
    for j, n_j in of_r:
        if r[j] <= 0.0:
            loss.append([0.0, 0.0, 1.0 - slope[j], slope[j]])
            box.append([0, n, j, n_j])
    places = np.array(box)
    size = (places[:, 1] * places[:, 3]).astype(np.float64)
    return Actions(h, r, "product", Levels(n_predicting, n, np.array(loss), size, places, np.zeros(len(loss))))


def _runs(values: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The first place and the length of each run of equal values."""
    first = np.flatnonzero(np.append(True, np.diff(values) != 0.0))
    return list(zip(first.tolist(), np.diff(np.append(first, len(values))).tolist(), strict=True))
