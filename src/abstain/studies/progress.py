"""How far a run is: a bar in a terminal, elsewhere a line now and then."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .jobs import DrawJob, Job

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 10.0
"""Seconds between two lines."""
BURST = 1.0
"""Seconds in which jobs that come together are reported."""
ENOUGH = 10
"""Jobs after which the time left is told, or a twentieth of all, if that is less, but more than a few."""
FEW = 3


class Left:
    """The time left, in words: told once enough is done, by what came after the first jobs, for which all is compiled.

    >>> left = Left(10.0, n_jobs=6)
    >>> [left.after(1.0, seconds) for seconds in (60.0, 61.5, 63.0, 64.5)]
    ['', '', '', ', about 9 s left']
    """

    def __init__(self, total: float, n_jobs: int) -> None:
        self.left, self.n_done = total, 0
        self.enough = max(FEW + 1, min(ENOUGH, n_jobs / 20))
        self.start, self.whole = 0.0, total

    def after(self, weight: float, now: float) -> str:
        """When one more job of that weight is done."""
        self.left, self.n_done = self.left - weight, self.n_done + 1
        if self.n_done == 1:
            self.start = now
        if now - self.start < BURST:  # those that came with the first
            self.whole = self.left
        if self.n_done < self.enough or self.left >= self.whole:
            return ""
        return f", about {(now - self.start) * self.left / (self.whole - self.left):,.0f} s left"


def slow_ones(jobs: Sequence[Job]) -> str:
    """Which learners of these are written in Python, as a clause; they take most of the time."""
    labels = dict.fromkeys(
        spec.label for job in jobs if isinstance(job, DrawJob) for spec in job.learners if spec.in_python
    )
    if not labels:
        return ""
    one = len(labels) == 1
    return f"; {', '.join(labels)} {'is' if one else 'are'} written in Python: the slow one{'' if one else 's'}"


@contextmanager
def progress(
    wanted: Mapping[str, Job], todo: Mapping[str, Job], console: "Console | None"
) -> Iterator[Callable[[Job], None]]:
    """What is called with each job that is finished."""
    if console is None or not todo:
        yield lambda job: None
        return
    done, slow = len(wanted) - len(todo), slow_ones(list(todo.values()))
    total = sum(job.weight for job in todo.values())
    if not console.is_terminal:
        last, left = time.monotonic(), Left(total, len(todo))
        console.print(f"{done:,} of {len(wanted):,} jobs{slow}", markup=False, highlight=False, soft_wrap=True)

        def line(job: Job) -> None:
            nonlocal done, last
            done += 1
            now = time.monotonic()
            told = left.after(job.weight, now)
            if now - last >= EVERY and done < len(wanted):
                last = now
                text = f"{done:,} of {len(wanted):,} jobs{told}{slow}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield line
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(f"{done:,} of {len(wanted):,} jobs{escape(slow)}", total=total)

        def advance(job: Job) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=job.weight, description=f"{done:,} of {len(wanted):,} jobs{escape(slow)}")

        yield advance
