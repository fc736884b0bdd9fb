"""`abstain warmup`."""

from typing import Annotated

import typer

from .._core.terminal import progress, say
from .console import command


def warmup(
    learners: Annotated[
        list[str] | None, typer.Argument(help="Names of learners, such as UCBGT, or Gate; all, if you name none.")
    ] = None,
) -> None:
    """Compile what learners need, so that no later process has to: a step for building container images.

    Example: abstain warmup Gate
    """
    from ..warmup import GATE, compiled_learners
    from ..warmup import warmup as compile_all

    with command("warmup") as console:
        names = list(learners or (*compiled_learners(), GATE))
        done: list[str] = []
        with progress(console) as report:
            report("compiling", 0, len(names))

            def tell(name: str) -> None:
                done.append(name)
                report("compiling", len(done), len(names), text=f"compiled {name}")

            compile_all(names, progress=tell)
        say(console, f"Compiled {', '.join(names)}.")
