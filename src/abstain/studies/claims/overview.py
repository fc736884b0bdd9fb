"""The verdicts for the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .readings import Reading
from .verdict import Verdict

if TYPE_CHECKING:
    from rich.table import Table

STYLES = {"holds": "green", "holds in part": "yellow", "fails": "red", "not judged": "dim"}
SHOWN = 3
"""Settings named under a claim; the report has all."""


def table(verdicts: Sequence[Verdict]) -> "Table":
    """A row a claim: number, claim, verdict (a shape and words), numbers and the first settings where it fails."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(title="The paper's claims", box=box.SIMPLE_HEAD, expand=True, padding=(0, 1, 1, 0))
    result.add_column("", justify="right", no_wrap=True)
    result.add_column("claim", ratio=4)
    result.add_column("verdict", no_wrap=True)
    result.add_column("numbers", ratio=7)
    for verdict in verdicts:
        numbers = Text(verdict.numbers)
        for failure in verdict.fails_at[:SHOWN]:
            numbers.append(f"\n○ {failure}", style="dim")
        if len(verdict.fails_at) > SHOWN:
            numbers.append(f"\n  and {len(verdict.fails_at) - SHOWN} more", style="dim")
        word = Text(f"{verdict.mark} {verdict.verdict}", style=STYLES[verdict.verdict])
        result.add_row(str(verdict.number), Text(verdict.claim), word, numbers)
    return result


def readings_table(readings: Sequence[Reading]) -> "Table":
    """A row a reading: the verdict's shape for each claim, the claims it breaks, and the median ratio of UCB-GT's
    regret to UCB-NT's, under our reading and under this one.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(title="Other readings (● holds, ◐ in part, ○ fails)", box=box.SIMPLE_HEAD)
    result.add_column("reading")
    asked = sorted({verdict.number for reading in readings for verdict in reading.verdicts})
    for number in asked:
        result.add_column(str(number), justify="center")
    result.add_column("breaks")
    result.add_column("UCB-GT / UCB-NT", justify="right")
    for reading in readings:
        marks = {verdict.number: verdict.mark for verdict in reading.verdicts}
        broken = ", ".join(map(str, reading.breaks)) or "none"
        lead = " → ".join(f"{one:.2f}" for one in reading.leads if one is not None)
        result.add_row(Text(reading.name), *(marks.get(number, "") for number in asked), broken, lead)
    return result
