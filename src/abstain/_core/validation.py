"""Arguments as numbers and arrays of floats: from Python, NumPy, pandas, Polars or nested lists."""

import math
import sys
from collections.abc import Callable
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import AbstainError, InputError, shown
from ..kernels.compiling import kernel
from ..typing import Array, Floats

MOST = 10**8
"""What is made from one number (experts, features, rounds of an instance) is at most so large: it has to fit into
memory."""
_LARGEST_COUNT = 2**63 - 1
_LARGEST_NUMBER = int(sys.float_info.max)
_SEED_BITS = 8192
_LARGEST_SEED = 2**_SEED_BITS - 1


def plain(values: Any, name: str = "values") -> Array:
    """``values`` as an array; data frames and series give their own. Strings that end with NUL, which NumPy would cut
    off, stay Python's.
    """
    if type(values) is np.ndarray:
        return values
    if np.ma.is_masked(values):  # NumPy would show what is behind the mask
        raise InputError(f"{name}: expected no masked values, got {shown(values)}")
    try:
        array = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        if array.dtype.kind == "U":
            objects = np.asarray(values, object)
            if any(isinstance(one, str) and one.endswith("\0") for one in objects.flat):
                return objects
        return array
    except Exception as error:  # rows of different lengths, and whatever a class raises that cannot be an array
        raise InputError(f"{name}: expected rows of equal length, or another array ({error})") from None


def as_count(value: Any, name: str, least: int = 1, most: int = _LARGEST_COUNT) -> int:
    """A whole number from ``least`` to ``most``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and least <= value <= most:
        return int(value)
    limit = f"at most {most}" if whole and value > most else f"at least {least}"
    raise InputError(f"{name}: expected a whole number, {limit}, got {shown(value)}")


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is one real number, of Python or NumPy, that can be a float."""
    if isinstance(value, int):
        return not isinstance(value, bool) and -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER
    return isinstance(value, (float, np.integer, np.floating))


def as_number(value: Any, name: str, expected: str, is_right: Callable[[float], bool] = math.isfinite) -> float:
    """A real number as a float, if ``is_right`` says so; ``expected`` says to people what is right."""
    if is_number(value) and is_right(float(value)):
        return float(value)
    raise InputError(f"{name}: expected {expected}, got {shown(value)}")


def as_share(value: Any, name: str) -> float:
    """A number in [0, 1]."""
    return as_number(value, name, "a number in [0, 1]", lambda share: 0.0 <= share <= 1.0)


def as_flag(value: Any, name: str) -> bool:
    """True or False, of Python or NumPy, or 1 or 0."""
    if isinstance(value, (int, np.bool_)) and value in (0, 1):
        return bool(value)
    raise InputError(f"{name}: expected True or False, got {shown(value)}")


def as_seed(seed: Any) -> int | np.random.SeedSequence | None:
    """A seed for `numpy.random.default_rng`."""
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and 0 <= seed <= _LARGEST_SEED:
        return int(seed)
    raise InputError(
        f"seed: expected an integer that is not negative (of at most {_SEED_BITS} bits), a SeedSequence or None, "
        f"got {shown(seed)}"
    )


_LEARNERS = 0x1EA24E2
"""The key of the learners' own random numbers."""


def own_stream(seed: int | np.random.SeedSequence | None) -> np.random.SeedSequence:
    """Where a learner's random numbers come from: not where data made with the same seed came from.

    Many give the same seed to everything. If a learner then drew the very numbers that the inputs are made of, its
    choices would depend on them, and estimates would be biased.
    """
    entropy, key = (seed.entropy, seed.spawn_key) if isinstance(seed, np.random.SeedSequence) else (seed, ())
    return np.random.SeedSequence(entropy, spawn_key=(*key, _LEARNERS))


def as_table(values: ArrayLike, width: int | None, name: str = "X") -> Floats:
    """A table of finite floats with at least one row and ``width`` columns (any number, if None)."""
    array = plain(values, name)
    if array.ndim != 2 or array.shape[0] == 0:
        raise InputError(f"{name}: expected a table with one row a round, got shape {array.shape}")
    if width is not None and array.shape[1] != width:
        raise InputError(f"{name}: expected {width} columns, got {array.shape[1]}")
    return _finite(array, name)


def as_row(values: ArrayLike, width: int | None, name: str = "x") -> Floats:
    """One round's features, as a table of one row."""
    array = plain(values, name)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one row of features, got shape {array.shape}")
    if width is not None and array.shape[0] != width:
        raise InputError(f"{name}: expected {width} features, got {array.shape[0]}")
    return _finite(array[np.newaxis], name)


@kernel
def all_finite(X: Any) -> bool:
    """Whether no entry is NaN or infinite."""
    for i in range(X.shape[0]):
        bad = 0
        for k in range(X.shape[1]):
            bad += not (abs(X[i, k]) < np.inf)
        if bad:
            return False
    return True


def _finite(array: Array, name: str) -> Floats:
    table = as_floats(array, name)
    if not all_finite(table):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"{name}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    return table


_NO_NUMBERS = (str, bytes, complex, np.complexfloating)


def as_floats(values: Any, name: str = "values", error: type[AbstainError] = InputError) -> Floats:
    """Real numbers as float64, in an array of any shape; what stands for a missing number becomes NaN."""
    array = plain(values, name)
    if array.dtype == np.float64:
        return np.asarray(array, order="C")
    kind = array.dtype.kind
    if kind in "iub":
        return np.asarray(array, np.float64, order="C")
    if kind not in "fO" or (kind == "O" and any(isinstance(one, _NO_NUMBERS) for one in array.flat)):
        raise error(f"{name}: expected numbers, got {array.dtype}")
    try:
        with np.errstate(over="ignore"):  # of longer floats: infinite, and refused where that matters
            return np.asarray(array, np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as why:
        raise error(f"{name}: expected numbers that fit into float64, got {array.dtype} ({why})") from None


F = TypeVar("F", bound=Callable[..., Any])

_methods: set[Any] = set()


def trusted(method: F) -> F:
    """Trust this method, wherever it is inherited."""
    _methods.add(method)
    return method


def is_trusted(method: Any) -> bool:
    """Whether this method of an object is one of them."""
    return getattr(method, "__func__", None) in _methods
