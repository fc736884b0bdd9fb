"""How often the learners abstain (claim 6)."""

from itertools import pairwise

from .claim import Claim
from .settings import PAPER, Results, Setting
from .verdict import PART, Failure, Finding, by_share, not_judged

LARGE = 0.5
"""A large fraction: more rounds abstained than not."""
SMALL = 0.1
"""A small one: one round in ten, or less."""
CHEAP, DEAR = 0.001, 0.9
"""The costs at which the paper says so."""


def fraction_falls(results: Results) -> Finding:
    """Claim 6: a check is a data set and one of the paper's four learners, as the claim names no learner ("always").

    Over the costs of figures 9 and 10 the fraction at T falls from each cost to the next; at the extreme costs it is
    large and small.
    """
    usual, extreme = results.settings(*results.main), results.with_role("extreme")
    several = [s for s in usual if sum(other.dataset == s.dataset for other in usual) > 1]
    if not several and not extreme:
        return not_judged("abstention", "No data set was run with several costs")
    fails, parts = [], []
    if several:
        wrong, total = _falls(several)
        fails += wrong
        parts.append(_count(wrong, total, "it falls with the cost"))
    else:
        parts.append("No data set was run with several of the usual costs: run `abstain reproduce abstention`")
    checks = 0 if not several else total
    for cost, words, fits in ((CHEAP, "it is large at", _large), (DEAR, "it is small at", _small)):
        here = [(s, name) for s in extreme if s.cost == cost for name in PAPER if name in s.lines]
        wrong = [Failure(s.dataset, s.cost, f"{name} {_at(s, name):.3f}") for s, name in here if not fits(_at(s, name))]
        if here:
            fails += wrong
            checks += len(here)
            parts.append(_count(wrong, len(here), f"{words} c = {cost:g}"))
    if not extreme:
        parts.append("the extreme costs were not run: run `abstain reproduce extreme`")
    numbers = "; ".join(parts) + "."
    studies = [s.study for s in several + extreme]
    return Finding(by_share(checks - len(fails), checks), numbers[0].upper() + numbers[1:], fails, studies)


def _at(setting: Setting, learner: str) -> float:
    return float(setting.lines[learner].abstained[-1])


def _large(fraction: float) -> bool:
    return fraction >= LARGE


def _small(fraction: float) -> bool:
    return fraction <= SMALL


def _falls(settings: list[Setting]) -> tuple[list[Failure], int]:
    """Where the fraction does not fall from cost to cost, and how many were looked at."""
    wrong, total = [], 0
    for dataset in sorted({setting.dataset for setting in settings}):
        for name in PAPER:
            here = [s for s in settings if s.dataset == dataset and name in s.lines]  # sorted by cost
            if len(here) < 2:
                continue
            total += 1
            fractions = [_at(setting, name) for setting in here]
            if any(after >= before for before, after in pairwise(fractions)):
                listed = ", ".join(f"{_at(s, name):.3f} at {s.cost:g}" for s in here)
                wrong.append(Failure(dataset, None, f"{name} {listed}"))
    return wrong, total


def _count(wrong: list[Failure], total: int, words: str) -> str:
    """In words: it falls for 38 of 40 (not: UCB 2)."""
    named = {name: sum(f.note.split(" ")[0] == name for f in wrong) for name in PAPER}
    but = ", ".join(f"{name} {n}" for name, n in named.items() if n)
    return f"{words} for {total - len(wrong)} of {total} pairs of set and learner" + (f" (not: {but})" if but else "")


FALLS = Claim(
    6,
    "The fraction abstained falls as the cost grows; it is large at c = 0.001 and small at c = 0.9.",
    "A check is a set and one of the paper's four learners: the fraction at T falls from each cost to the next; large "
    f"is at least {LARGE:g}, small at most {SMALL:g}. It holds if all checks do, in part if at least {PART:.0%}.",
    fraction_falls,
)
