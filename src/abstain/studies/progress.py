"""How far a run is: a bar in a terminal, elsewhere a line now and then."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .cells import Cell, Job

if TYPE_CHECKING:
    from rich.console import Console

EVERY = 10.0
"""Seconds between two lines."""


def slow_ones(jobs: Sequence[Job]) -> str:
    """Which learners of these are written in Python, as a clause; they take most of the time."""
    labels = dict.fromkeys(
        spec.label for job in jobs if isinstance(job, Cell) for spec in job.learners if spec.in_python
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
        start = last = time.monotonic()
        weight = 0.0
        console.print(f"{done:,} of {len(wanted):,} cells{slow}", markup=False, highlight=False, soft_wrap=True)

        def line(job: Job) -> None:
            nonlocal done, last, weight
            done, weight = done + 1, weight + job.weight
            now = time.monotonic()
            if now - last >= EVERY and weight < total:
                last = now
                left = (now - start) * (total - weight) / weight
                text = f"{done:,} of {len(wanted):,} cells, about {left:,.0f} s left{slow}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield line
        return
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(f"{done:,} of {len(wanted):,} cells{escape(slow)}", total=total)

        def advance(job: Job) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=job.weight, description=f"{done:,} of {len(wanted):,} cells{escape(slow)}")

        yield advance
