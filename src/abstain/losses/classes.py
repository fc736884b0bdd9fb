"""The loss of predicted classes, compared exactly."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, LabelError, shown
from ..tables import plain
from ..trust import trusted
from ..typing import Array
from .base import Loss

_EXACT = 2**53
"""Integers below this are floats, too, and no other number becomes one of them by rounding."""


@dataclass(frozen=True)
class Multiclass(Loss):
    """``1[h(x) != y]`` for classes that are integers or strings; if ``classes`` are given, labels must be among
    them.

    Classes are compared exactly: 2**53 + 1 is not the float 2**53, and a string that ends with NUL is not the string
    without.
    """

    classes: Sequence[Any] | None = None
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
            raise LabelError(f"y: expected one label a round, got shape {array.shape}")
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
    """Two or more classes, all of them integers or all strings."""
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
    """Floats or objects that are whole numbers or strings; ``given`` is what the array was made of."""
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
    """Whether these numbers equal only the same number, also if NumPy compares them as floats."""
    ends = numbers.tolist() if len(numbers) <= 1 else [numbers.min().item(), numbers.max().item()]
    return all(-_EXACT < end < _EXACT for end in ends)
