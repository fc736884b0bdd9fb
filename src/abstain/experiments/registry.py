"""Studies, claims, figures and sections of the report of any package, by name.

A package registers its own under the entry point groups ``abstain.studies``, ``abstain.claims``, ``abstain.figures``
and ``abstain.sections``, each a ``module:attribute`` or a module; `register` does the same without an installation.
"""

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Protocol, TypeVar

STUDIES, CLAIMS = "abstain.studies", "abstain.claims"
FIGURES, SECTIONS = "abstain.figures", "abstain.sections"
_registered: dict[tuple[str, str], EntryPoint] = {}


class Numbered(Protocol):
    """A claim, a figure or a section: its number is its place in the report."""

    @property
    def number(self) -> int: ...


N = TypeVar("N", bound=Numbered)


def register(group: str, name: str, target: str) -> None:
    """Make something known, as an entry point of an installed package does.

    Args:
        group: `STUDIES`, `CLAIMS`, `FIGURES` or `SECTIONS`.
        name: What the group calls it; an older entry of that name is replaced.
        target: ``module:attribute``, or a module. It is imported when somebody asks for it.
    """
    _registered[group, name] = EntryPoint(name, target, group)


def registered(group: str) -> dict[str, EntryPoint]:
    """The entries of a group by name: those of `register`, then those of installed packages; the first has the name."""
    found: dict[str, EntryPoint] = {}
    for entry in entries(group):
        found.setdefault(entry.name, entry)
    return found


def entries(group: str) -> list[EntryPoint]:
    """All entries of a group, in the order of `registered`. Packages may use the same name."""
    ours = [entry for (where, _), entry in _registered.items() if where == group]
    theirs = {(entry.name, entry.value): entry for entry in entry_points(group=group)}  # one may lie there twice
    return [*ours, *(entry for key, entry in theirs.items() if key not in {(one.name, one.value) for one in ours})]


def unloaded(entry: EntryPoint, error: BaseException) -> str:
    """A sentence about an entry that cannot be loaded."""
    return f"{entry.group}: {entry.name} ({entry.value}) cannot be loaded ({type(error).__name__}: {error})."


def collected(group: str, kind: type[N]) -> list[N]:
    """All claims, figures or sections that a group leads to, sorted by number, without `broken` ones."""
    return _collect(group, kind)[0]


def broken(group: str, kind: type[Numbered]) -> list[str]:
    """One sentence for each entry of a group that cannot be used: it fails to load, or its number is taken."""
    return _collect(group, kind)[1]


def _collect(group: str, kind: type[N]) -> tuple[list[N], list[str]]:
    """An entry is an object, a list of them, a module with some at its top level, or a package of such modules."""
    objects: dict[int, N] = {}
    wrong = []
    for entry in entries(group):
        try:
            for value in inside(entry.load(), kind):
                if objects.setdefault(value.number, value) is not value:
                    wrong.append(f"{group}: {entry.name}: number {value.number} is taken ({value!r:.80}).")
        except (Exception, SystemExit) as error:  # another package may raise anything
            wrong.append(unloaded(entry, error))
    return [objects[number] for number in sorted(objects)], wrong


def inside(loaded: Any, kind: type[N]) -> Iterator[N]:
    """The objects of a kind in what an entry, or a path in a TOML file, leads to."""
    if isinstance(loaded, ModuleType):
        yield from (value for value in vars(loaded).values() if isinstance(value, kind))
        for module in iter_modules(getattr(loaded, "__path__", ()), f"{loaded.__name__}."):
            yield from inside(import_module(module.name), kind)
    elif isinstance(loaded, kind):
        yield loaded
    elif isinstance(loaded, Iterable):
        yield from (value for value in loaded if isinstance(value, kind))
