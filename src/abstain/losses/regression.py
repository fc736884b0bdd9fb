"""Losses of real predictions against real labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LabelError
from ..trust import trusted
from ..typing import Array, Floats
from .base import Loss, as_numbers, as_scores


class _Error(Loss):
    def labels(self, y: ArrayLike) -> Floats:
        numbers = as_numbers(y)
        if not np.isfinite(numbers).all():
            raise LabelError(f"y: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
        return numbers


def _distance(predictions: Array, y: Array) -> Floats:
    """``|y - h(x)|``, at most 1."""
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(np.abs(as_scores(predictions) - as_scores(y, "y")[:, np.newaxis]), 1.0))


@dataclass(frozen=True)
class AbsoluteError(_Error):
    """``|y - h(x)|``, at most 1."""

    name = "absolute"

    @trusted
    def values(self, predictions: Array, y: Array) -> Floats:
        return _distance(predictions, y)


@dataclass(frozen=True)
class SquaredError(_Error):
    """``(y - h(x))^2``, at most 1."""

    name = "squared"

    @trusted
    def values(self, predictions: Array, y: Array) -> Floats:
        return np.asarray(_distance(predictions, y) ** 2)
