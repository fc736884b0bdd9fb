"""Learners of one's own, by import path: ``module:Class``.

The module is looked for beside the study's file first, then as any import is. It is imported in every process that
plays; results are known by its code, too, and a process never plays other code than the one the study was read with.
"""

import hashlib
import importlib
import importlib.machinery
import inspect
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from ..errors import InputError
from ..learners import Learner

_lock = threading.RLock()
_imported: dict[str, str] = {}
"""The modules imported here, without what comes after a dot, and the digests of their code at that time."""


class Imported(NamedTuple):
    """A class of learners, and what tells its code from another version of it."""

    kind: type[Learner]
    code: str


def is_path(kind: object) -> bool:
    """Whether this is an import path rather than the name of one of the library's learners."""
    return isinstance(kind, str) and ":" in kind


def find(path: str, folder: str | None) -> Imported:
    """The class of that path; code that was changed since it was last imported is imported anew."""
    if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", path) is None:
        raise InputError(f"kind: expected an import path such as module:Class, got {path!r}")
    name, _, kind = path.partition(":")
    if name == "__main__":
        raise InputError(f"kind: expected {kind} in a module, which every process can import, got {path!r}")
    with _lock:
        module, code = _import(name, folder)
    found = getattr(module, kind, None)
    if not isinstance(found, type) or not issubclass(found, Learner) or inspect.isabstract(found):
        raise InputError(f"kind: expected {kind} of {module.__file__} to be a learner, got {found!r}")
    return Imported(found, code)


def _import(name: str, folder: str | None) -> tuple[ModuleType, str]:
    top = name.partition(".")[0]
    importlib.invalidate_caches()
    with _first_on_path(folder):
        spec = importlib.machinery.PathFinder.find_spec(top)
        if spec is None or spec.origin is None:
            beside = "" if folder is None else f"in {folder} or "
            raise InputError(f"kind: expected a module {top} {beside}on Python's path, got none")
        code = _digest(Path(spec.origin))
        here = sys.modules.get(top)
        if here is not None and _imported.get(top, code) != code:
            for other in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
                del sys.modules[other]
        elif here is not None and getattr(here, "__file__", None) != spec.origin and top not in _imported:
            raise InputError(f"kind: expected {spec.origin}, but {top} is {here!r} already; give it another name")
        try:
            module = importlib.import_module(name)
        except Exception as error:  # whatever the module does
            raise InputError(f"kind: expected {name} to be importable, got {type(error).__name__}: {error}") from None
    _imported[top] = code
    return module, code


def _digest(origin: Path) -> str:
    """Of a module's file, or of all Python files of a package."""
    package = origin.name == "__init__.py"
    files = sorted(origin.parent.rglob("*.py")) if package else [origin]
    whole = hashlib.sha256()
    for file in files:
        whole.update(f"{file.relative_to(origin.parent).as_posix()}\n".encode())
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:24]


@contextmanager
def _first_on_path(folder: str | None) -> Iterator[None]:
    """Look in the folder first. No compiled files are left: within a second, an old one passes for a new one."""
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    if folder is not None:
        sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        if folder is not None and folder in sys.path:
            sys.path.remove(folder)
