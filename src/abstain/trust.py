"""Methods of the library whose results need no check.

Trust belongs to the method, not to its class or module: a subclass that inherits it is trusted, one that defines it
anew is checked.
"""

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_methods: set[Any] = set()


def trusted(method: F) -> F:
    """Trust this method, wherever it is inherited."""
    _methods.add(method)
    return method


def is_trusted(method: Any) -> bool:
    """Whether this method of an object is one of them."""
    return getattr(method, "__func__", None) in _methods
