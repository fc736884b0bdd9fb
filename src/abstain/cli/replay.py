"""`abstain replay`."""

from pathlib import Path
from typing import Annotated

import typer


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
    most_error: Annotated[float | None, typer.Option(help="For numbers: the error that is a whole mistake.")] = None,
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
    from ..gate.replay.columns import CLASS, PROBABILITY, VALUE, model_columns
    from ..gate.replay.options import Options
    from ..gate.replay.run import replay as play
    from . import replaying, results

    console = Console()
    try:
        with replaying.stopped_by_signals():
            given = ((CLASS, model), (PROBABILITY, probability), (VALUE, value))
            options = Options(
                models=tuple(model_columns(kind, text) for kind, texts in given for text in texts or ()),
                label=label, positive=positive, task=task, cost=cost, review_price=review_price,
                mistake_price=mistake_price, mistake_column=mistake_column, most_error=most_error, capacity=capacity,
                labels=labels, delay=delay, time=time, label_time=label_time, learner=learner, warm_start=warm_start,
                seed=seed, unit=unit,
            )  # fmt: skip

            def tell(found: Options, dropped: list[str], unused: list[str]) -> None:
                replaying.say_what_was_found(console, options, found, dropped, unused)
                replaying.say_the_command(console, options, found, str(log), str(out))

            with replaying.progress(console) as report:
                found = play(log, options, out, progress=report, tell=tell)
    except (AbstainError, OSError) as error:
        console.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        console.print("Interrupted; nothing was written.", markup=False, highlight=False)
        raise typer.Exit(130) from None
    results.show(console, found, out)
