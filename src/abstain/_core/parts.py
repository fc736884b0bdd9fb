"""Parts from other people's modules, by import path: ``module:Class`` or ``module:function``.

The module is looked for beside the study's file first, then as any import is. Every process that plays imports it.
Results are known by its code and that of the modules beside it which it imports: a process never plays other code than
the study was read with.
"""

import ast
import hashlib
import importlib
import inspect
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ..errors import InputError

_INSTALLED = ("site-packages", "dist-packages")
"""Folders whose modules are not somebody's work in progress."""


def beside(top: str, origin: Path, folder: str | None) -> dict[str, Path]:
    """The module and those it imports, directly or not, from the same folder, by name; each package is one.

    A module that lies elsewhere than in ``folder``, or is installed, stands alone.
    """
    home = origin.parent.parent if origin.name == "__init__.py" else origin.parent
    found = {top: origin}
    if folder is None or home != Path(folder) or home.name in _INSTALLED:
        return found
    waiting = [top]
    while waiting:
        for name in sorted(_imports(found[waiting.pop()])):
            places = (home / f"{name}.py", home / name / "__init__.py")
            there = next((place for place in places if place.is_file()), None)
            if there is not None and name not in found:
                found[name] = there
                waiting.append(name)
    return found


def _files(origin: Path) -> list[Path]:
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]


def _imports(origin: Path) -> set[str]:
    """The names that a module, or any file of a package, imports, up to their first dot."""
    names: set[str] = set()
    for file in _files(origin):
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):  # who imports it is told
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
                names.add(node.module.partition(".")[0])
    return names


def digest(modules: Mapping[str, Path]) -> str:
    """What tells the files of these modules from other versions of them; where they lie makes no difference."""
    whole = hashlib.sha256()
    for _, origin in sorted(modules.items()):
        for file in _files(origin):
            whole.update(f"{file.relative_to(origin.parent).as_posix()}\n".encode())
            whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:24]


_lock = threading.RLock()
_imported: dict[str, str] = {}
"""The modules imported here, without what comes after a dot, and the digests of their code at that time."""


class Taken(NamedTuple):
    """An attribute of a module, and what tells the module's code from another version of it."""

    value: Any
    code: str
    file: str | None


def is_path(kind: object) -> bool:
    """Whether this is an import path rather than the name of one of the library's parts."""
    return isinstance(kind, str) and ":" in kind


def take_class(path: str, folder: str | None, base: type, what: str) -> Any:
    """The class that path leads to; raise an error unless it is a concrete one of that base."""
    found, _, file = take(path, folder)
    if not isinstance(found, type) or not issubclass(found, base) or inspect.isabstract(found):
        raise InputError(f"kind: expected {path.partition(':')[2]} of {file} to be {what}, got {found!r}")
    return found


def take(path: str, folder: str | None) -> Taken:
    """What that path leads to; code that was changed since it was last imported is imported anew."""
    if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", path) is None:
        raise InputError(f"kind: expected an import path such as module:Class, got {path!r}")
    name, _, attribute = path.partition(":")
    if name == "__main__":
        raise InputError(f"kind: expected {attribute} in a module, which every process can import, got {path!r}")
    with _lock:
        module, code = _import(name, folder)
    if not hasattr(module, attribute):
        raise InputError(f"kind: expected {path}, but {module.__file__} has no {attribute}")
    return Taken(getattr(module, attribute), code, module.__file__)


def call(path: str, folder: str | None, code: str) -> Any:
    """The class or function of that path, if its code is the one the study was read with."""
    found = take(path, folder)
    if found.code != code:
        raise InputError(f"{path}: expected the code the study was read with, got another version of it")
    return found.value


def path_of(value: Any) -> tuple[str, str | None]:
    """The import path of a class or function, and the folder its module lies in."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not callable(value) or not isinstance(module, str) or not isinstance(name, str):
        raise InputError(f"kind: expected a name, an import path, a class or a function, got {value!r}")
    if "." in name or "<" in name:
        raise InputError(f"kind: expected a class or function at the top of its module, got {module}:{name}")
    path = f"{module}:{name}"
    file = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    folder = None
    if module != "__main__" and file is not None:
        folder = str(Path(file).parent.parent if Path(file).name == "__init__.py" else Path(file).parent)
    if take(path, folder).value is not value:
        raise InputError(f"kind: expected {path} to be {value!r}; is it changed, or defined twice?")
    return path, folder


def _import(name: str, folder: str | None) -> tuple[ModuleType, str]:
    top = name.partition(".")[0]
    importlib.invalidate_caches()
    with _first_on_path(folder):
        spec = _spec(top)
        if spec is None or spec.origin is None or not spec.has_location:
            where = "" if folder is None else f"in {folder} or "
            raise InputError(f"kind: expected a module {top} {where}on Python's path, got none")
        modules = beside(top, Path(spec.origin), folder)
        code, here = digest(modules), sys.modules.get(top)
        if here is not None and top not in _imported and not _is(here, modules[top]):
            raise InputError(f"kind: expected {spec.origin}, but {top} is {here!r} already; give it another name")
        if _imported.get(top, code) != code:
            _forget(modules)
        try:
            module = importlib.import_module(name)
        except (Exception, SystemExit) as error:  # whatever the module does
            raise InputError(f"kind: expected {name} to be importable, got {type(error).__name__}: {error}") from None
        _imported.update({one: digest(beside(one, file, folder)) for one, file in modules.items()})
    return module, code


def _spec(top: str) -> ModuleSpec | None:
    """Where a module would be imported from now, whether or not it is imported already.

    Packages installed with ``pip install -e`` may lie on no path: a finder of their own knows them.
    """
    for finder in (PathFinder, *sys.meta_path):
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = None if find is None else find(top, None)
        if spec is not None:
            return spec
    return None


def _is(module: ModuleType, origin: Path) -> bool:
    """Whether it was imported from that file, or from another with the same content."""
    file = Path(getattr(module, "__file__", None) or "")
    return file == origin or (file.is_file() and file.read_bytes() == origin.read_bytes())


def _forget(modules: Iterable[str]) -> None:
    """Let these modules be imported anew."""
    for top in modules:
        for name in [one for one in sys.modules if one == top or one.startswith(f"{top}.")]:
            del sys.modules[name]


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
