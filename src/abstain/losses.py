"""Losses in [0, 1]: how wrong a prediction is; and the surrogate loss of ContEXP3-ABS.

>>> get("ramp")
Ramp(gamma=0.5)
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core.registry import Registry, as_plain, name_of, parameters_of
from ._core.validation import as_floats, as_number, is_trusted, plain, trusted
from .errors import InputError, LabelError, shown
from .kernels import passes
from .typing import Array, Floats

__all__ = [
    "AbsoluteError",
    "FunctionLoss",
    "Hinge",
    "Loss",
    "Multiclass",
    "Ramp",
    "SquaredError",
    "ZeroOne",
    "from_spec",
    "get",
    "multiclass",
    "names",
    "ramp",
    "surrogate",
]


class Loss(ABC):
    """A loss in [0, 1].

    To write your own, define `labels` and `values`; the library checks what `values` returns. Set `binary` if all
    values are 0 or 1, and define `outcomes` if labels are -1 and +1. A learner's file includes the loss if it holds
    the arguments of its constructor under their names, as a dataclass does, and nothing else; otherwise define
    `parameters`.

    >>> @dataclass(frozen=True)
    ... class FalseAlarm(Loss):
    ...     '''1 for a missed case, `price` for a false alarm.'''
    ...     price: float = 0.2
    ...     name = "false alarm"
    ...     def labels(self, y):
    ...         return get("zero_one").labels(y)
    ...     def values(self, predictions, y):
    ...         wrong = np.sign(predictions) != y[:, np.newaxis]
    ...         return np.where(wrong, np.where(y > 0, 1.0, self.price)[:, np.newaxis], 0.0)
    >>> FalseAlarm()(np.array([[1.0, -1.0]]), np.array([-1.0]))
    array([[0.2, 0. ]])
    """

    name: ClassVar[str]
    """What the loss is called in messages and reports."""
    binary: ClassVar[bool] = False
    """Whether all values are 0 or 1; they are then returned as uint8, else as float64."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds.add(cls)

    @abstractmethod
    def labels(self, y: ArrayLike) -> Array:
        """Check labels: an extension point.

        Args:
            y: One label per round, as the user gave them.

        Returns:
            The labels as an array (n,), as `values` takes them.

        Raises:
            LabelError: The loss cannot judge one of the labels.
        """

    @abstractmethod
    def values(self, predictions: Array, y: Array) -> Array:
        """Compute the loss of each prediction: an extension point.

        Args:
            predictions: The predictions (n, P).
            y: The labels (n,), as `labels` returned them.

        Returns:
            The losses (n, P), in [0, 1].
        """

    @trusted
    def outcomes(self, predictions: Array) -> Array | None:
        """Compute the loss of each prediction under either label: an extension point that makes late labels cheaper.

        Args:
            predictions: The predictions (n, P).

        Returns:
            The losses (n, P, 2) if the label is -1 and if it is +1; None if the loss has other labels.
        """
        return None

    def _outcomes(self, predictions: Array) -> Array | None:
        """Compute `outcomes` and check them, unless the method is the library's own."""
        both = self.outcomes(predictions)
        if both is None or is_trusted(self.outcomes):
            return both
        return self._checked(both, (*predictions.shape, 2), "outcomes")

    def __call__(self, predictions: Array, y: Array) -> Array:
        """Compute `values` and check them, unless the method is the library's own.

        Args:
            predictions: The predictions (n, P).
            y: The labels (n,), as `labels` returned them.

        Returns:
            The losses (n, P), as uint8 if the loss is `binary`, else as float64.

        Raises:
            InputError: The shapes do not fit, or a value lies outside [0, 1].
        """
        predictions, y = plain(predictions, "predictions"), plain(y, "y")
        if predictions.ndim != 2 or y.shape != predictions.shape[:1]:
            raise InputError(
                f"loss: expected predictions (n, P) and labels (n,), got {predictions.shape} and {y.shape}"
            )
        values = self.values(predictions, y)
        return values if is_trusted(self.values) else self._checked(values, predictions.shape)

    def _checked(self, given: ArrayLike, shape: tuple[int, ...], name: str = "loss") -> Array:
        values = as_floats(given, name)
        if values.shape != shape:
            raise InputError(f"{name}: expected values of shape {shape}, got {values.shape}")
        wrong = ~((values == 0.0) | (values == 1.0)) if self.binary else ~((values >= 0.0) & (values <= 1.0))
        if wrong.any():
            expected = "0 and 1" if self.binary else "in [0, 1]"
            raise InputError(f"{name}: expected values {expected}, got {values[wrong][0]}")
        return np.array(values, np.uint8 if self.binary else np.float64)

    def parameters(self) -> dict[str, Any] | None:
        """Return the constructor's arguments that make the loss again: an extension point.

        Returns:
            Names and values: numbers, strings and tuples of them; None if the loss must be given to `abstain.load`
            again.

        Raises:
            InputError: The loss holds something else than the arguments of its constructor.
        """
        parameters = parameters_of(self)
        if parameters is None:
            raise InputError(
                f"loss: expected {type(self).__name__} to hold the arguments of its constructor, as numbers, strings "
                "and tuples, and nothing else; define parameters() to return them, or to return None"
            )
        return parameters

    def spec(self) -> dict[str, Any] | None:
        """Describe the loss so that `from_spec` makes it again.

        Returns:
            The name of its class and its parameters; None if the loss must be given to `abstain.load` again.
        """
        parameters = self.parameters()
        return None if parameters is None else {"kind": name_of(type(self)), "parameters": as_plain(parameters)}


