"""Claims and figures are found: a file in their package is all that one takes."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol, TypeVar

from ..errors import InputError


class Numbered(Protocol):
    """What is found has a number."""

    @property
    def number(self) -> int: ...


N = TypeVar("N", bound=Numbered)


def found(package: ModuleType, kind: type[N]) -> Sequence[N]:
    """All objects of a kind that the modules of a package have at their top level, by their numbers.

    Each module is imported, so that what is wrong in one is said at once, not after hours of computing.
    """
    objects: dict[int, N] = {}
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, kind) and objects.setdefault(value.number, value) is not value:
                raise InputError(
                    f"{kind.__name__.lower()} {value.number}: expected one of that number, got another in {module.name}"
                )
    return [objects[number] for number in sorted(objects)]
