"""The ramp f_gamma and the surrogate abstention loss L~ (section 3): Lipschitz, above L, and with the same feedback."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, shown
from .tables import as_floats, as_number
from .typing import Floats

_LEAST_WIDTH, _LARGEST_WIDTH = 1e-100, 1e100
"""Beyond any use, and far from overflow."""


def as_width(gamma: Any) -> float:
    """The gamma of a ramp."""
    expected = f"a positive number ({_LEAST_WIDTH:g} to {_LARGEST_WIDTH:g})"
    return as_number(gamma, "gamma", expected, lambda g: _LEAST_WIDTH <= g <= _LARGEST_WIDTH)


def ramp_value(a: ArrayLike, gamma: float) -> Floats:
    """``f_gamma(a) = (gamma + a) / (2 gamma)`` for ``|a| <= gamma``, else ``1[a >= 0]``."""
    return np.asarray((gamma + np.clip(np.asarray(a, np.float64), -gamma, gamma)) / (2.0 * gamma))


def surrogate(h: ArrayLike, r: ArrayLike, y: ArrayLike, cost: ArrayLike, gamma: float) -> Floats:
    """L~ of a pair of values (h, r) in [-1, 1] on a label y, elementwise.

    With ``f = f_gamma(-y h)`` it is ``cost`` for r <= -gamma, ``1 + (1 - cost) / gamma * r`` for -gamma < r < 0,
    ``1 - (1 - f) / gamma * r`` for 0 <= r < gamma, and f for r >= gamma. (The appendix once writes f_gamma(-a) where
    a is already -y h; this is the main text's.) For r <= 0 it does not depend on y.

    >>> surrogate(h=0.8, r=[-1.0, -0.1, 0.0, 0.1, 1.0], y=1, cost=0.3, gamma=0.2)
    array([0.3 , 0.65, 1.  , 0.5 , 0.  ])
    """
    gamma = as_number(gamma, "gamma", "a number in (0, 1)", lambda g: _LEAST_WIDTH <= g < 1.0)
    score, margin, label, price = (
        _finite(values, name) for values, name in ((h, "h"), (r, "r"), (y, "y"), (cost, "cost"))
    )
    if not ((price >= 0.0) & (price <= 1.0)).all():
        raise InputError(f"cost: expected values in [0, 1], got {shown(cost)}")
    try:
        np.broadcast_shapes(score.shape, margin.shape, label.shape, price.shape)
    except ValueError as error:
        raise InputError(f"expected h, r, y and cost of shapes that fit each other ({error})") from None
    with np.errstate(over="ignore"):  # far from 0, where the other branch counts
        f = ramp_value(-label * score, gamma)
        rising = np.where(margin <= -gamma, price, 1.0 + (1.0 - price) / gamma * margin)
        falling = np.where(margin >= gamma, f, 1.0 - (1.0 - f) / gamma * margin)
    return np.where(margin < 0.0, rising, falling)


def _finite(values: ArrayLike, name: str) -> Floats:
    numbers = as_floats(values, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: expected finite numbers, got {shown(values)}")
    return numbers
