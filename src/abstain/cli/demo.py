"""`abstain demo`."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the log and what comes of it.")] = Path(
        "out", "demo"
    ),
) -> None:
    """Make a log of three models that read digits, one of which breaks for some days, and replay it."""
    from rich.console import Console

    from ..errors import AbstainError
    from ..paper.logs import demo as log
    from .replay import replay

    console = Console()
    path = out / "log.csv"
    console.print("Three models are fitted, and read 20,000 pictures of digits in 30 days ...", highlight=False)
    try:
        out.mkdir(parents=True, exist_ok=True)
        log.write(path)
    except (AbstainError, OSError) as error:
        console.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None
    console.print(
        f"{path}: pictures get worse; from day 10 to 15 the best model is shown other pictures and stays as certain as "
        "ever, then it is off for a day. Labels come a day and a half late. A review costs 1 EUR, a mistake 5.",
        markup=False, highlight=False,
    )  # fmt: skip
    replay(
        path, review_price=1.0, mistake_price=5.0, unit="EUR", time="time", label_time="label_time", out=out / "replay"
    )
