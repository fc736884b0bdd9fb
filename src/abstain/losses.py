"""Losses of predictors, each in [0, 1]: ``l(y, h(x))`` of the paper's section 2.

A loss takes predictions ``(n, P)`` and labels ``(n,)`` and returns ``(n, P)``. Wherever one is expected, its name does,
too::

    >>> import numpy as np
    >>> loss = get("zero_one")
    >>> loss(np.array([[0.3, -2.0, 0.0]]), loss.labels([1]))
    array([[0, 1, 1]], dtype=uint8)
    >>> ramp(gamma=0.5)(np.array([[0.25, -0.25, 3.0]]), np.array([1.0]))
    array([[0.25, 0.75, 0.  ]])
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, LabelError
from .kernels import passes
from .surrogate import ramp_value, surrogate
from .tables import plain

__all__ = ["Loss", "from_spec", "get", "multiclass", "names", "ramp", "surrogate"]

Table: TypeAlias = NDArray[Any]


class Loss(ABC):
    """A loss in [0, 1]."""

    name: ClassVar[str]
    binary: ClassVar[bool] = False
    """Whether all values are 0 or 1; they are then returned as uint8, else as float64."""

    @abstractmethod
    def labels(self, y: ArrayLike) -> Table:
        """``y`` as an array (n,) this loss can judge, or a `LabelError`."""

    @abstractmethod
    def values(self, predictions: Table, y: Table) -> Table:
        """The loss (n, P) of each prediction; ``y`` as returned by `labels`."""

    def __call__(self, predictions: Table, y: Table) -> Table:
        """`values`, checked to be of the right shape and in [0, 1] unless it is one of the library's own losses."""
        values = self.values(predictions, y)
        if type(self).__module__ == __name__ and not isinstance(self, FunctionLoss):
            return values
        values = np.array(values, np.uint8 if self.binary else np.float64)
        if values.shape != predictions.shape:
            raise InputError(f"loss: expected values of shape {predictions.shape}, got {values.shape}")
        wrong = ~((values >= 0) & (values <= 1))
        if wrong.any():
            raise InputError(f"loss: expected values in [0, 1], got {values[wrong][0]}")
        return values

    def spec(self) -> dict[str, Any] | None:
        """What makes this loss again by `from_spec`; None if it is a function."""
        return {"name": self.name, **asdict(self)}  # type: ignore[call-overload]


def _scores(predictions: Table) -> NDArray[np.float64]:
    """Predictions that must be numbers."""
    if predictions.dtype.kind not in "fiub":
        raise InputError(f"predictions: expected numbers for this loss, got {predictions.dtype}")
    return np.ascontiguousarray(predictions, np.float64)


def _numbers(y: ArrayLike) -> NDArray[np.float64]:
    array = plain(y, "y")
    if array.dtype.kind not in "fiubO":
        raise LabelError(f"y: expected numbers, got {array.dtype}")
    try:
        numbers = np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError):
        raise LabelError(f"y: expected numbers, got {array.dtype}") from None
    if numbers.ndim != 1:
        raise LabelError(f"y: expected one label a round, got shape {numbers.shape}")
    return numbers


class _Signed(Loss):
    """A loss of real scores against labels -1 and +1."""

    def labels(self, y: ArrayLike) -> NDArray[np.float64]:
        numbers = _numbers(y)
        wrong = np.abs(numbers) != 1.0
        if wrong.any():
            raise LabelError(f"y: expected labels -1 and +1, got {numbers[wrong][0]:g} in row {np.argmax(wrong)}")
        return numbers


@dataclass(frozen=True)
class ZeroOne(_Signed):
    """``1[y h(x) <= 0]``: a score of exactly 0 is an error."""

    name = "zero_one"
    binary = True

    def values(self, predictions: Table, y: Table) -> NDArray[np.uint8]:
        errs = np.empty(predictions.shape, np.uint8)
        passes.zero_one(_scores(predictions), y, errs)
        return errs


@dataclass(frozen=True)
class Ramp(_Signed):
    """``f_gamma(-y h(x))`` with ``f_gamma(a) = (gamma + a) / (2 gamma)`` for ``|a| <= gamma``, else ``1[a >= 0]``."""

    gamma: float = 0.5
    name = "ramp"

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, (int, float, np.integer, np.floating)) or not 0.0 < self.gamma < np.inf:
            raise InputError(f"gamma: expected a positive number, got {self.gamma!r}")
        object.__setattr__(self, "gamma", float(self.gamma))

    def values(self, predictions: Table, y: Table) -> NDArray[np.float64]:
        return ramp_value(-y[:, np.newaxis] * _scores(predictions), self.gamma)


@dataclass(frozen=True)
class Hinge(_Signed):
    """``max(0, 1 - y h(x))``, clipped to [0, 1]."""

    name = "hinge"

    def values(self, predictions: Table, y: Table) -> NDArray[np.float64]:
        return np.clip(1.0 - y[:, np.newaxis] * _scores(predictions), 0.0, 1.0)


