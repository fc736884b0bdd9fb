"""Objects that threads share, and of which there may be copies: by hand, by pickle, by fork."""

import copy
import os
import threading
from contextlib import suppress
from typing import Any, Self
from weakref import WeakSet

from .identity import Identity

_alive: "WeakSet[Shared]" = WeakSet()


class Shared:
    """Something with a lock and an identity. A copy shares nothing, has a lock that nobody holds, and begins a life."""

    round: int = 0

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held by the thread that uses it; hold it to do several things in a row."""
        self._identity = Identity()
        _alive.add(self)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # a copy that shares arrays, but not the number of rounds, would be neither

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: copy.deepcopy(value) for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._begin_life()
        _alive.add(self)

    def _begin_life(self) -> None:
        """Be a copy from now on: what the other one decides is not this one's."""
        self.lock = threading.RLock()
        self._identity.begin_life(self.round)


def _begin_lives() -> None:
    """In a forked process: no thread is left that could give a lock back, and everything is a copy."""
    for one in list(_alive):
        with suppress(AttributeError):  # one that was never made
            one._begin_life()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_lives)
