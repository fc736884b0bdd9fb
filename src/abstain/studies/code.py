"""The source of a module of one's own, and of the modules beside it that it imports."""

import ast
import hashlib
from collections.abc import Mapping
from pathlib import Path

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
