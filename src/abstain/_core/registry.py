"""What a file says of a part: the name of its class, and the parameters that make it again.

Files say ``module:Class``, and a class is known from the moment it is defined.
"""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import AbstainError, InputError, UnknownKindError, shown

T = TypeVar("T")


def name_of(kind: type) -> str:
    """The name a file has for a class."""
    return f"{kind.__module__}:{kind.__qualname__}"


class Registry(Generic[T]):
    """The classes of one sort of part, the library's own and everybody else's; of one name, the last defined."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._kinds: dict[str, type[T]] = {}

    def add(self, kind: type[T]) -> None:
        """Know a class by its name; for `__init_subclass__`."""
        self._kinds[name_of(kind)] = kind

    def find(self, name: str) -> type[T]:
        """The class of that name. Nothing is imported: what a file names is run only if the user has imported it."""
        if not isinstance(name, str) or ":" not in name:
            raise InputError(f"{self.sort}: expected the name of a class as module:Class, got {shown(name)}")
        if name in self._kinds:
            return self._kinds[name]
        module, _, kind = name.partition(":")
        if module == "__main__":
            raise UnknownKindError(
                f"{self.sort}: {kind} was defined in a script or at a prompt; define it here, too, first"
            )
        raise UnknownKindError(f"{self.sort}: {kind} of the module {module} is not known; import {module} first")

    def make(self, name: str, parameters: Mapping[str, Any]) -> T:
        """The part that the class of that name makes of these parameters."""
        kind = self.find(name)
        try:
            return kind(**parameters)
        except AbstainError:
            raise
        except Exception as error:  # whatever a constructor makes of a changed or damaged file
            raise InputError(f"{self.sort}: {name} cannot be made from its parameters ({error!r})") from None

    @property
    def kinds(self) -> tuple[type[T], ...]:
        """All classes known so far."""
        return tuple(self._kinds.values())


_DEEPEST = 32
"""How deep values of parameters may be nested."""


def as_plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON gives it back: None, numbers, strings, and tuples and dictionaries of them; lists and arrays
    become tuples, dataclasses dictionaries.
    """
    if depth > _DEEPEST:
        raise InputError(f"parameters: expected values nested at most {_DEEPEST} deep, got deeper ones")
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple(as_plain(one, depth + 1) for one in value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: as_plain(one, depth + 1) for key, one in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_plain(getattr(value, one.name), depth + 1) for one in fields(value)}
    raise InputError(f"parameters: expected numbers, strings, None, or tuples of them, got {shown(value)}")


def parameters_of(part: object, *, arrays: bool = False) -> dict[str, Any] | None:
    """What makes a part again, if its attributes are the arguments of its constructor: these attributes.

    None unless it holds all the arguments and nothing else (a memory would be lost without a word), each is plain (or,
    with ``arrays``, an array), and the constructor keeps them as they are.
    """
    try:
        held, arguments = _attributes(part), inspect.signature(type(part)).parameters
        if held.keys() != arguments.keys():
            return None
        whole = {
            name for name, value in held.items() if arrays and isinstance(value, np.ndarray) and value.dtype != object
        }
        parameters = {name: held[name] if name in whole else as_plain(held[name]) for name in arguments}
        again = _attributes(type(part)(**parameters))
        return parameters if all(_same(held[name], again[name]) for name in arguments) else None
    except Exception:  # values that are not plain, a constructor that does not take them: it cannot be made again
        return None


def _attributes(part: object) -> dict[str, Any]:
    """All that an object holds, in slots, too, but for cached properties: they are derived from the rest."""
    state = object.__getstate__(part)
    held: dict[str, Any] = {}
    for some in state if isinstance(state, tuple) else (state,):
        held.update(some or {})
    return {k: v for k, v in held.items() if not isinstance(getattr(type(part), k, None), cached_property)}


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, np.generic):
        one = one.item()
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other))
    return bool(one == other)