kinds: Registry[Loss] = Registry("loss")
"""All classes of losses, including those that users define."""


def as_scores(values: Array, name: str = "predictions") -> Floats:
    """Check predictions, or labels, that must be numbers."""
    if values.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected numbers for this loss, got {values.dtype}")
    return np.ascontiguousarray(values, np.float64)


def as_numbers(y: ArrayLike) -> Floats:
    """Check labels that must be numbers, one per round."""
    numbers = as_floats(y, "y", LabelError)
    if numbers.ndim != 1:
        raise LabelError(f"y: expected one label per round, got shape {numbers.shape}")
    return numbers


class _Signed(Loss):
    def labels(self, y: ArrayLike) -> Floats:
        numbers = as_numbers(y)
        wrong = np.abs(numbers) != 1.0
        if wrong.any():
            raise LabelError(f"y: expected labels -1 and +1, got {numbers[wrong][0]:g} in row {np.argmax(wrong)}")
        return numbers

    @trusted
    def outcomes(self, predictions: Array) -> Array:
        return np.stack([self(predictions, np.full(len(predictions), label)) for label in (-1.0, 1.0)], axis=2)


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
    """Half the width of the ramp, a positive number."""
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


_EXACT = 2**53
"""Integers below this are exact as floats, and no other number rounds to one of them."""


@dataclass(frozen=True)
class Multiclass(Loss):
    """``1[h(x) != y]`` for classes that are integers or strings.

    Classes are compared exactly: 2**53 + 1 is not the float 2**53, and a string that ends with NUL is not the string
    without it.
    """

    classes: Sequence[Any] | None = None
    """The classes that labels may have; None means any."""
    name = "multiclass"
    binary = True

    def __post_init__(self) -> None:
        if self.classes is not None:
            object.__setattr__(self, "classes", _as_distinct(self.classes))

    @cached_property
    def _known(self) -> frozenset[Any]:
        return frozenset(self.classes or ())

    def labels(self, y: ArrayLike) -> Array:
        array = plain(y, "y")
        if array.ndim != 1:
            raise LabelError(f"y: expected one label per round, got shape {array.shape}")
        if array.dtype.kind in "fO":
            array = _as_classes(array, y if isinstance(y, (list, tuple)) else array)
        if array.dtype.kind not in "iubfUO":
            raise LabelError(f"y: expected integers or strings, got {array.dtype}: {shown(array[0])}")
        if self.classes is not None and not self._known.issuperset(array.tolist()):
            row, label = next((i, one) for i, one in enumerate(array.tolist()) if one not in self._known)
            raise LabelError(f"y: expected one of {shown(self.classes)}, got {shown(label)} in row {row}")
        return array

    @trusted
    def values(self, predictions: Array, y: Array) -> NDArray[np.uint8]:
        if _are_strings(predictions) != _are_strings(y):
            raise LabelError(f"y: predictions are {predictions.dtype} but labels {y.dtype}")
        if predictions.dtype != y.dtype and y.dtype.kind in "iuf" and not _small(y):
            predictions, y = predictions.astype(object), y.astype(object)  # NumPy would compare them as floats
        return np.asarray(predictions != y[:, np.newaxis], np.uint8)


