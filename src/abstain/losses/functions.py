"""A loss that is a Python function."""

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from ..errors import InputError, LabelError, shown
from ..tables import plain
from ..typing import Array
from .base import Loss


@dataclass(frozen=True)
class FunctionLoss(Loss):
    """A user's function of predictions (n, P) and labels (n,), checked to be in [0, 1]."""

    function: Callable[[Array, Array], ArrayLike]
    name = "function"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"loss: expected a function of predictions and labels, got {shown(self.function)}")

    def labels(self, y: ArrayLike) -> Array:
        array = plain(y, "y")
        if array.ndim != 1:
            raise LabelError(f"y: expected one label a round, got shape {array.shape}")
        return array

    def values(self, predictions: Array, y: Array) -> Array:
        return plain(self.function(predictions, y), "loss")

    def parameters(self) -> None:
        return None
