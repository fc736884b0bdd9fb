"""Kinds of parts by name: files say ``module:Class``, and a class is known from the moment it is defined."""

from typing import Generic, TypeVar

from .errors import InputError, UnknownKindError

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
            raise InputError(f"{self.sort}: expected the name of a class as module:Class, got {name!r}")
        if name in self._kinds:
            return self._kinds[name]
        module, _, kind = name.partition(":")
        raise UnknownKindError(f"{self.sort}: {kind} of the module {module} is not known; import {module} first")

    @property
    def kinds(self) -> tuple[type[T], ...]:
        """All classes known so far."""
        return tuple(self._kinds.values())
