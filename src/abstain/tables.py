"""Features as arrays of floats, from NumPy, pandas, Polars or nested lists."""

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .kernels.passes import all_finite


def plain(values: Any, name: str = "values") -> NDArray[Any]:
    """``values`` as an array; data frames and series give their own."""
    try:
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except ValueError as error:
        raise InputError(f"{name}: expected rows of equal length ({error})") from None


def as_count(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if whole and value >= least and (most is None or value <= most):
        return int(value)
    limit = "" if most is None else f" and at most {most}"
    raise InputError(f"{name}: expected a whole number, at least {least}{limit}, got {value!r:.100}")


def is_number(value: Any) -> TypeGuard[float]:
    """Whether it is one real number, of Python or NumPy."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def as_seed(seed: Any) -> int | np.random.SeedSequence | None:
    """A seed for `numpy.random.default_rng`."""
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return seed
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return int(seed)
    raise InputError(f"seed: expected an integer that is not negative, a SeedSequence or None, got {seed!r}")


_LEARNERS = 0x1EA24E2
"""The key of the learners' own random numbers."""


def own_stream(seed: int | np.random.SeedSequence | None) -> np.random.SeedSequence:
    """Where a learner's random numbers come from: not where data made with the same seed came from.

    Many give the same seed to everything. If a learner then drew the very numbers that the inputs are made of, its
    choices would depend on them, and estimates would be biased.
    """
    base = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.random.SeedSequence(base.entropy, spawn_key=(*base.spawn_key, _LEARNERS))


def as_table(values: ArrayLike, width: int | None, name: str = "X") -> NDArray[np.float64]:
    """A table of finite floats with at least one row and ``width`` columns (any number, if None)."""
    array = plain(values, name)
    if array.ndim != 2 or array.shape[0] == 0:
        raise InputError(f"{name}: expected a table with one row a round, got shape {array.shape}")
    if width is not None and array.shape[1] != width:
        raise InputError(f"{name}: expected {width} columns, got {array.shape[1]}")
    return _finite(array, name)


def as_row(values: ArrayLike, width: int | None, name: str = "x") -> NDArray[np.float64]:
    """One round's features, as a table of one row."""
    array = plain(values, name)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one row of features, got shape {array.shape}")
    if width is not None and array.shape[0] != width:
        raise InputError(f"{name}: expected {width} features, got {array.shape[0]}")
    return _finite(array[np.newaxis], name)


def _finite(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    if array.dtype.kind not in "fiubO":
        raise InputError(f"{name}: expected numbers, got {array.dtype}")
    try:
        table = np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected numbers, got {array.dtype} ({error})") from None
    if not all_finite(table):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"{name}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    return table
