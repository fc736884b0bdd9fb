"""Claims: a sentence about results, the rule that decides it, and the verdict."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._core.validation import as_count
from ..errors import InputError
from .evidence import Results
from .registry import CLAIMS, collected

if TYPE_CHECKING:
    from rich.table import Table


Word: TypeAlias = Literal["holds", "holds in part", "fails", "not judged"]
MARKS: dict[Word, str] = {"holds": "●", "holds in part": "◐", "fails": "○", "not judged": "·"}
"""A shape for every verdict, so that none depends on colour."""
_COLOURS = {"holds": "green", "holds in part": "yellow", "fails": "red", "not judged": "dim"}

PART = 0.5
"""A claim about all settings holds in part if it is true in at least half of them: it is then the rule, with
exceptions. In fewer it is the exception itself."""
IN_ALL = f"It holds if so in every setting, in part if in at least {100 * PART:.0f} % of them."
"""`by_share` of settings, in words."""


@dataclass(frozen=True)
class Failure:
    """A setting in which a claim is false.

    Args:
        dataset: The data set, or whatever else names the setting.
        cost: The cost, or None if the claim is not about one cost.
        note: The numbers that show it.
    """

    dataset: str
    cost: float | None
    note: str

    def __str__(self) -> str:
        where = self.dataset if self.cost is None else f"{self.dataset}, c = {self.cost:g}"
        return f"{where}: {self.note}"


@dataclass(frozen=True)
class Finding:
    """What a judge returns.

    Args:
        word: The verdict.
        numbers: A sentence with the numbers behind it, or with the study to run.
        fails_at: The settings in which the claim is false.
        studies: The names of the studies that were used, in any order; duplicates are fine.
    """

    word: Word
    numbers: str
    fails_at: Sequence[Failure] = ()
    studies: Iterable[str] = ()

    def __post_init__(self) -> None:
        if self.word not in MARKS or not isinstance(self.numbers, str):
            raise InputError(f"finding: expected one of {', '.join(MARKS)} and a sentence, got {self.word!r}")


@dataclass(frozen=True)
class Claim:
    """A claim to be judged. A missing part raises an error at import, not after hours of computing.

    Args:
        number: Its place in the report. The paper has 1 to 25.
        text: The claim, in one sentence.
        rule: What decides the verdict, in words.
        judge: A function of `Results` that returns a `Finding`.
        of_readings: Whether other readings of the paper are judged by it, too.
        note: A remark below the numbers in the report.
        see: The key of a section of the report that says more.
        changed: A sentence of the report that says so, if the rule was changed after a look at results.
    """

    number: int
    text: str
    rule: str
    judge: Callable[[Results], Finding]
    of_readings: bool = False
    note: str = ""
    see: str = ""
    changed: str = ""

    def __post_init__(self) -> None:
        as_count(self.number, "claim: number")
        for name in ("text", "rule"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"claim {self.number}: {name}: expected a sentence, got {value!r}")
        if not callable(self.judge):
            raise InputError(f"claim {self.number}: judge: expected a function of the results, got {self.judge!r}")


@dataclass(frozen=True)
class Verdict:
    """A claim with what was found."""

    number: int
    claim: str
    rule: str
    verdict: Word
    numbers: str
    fails_at: list[Failure]
    studies: tuple[str, ...]
    note: str = ""
    see: str = ""
    changed: str = ""
    quick: bool = False
    failed: str = ""
    """The error that the judge raised, if it did."""

    @property
    def label(self) -> str:
        """The verdict in words: quick runs judge nothing, and say so."""
        return f"{self.verdict} (quick)" if self.quick else self.verdict

    @property
    def mark(self) -> str:
        """The verdict as a shape."""
        return MARKS[self.verdict]


def not_judged(study: str, lacks: str = "") -> Finding:
    """The finding without results.

    Args:
        study: The study to run.
        lacks: What is missing; "No results" if empty.

    Returns:
        A finding that tells the reader what to run.
    """
    return Finding("not judged", f"{lacks or 'No results'}: run `abstain reproduce {study}`.")


def by_share(good: int, total: int) -> Word:
    """The verdict on a claim about all of ``total`` settings that is true in ``good`` of them.

    Raises:
        InputError: If there is no setting, or more are good than there are.
    """
    if not 0 <= good <= total or total < 1:
        raise InputError(f"by_share: expected 0 to {total} good ones of at least 1, got {good}")
    if good == total:
        return "holds"
    return "holds in part" if good >= PART * total else "fails"


def all_claims() -> Sequence[Claim]:
    """Every registered claim, sorted by number."""
    return collected(CLAIMS, Claim)


def judge(results: Results, claims: Iterable[Claim] | None = None) -> list[Verdict]:
    """Judge claims.

    Args:
        results: The results to judge them from.
        claims: The claims; all that are registered if None.

    Returns:
        One verdict per claim, in the same order.
    """
    return [verdict(claim, results) for claim in (all_claims() if claims is None else claims)]


def verdict(claim: Claim, results: Results) -> Verdict:
    """Judge one claim. If its judge raises an error, the verdict reports it; other claims are not affected.

    Of quick runs the numbers are told, but nothing is judged.
    """
    failed, quick = "", results.quick
    try:
        finding = claim.judge(results)
        if not isinstance(finding, Finding):
            raise InputError(f"judge: expected a Finding, got {finding!r}")
        studies, fails_at = tuple(sorted(set(finding.studies))), list(finding.fails_at)
    except Exception as error:  # a user's judge may raise anything
        failed = f"{type(error).__name__}: {error}"
        finding, studies, fails_at = Finding("not judged", f"Its judge failed ({failed})."), (), []
    return Verdict(
        claim.number, claim.text, claim.rule, "not judged" if quick else finding.word, finding.numbers,
        [] if quick else fails_at, studies, claim.note, claim.see, claim.changed, quick, failed,
    )  # fmt: skip


def verdicts_said(word: str, n: int) -> str:
    """A verdict and how many claims have it.

    >>> verdicts_said("holds in part", 1), verdicts_said("holds in part", 2), verdicts_said("not judged", 2)
    ('1 holds in part', '2 hold in part', '2 not judged')
    """
    return f"{n} {word}" if n == 1 else f"{n} " + word.replace("holds", "hold").replace("fails", "fail")


def table(verdicts: Sequence[Verdict]) -> "Table":
    """A Rich table: one row per claim with its verdict, and how many there are of each; the report has the numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    words = Counter(one.label for one in verdicts)
    counts = ", ".join(verdicts_said(word, n) for word, n in words.items())
    result = Table(title="Claims", box=box.SIMPLE_HEAD, expand=True)
    result.caption = f"{counts}. The report has the numbers, and where a claim fails."
    result.add_column("", justify="right", no_wrap=True)
    result.add_column("claim", ratio=1)
    result.add_column("verdict", no_wrap=True)
    for one in verdicts:
        word = Text(f"{one.mark} {one.label}", style=_COLOURS[one.verdict])
        result.add_row(str(one.number), Text(one.claim), word)
    return result
