"""`abstain replay`."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from .._core.terminal import printable, progress, say
from .console import command

if TYPE_CHECKING:
    from rich.console import Console

    from ..replay.options import Options
    from ..replay.policies import Replay

_MANY = 20
"""Names of columns in a line."""
_PARTS, _BAR = 15, 30
"""Lines of what was saved where, and the longest of their bars."""
_BEYOND = "*"
"""Marks policies that review more than there is capacity for."""


_LOG, _PRICES, _LABELS = "Columns of the log", "Prices", "When labels arrive, and which"
_REVIEWERS, _GATE, _COMPARE = "Limits on reviews", "The gate", "What it is compared with"
"""Groups of options in the help."""


def replay(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="A CSV file with a header, or a Parquet file: one row per case, in time order. Or a gate's own cases, "
            "one JSON per line.",
        ),
    ],
    truth: Annotated[
        Path | None,
        typer.Argument(
            metavar="LABELS", help="For a gate's own cases: a file with the columns id and label.", show_default=False
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of true labels.", rich_help_panel=_LOG)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ANSWER:CONFIDENCE",
            help="A model: its columns of classes and of confidences; NAME=ANSWER if it has none. Repeatable.",
            rich_help_panel=_LOG,
        ),
    ] = None,
    probability: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COLUMN",
            help="A model: its column of probabilities of one of two classes. Repeatable.",
            rich_help_panel=_LOG,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The class that probabilities refer to; by default found by its name, such as 1 or yes.",
            rich_help_panel=_LOG,
        ),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER:ERROR",
            help="A model: its column of numbers and its column of expected errors. Repeatable.",
            rich_help_panel=_LOG,
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="classes, binary or number; by default found from the models.", rich_help_panel=_LOG),
    ] = None,
    cost: Annotated[
        float | None,
        typer.Option(
            help="The cost of a review relative to a mistake; 0.2 if you give no prices.", rich_help_panel=_PRICES
        ),
    ] = None,
    review_price: Annotated[
        float | None, typer.Option(help="The price of a review, in your unit.", rich_help_panel=_PRICES)
    ] = None,
    mistake_price: Annotated[
        float | None,
        typer.Option(help="The price of a mistake; with --mistake-column, the highest price.", rich_help_panel=_PRICES),
    ] = None,
    mistake_column: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of prices of a mistake, one per row.", rich_help_panel=_PRICES),
    ] = None,
    fixed_price: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SAID:TRUE=PRICE",
            help="The price of one kind of mistake, such as fraud:ok=5 for a false alarm. Repeatable.",
            rich_help_panel=_PRICES,
        ),
    ] = None,
    max_error: Annotated[
        float | None,
        typer.Option(help="For numbers: the error that counts as a whole mistake.", rich_help_panel=_PRICES),
    ] = None,
    capacity: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="The share of cases that people can review.", rich_help_panel=_REVIEWERS),
    ] = None,
    capacity_per_day: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER", help="The number of cases that people can review per day.", rich_help_panel=_REVIEWERS
        ),
    ] = None,
    percent: Annotated[
        bool,
        typer.Option(
            "--percent", help="Read columns with a confidence or probability above 1 as per cent.", rich_help_panel=_LOG
        ),
    ] = False,
    fold_case: Annotated[
        bool,
        typer.Option(
            "--fold-case", help="Treat classes that differ only in capitals as the same.", rich_help_panel=_LOG
        ),
    ] = False,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Which labels come back: answered, reviewed or both; or two probabilities, after an answer and after "
            "a review, such as 0.05,1.0. By default answered; for a gate's own cases, what they record.",
            rich_help_panel=_LABELS,
        ),
    ] = None,
    delay: Annotated[
        int, typer.Option(metavar="ROWS", help="How many rows late labels arrive.", rich_help_panel=_LABELS)
    ] = 0,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of times of cases: dates, or seconds.", rich_help_panel=_LABELS
        ),
    ] = None,
    label_time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of times at which labels arrived.", rich_help_panel=_LABELS),
    ] = None,
    maturity: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help='The age at which labels are learnt, if early ones are not typical: rows, or "14 days".',
            rich_help_panel=_LABELS,
        ),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="Another learner for the gate, such as Exp3Abs, or your own as module:Class.", rich_help_panel=_GATE
        ),
    ] = None,
    combine: Annotated[
        bool,
        typer.Option(
            help="Whether the gate combines its models: one more model, learnt from all their answers.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    warm_start: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="The share of the log that the gate learns from first, with all labels.",
            rich_help_panel=_GATE,
        ),
    ] = 0.0,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL:THRESHOLD",
            help="The policy that the gate begins with, such as gbm:0.7; or gbm:review.",
            rich_help_panel=_GATE,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seeds the gate's random choices and the intervals.", rich_help_panel=_GATE)
    ] = 0,
    seeds: Annotated[
        int, typer.Option(help="How many gates to play, each with its own random choices.", rich_help_panel=_GATE)
    ] = 4,
    today: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL:THRESHOLD",
            help="The threshold in use today, which the gate is compared with.",
            rich_help_panel=_COMPARE,
        ),
    ] = None,
    decided: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of what was decided: the model that answered, or review.",
            rich_help_panel=_COMPARE,
        ),
    ] = None,
    observed: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of the probability, at the decision, that the label would be seen.",
            rich_help_panel=_COMPARE,
        ),
    ] = None,
    unit: Annotated[str, typer.Option(help="The unit of prices, such as EUR.", rich_help_panel=_PRICES)] = "",
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the results.")] = Path("out", "replay"),
) -> None:
    """Replay a log of models' answers: what would a gate have cost, compared with one threshold set once?

    Columns that you do not name are found by their names, such as gbm and gbm_confidence.

    Example: abstain replay log.csv --review-price 1 --mistake-price 5 --unit EUR

    With late labels, against today's threshold: add --time time --label-time label_time --today gbm:0.8
    """
    with command("replay", stopped="Interrupted; nothing was written.") as console, stopped_by_signals():
        from ..replay.options import CLASS, PROBABILITY, VALUE, Options, labels_that_come, model_columns, start_policy
        from ..replay.options import fixed_price as read_price
        from ..replay.play import COMPILING
        from ..replay.run import replay as play

        given = ((CLASS, model), (PROBABILITY, probability), (VALUE, value))
        options = Options(
            models=tuple(model_columns(kind, text) for kind, texts in given for text in texts or ()),
            label=label, positive=positive, task=task, cost=cost, review_price=review_price,
            mistake_price=mistake_price, mistake_column=mistake_column,
            fixed_prices=tuple(map(read_price, fixed_price or ())), max_error=max_error, capacity=capacity,
            capacity_per_day=capacity_per_day, percent=percent, fold_case=fold_case,
            labels=None if labels is None else labels_that_come(labels), delay=delay, time=time,
            label_time=label_time, maturity=maturity, learner=learner,
            combine=combine, warm_start=warm_start, start=None if start is None else start_policy(start), seed=seed,
            seeds=seeds, today=today, decided=decided, observed=observed, unit=unit,
        )  # fmt: skip

        def tell(found: Options, dropped: list[str], unused: list[str]) -> None:
            guessed = options.label != found.label or not options.models
            if truth is None and guessed:
                say(console, *what_was_found(options, found, dropped, unused))
                say(console, "The whole command:", f"  {found.command(str(log), str(out))}")

        with progress(console, quiet=COMPILING) as report:
            found = play(log, options, out, progress=report, tell=tell, truth=truth)
    with command("replay") as console:
        show(console, found, out)


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


def what_was_found(given: "Options", found: "Options", dropped: list[str], unused: list[str]) -> list[str]:
    """Columns that were not named, those nearly taken, those not used, and what is taken for granted."""
    lines = ["Found in the log:"]
    if given.label is None:
        lines.append(f"  label: {found.label}")
    if not given.models:
        lines += [f"  model {model.name}: {', '.join(model.columns)} ({model.kind})" for model in found.models]
        lines += [f"  {line}" for line in dropped]
    if unused:
        lines.append(f"Not used: {', '.join(unused[:_MANY])}{', ...' * (len(unused) > _MANY)}")
    if found.delay == 0 and found.label_time is None:
        lines.append("Labels are assumed to arrive at once; if not, give --delay, or --time and --label-time.")
    return lines


def show(console: "Console", found: "Replay", out: Path) -> None:
    """The table, the verdict, and where the rest is."""
    from rich import box
    from rich.table import Table

    from ..replay.wording import GATE_FILE, per_cent, unit_of

    for warning in found.warnings:
        _tell(console, f"Warning: {warning}", style="bold red")
    table = Table(
        title=f"{found.log}: {found.scored_rows:,} of {found.rows:,} rows scored",
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    table.add_column("policy")
    unit = unit_of(found.price, found.unit)
    price = f"{unit}\nper case" if unit else "price\nper case"
    bounds = bool(found.left_out) and (found.effective is None or not all(one.known for one in found.policies))
    against = f"against {found.baseline}" + (f",\n{price.replace(chr(10), ' ')}" if bounds else ", %\n(95 % interval)")
    for head in (price, "mistakes", "reviews", against, *([] if bounds else [price])):
        # Where one policy alone has bounds, they may take two lines: the names of policies need the room.
        padded = head == against and not bounds  # its cells align by themselves
        wraps = not bounds and head in (price, "mistakes")
        table.add_column(head, justify="left" if padded else "right", no_wrap=not wraps)
    for policy, cells in zip(found.policies, _cells(found, bounds), strict=True):
        table.add_row(policy.name, *cells, style="bold" if policy.kind == found.lead else None)
    console.print(table, markup=False)
    if any(policy.beyond(found.share) for policy in found.policies):
        _tell(console, f"{_BEYOND} more reviews than the {per_cent(found.share or 0.0)} there is capacity for")
    _tell(console, found.verdict, *found.beside)
    say(console, *_saved(found))
    _tell(console, *(f"Note: {note}" for note in found.notes if note not in found.beside))
    say(console, f"Report: {out / 'report.html'}")
    _tell(console, *(f"Next: {step.replace(GATE_FILE, str(out / GATE_FILE))}" for step in found.next))


def _tell(console: "Console", *texts: str, style: str | None = None) -> None:
    """Print sentences; a terminal gets them wrapped between words, a file one per line."""
    for text in texts:
        console.print(printable(text), markup=False, highlight=False, soft_wrap=not console.is_terminal, style=style)


def _saved(found: "Replay") -> list[str]:
    """Where the saving came from, in lines of a few parts."""
    from ..replay.wording import money, unit_of

    if not found.saved or found.left_out:
        return []
    parts, step = found.saved, -(-len(found.saved) // _PARTS)
    rows = [parts[k : k + step] for k in range(0, len(parts), step)]
    lead = next(one for one in found.policies if one.kind == found.lead)
    total = -(lead.difference or 0.0) * found.scored_rows  # as in the verdict: sums of parts round differently
    lines = [f"Saved, by part of the log (in all {money(total, found.price, unit_of(found.price, found.unit))}):"]
    sums = [found.price * sum(part.saved for part in row) for row in rows]
    most = max(map(abs, sums)) or 1.0
    decimals = 0 if most >= 100.0 else 2
    for row, saved in zip(rows, sums, strict=True):
        bar = ("+" if saved > 0.0 else "-") * round(_BAR * abs(saved) / most)
        shown = round(saved, decimals) + 0.0  # no "-0.00"
        lines.append(f"  from {row[0].begin:18}{shown:>12,.{decimals}f}  {bar}".rstrip())
    return lines


def _cells(found: "Replay", bounds: bool) -> list[list[str]]:
    """The rows of the table; in a column, all numbers have the same decimals."""
    from ..replay.wording import against, column, decimals, mistakes

    price, policies = found.price, found.policies
    lead = next((one for one in policies if one.kind == found.lead), policies[0])
    digits = decimals(lead.loss * price)
    widest = max(len(against(one)[0]) for one in policies)
    rows = []
    for one, wrong, seen in zip(policies, mistakes(policies), column([one.reviewed for one in policies]), strict=True):
        ends = [one.loss] if one.known else [one.lowest or 0.0, one.highest or 0.0]
        cells = [
            " to ".join(f"{end * price:,.{digits}f}" for end in ends),
            wrong,
            seen + _BEYOND * one.beyond(found.share),
        ]
        if one.difference is not None and one.low is not None and one.high is not None:
            if bounds:  # in money: per cent of what?
                cells.append(" to ".join(f"{end * price:+,.{digits}f}" for end in (one.low, one.high)))
            else:
                share, interval = against(one)
                cells.append(f"{share.rjust(widest).removesuffix(' %')} ({interval})" if interval else "")
                cells.append(f"{round(one.difference * price, digits) + 0.0:+,.{digits}f}")  # no "-0.00"
        rows.append(cells)
    return rows
