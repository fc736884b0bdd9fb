"""Signals that wait until a step is whole."""

import _signal  # type: ignore[import-not-found]
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# `signal` wraps `_signal` and makes enums of all that it is asked, which takes ten times as long.
_SIGNALS = tuple(map(int, signal.valid_signals()))  # asked once: making the set takes longer than all else here


@contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Keep Python's signal handlers (Ctrl-C's among them) from running inside, but when the function given is called.

    Compiled code is not interrupted anyway: a handler would run, and raise, right after it, when what it did is not yet
    booked. Handlers that are still due run at the end. Only the main thread has any.
    """
    came: list[tuple[int, FrameType | None]] = []
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        getsignal = _signal.getsignal
        handlers = {number: handler for number in _SIGNALS if callable(handler := getsignal(number))}

    def deliver() -> None:
        while came:
            number, frame = came.pop(0)
            handlers[number](number, frame)

    for number in handlers:
        _signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield deliver
    finally:
        for number, handler in handlers.items():
            _signal.signal(number, handler)
        deliver()