def _as_distinct(classes: Any) -> tuple[Any, ...]:
    """Check the classes: two or more, all of them integers or all strings."""
    listed = isinstance(classes, Sequence) or (isinstance(classes, np.ndarray) and classes.ndim == 1)
    given = tuple(classes) if listed else ()
    if all(isinstance(one, str) for one in given):
        kept: tuple[Any, ...] = tuple(map(str, given))
    elif all(isinstance(one, (int, np.integer)) for one in given):
        kept = tuple(map(int, given))
    else:
        kept = ()
    if len(set(kept)) < 2:
        raise InputError(f"classes: expected at least two, all integers or all strings, got {shown(classes)}")
    return kept


def _as_classes(array: Array, given: Iterable[Any]) -> Array:
    """Check floats or objects to be whole numbers or strings; ``given`` is what the array was made of."""
    if array.dtype.kind == "f" and _small(array) and (array == np.floor(array)).all():
        return array
    labels = list(given)
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        return plain([str(label) for label in labels])
    whole = np.empty(len(labels), object)
    for row, label in enumerate(labels):
        is_whole = isinstance(label, (int, np.integer, np.bool_)) or (
            isinstance(label, (float, np.floating)) and np.isfinite(label) and label == np.floor(label)
        )
        if not is_whole:
            raise LabelError(f"y: expected integers or strings, got {shown(label)} in row {row}")
        whole[row] = int(label)
    return whole


def _are_strings(array: Array) -> bool:
    return array.dtype.kind == "U" or (array.dtype.kind == "O" and array.size > 0 and isinstance(array.flat[0], str))


def _small(numbers: Array) -> bool:
    """Whether NumPy can compare these numbers as floats without mistaking one for another."""
    ends = numbers.tolist() if len(numbers) <= 1 else [numbers.min().item(), numbers.max().item()]
    return all(-_EXACT < end < _EXACT for end in ends)


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


@dataclass(frozen=True)
class FunctionLoss(Loss):
    """A function of yours as a loss."""

    function: Callable[[Array, Array], ArrayLike]
    """Maps predictions (n, P) and labels (n,) to losses (n, P), which must lie in [0, 1]."""
    name = "function"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"loss: expected a function of predictions and labels, got {shown(self.function)}")

    def labels(self, y: ArrayLike) -> Array:
        array = plain(y, "y")
        if array.ndim != 1:
            raise LabelError(f"y: expected one label per round, got shape {array.shape}")
        return array

    def values(self, predictions: Array, y: Array) -> Array:
        return plain(self.function(predictions, y), "loss")

    def parameters(self) -> None:
        return None


_NAMED: dict[str, type[Loss]] = {
    loss.name: loss for loss in (ZeroOne, Ramp, Hinge, Multiclass, AbsoluteError, SquaredError)
}
names = tuple(_NAMED)
"""The names that `get` knows."""


def ramp(gamma: float = 0.5) -> Ramp:
    """Return the ramp loss.

    Args:
        gamma: Half the width of the ramp, a positive number.

    Returns:
        The loss.

    Raises:
        InputError: ``gamma`` is not a positive number.
    """
    return Ramp(gamma)


def multiclass(classes: Sequence[Any] | None = None) -> Multiclass:
    """Return the zero-one loss for classes that are integers or strings.

    Args:
        classes: The classes that labels may have; None means any.

    Returns:
        The loss.

    Raises:
        InputError: There are fewer than two classes, or they are not all integers or all strings.
    """
    return Multiclass(classes)


