"""`abstain compare`."""

from pathlib import Path
from typing import Annotated

import typer

from .._core.terminal import say
from .console import command


def compare(
    one: Annotated[Path, typer.Argument(metavar="OUT1", help="A folder of results, or its results.parquet.")],
    other: Annotated[Path, typer.Argument(metavar="OUT2", help="The other one.")],
) -> None:
    """Say what differs between two folders of results: versions, settings, and numbers.

    The exit code is 0 if nothing differs, 1 if something does, 2 if they cannot be compared.

    Example: abstain compare out out-on-another-machine
    """
    with command("compare", "studies") as console:
        from ..experiments.compare import differences

        found = differences(one, other)
        say(console, *(found or ["The same: nothing differs but what depends on the machine."]))
    if found:
        raise typer.Exit(1)
