"""What is said of a claim: a verdict, its numbers, and where it fails."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...errors import InputError

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
