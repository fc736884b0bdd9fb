"""What commands print: a console that passes on no control characters, and the progress bar of all commands."""

import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal to draw a bar in."""
SOON = 3.0
"""Seconds after which a step that cannot say how far it is gets its line there."""
_DIRECTIONS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Marks that make a terminal show text in another order than it is in."""


def printable(text: str) -> str:
    r"""Text in one line that cannot control a terminal: control characters become question marks.

    >>> printable("red: \x1b[31m"), printable("two\nlines\tand a tab")
    ('red: ?[31m', 'two lines and a tab')
    """
    if text.isprintable():
        return text
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character in "\n\r\t":
        return " "
    return "?" if unicodedata.category(character) == "Cc" or character in _DIRECTIONS else character


def console(**options: Any) -> "Console":
    """Make a Rich console that prints text from outside as text: names of columns and files, say, may hold anything.

    Styles are Rich's and stay; control characters in what is printed become question marks.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def print(self, *args: Any, **kwargs: Any) -> None:
            try:
                super().print(*args, **kwargs)
            except BrokenPipeError:  # the reader of a pipe had enough: not an error
                raise
            except OSError as error:
                raise unwritable(error) from None

        def render(self, *args: Any, **kwargs: Any) -> Iterable[Segment]:
            for segment in super().render(*args, **kwargs):
                if segment.control or segment.text.isprintable():
                    yield segment
                else:
                    lines = map(printable, segment.text.split("\n"))
                    yield Segment("\n".join(lines), segment.style)

    return Plain(**{"emoji": False, **options})  # a model may be called a:b:c


def unwritable(error: OSError) -> OSError:
    """An error that says what could not be written: the standard output, whose disk may be full."""
    return OSError(f"standard output: cannot be written ({error.strerror or error})")


def say(console: "Console", *lines: str, style: str | None = None) -> None:
    """Print each text as one line, as it is: no markup, no wrapping."""
    for text in lines:
        console.print(printable(text), markup=False, highlight=False, soft_wrap=True, style=style)


class Progress(Protocol):
    """Called to say how far a step is."""

    def __call__(self, step: str, done: float, total: float | None, *, text: str = "") -> None:
        """Show that ``done`` of ``total`` is done; with a ``total`` of None or 1 the step cannot say how far it is.

        ``text`` is shown instead of the name of the step.
        """


@contextmanager
def progress(console: "Console", *, quiet: str = "", in_bytes: bool = False, keep: bool = False) -> Iterator[Progress]:
    """Show how far a command is: a bar with the time left in a terminal, elsewhere a line every ten seconds.

    Yields what to call with each step: ``report("playing", 10, 200)``. Without a terminal the step ``quiet``, which
    takes long without a word, gets a line after three seconds; ``keep`` leaves the bar in the terminal at the end.
    """
    if not console.is_terminal:
        with _lines(console, quiet, " bytes" if in_bytes else "") as report:
            yield report
        return
    from rich import progress as rich

    columns: list[rich.ProgressColumn] = [rich.TextColumn("{task.description}", markup=False), rich.BarColumn()]
    columns += [rich.DownloadColumn()] if in_bytes else [rich.TextColumn("{task.percentage:>3.0f} %")]
    columns += [rich.TimeElapsedColumn(), rich.TextColumn("left"), rich.TimeRemainingColumn()]
    with rich.Progress(*columns, console=console, transient=not keep) as bar:
        tasks: dict[str, rich.TaskID] = {}

        def update(step: str, done: float, total: float | None, *, text: str = "") -> None:
            if step not in tasks:
                for task in tasks.values() if not in_bytes else ():
                    bar.update(task, completed=1, total=1)
                tasks[step] = bar.add_task(step, total=None)
            known = total if total is None or total > 1 else None
            bar.update(tasks[step], completed=done, total=known, description=printable(text or step))

        yield update


@contextmanager
def _lines(console: "Console", quiet: str, unit: str) -> Iterator[Progress]:
    last = time.monotonic()
    waiting: threading.Timer | None = None

    def line(step: str, done: float, total: float | None, *, text: str = "") -> None:
        nonlocal last, waiting
        if waiting is not None:
            waiting.cancel()
            waiting = None
        if step == quiet:
            waiting = _timer(SOON, lambda: say(console, f"{step} ..."))
        elif time.monotonic() - last >= EVERY:
            last = time.monotonic()
            say(console, text or f"{step}: {done:,}" + (f" of {total:,}" if total is not None else "") + unit)

    try:
        yield line
    finally:
        if waiting is not None:
            waiting.cancel()


def _timer(seconds: float, act: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    return timer
