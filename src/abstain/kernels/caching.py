"""Compiled functions kept on disk, as long as their code and that of everything they call is the same.

Numba's own cache looks at the file of a function, but not at the functions it calls: after a change of a callee the old
code would go on, silently. And it refuses to *define* a function where no folder can be written to.
"""

import hashlib
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher

_warned = False


class SourceCache(NullCache):
    """The cache of one function, opened when the function is first compiled: importing touches no disk."""

    def __init__(self, function: types.FunctionType) -> None:
        self._function = function
        self._opened: Any = None

    def _open(self) -> Any:
        if self._opened is None:
            self._opened = _Stamped(self._function) if _may_be_kept(self._function) else NullCache()
        return self._opened

    @property
    def cache_path(self) -> Any:
        return self._open().cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._open().load_overload(sig, target_context)
        except (RuntimeError, OSError) as problem:  # no folder can be written to, or this one cannot be read
            self._do_without(problem)
        except Exception:  # what is there cannot be read: damaged, or of a module that is not here
            self._begin_anew()
        return None

    def _begin_anew(self) -> None:
        try:
            self._opened.flush()
        except OSError as problem:
            self._do_without(problem)

    def save_overload(self, sig: Any, cres: Any) -> None:
        try:
            self._open().save_overload(sig, cres)
        except (RuntimeError, OSError) as problem:
            self._do_without(problem)

    def flush(self) -> None:
        self._open().flush()

    def _do_without(self, problem: Exception) -> None:
        """Compile in memory only, and say so once."""
        global _warned
        self._opened = NullCache()
        if not _warned:
            _warned = True
            warnings.warn(
                "abstain: compiled functions cannot be kept on disk, so every process compiles anew; set "
                f"NUMBA_CACHE_DIR to a folder that can be written to ({problem})",
                RuntimeWarning,
                stacklevel=2,
            )


class _Stamped(FunctionCache):
    """Numba's cache with a digest of all code for a time stamp."""

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        of_file: Any = IndexDataCacheFile
        self._cache_file = of_file(self._cache_path, self._impl.filename_base, digest(function))


def _may_be_kept(function: types.FunctionType) -> bool:
    """Whether another process would find it again: what is typed at a prompt or run as a script has no name there."""
    return all(part.__module__ not in ("__main__", None) for part in _reached(function) if hasattr(part, "__code__"))


def digest(function: types.FunctionType) -> str:
    """A hash of the code of a function and of everything it calls, and of the constants they use."""
    settings: Any = config
    whole = hashlib.sha256(repr(settings.BOUNDSCHECK).encode())
    for part in _reached(function):
        whole.update(repr(_described(part)).encode())
    return whole.hexdigest()


def _described(part: Any) -> Any:
    """What a function, or the constant of a name, comes down to, the same in every process."""
    if isinstance(part, types.FunctionType):
        return [*_code(part.__code__), repr(part.__defaults__)]
    if isinstance(part, np.ndarray):
        return [part.dtype.str, part.shape, part.tobytes()]
    if isinstance(part, type):
        return [part.__module__, part.__qualname__, getattr(part, "_fields", None)]
    return part


def _code(code: types.CodeType) -> list[Any]:
    consts = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code, consts, code.co_names, code.co_varnames, code.co_exceptiontable]


_CONSTANTS = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray, type)


def _reached(function: types.FunctionType) -> Iterator[Any]:
    """The function, the functions it calls, and theirs; and the constants they take from their modules."""
    seen, waiting = {function}, [function]
    while waiting:
        one = waiting.pop()
        yield one
        for name in one.__code__.co_names:
            for value in (one.__globals__.get(name), *_attributes(one, name)):
                if isinstance(value, Dispatcher):
                    if value.py_func not in seen:
                        seen.add(value.py_func)
                        waiting.append(value.py_func)
                elif isinstance(value, _CONSTANTS):
                    yield name
                    yield value


def _attributes(function: types.FunctionType, name: str) -> Iterator[Any]:
    """What ``module.name`` may mean in a function, for each module it names (NumPy and such never change)."""
    for other in function.__code__.co_names:
        module = function.__globals__.get(other)
        if isinstance(module, types.ModuleType) and hasattr(module, "__file__") and hasattr(module, name):
            value = getattr(module, name)
            if isinstance(value, (Dispatcher, int, float)):
                yield value
