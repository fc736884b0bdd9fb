"""Compiling kernels, and keeping them on disk until their code, that of a callee, or a constant changes."""

# mypy: disallow-untyped-calls=False
# Numba's compiler has no types.

import builtins
import hashlib
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import Dispatcher
from numba.core.typed_passes import DumpParforDiagnostics, InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)

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


F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",  # division by zero gives infinities
    # Kernels allocate nothing, so nothing needs reference counts: counting them costs ten times the work itself.
    "_nrt": False,
    "no_cfunc_wrapper": True,  # nobody calls them from C: less to compile
}
# No fast-math: a sum is evaluated in the order it is written, so that one round and a whole table give the same bits.


def _disabled() -> bool:
    """Say whether the user wants plain Python (``NUMBA_DISABLE_JIT=1``), to debug or to measure coverage."""
    settings: Any = config
    return bool(settings.DISABLE_JIT)


def _as_it_is(function: F) -> F:
    """Return a function that is not compiled, with the attribute that compiled ones have."""
    plain: Any = function
    plain.py_func = function
    return function


def kernel(function: F, *, nogil: bool = False) -> F:
    """Compile ``function`` at its first call, and keep the result on disk until its code, or a callee's, changes.

    It works on plain arrays and numbers, and allocates nothing: what it needs to write to is handed to it.

    Args:
        function: The function; it may call others that are compiled by `kernel` or `inline`.
        nogil: Whether other threads run meanwhile. The name must then tell it from the same code without.

    Returns:
        The compiled function.
    """
    if _disabled():
        return _as_it_is(function)
    compiled = numba.njit(**_OPTIONS, nogil=nogil)(function)
    compiled._cache = SourceCache(compiled.py_func)
    return cast(F, compiled)


class _PartLibrary(JITCodeLibrary):
    """The code of a function that only compiled functions call: linked with its callees, and nothing else.

    Numba would optimise every function together with all that it calls, and make machine code of it that is never
    used: in one measurement a third of LLVM's time.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """Nothing to set: it is not in memory."""


class _PartCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


_NEEDLESS = (
    WithLifting, InlineClosureLikes, RewriteDynamicRaises, MakeFunctionToJitFunction, InlineInlinables,
    FindLiterallyCalls, LiteralUnroll, LiteralPropagationSubPipelinePass, InlineOverloads, NopythonRewrites,
    DumpParforDiagnostics,
)  # fmt: skip
"""Passes for what no function of this library has: closures, ``with``, array expressions, unrolled loops."""


class _LeanCompiler(_PartCompiler):
    def define_pipelines(self) -> list[Any]:
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        lean = PassManager("part")
        for step, description in whole.passes:
            if step not in _NEEDLESS:
                lean.add_pass(step, description)
        lean.finalize()
        return [lean]


_PART: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
_INSIDE: dict[str, Any] = {**_PART, "forceinline": True}


def part(function: F) -> F:
    """Compile ``function`` for the kernels that call it; it cannot be called from Python."""
    if _disabled():
        return _as_it_is(function)
    return cast(F, numba.njit(**_PART, pipeline_class=_LeanCompiler)(function))


def inline(function: F) -> F:
    """Compile ``function`` into its callers, at every call; it cannot be called from Python.

    Args:
        function: The function.

    Returns:
        The function, for kernels to call.
    """
    if _disabled():
        return _as_it_is(function)
    return cast(F, numba.njit(**_INSIDE, pipeline_class=_LeanCompiler)(function))


def with_parts(pattern: Any, parts: dict[str, Any], name: str) -> Any:
    """A pattern's code with other functions for some of its global names, under a name of its own, so that it is kept
    on disk by itself.
    """
    code = pattern.__code__.replace(co_name=name, co_qualname=name)
    function = types.FunctionType(code, {**pattern.__globals__, **parts}, name)
    function.__module__, function.__qualname__, function.__doc__ = pattern.__module__, name, pattern.__doc__
    return function


@cache
def inlined(function: Any) -> Any:
    """A kernel, or a function that is `inline` anyway, for a caller that it is to be compiled into."""
    if _disabled() or function.targetoptions.get("forceinline"):
        return function
    return numba.njit(**_INSIDE, pipeline_class=_PartCompiler)(function.py_func)
