"""What a loss is."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, LabelError
from ..registry import Registry, as_plain, name_of, parameters_of
from ..tables import as_floats, plain
from ..trust import is_trusted
from ..typing import Array, Floats


class Loss(ABC):
    """A loss in [0, 1].

    To write your own, define `labels` and `values`; what `values` returns is checked. It is part of a learner's file if
    it holds the arguments of its constructor under their names, as a dataclass does, and nothing else; or else if
    `parameters` says what makes it again.
    """

    name: ClassVar[str]
    binary: ClassVar[bool] = False
    """Whether all values are 0 or 1; they are then returned as uint8, else as float64."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds.add(cls)

    @abstractmethod
    def labels(self, y: ArrayLike) -> Array:
        """``y`` as an array (n,) this loss can judge, or a `LabelError`."""

    @abstractmethod
    def values(self, predictions: Array, y: Array) -> Array:
        """The loss (n, P) of each prediction; ``y`` as returned by `labels`."""

    def outcomes(self, predictions: Array) -> Array | None:
        """The losses (n, P, 2) of predictions (n, P) if the label were -1, and if it were +1; None where labels are not
        just these two.
        """
        return None

    def __call__(self, predictions: Array, y: Array) -> Array:
        """`values`, checked to be of the right shape and in [0, 1] unless they come from a method of the library."""
        predictions, y = plain(predictions, "predictions"), plain(y, "y")
        if predictions.ndim != 2 or y.shape != predictions.shape[:1]:
            raise InputError(
                f"loss: expected predictions (n, P) and labels (n,), got {predictions.shape} and {y.shape}"
            )
        values = self.values(predictions, y)
        return values if is_trusted(self.values) else self._checked(values, predictions.shape)

    def _checked(self, given: ArrayLike, shape: tuple[int, ...]) -> Array:
        values = as_floats(given, "loss")
        if values.shape != shape:
            raise InputError(f"loss: expected values of shape {shape}, got {values.shape}")
        wrong = ~((values == 0.0) | (values == 1.0)) if self.binary else ~((values >= 0.0) & (values <= 1.0))
        if wrong.any():
            expected = "0 and 1" if self.binary else "in [0, 1]"
            raise InputError(f"loss: expected values {expected}, got {values[wrong][0]}")
        return np.array(values, np.uint8 if self.binary else np.float64)

    def parameters(self) -> dict[str, Any] | None:
        """What makes this loss again: the constructor's arguments, as numbers, strings and tuples of them; None if it
        is to be given again to `abstain.load`.
        """
        parameters = parameters_of(self)
        if parameters is None:
            raise InputError(
                f"loss: expected {type(self).__name__} to hold the arguments of its constructor, as numbers, strings "
                "and tuples, and nothing else; define parameters() to say what makes it again, or return None there"
            )
        return parameters

    def spec(self) -> dict[str, Any] | None:
        """What makes this loss again by `from_spec`; None if it is to be given again."""
        parameters = self.parameters()
        return None if parameters is None else {"kind": name_of(type(self)), "parameters": as_plain(parameters)}


kinds: Registry[Loss] = Registry("loss")
"""All losses there are, users' own among them."""


def as_scores(values: Array, name: str = "predictions") -> Floats:
    """Predictions, or their labels, that must be numbers."""
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers for this loss, got {values.dtype}")
    return np.ascontiguousarray(values, np.float64)


def as_numbers(y: ArrayLike) -> Floats:
    """Labels that must be numbers, one a round."""
    numbers = as_floats(y, "y", LabelError)
    if numbers.ndim != 1:
        raise LabelError(f"y: expected one label a round, got shape {numbers.shape}")
    return numbers
