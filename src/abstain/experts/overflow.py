"""Inputs that are finite, but so large that scores would not be."""

import numpy as np

from ..errors import InputError
from ..kernels.passes import all_within
from ..typing import Floats


def check_size(X: Floats, largest: float) -> None:
    """Raise an error unless all inputs are at most so large."""
    if not all_within(X, largest):
        i, k = np.argwhere(np.abs(X) > largest)[0]
        raise InputError(
            f"x: expected inputs from {-largest:.3g} to {largest:.3g}, whose scores are finite, "
            f"got {X[i, k]} in row {i}, column {k}"
        )
