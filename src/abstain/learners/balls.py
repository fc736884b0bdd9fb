"""Balls that cover the inputs: how large they are, how many there can be, and where their centres are kept."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..kernels.cover import search as cover
from ..tables import is_number
from ..typing import Floats

Metric: TypeAlias = str | Callable[[Floats, Floats], ArrayLike]

METRICS = {"euclidean": cover.EUCLIDEAN, "cityblock": cover.CITYBLOCK, "chebyshev": cover.CHEBYSHEV}
MOST_HASHED = 5
"""Up to this dimension centres are found by a hashed grid, beyond it by a scan."""
_LEAST_CAPACITY = 16
_LEAST_EPSILON = 1e-100
"""Squares of larger numbers, and of their inverses, are finite."""


def radius(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    return float(T ** (-1.0 / (2 + d)) * gamma ** (2.0 / (2 + d)))


def as_radius(epsilon: float | None, horizon: int | None, dim: int, gamma: float | None) -> float:
    """The radius that was given, or theorem 2's for the horizon."""
    if epsilon is None:
        if horizon is None:
            raise InputError("epsilon: expected a radius, or the number of rounds as horizon, got neither")
        return radius(horizon, dim, 1.0 if gamma is None else gamma)
    if not is_number(epsilon) or not _LEAST_EPSILON <= epsilon <= 1.0 / _LEAST_EPSILON:
        raise InputError(f"epsilon: expected a positive number (1e-100 to 1e100), got {shown(epsilon)}")
    return float(epsilon)


def as_metric(metric: Metric) -> Metric:
    """A name that is known, or a function."""
    if not callable(metric) and (not isinstance(metric, str) or metric not in METRICS):
        raise InputError(f"metric: expected one of {', '.join(METRICS)} or a function, got {shown(metric)}")
    return metric


def most_balls(epsilon: float, metric: Metric, low: Floats, high: Floats) -> float:
    """How many balls a box can get: a cube with a diagonal of epsilon holds at most one centre."""
    if not isinstance(metric, str):
        return math.inf
    side = epsilon / {"euclidean": math.sqrt(len(low)), "cityblock": len(low), "chebyshev": 1.0}[metric]
    with np.errstate(over="ignore"):
        return float(np.prod(np.ceil(high / side - low / side)))


def room_for(centres: Floats, epsilon: float, metric: Metric, largest: float) -> cover.Cover:
    """A cover with these centres and room for as many again; ``largest`` bounds the coordinates of inputs."""
    n, dim = centres.shape
    capacity = max(_LEAST_CAPACITY, 2 * n)
    # Where epsilon is lost in the rounding of inputs, cells could hide a centre; a scan cannot.
    hashed = dim <= MOST_HASHED and epsilon > cover.FINEST * largest
    places = cover.Cover(
        metric=METRICS[metric] if isinstance(metric, str) else cover.EUCLIDEAN,
        epsilon=epsilon,
        hashed=hashed,
        n_balls=np.zeros(1, np.int64),
        centre=np.zeros((capacity, dim)),
        heads=np.full(2 ** math.ceil(math.log2(capacity)) if hashed else 1, -1),
        chain=np.full(capacity if hashed else 1, -1),
        low=np.zeros(dim, np.int64),
        span=np.zeros(dim, np.int64),
    )
    places.centre[:n] = centres
    cover.enter_all(n, places)
    return places