_CLASS = (str, int, np.integer)


@dataclass(frozen=True)
class Multiclass(Loss):
    """``1[h(x) != y]`` for classes that are integers or strings; if ``classes`` are given, labels must be among
    them.
    """

    classes: tuple[Any, ...] | None = None
    name = "multiclass"
    binary = True

    def __post_init__(self) -> None:
        if self.classes is not None:
            kinds = {str if isinstance(one, str) else int for one in self.classes if isinstance(one, _CLASS)}
            if len(set(self.classes)) < 2 or len(kinds) != 1 or not all(isinstance(c, _CLASS) for c in self.classes):
                raise InputError(f"classes: expected at least two, all integers or all strings, got {self.classes}")
            object.__setattr__(self, "classes", tuple(np.asarray(self.classes).tolist()))

    def labels(self, y: ArrayLike) -> Table:
        array = plain(y, "y")
        if array.ndim != 1:
            raise LabelError(f"y: expected one label a round, got shape {array.shape}")
        if array.dtype == object and all(isinstance(label, str) for label in array):
            array = array.astype(np.str_)
        floats = array.dtype.kind == "f" and bool(np.isfinite(array).all() and np.all(array == np.floor(array)))
        whole = array.dtype.kind in "iubU" or floats
        if not whole:
            raise LabelError(f"y: expected integers or strings, got {array.dtype}: {array[0]!r}")
        if self.classes is not None:
            wrong = ~np.isin(array, np.asarray(self.classes))
            if wrong.any():
                raise LabelError(
                    f"y: expected one of {self.classes}, got {array[wrong][0]!r} in row {np.argmax(wrong)}"
                )
        return array

    def values(self, predictions: Table, y: Table) -> NDArray[np.uint8]:
        if (predictions.dtype.kind == "U") != (y.dtype.kind == "U"):
            raise LabelError(f"y: predictions are {predictions.dtype} but labels {y.dtype}")
        return np.asarray(predictions != y[:, np.newaxis], np.uint8)


class _Error(Loss):
    """A loss of real predictions against real labels."""

    def labels(self, y: ArrayLike) -> NDArray[np.float64]:
        numbers = _numbers(y)
        if not np.isfinite(numbers).all():
            raise LabelError(f"y: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
        return numbers


@dataclass(frozen=True)
class AbsoluteError(_Error):
    """``|y - h(x)|``, at most 1."""

    name = "absolute"

    def values(self, predictions: Table, y: Table) -> NDArray[np.float64]:
        return np.asarray(np.minimum(np.abs(_scores(predictions) - y[:, np.newaxis]), 1.0))


@dataclass(frozen=True)
class SquaredError(_Error):
    """``(y - h(x))^2``, at most 1."""

    name = "squared"

    def values(self, predictions: Table, y: Table) -> NDArray[np.float64]:
        return np.asarray(np.minimum((_scores(predictions) - y[:, np.newaxis]) ** 2, 1.0))


@dataclass(frozen=True)
class FunctionLoss(Loss):
    """A user's function of predictions (n, P) and labels (n,), checked to be in [0, 1]."""

    function: Callable[[Table, Table], ArrayLike]
    name = "function"

    def labels(self, y: ArrayLike) -> Table:
        array = plain(y)
        if array.ndim != 1:
            raise LabelError(f"y: expected one label a round, got shape {array.shape}")
        return array

    def values(self, predictions: Table, y: Table) -> NDArray[np.float64]:
        return np.asarray(self.function(predictions, y), np.float64)

    def spec(self) -> None:
        return None


def ramp(gamma: float = 0.5) -> Ramp:
    """The ramp loss of width ``gamma``."""
    return Ramp(gamma)


def multiclass(classes: Sequence[Any] | None = None) -> Multiclass:
    """The zero-one loss for any integer or string classes."""
    if classes is not None and not isinstance(classes, (Sequence, np.ndarray)):
        raise InputError(f"classes: expected a sequence, got {classes!r}")
    return Multiclass(None if classes is None else tuple(classes))


_NAMED: dict[str, type[Loss]] = {
    loss.name: loss for loss in (ZeroOne, Ramp, Hinge, Multiclass, AbsoluteError, SquaredError)
}
names = tuple(_NAMED)


def get(loss: "str | Loss | Callable[[Table, Table], ArrayLike]") -> Loss:
    """The loss of that name, or the loss itself; a function becomes a loss."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in _NAMED:
        return _NAMED[loss]()
    if callable(loss):
        return FunctionLoss(loss)
    raise InputError(f"loss: expected a loss, a function or one of {', '.join(names)}, got {loss!r}")


def from_spec(spec: dict[str, Any]) -> Loss:
    """The loss that `Loss.spec` described."""
    parameters = {
        key: tuple(value) if isinstance(value, list) else value for key, value in spec.items() if key != "name"
    }
    return _NAMED[spec["name"]](**parameters)