def get(loss: "str | Loss | Callable[[Array, Array], ArrayLike]") -> Loss:
    """Return a loss by its name.

    Args:
        loss: One of `names`; a function of predictions (n, P) and labels (n,), which becomes a loss; or a loss, which
            is returned as it is.

    Returns:
        The loss.

    Raises:
        InputError: There is no loss of that name.
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in _NAMED:
        return _NAMED[loss]()
    if callable(loss):
        return FunctionLoss(loss)
    raise InputError(f"loss: expected a loss, a function or one of {', '.join(names)}, got {shown(loss)}")


def from_spec(spec: Mapping[str, Any]) -> Loss:
    """Make the loss that `Loss.spec` described. Lists become tuples.

    Args:
        spec: What `Loss.spec` returned; the module of its class must have been imported.

    Returns:
        The loss.

    Raises:
        UnknownKindError: No module imported so far defines the class.
        InputError: The loss cannot be made from these parameters.
    """
    parts = dict(spec) if isinstance(spec, Mapping) else {}
    if not isinstance(parts.get("kind"), str) or not isinstance(parts.get("parameters"), Mapping):
        raise InputError(f"loss: expected what Loss.spec returned, got {shown(spec)}")
    return kinds.make(parts["kind"], as_plain(dict(parts["parameters"])))


_LEAST_WIDTH, _LARGEST_WIDTH = 1e-100, 1e100
"""Widths outside this range have no use; inside it nothing overflows."""


def as_width(gamma: Any) -> float:
    """Check the gamma of a ramp."""
    expected = f"a positive number ({_LEAST_WIDTH:g} to {_LARGEST_WIDTH:g})"
    return as_number(gamma, "gamma", expected, lambda g: _LEAST_WIDTH <= g <= _LARGEST_WIDTH)


def ramp_value(a: ArrayLike, gamma: float) -> Floats:
    """Compute ``f_gamma(a) = (gamma + a) / (2 gamma)`` for ``|a| <= gamma``, else ``1[a >= 0]``."""
    return np.asarray((gamma + np.clip(np.asarray(a, np.float64), -gamma, gamma)) / (2.0 * gamma))


def surrogate(h: ArrayLike, r: ArrayLike, y: ArrayLike, cost: ArrayLike, gamma: float) -> Floats:
    """Compute the surrogate loss L~ of pairs of values (h, r) in [-1, 1], elementwise.

    With ``f = f_gamma(-y h)`` it is ``cost`` for r <= -gamma, ``1 + (1 - cost) / gamma * r`` for -gamma < r < 0,
    ``1 - (1 - f) / gamma * r`` for 0 <= r < gamma, and f for r >= gamma. (The appendix once writes f_gamma(-a) where
    a is already -y h; this follows the main text.) For r <= 0 it does not depend on y.

    Args:
        h: The scores.
        r: The margins; the pair abstains if the margin is at most 0.
        y: The labels, -1 and +1.
        cost: The cost of abstaining, in [0, 1].
        gamma: The width, in (0, 1).

    Returns:
        The losses, in the shape that the arguments broadcast to.

    Raises:
        InputError: An argument is not finite or out of range, or the shapes do not fit.

    >>> surrogate(h=0.8, r=[-1.0, -0.1, 0.0, 0.1, 1.0], y=1, cost=0.3, gamma=0.2)
    array([0.3 , 0.65, 1.  , 0.5 , 0.  ])
    """
    gamma = as_number(gamma, "gamma", "a number in (0, 1)", lambda g: _LEAST_WIDTH <= g < 1.0)
    score, margin, label, price = (
        _finite(values, name) for values, name in ((h, "h"), (r, "r"), (y, "y"), (cost, "cost"))
    )
    if not ((price >= 0.0) & (price <= 1.0)).all():
        raise InputError(f"cost: expected values in [0, 1], got {shown(cost)}")
    try:
        np.broadcast_shapes(score.shape, margin.shape, label.shape, price.shape)
    except ValueError as error:
        raise InputError(f"expected h, r, y and cost of shapes that fit each other ({error})") from None
    return surrogate_value(score, margin, label, price, gamma)


def surrogate_value(h: Floats, r: Floats, y: Array, cost: Floats, gamma: float) -> Floats:
    """Compute `surrogate` of arguments that were checked."""
    with np.errstate(over="ignore"):  # only in the branch that is not taken
        f = ramp_value(-y * h, gamma)
        rising = np.where(r <= -gamma, cost, 1.0 + (1.0 - cost) / gamma * r)
        falling = np.where(r >= gamma, f, 1.0 - (1.0 - f) / gamma * r)
    return np.where(r < 0.0, rising, falling)


def _finite(values: ArrayLike, name: str) -> Floats:
    numbers = as_floats(values, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: expected finite numbers, got {shown(values)}")
    return numbers
