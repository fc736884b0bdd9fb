"""The command ``abstain``."""

from pathlib import Path
from typing import Annotated

import typer

from . import datasets, reproduce

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help='Online learning with the option to say "I don\'t know".'
)
app.add_typer(datasets.app, name="datasets")


@app.callback()
def main() -> None:
    """Online learning with the option to say "I don't know"."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder for the figure.")] = Path("out"),
    rounds: Annotated[int, typer.Option(min=10, help="How many rounds to play.")] = 20_000,
    cost: Annotated[float, typer.Option(min=0.0, max=1.0, help="The cost of abstaining.")] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the data and the experts.")] = 0,
) -> None:
    """Play the learners on the synthetic set; print a table, write a figure."""
    from rich.console import Console

    from .. import demonstration
    from ..errors import AbstainError

    console = Console()
    try:
        table, figure = demonstration.run(out, rounds, cost, seed, console)
    except (AbstainError, OSError) as error:
        console.print(f"[red]error:[/red] {error}", highlight=False)
        raise typer.Exit(1) from None
    console.print(table)
    console.print(f"Figure: {figure}", highlight=False, soft_wrap=True)


app.command()(reproduce.reproduce)
