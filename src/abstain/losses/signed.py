"""Losses of real scores against labels -1 and +1."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LabelError
from ..kernels import passes
from ..surrogate import as_width, ramp_value
from ..trust import trusted
from ..typing import Array, Floats
from .base import Loss, as_numbers, as_scores


class _Signed(Loss):
    def labels(self, y: ArrayLike) -> Floats:
        numbers = as_numbers(y)
        wrong = np.abs(numbers) != 1.0
        if wrong.any():
            raise LabelError(f"y: expected labels -1 and +1, got {numbers[wrong][0]:g} in row {np.argmax(wrong)}")
        return numbers

    def outcomes(self, predictions: Array) -> Array:
        n = len(predictions)
        return np.stack([self(predictions, np.full(n, label)) for label in (-1.0, 1.0)], axis=-1)


@dataclass(frozen=True)
class ZeroOne(_Signed):
    """``1[y h(x) <= 0]``: a score of exactly 0 is an error."""

    name = "zero_one"
    binary = True

    @trusted
    def values(self, predictions: Array, y: Array) -> NDArray[np.uint8]:
        errs = np.empty(predictions.shape, np.uint8)
        passes.zero_one(as_scores(predictions), as_scores(y, "y"), errs)
        return errs


@dataclass(frozen=True)
class Ramp(_Signed):
    """``f_gamma(-y h(x))`` with ``f_gamma(a) = (gamma + a) / (2 gamma)`` for ``|a| <= gamma``, else ``1[a >= 0]``."""

    gamma: float = 0.5
    name = "ramp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", as_width(self.gamma))

    @trusted
    def values(self, predictions: Array, y: Array) -> Floats:
        return ramp_value(-as_scores(y, "y")[:, np.newaxis] * as_scores(predictions), self.gamma)


@dataclass(frozen=True)
class Hinge(_Signed):
    """``max(0, 1 - y h(x))``, clipped to [0, 1]."""

    name = "hinge"

    @trusted
    def values(self, predictions: Array, y: Array) -> Floats:
        return np.clip(1.0 - as_scores(y, "y")[:, np.newaxis] * as_scores(predictions), 0.0, 1.0)
