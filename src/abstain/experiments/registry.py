"""Studies, claims and figures of any package, by name.

A package registers its own under the entry point groups ``abstain.studies``, ``abstain.claims`` and
``abstain.figures``, each a ``module:attribute`` or a module; `register` does the same without an installation.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Protocol, TypeVar

from ..errors import InputError

STUDIES, CLAIMS, FIGURES = "abstain.studies", "abstain.claims", "abstain.figures"
_registered: dict[tuple[str, str], EntryPoint] = {}


class Numbered(Protocol):
    """A claim or a figure: its number is its place in the report."""

    @property
    def number(self) -> int: ...


N = TypeVar("N", bound=Numbered)


def register(group: str, name: str, target: str) -> None:
    """Make something known, as an entry point of an installed package does.

    Args:
        group: `STUDIES`, `CLAIMS` or `FIGURES`.
        name: What the group calls it; an older entry of that name is replaced.
        target: ``module:attribute``, or a module. It is imported when somebody asks for it.
    """
    _registered[group, name] = EntryPoint(name, target, group)


def registered(group: str) -> dict[str, EntryPoint]:
    """All entries of a group by name: those of `register`, then those of installed packages."""
    ours = {name: entry for (where, name), entry in _registered.items() if where == group}
    return ours | {entry.name: entry for entry in entry_points(group=group) if entry.name not in ours}


def collected(group: str, kind: type[N]) -> Sequence[N]:
    """All claims, or all figures, that a group leads to, by their numbers.

    An entry is such an object, a list of them, a module with some at its top level, or a package of such modules. All
    are imported, so that an error in one shows before hours of computing.

    Raises:
        InputError: If two have the same number.
    """
    objects: dict[int, N] = {}
    for name, entry in registered(group).items():
        for value in _inside(entry.load(), kind):
            if objects.setdefault(value.number, value) is not value:
                raise InputError(
                    f"{kind.__name__.lower()} {value.number}: expected one of that number, got another in {name}"
                )
    return [objects[number] for number in sorted(objects)]


def _inside(loaded: Any, kind: type[N]) -> Iterator[N]:
    if isinstance(loaded, ModuleType):
        yield from (value for value in vars(loaded).values() if isinstance(value, kind))
        for module in iter_modules(getattr(loaded, "__path__", ()), f"{loaded.__name__}."):
            yield from _inside(import_module(module.name), kind)
    elif isinstance(loaded, kind):
        yield loaded
    elif isinstance(loaded, Iterable):
        yield from (value for value in loaded if isinstance(value, kind))
