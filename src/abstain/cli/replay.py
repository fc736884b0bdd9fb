"""What `abstain replay` shows while it runs: what it took, and how far it is."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from ..replay.play import COMPILING
from ..replay.wording import against, money, per_cent

if TYPE_CHECKING:
    from rich.console import Console

    from ..replay.options import Options
    from ..replay.result import Policy, Replay

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


_WIDE = 100
"""Characters; in a narrower terminal the table has no column for differences in money."""
BEYOND = "*"
"""Marks policies that review more than there is capacity for."""


def show(console: "Console", found: "Replay", out: Path) -> None:
    """The table, the verdict, and where the rest is."""
    from rich.table import Table

    for warning in found.warnings:
        console.print(f"Warning: {warning}", markup=False, highlight=False, soft_wrap=True, style="bold red")
    wide = console.width >= _WIDE
    table = Table(title=f"{found.log}: {found.scored_rows:,} of {found.rows:,} rows scored")
    table.add_column("policy", min_width=12)
    for column in ("price a case", "mistakes", "reviews"):
        table.add_column(column, justify="right")
    table.add_column(f"against tuned{', %' * (not wide)}\n(95 % interval of it)", justify="right", no_wrap=True)
    if wide:
        table.add_column("in money", justify="right")
    tuned = next(policy for policy in found.policies if policy.kind == "tuned")
    for policy in found.policies:
        style = "bold" if policy.kind == "gate" else None
        table.add_row(policy.name, *_cells(found, policy, tuned, wide), style=style)
    console.print(table, markup=False)
    if any(policy.beyond(found.share) for policy in found.policies):
        say(console, f"{BEYOND} more reviews than the {per_cent(found.share or 0.0)} there is capacity for")
    say(console, found.verdict, *(f"Note: {note}" for note in found.notes), f"Report: {out / 'report.html'}")


def _cells(found: "Replay", policy: "Policy", tuned: "Policy", wide: bool) -> list[str]:
    reviews = per_cent(policy.reviewed) + BEYOND * policy.beyond(found.share)
    cells = [money(policy.loss, found.price, found.unit), per_cent(policy.mistakes), reviews]
    if policy.difference is None:
        return cells
    share, interval = against(policy, tuned)
    share = share if wide else share.removesuffix(" %")
    cells.append(f"{share} ({interval})" if interval else share)
    amount = money(policy.difference, found.price, found.unit)
    return cells + [amount if amount.startswith("-") else f"+{amount}"] * wide


def replay(
    log: Annotated[
        Path, typer.Argument(metavar="LOG", help="A CSV file with a header, or a Parquet file, in the order of time.")
    ],
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The truth.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ANSWER:CONFIDENCE", help="A model: the columns of its class and of its confidence. Repeat."
        ),
    ] = None,
    probability: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN", help="A model that says the probability of one of two classes. Repeat."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class that probabilities are of; 1, or the later in order.")
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER:ERROR",
            help="A model: the columns of its number and of the error expected of it. Repeat.",
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classes, binary or number; found from the models, if not given.")
    ] = None,
    cost: Annotated[
        float | None, typer.Option(help="Of a review, relative to a mistake; 0.2, if no price is given.")
    ] = None,
    review_price: Annotated[float | None, typer.Option(help="Of a review, in your unit.")] = None,
    mistake_price: Annotated[
        float | None, typer.Option(help="Of a mistake; with --mistake-column, the most there is.")
    ] = None,
    mistake_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="What a mistake costs, row by row.")
    ] = None,
    max_error: Annotated[float | None, typer.Option(help="For numbers: the error that is a whole mistake.")] = None,
    capacity: Annotated[
        float | None, typer.Option(metavar="SHARE", help="The share of cases that can be reviewed.")
    ] = None,
    labels: Annotated[str, typer.Option(help="Which labels come back: answered, reviewed or both.")] = "answered",
    delay: Annotated[int, typer.Option(metavar="ROWS", help="How many rows later labels come.")] = 0,
    time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The time of a case: dates, or seconds.")] = None,
    label_time: Annotated[str | None, typer.Option(metavar="COLUMN", help="The time its label came.")] = None,
    learner: Annotated[str | None, typer.Option(help="Another learner for the gate, as Exp3Abs.")] = None,
    warm_start: Annotated[
        float, typer.Option(metavar="SHARE", help="Teach the gate so much of the log first, all labels seen.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="For the gate's draws and the intervals.")] = 0,
    unit: Annotated[str, typer.Option(help="What prices are in, as EUR.")] = "",
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the results.")] = Path("out", "replay"),
) -> None:
    """Replay a log of models' answers: what would a gate have cost, and what the threshold you set once?

    Columns that are not named are found by their names, as gbm and gbm_confidence.
    """
    from rich.console import Console

    from ..errors import AbstainError
    from ..replay.options import CLASS, PROBABILITY, VALUE, Options, model_columns
    from ..replay.run import replay as play

    console = Console()
    try:
        with stopped_by_signals():
            given = ((CLASS, model), (PROBABILITY, probability), (VALUE, value))
            options = Options(
                models=tuple(model_columns(kind, text) for kind, texts in given for text in texts or ()),
                label=label, positive=positive, task=task, cost=cost, review_price=review_price,
                mistake_price=mistake_price, mistake_column=mistake_column, max_error=max_error, capacity=capacity,
                labels=labels, delay=delay, time=time, label_time=label_time, learner=learner, warm_start=warm_start,
                seed=seed, unit=unit,
            )  # fmt: skip

            def tell(found: Options, dropped: list[str], unused: list[str]) -> None:
                say_what_was_found(console, options, found, dropped, unused)
                say_the_command(console, options, found, str(log), str(out))

            with progress(console) as report:
                found = play(log, options, out, progress=report, tell=tell)
    except (AbstainError, OSError) as error:
        console.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        console.print("Interrupted; nothing was written.", markup=False, highlight=False)
        raise typer.Exit(130) from None
    show(console, found, out)
