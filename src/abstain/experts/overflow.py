"""Inputs that are finite, but so large that scores would not be."""

import numpy as np

from ..errors import InputError
from ..kernels.jit import jit
from ..typing import Floats


@jit
def _all_within(X: Floats, largest: float) -> bool:
    """Whether ``|X[i, k]| <= largest`` for all entries."""
    for i in range(X.shape[0]):
        beyond = 0
        for k in range(X.shape[1]):
            beyond += not (abs(X[i, k]) <= largest)
        if beyond:
            return False
    return True


def check_size(X: Floats, largest: float) -> None:
    """Raise an error unless all inputs are at most so large."""
    if not _all_within(X, largest):
        i, k = np.argwhere(np.abs(X) > largest)[0]
        raise InputError(
            f"x: expected inputs from {-largest:.3g} to {largest:.3g}, whose scores are finite, "
            f"got {X[i, k]} in row {i}, column {k}"
        )
