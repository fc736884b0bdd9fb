"""Features as arrays of floats, from NumPy, pandas, Polars or nested lists."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .kernels.passes import all_finite


def plain(values: Any) -> NDArray[Any]:
    """``values`` as an array; data frames and series give their own."""
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


def as_table(values: ArrayLike, width: int | None, name: str = "X") -> NDArray[np.float64]:
    """A table of finite floats with at least one row and ``width`` columns (any number, if None)."""
    array = plain(values)
    if array.ndim != 2 or array.shape[0] == 0:
        raise InputError(f"{name}: expected a table with one row a round, got shape {array.shape}")
    if width is not None and array.shape[1] != width:
        raise InputError(f"{name}: expected {width} columns, got {array.shape[1]}")
    return _finite(array, name)


def as_row(values: ArrayLike, width: int | None, name: str = "x") -> NDArray[np.float64]:
    """One round's features, as a table of one row."""
    array = plain(values)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one row of features, got shape {array.shape}")
    if width is not None and array.shape[0] != width:
        raise InputError(f"{name}: expected {width} features, got {array.shape[0]}")
    return _finite(array[np.newaxis], name)


def _finite(array: NDArray[Any], name: str) -> NDArray[np.float64]:
    try:
        table = np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected numbers, got {array.dtype} ({error})") from None
    if not all_finite(table):
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise InputError(f"{name}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    return table
