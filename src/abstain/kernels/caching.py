"""Compiled functions kept on disk, as long as their code and that of everything they call is the same.

Numba's own cache looks at the file of a function, but not at the functions it calls: after a change of a callee the old
code would go on, silently. It refuses to *define* a function where no folder can be written to, and does not read a
folder that cannot be.
"""

import os
import sys
import types
import warnings
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.compiler import CompileResult

from .digest import UnknownCodeError, digest

_LONGEST_NAME = 100
_warned = False


class SourceCache(NullCache):
    """The cache of one function, opened when the function is first compiled: importing touches no disk."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function

    @cached_property
    def _name(self) -> str | None:
        """The name of its files, which carries the digest; None if it cannot be told when they would be out of date."""
        one = self._function
        try:
            code = digest(one)
        except (UnknownCodeError, ValueError, OSError):
            return None
        name = f"{one.__module__}.{one.__qualname__}".replace("<", "").replace(">", "")[-_LONGEST_NAME:]
        return f"{name}-{code[:32]}.py{sys.version_info[0]}{sys.version_info[1]}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if self._name is not None:
            target_context.refresh()
            for folder in _folders():
                try:
                    found = self._index(folder).load((sig, target_context.codegen().magic_tuple()))
                    if found is not None:
                        return _rebuilt(target_context, found)
                except Exception:  # damaged, or of a module that is not here: as good as nothing
                    continue
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        if self._name is None or cres.library.has_dynamic_globals:
            return
        key, problem = (sig, cres.codegen.magic_tuple()), "no folder is known"
        for folder in _folders():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                index = self._index(folder)
                try:
                    index.save(key, cres._reduce())
                except OSError:
                    raise
                except Exception:  # what is there is damaged
                    index.flush()
                    index.save(key, cres._reduce())
            except OSError as error:
                problem = str(error)
            else:
                return
        _warn(problem)

    def _index(self, folder: Path) -> Any:
        of_files: Any = IndexDataCacheFile
        return of_files(str(folder), self._name, self._name)


def _rebuilt(target_context: Any, reduced: Any) -> Any:
    of_results: Any = CompileResult
    return of_results._rebuild(target_context, *reduced)


def _folders() -> Iterator[Path]:
    """Where compiled code may be: where the user says, or else beside the library or in the user's cache."""
    settings: Any = config
    if settings.CACHE_DIR:
        yield Path(settings.CACHE_DIR) / "abstain"
        return
    yield Path(__file__).parent / "__pycache__"
    home = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    try:
        yield Path(home or Path.home() / ".cache") / "abstain" / "kernels"
    except RuntimeError:  # nobody has a home
        return


def _warn(problem: str) -> None:
    """Say once that everything is compiled in memory only."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "abstain: compiled functions cannot be kept on disk, so every process compiles anew; set "
            f"NUMBA_CACHE_DIR to a folder that can be written to ({problem})",
            RuntimeWarning,
            stacklevel=2,
        )
