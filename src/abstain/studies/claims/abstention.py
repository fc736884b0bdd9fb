"""How often the learners abstain as the cost grows (claim 6)."""

from itertools import pairwise

from .claim import Claim
from .results import Results
from .settings import PAPER, Setting
from .verdict import PART, Failure, Finding, by_share, not_judged


def fraction(setting: Setting, learner: str) -> float:
    """The fraction of the T rounds in which it abstained."""
    return float(setting.lines[learner].abstained[-1])


def count(wrong: list[Failure], total: int, words: str) -> str:
    """In words: it falls for 38 of 40 pairs (not: UCB 2)."""
    named = {name: sum(f.note.split(" ")[0] == name for f in wrong) for name in PAPER}
    but = ", ".join(f"{name} {n}" for name, n in named.items() if n)
    return f"{words} for {total - len(wrong)} of {total} pairs of set and learner" + (f" (not: {but})" if but else "")


def fraction_falls(results: Results) -> Finding:
    """A check is a data set and one of the paper's four learners, as the claim names no learner ("always").

    Over the costs of figures 9 and 10 the fraction at T falls from each cost to the next.
    """
    wrong, total, studies = [], 0, set()
    settings = results.settings(*results.main)
    for dataset in sorted({setting.dataset for setting in settings}):
        for name in PAPER:
            here = [s for s in settings if s.dataset == dataset and name in s.lines]  # sorted by cost
            if len(here) < 2:
                continue
            total += 1
            studies |= {setting.study for setting in here}
            fractions = [fraction(setting, name) for setting in here]
            if any(after >= before for before, after in pairwise(fractions)):
                listed = ", ".join(f"{fraction(s, name):.3f} at {s.cost:g}" for s in here)
                wrong.append(Failure(dataset, None, f"{name} {listed}"))
    if not total:
        return not_judged("abstention", "No data set was run with several of the usual costs")
    numbers = f"{count(wrong, total, 'It falls with the cost')}."
    return Finding(by_share(total - len(wrong), total), numbers, wrong, studies)


FALLS = Claim(
    6,
    "The fraction abstained falls as the cost grows.",
    "A check is a set and one of the paper's four learners: the fraction at T falls from each cost of figures 9 and 10 "
    f"to the next. It holds if all checks do, in part if at least {PART:.0%}.",
    fraction_falls,
)
