"""Features in [-1, 1]."""

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError


def as_scale(scale: str | None) -> str | None:
    """The name of a scaling that exists."""
    if scale is None or scale in ("maxabs", "minmax"):
        return scale
    raise InputError(f"scale: expected 'maxabs', 'minmax' or None, got {scale!r}")


def rescale(X: NDArray[np.float64], scale: str | None) -> None:
    """Scale the columns of X in place.

    "maxabs": ``x / max|x|``, which leaves zeros (and columns of zeros) where they are; "minmax": ``2 (x - min) /
    (max - min) - 1``, and 0 for a column that is constant.
    """
    if scale == "maxabs":
        peak = np.maximum(X.max(axis=0), -X.min(axis=0))
        X /= np.where(peak > 0.0, peak, 1.0)
    elif scale == "minmax":
        low, high = X.min(axis=0), X.max(axis=0)
        half = high / 2.0 - low / 2.0  # of large numbers the difference itself may overflow
        X /= 2.0
        X -= low / 2.0
        X /= np.where(half > 0.0, half, 1.0)
        X *= 2.0
        X -= 1.0
        X[:, half <= 0.0] = 0.0
