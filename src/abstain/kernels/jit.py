"""The one way functions are compiled here."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from .caching import SourceCache

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",  # division by zero gives infinities
    # Kernels allocate nothing, so nothing needs reference counts: counting them costs ten times the work itself.
    "_nrt": False,
    "no_cfunc_wrapper": True,  # nobody calls them from C: less to compile
}
# No fast-math: a sum is evaluated in the order it is written, so that one round and a whole table give the same bits.


def kernel(function: F) -> F:
    """Compile ``function`` at its first call, and keep the result on disk until its code, or a callee's, changes.

    It works on plain arrays and numbers, and allocates nothing: what it needs to write to is handed to it.
    """
    compiled = numba.njit(**_OPTIONS)(function)
    compiled._cache = SourceCache(compiled.py_func)
    return cast(F, compiled)


def inline(function: F) -> F:
    """Compile ``function`` into its callers; it cannot be called from Python."""
    inside: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True}
    return cast(F, numba.njit(**_OPTIONS, **inside)(function))
