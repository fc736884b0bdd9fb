"""`abstain warmup`."""

from typing import Annotated

import typer


def warmup(
    learners: Annotated[
        list[str] | None, typer.Argument(help="Names of learners, as UCBGT, or Gate; all, if none is named.")
    ] = None,
) -> None:
    """Compile what learners need, so that no later process has to: a step for building container images."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from ..errors import AbstainError
    from ..warmup import GATE, compiled_learners
    from ..warmup import warmup as compile_all

    console = Console()
    names = list(learners or (*compiled_learners(), GATE))
    try:
        with Progress(console=console) as bar:
            task = bar.add_task("compiling", total=len(names))
            compile_all(names, progress=lambda name: bar.update(task, advance=1, description=name))
    except AbstainError as error:
        console.print(f"[red]error:[/red] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(f"Compiled {', '.join(names)}.", highlight=False, soft_wrap=True)
