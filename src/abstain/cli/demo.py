"""`abstain demo`."""

from pathlib import Path
from typing import Annotated

import typer

from .._core.terminal import say
from .console import command


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the log and the results.")] = Path(
        "out", "demo"
    ),
) -> None:
    """Make a log of three models that read digits, one of which breaks for some days, and replay it.

    Example: abstain demo --out out/demo
    """
    from .replay import replay

    with command("demo", "sklearn") as console:
        from ..replay import demo as log

        path = out / "log.csv"
        say(console, "Three models are fitted, and read 20,000 pictures of digits in 30 days ...")
        out.mkdir(parents=True, exist_ok=True)
        log.write(path)
        text = (
            f"{path}: pictures get worse; from 11 to 15 March the best model is shown other pictures and stays as "
            "certain as ever, then it is off for a day. Labels come a day and a half late. A review costs 1 EUR, a "
            "mistake 5."
        )
        console.print(text, markup=False, highlight=False)
    replay(
        path, review_price=1.0, mistake_price=5.0, unit="EUR", time="time", label_time="label_time", out=out / "replay"
    )
    with command("demo") as console:
        say(console, "Then try your own log: abstain replay log.csv --review-price 1 --mistake-price 5 --unit EUR")
