"""Theorem 2: ContEXP3-ABS against all pairs of Lipschitz functions."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..learners.balls import radius
from ..tables import as_floats, as_number
from .arguments import LARGEST, LEAST, as_size


def cont_exp3_abs_epsilon(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    return radius(*_as_cover(T, d, gamma))


def cont_exp3_abs_rate(T: int, d: int, gamma: float = 1.0) -> float:
    """The rate of theorem 2, ``T^((d+1)/(d+2)) gamma^(-d/(d+2))``, without constants, logarithms and M*_T(gamma)."""
    rounds, dim, width = _as_cover(T, d, gamma)
    return float(rounds ** ((dim + 1) / (dim + 2)) * width ** (-dim / (dim + 2)))


def cont_exp3_abs_bound(
    T: int,
    n_balls: int,
    epsilon: float,
    gamma: float,
    *,
    lipschitz: float = 1.0,
    n_actions: int = 3,
    close: int = 0,
) -> float:
    """Theorem 2 with its proof's constants; ContEXP3-ABS's expected regret against any pair of functions with this
    ``lipschitz`` constant, and M*_T(gamma) = ``close`` of its own (`close_calls`), is at most this.

    ``2 sqrt(T N log K) + (3 L / 2 + sqrt(5) / 2) epsilon T / gamma + M*``, for at most ``n_balls`` N balls, the rate
    ``eta = sqrt(N log K / T)`` and a grid of ``n_actions`` K = ``learner.experts.n_experts`` pairs. For the three
    actions (K = 3) the ``sqrt(5) / 2``, what a grid misses, is 0. It is at most T. The documentation says where the
    printed proof has other constants.

    >>> round(cont_exp3_abs_bound(10**6, 100, epsilon=0.02, gamma=0.5))
    80963
    """
    rounds, balls = as_size(T, "T"), as_size(n_balls, "n_balls")
    _, actions, width = _as_cover(1, n_actions, gamma)
    size = as_number(epsilon, "epsilon", f"a number from {LEAST:g} to {LARGEST:g}", lambda e: LEAST <= e <= LARGEST)
    slope = as_number(lipschitz, "lipschitz", f"a number from 0 to {LARGEST:g}", lambda one: 0.0 <= one <= LARGEST)
    missed = as_number(close, "close", f"a number from 0 to {LARGEST:g}", lambda n: 0.0 <= n <= LARGEST)
    change = 1.5 * slope + (math.sqrt(5.0) / 2.0 if actions > 3.0 else 0.0)
    learning = 2.0 * math.sqrt(rounds) * math.sqrt(balls * math.log(actions))
    return float(min(rounds, learning + change * size / width * rounds + missed))


def _as_cover(T: int, d: int, gamma: float) -> tuple[Any, Any, float]:
    width = as_number(gamma, "gamma", f"a number in (0, 1], at least {LEAST:g}", lambda g: LEAST <= g <= 1.0)
    return as_size(T, "T"), as_size(d, "d"), width


def close_calls(margins: ArrayLike, gamma: float) -> int:
    """M*_T(gamma) of theorem 2: in how many rounds ``|r*(x_t)| <= gamma``, given the margins r*(x_t) (T,)."""
    width = as_number(gamma, "gamma", "a number that is not negative", lambda g: g >= 0.0)
    values = as_floats(margins, "margins")
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError(f"margins: expected one number a round, got {shown(margins)}")
    return int((np.abs(values) <= width).sum())
