"""A digest of compiled code: of a function, of all that it calls, and of the constants they use."""

import builtins
import hashlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import config
from numba.core.dispatcher import Dispatcher

_STABLE = {"numpy", "numba", "scipy", *sys.stdlib_module_names}
"""Packages whose functions change with their version only."""


class UnknownCodeError(Exception):
    """A function uses something of which nobody can tell whether it is the same in another process."""


def digest(function: types.FunctionType) -> str:
    """Equal for equal code in every process of this Python; an `UnknownCodeError` where that cannot be told."""
    settings: Any = config
    whole = hashlib.sha256(repr((settings.BOUNDSCHECK, sys.version_info[:3])).encode())
    seen: set[Any] = {function}
    waiting = [function]
    while waiting:
        one = waiting.pop()
        if one.__module__ == "__main__":
            raise UnknownCodeError("what a script or a prompt defines has no name elsewhere")
        names = sorted(_names(one.__code__))
        parts: list[Any] = [one.__qualname__, _code(one.__code__), _constant(one.__defaults__)]
        for name, value in (*_cells(one), *((name, one.__globals__.get(name)) for name in names)):
            for path, found in _resolved(name, value, names):
                if isinstance(found, types.FunctionType):
                    parts.append((path, found.__qualname__))
                    if found not in seen:
                        seen.add(found)
                        waiting.append(found)
                else:
                    parts.append((path, _constant(found)))
        whole.update(repr(parts).encode())
    return whole.hexdigest()


def _names(code: types.CodeType) -> set[str]:
    """All global names and attributes that a function and the functions in it use."""
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _code(code: types.CodeType) -> list[Any]:
    consts = [_code(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable]


def _cells(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function takes from the function it was made in."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _resolved(path: str, value: Any, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The functions and constants behind a name; of a module, behind those of its attributes that are named, too."""
    if isinstance(value, types.ModuleType):
        if value.__name__.partition(".")[0] not in _STABLE:
            for name in names:
                if hasattr(value, name):
                    yield from _resolved(f"{path}.{name}", getattr(value, name), names)
    elif isinstance(value, Dispatcher):
        yield path, value.py_func
    elif value is not None and not hasattr(builtins, path):
        yield path, value


def _constant(value: Any) -> Any:
    """What a constant comes down to."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple):
        return type(value).__qualname__, [_constant(one) for one in value]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, type):
        return value.__module__, value.__qualname__, getattr(value, "_fields", None)
    if isinstance(value, (np.dtype, np.ufunc, types.BuiltinFunctionType)):
        return repr(value)
    raise UnknownCodeError(f"{value!r:.100} may be another in another process")
