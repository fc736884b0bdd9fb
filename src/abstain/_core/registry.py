"""What a file says of a part: the name of its class, and the parameters that make it again.

Classes of this library are stored by their public name, ``Subset``; those of other packages as ``module:Class``. A
class is known from the moment it is defined.
"""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import AbstainError, InputError, UnknownKindError, shown

T = TypeVar("T")


_LIBRARY = __name__.partition(".")[0]


def name_of(kind: type) -> str:
    """Return the name of a class in files: bare for this library's, wherever it lives there, else ``module:Class``."""
    if kind.__module__.partition(".")[0] == _LIBRARY:
        return kind.__qualname__
    return f"{kind.__module__}:{kind.__qualname__}"


class Registry(Generic[T]):
    """The classes of one sort of part, this library's and other packages'. Of one name, the last defined counts."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._kinds: dict[str, type[T]] = {}

    def add(self, kind: type[T]) -> None:
        """Register a class by its name, in `__init_subclass__`."""
        self._kinds[name_of(kind)] = kind

    def find(self, name: str) -> type[T]:
        """Find a class by what `name_of` returned, or raise an `UnknownKindError`.

        Nothing is imported: what a file names is run only if the user has imported it.
        """
        if not isinstance(name, str):
            raise InputError(f"{self.sort}: expected the name of a class, got {shown(name)}")
        if name in self._kinds:
            return self._kinds[name]
        module, colon, kind = name.partition(":")
        if not colon:
            raise UnknownKindError(f"{self.sort}: expected a class of abstain, or module:Class, got {shown(name)}")
        if module == "__main__":
            raise UnknownKindError(
                f"{self.sort}: {kind} was defined in a script or at a prompt; define it here, too, first"
            )
        raise UnknownKindError(f"{self.sort}: {kind} of the module {module} is not known; import {module} first")

    def make(self, name: str, parameters: Mapping[str, Any]) -> T:
        """Make a part from the name of its class and the arguments of its constructor, or raise an `InputError`."""
        kind = self.find(name)
        try:
            return kind(**parameters)
        except AbstainError:
            raise
        except Exception as error:  # whatever a constructor makes of a changed or damaged file
            raise InputError(f"{self.sort}: {name} cannot be made from its parameters ({error!r})") from None

    @property
    def kinds(self) -> tuple[type[T], ...]:
        """All classes known so far, in the order of their definition."""
        return tuple(self._kinds.values())


_DEEPEST = 32
"""How deep values of parameters may be nested."""


def as_plain(value: Any, depth: int = 0) -> Any:
    """Convert a value to what JSON gives back: None, numbers, strings, and tuples and dictionaries of them.

    Lists and arrays become tuples, dataclasses dictionaries; anything else, or too deep a nesting, is an `InputError`.
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
    """Find the arguments that make a part again, if its attributes (``arrays`` among them) are just these.

    None unless the part holds all arguments and nothing else (a memory would be lost silently), each is plain or an
    array, and the constructor keeps them as they are.
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
    """Collect what an object holds, also in slots, except cached properties, which follow from the rest."""
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
