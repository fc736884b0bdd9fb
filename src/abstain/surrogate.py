"""The ramp f_gamma and the surrogate abstention loss L~ (section 3): Lipschitz, above L, and with the same feedback."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError


def ramp_value(a: ArrayLike, gamma: float) -> NDArray[np.float64]:
    """``f_gamma(a) = (gamma + a) / (2 gamma)`` for ``|a| <= gamma``, else ``1[a >= 0]``."""
    return np.clip((gamma + np.asarray(a, np.float64)) / (2.0 * gamma), 0.0, 1.0)


def surrogate(h: ArrayLike, r: ArrayLike, y: ArrayLike, cost: ArrayLike, gamma: float) -> NDArray[np.float64]:
    """L~ of a pair of values (h, r) in [-1, 1] on a label y, elementwise.

    With ``f = f_gamma(-y h)`` it is ``cost`` for r <= -gamma, ``1 + (1 - cost) / gamma * r`` for -gamma < r < 0,
    ``1 - (1 - f) / gamma * r`` for 0 <= r < gamma, and f for r >= gamma. (The appendix once writes f_gamma(-a) where
    a is already -y h; this is the main text's.) For r <= 0 it does not depend on y.

    >>> surrogate(h=0.8, r=[-1.0, -0.1, 0.0, 0.1, 1.0], y=1, cost=0.3, gamma=0.2)
    array([0.3 , 0.65, 1.  , 0.5 , 0.  ])
    """
    if not 0.0 < gamma < 1.0:
        raise InputError(f"gamma: expected a number in (0, 1), got {gamma}")
    margin, price = np.asarray(r, np.float64), np.asarray(cost, np.float64)
    if not ((price >= 0.0) & (price <= 1.0)).all():
        raise InputError(f"cost: expected values in [0, 1], got {cost!r}")
    f = ramp_value(-np.asarray(y, np.float64) * np.asarray(h, np.float64), gamma)
    rising = np.where(margin <= -gamma, price, 1.0 + (1.0 - price) / gamma * margin)
    falling = np.where(margin >= gamma, f, 1.0 - (1.0 - f) / gamma * margin)
    return np.where(margin < 0.0, rising, falling)
