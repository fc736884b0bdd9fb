"""The ledger: each claim of the paper, judged from results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._core.validation import as_count
from ..errors import InputError
from .evidence import Known, Results
from .registry import CLAIMS, collected
from .study import Study

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table


Word: TypeAlias = Literal["holds", "holds in part", "fails", "not judged"]
MARKS: dict[Word, str] = {"holds": "●", "holds in part": "◐", "fails": "○", "not judged": "·"}
"""A shape for every verdict, so that none depends on colour."""

PART = 0.5
"""A claim about all settings that is true on at least half of them holds in part: it is then the rule, with exceptions;
on fewer it is the exception itself."""

IN_ALL = f"It holds if so in every setting, in part if in at least {PART:.0%} of them."
"""`by_share` of settings, in words."""


@dataclass(frozen=True)
class Failure:
    """A setting in which a claim is not true, with the numbers that say so."""

    dataset: str
    cost: float | None
    note: str

    def __str__(self) -> str:
        where = self.dataset if self.cost is None else f"{self.dataset}, c = {self.cost:g}"
        return f"{where}: {self.note}"


@dataclass(frozen=True)
class Finding:
    """What a judge finds."""

    word: Word
    numbers: str
    """A sentence with the numbers behind the verdict, or with what to run."""
    fails_at: Sequence[Failure] = ()
    studies: Iterable[str] = ()
    """The studies whose results were used, in any order and often."""

    def __post_init__(self) -> None:
        if self.word not in MARKS or not isinstance(self.numbers, str):
            raise InputError(f"finding: expected one of {', '.join(MARKS)} and a sentence, got {self.word!r}")


@dataclass(frozen=True)
class Verdict:
    """What the results say of one claim of the paper."""

    number: int
    claim: str
    rule: str
    verdict: Word
    numbers: str
    fails_at: list[Failure]
    studies: tuple[str, ...]

    @property
    def mark(self) -> str:
        """The verdict as a shape."""
        return MARKS[self.verdict]


def not_judged(study: str, lacks: str = "") -> Finding:
    """What is said without results: which study to run."""
    return Finding("not judged", f"{lacks or 'No results'}: run `abstain reproduce {study}`.")


def by_share(good: int, total: int) -> Word:
    """The verdict on a claim about all of ``total`` settings that is true on ``good`` of them."""
    if good == total:
        return "holds"
    return "holds in part" if good >= PART * total else "fails"


@dataclass(frozen=True)
class Claim:
    """A claim, refused where one of its parts is missing: at import, not after hours of computing.

    A module of this package that has one at its top level is all that it takes to be among the verdicts.
    """

    number: int
    text: str
    """What is claimed, in a sentence."""
    rule: str
    """What decides the verdict, in words, from the words of the claim."""
    judge: "Callable[[Results], Finding]"
    of_readings: bool = False
    """Whether it is asked of other readings, too, which play the settings of figures 7 and 8."""

    def __post_init__(self) -> None:
        as_count(self.number, "claim: number")
        for name in ("text", "rule"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"claim {self.number}: {name}: expected a sentence, got {value!r}")
        if not callable(self.judge):
            raise InputError(f"claim {self.number}: judge: expected a function of the results, got {self.judge!r}")


def all_claims() -> Sequence[Claim]:
    """Every registered claim, by their numbers."""
    return collected(CLAIMS, Claim)


def judge(curves: "pl.DataFrame", studies: Iterable[Study] = (), known: Known | None = None) -> list[Verdict]:
    """A verdict on each claim, in their order, from the results frame of any studies.

    ``studies`` are those whose roles are not the paper's, ``known`` is what the frame does not say.
    """
    results = Results(curves, studies, known)
    return [verdict(claim, results) for claim in all_claims()]


def verdict(claim: Claim, results: Results) -> Verdict:
    """The verdict on one claim. What goes wrong in a judge is said there; the other claims have theirs."""
    try:
        found = claim.judge(results)
        if not isinstance(found, Finding):
            raise InputError(f"judge: expected a Finding, got {found!r}")
    except Exception as error:
        found = Finding("not judged", f"Its judge failed ({type(error).__name__}: {error}).")
    studies = tuple(sorted(set(found.studies)))
    return Verdict(claim.number, claim.text, claim.rule, found.word, found.numbers, list(found.fails_at), studies)


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
