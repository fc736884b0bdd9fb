"""The paper's synthetic set (appendix D)."""

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError


def synthetic(n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Points uniform in [-1, 1]^2, labelled by the side of the diagonal x1 + x2 = 0 they are on."""
    if n < 1:
        raise InputError(f"n: expected at least 1, got {n}")
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.where(X.sum(axis=1) > 0.0, 1, -1).astype(np.int8)
