"""`abstain compare`."""

from pathlib import Path
from typing import Annotated

import typer


def compare(
    one: Annotated[Path, typer.Argument(metavar="OUT1", help="A folder of results, or its results.parquet.")],
    other: Annotated[Path, typer.Argument(metavar="OUT2", help="Another.")],
) -> None:
    """Say what differs between two folders of results: versions, what was asked for, and numbers.

    Ends with 0 if nothing does, 1 if something does, 2 if it cannot be said.
    """
    from rich.console import Console

    from ..errors import AbstainError
    from ..experiments.compare import differences

    console = Console()
    try:
        found = differences(one, other)
    except (AbstainError, OSError) as error:
        console.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    for text in found or ["The same: nothing differs but what depends on the machine."]:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    if found:
        raise typer.Exit(1)
