"""What `abstain replay` shows: what it took, how far it is, the table and the verdict."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..gate.replay.naming import money, per_cent

if TYPE_CHECKING:
    from rich.console import Console

    from ..gate.replay.options import Options
    from ..gate.replay.result import Policy, Replay

_EVERY = 10.0
"""Seconds between two lines where there is no terminal to draw a bar in."""


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


def say_what_was_found(console: "Console", given: "Options", found: "Options", log: str, out: str) -> None:
    """Columns that were not named, and the whole command."""
    if given.label == found.label and given.models == found.models:
        return
    lines = []
    if given.label is None:
        lines.append(f"label: {found.label}")
    if not given.models:
        lines += [f"model {model.name}: {', '.join(model.columns)} ({model.kind})" for model in found.models]
    for text in ("Found in the log:", *(f"  {line}" for line in lines), "The whole command:"):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print(f"  {found.command(log, out)}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def progress(console: "Console") -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left; without a terminal, a line now and then."""
    if not console.is_terminal:
        last = time.monotonic()

        def line(step: str, done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                console.print(f"{step}: {done:,} of {total:,}", markup=False, highlight=False)

        yield line
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


_WIDE = 100
"""Characters; in a narrower terminal the table has no column for differences in money."""


def show(console: "Console", found: "Replay", out: Path) -> None:
    """The table, the verdict, and where the rest is."""
    from rich.table import Table

    wide = console.width >= _WIDE
    table = Table(title=f"{found.log}: {found.scored_rows:,} of {found.rows:,} rows scored")
    table.add_column("policy", min_width=12)
    for column in ("price a case", "mistakes", "reviews", *(("against tuned",) if wide else ())):
        table.add_column(column, justify="right")
    table.add_column("in % (95 % interval)" if wide else "against tuned, %", justify="right", no_wrap=True)
    tuned = next(policy for policy in found.policies if policy.kind == "tuned")
    for policy in found.policies:
        cells = [money(policy.loss, found.price, found.unit), per_cent(policy.mistakes), per_cent(policy.reviewed)]
        if policy.difference is not None:
            cells += [_signed(money(policy.difference, found.price, found.unit))] * wide + [_share(policy, tuned)]
        table.add_row(policy.name, *cells, style="bold" if policy.kind == "gate" else None)
    console.print(table, markup=False)
    for text in (found.verdict, *(f"Note: {note}" for note in found.notes)):
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report: {out / 'report.html'}", markup=False, highlight=False, soft_wrap=True)


def _share(policy: "Policy", tuned: "Policy") -> str:
    if tuned.loss <= 0.0 or policy.difference is None or policy.low is None or policy.high is None:
        return ""
    middle, low, high = (f"{100.0 * one / tuned.loss:+.1f}" for one in (policy.difference, policy.low, policy.high))
    return f"{middle} ({low} to {high})"


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") else f"+{amount}"
