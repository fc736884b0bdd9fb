"""What is said of a claim: a verdict, its numbers, and where it fails."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Word: TypeAlias = Literal["holds", "holds in part", "fails", "not judged"]
MARKS: dict[Word, str] = {"holds": "●", "holds in part": "◐", "fails": "○", "not judged": "·"}
"""A shape for every verdict, so that none depends on colour."""

PART = 0.5
"""A claim about all settings that is true on at least half of them holds in part: it is then the rule, with exceptions;
on fewer it is the exception itself."""

TEXTS = {
    1: "UCB-GT has less regret than UCB-NT on all data sets and costs.",
    2: "UCB-GT has less regret than UCB on all data sets and costs.",
    3: "UCB-NT has less regret than UCB on all data sets and costs.",
    4: "UCB-GT is close to FS on most data sets, within the standard deviation on some.",
    5: "UCB-GT's graph has 1 to 3 million edges, at least 5 times UCB-NT's about 200,000; FS's has all 4 million.",
    6: "The fraction abstained falls as the cost grows; it is large at c = 0.001 and small at c = 0.9.",
    7: "Claims 1 to 3 also hold at extreme costs.",
    8: "Claims 1 to 3 also hold for confidence-based experts.",
    9: "Claims 1 to 3 also hold for 500 experts.",
    10: "UCB's average regret falls, but slowly.",
    11: "UCB-NT on the instance's own graph has linear regret on the bias problem.",
    12: "UCB-NT on the instance's own graph has linear regret on proposition 1's construction.",
    13: "EXP3-ABS stays below theorem 1's bound.",
    14: "ContEXP3-ABS's regret grows no faster than theorem 2's rate.",
    15: "The subset graph is inside UCB-GT's graph in every round, and UCB-GT's edges fall with t.",
    16: "The more edges, the less regret.",
    17: "UCB-GT approaches FS even at extreme costs.",
    18: "In the simple example of figure 6 the best pair pays c P, the best threshold P/2.",
}


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
class Verdict:
    """What the results say of one claim of the paper."""

    number: int
    claim: str
    verdict: Word
    numbers: str
    """A sentence with the numbers behind the verdict, or with what to run."""
    fails_at: list[Failure]
    studies: tuple[str, ...]
    """The studies whose results were used."""
    rule: str = ""
    """What decides it, in words."""

    @property
    def mark(self) -> str:
        """The verdict as a shape."""
        return MARKS[self.verdict]


def give(
    number: int, verdict: Word, numbers: str, fails_at: Sequence[Failure] = (), studies: Iterable[str] = ()
) -> Verdict:
    """A verdict on the claim of that number."""
    return Verdict(number, TEXTS[number], verdict, numbers, list(fails_at), tuple(sorted(set(studies))))


def not_judged(number: int, study: str, lacks: str = "") -> Verdict:
    """What is said without results: which study to run."""
    return give(number, "not judged", f"{lacks or 'No results'}: run `abstain reproduce {study}`.")


def by_share(good: int, total: int) -> Word:
    """The verdict on a claim about all of ``total`` settings that is true on ``good`` of them."""
    if good == total:
        return "holds"
    return "holds in part" if good >= PART * total else "fails"
