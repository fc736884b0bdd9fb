"""States of compiled learners: NamedTuples of arrays, numbers, and such NamedTuples."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..typing import Array


def check_arrays(arrays: Mapping[str, Array], like: Mapping[str, Array], signed: tuple[str, ...] = ()) -> None:
    """Raise an error unless these are the arrays that are expected: their names, types, shapes, and finite values."""
    if arrays.keys() != like.keys():
        raise InputError(f"state: expected the arrays {', '.join(like)}, got {', '.join(arrays) or 'none'}")
    for name, array in arrays.items():
        expected = like[name]
        if array.dtype != expected.dtype or array.shape != expected.shape:
            raise InputError(
                f"state: expected {name} as {expected.dtype} {expected.shape}, got {array.dtype} {array.shape}"
            )
        if not np.isfinite(array).all():
            raise InputError(f"state: expected finite numbers in {name}, got others")
        if name not in signed and (array < 0).any():
            raise InputError(f"state: expected numbers from 0 on in {name}, got others")


def fields_named(names: tuple[str, ...], state: Any) -> dict[str, Array]:
    """The fields with these names of a state, or of the states in it."""
    known: dict[str, list[Any]] = {}
    _collect(state, known)
    for name in names:
        values = known.get(name, [])
        if len(values) != 1 or not isinstance(values[0], np.ndarray):
            raise InputError(f"saved: expected one array of the name {name} in the state, got {len(values)} fields")
    return {name: known[name][0] for name in names}


def _collect(state: Any, known: dict[str, list[Any]]) -> None:
    """Add the values of a state and of the states in it, by name."""
    for name, value in zip(state._fields, state, strict=True):
        if isinstance(value, tuple):
            _collect(value, known)
        else:
            known.setdefault(name, []).append(value)


def copied(value: Any) -> Any:
    """A copy of a state that shares no array with it."""
    if isinstance(value, tuple):
        return type(value)(*map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value
