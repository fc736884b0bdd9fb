"""Data sets: features in [-1, 1], labels -1 and +1."""

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .synthetic import synthetic

__all__ = ["load", "names"]

names = ("synthetic",)
"""What `load` knows."""


def load(
    name: str, *, n: int = 10_000, seed: int | np.random.SeedSequence | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The data set of that name: X (n, d) and y (n,).

    >>> X, y = load("synthetic", n=3, seed=0)
    >>> X.shape, y
    ((3, 2), array([-1, -1,  1], dtype=int8))
    """
    if not isinstance(name, str) or name not in names:
        raise InputError(f"name: expected one of {', '.join(names)}, got {name!r}")
    return synthetic(n, seed)
