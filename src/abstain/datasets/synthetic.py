"""The paper's synthetic set (appendix D)."""

import numpy as np
from numpy.typing import NDArray

from ..tables import MOST, as_count, as_seed


def synthetic(n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Points uniform in [-1, 1]^2, labelled by the side of the diagonal x1 + x2 = 0 they are on."""
    X = np.random.default_rng(as_seed(seed)).uniform(-1.0, 1.0, (as_count(n, "n", most=MOST), 2))
    return X, np.where(X.sum(axis=1) > 0.0, 1, -1).astype(np.int8)
