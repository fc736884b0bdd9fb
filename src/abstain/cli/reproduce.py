"""`abstain reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from .console import command


def reproduce(
    study: Annotated[
        str,
        typer.Argument(
            help="main, regret, abstention, extreme, confidence, small, bias, adversarial, theory, readings, all (of "
            "the paper's, except readings), beyond, successors, moving, logs, tuning, or the path of a .toml file with "
            "studies of your own."
        ),
    ] = "main",
    quick: Annotated[
        bool, typer.Option("--quick", help="One expert set, two draws, few rounds: to see that it works.")
    ] = False,
    data: Annotated[Path | None, typer.Option(help="The folder of the data sets.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder for the results; a run resumes where one stopped.",
            show_default="out, or out/quick with --quick",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes to use; by default one per core.")] = None,
    dask: Annotated[str | None, typer.Option(help="The address of a Dask scheduler to use instead.")] = None,
) -> None:
    """Run studies, the paper's main one if you name none, and show the results.

    Examples: abstain reproduce main --quick, or abstain reproduce mine.toml --out results
    """
    if out is None:
        out = Path("out", "quick") if quick else Path("out")
    stopped = f"Interrupted. What is finished is kept in {out}: the same command goes on from there."
    with command("reproduce", "studies", stopped=stopped) as console:
        from ..experiments.reproduce import reproduce as run
        from ..paper import find

        words = f"abstain reproduce {study}{' --quick' if quick else ''}"
        fine = run(find(study), out, command=words, quick=quick, data=data, jobs=jobs, dask=dask, console=console)
    if not fine:
        raise typer.Exit(1)
