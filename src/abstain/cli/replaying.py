"""What `abstain replay` shows while it runs: what it took, and how far it is."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from ..gate.replay.playing import COMPILING

if TYPE_CHECKING:
    from rich.console import Console

    from ..gate.replay.options import Options

_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw a bar in."""
_MANY = 20
"""Names of columns in a line."""
_SOON = 3.0
"""Seconds after which compiling is said there."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Be asked to end as by Ctrl-C, so that nothing is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def say(console: "Console", *lines: str) -> None:
    """Lines as they are, however long."""
    for text in lines:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def say_what_was_found(
    console: "Console", given: "Options", found: "Options", dropped: list[str], unused: list[str]
) -> None:
    """Columns that were not named, those nearly taken, those not used, and what is taken for granted."""
    if given.label == found.label and given.models == found.models:
        return
    lines = ["Found in the log:"]
    if given.label is None:
        lines.append(f"  label: {found.label}")
    if not given.models:
        lines += [f"  model {model.name}: {', '.join(model.columns)} ({model.kind})" for model in found.models]
        lines += [f"  {line}" for line in dropped]
    if unused:
        lines.append(f"Not used: {', '.join(unused[:_MANY])}{', ...' * (len(unused) > _MANY)}")
    if found.delay == 0 and found.label_time is None:
        lines.append("Labels are taken to come at once; --delay, or --time and --label-time, say otherwise.")
    say(console, *lines)


def say_the_command(console: "Console", given: "Options", found: "Options", log: str, out: str) -> None:
    """The whole command, if something was found."""
    if given.label != found.label or given.models != found.models:
        say(console, "The whole command:", f"  {found.command(log, out)}")


@contextmanager
def progress(console: "Console") -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left; without a terminal, a line now and then."""
    if not console.is_terminal:
        last = time.monotonic()

        waiting: threading.Timer | None = None

        def line(step: str, done: int, total: int) -> None:
            nonlocal last, waiting
            if waiting is not None:
                waiting.cancel()
                waiting = None
            if step == COMPILING:  # says nothing while it works; found on the disk, it is short
                waiting = threading.Timer(_SOON, say, (console, f"{step} ..."))
                waiting.daemon = True
                waiting.start()
            elif time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                console.print(f"{step}: {done:,} of {total:,}", markup=False, highlight=False)

        try:
            yield line
        finally:
            if waiting is not None:
                waiting.cancel()
        return
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def update(step: str, done: int, total: int) -> None:
            if step not in tasks:
                for task in tasks.values():
                    bar.update(task, completed=1, total=1)
                tasks[step] = bar.add_task(step, total=total if total > 1 else None)
            bar.update(tasks[step], completed=done)

        yield update
