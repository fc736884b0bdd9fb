"""Who has less regret than whom (claims 1 to 3, 7 to 9)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from .claim import Claim
from .paired import LEVEL, tested
from .results import Results
from .settings import Setting
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

ORDERS = (("UCB-GT", "UCB-NT"), ("UCB-GT", "UCB"), ("UCB-NT", "UCB"))
"""Claims 1 to 3: the first has less regret than the second. "Less" is a smaller mean R_T / T, by however little: the
paper says "outperforms on all", and compares the means of curves."""

PAPER_SETTINGS = {"regret": 30, "extreme": 8, "confidence": 15, "small": 9}
"""How many settings the paper shows; a verdict on fewer says so."""


def scope(settings: Sequence[Setting], *studies: str) -> str:
    """How many settings were judged, and of how many of the paper."""
    whole = sum(PAPER_SETTINGS.get(study, 0) for study in studies)
    return f"{len(settings)} settings" + (f" run (the paper has {whole})" if len(settings) < whole else "")


def _worse(setting: Setting, better: str, worse: str) -> Failure | None:
    """The failure of ``better`` to have less regret, if it has not."""
    ours, theirs = setting.regret(better), setting.regret(worse)
    if ours < theirs:
        return None
    scaled = " (min-max scaling)" if setting.role.scale == "minmax" else ""
    return Failure(setting.dataset, setting.cost, f"{better} {ours:.4f}, {worse} {theirs:.4f}{scaled}")


def less_regret(better: str, worse: str, results: Results) -> Finding:
    """Claims 1, 2 and 3."""
    settings = results.settings(*results.main, learners=(better, worse))
    if not settings:
        return not_judged(results.main[0], f"No results of {better} and {worse}")
    fails = [failure for setting in settings if (failure := _worse(setting, better, worse))]
    ratios = [setting.regret(better) / setting.regret(worse) for setting in settings if setting.regret(worse) > 0]
    middle = f"; the median of its regret is {np.median(ratios):.2f} times {worse}'s" if ratios else ""
    count = f"{better} has less on {len(settings) - len(fails)} of {scope(settings, results.main[0])}"
    numbers = f"{count}{middle}; {tested(settings, better, worse)}."
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


def elsewhere(role: str, results: Results) -> Finding:
    """Claims 7, 8 and 9: claims 1 to 3 in other studies. Every pair in every setting is one check."""
    studies = results.roles.named(role)
    found = [s for study in studies for s in results.settings(study, learners=("UCB", "UCB-NT", "UCB-GT"))]
    settings = [s for s in found if not s.role.repeats(s.dataset)]
    if not settings:
        return not_judged(studies[0])
    counts, fails = [], []
    for better, worse in ORDERS:
        lost = [failure for setting in settings if (failure := _worse(setting, better, worse))]
        counts.append(f"{better} below {worse} on {len(settings) - len(lost)}")
        fails += lost
    total = len(settings) * len(ORDERS)
    numbers = f"Of {scope(settings, *studies)}: {', '.join(counts)}."
    return Finding(by_share(total - len(fails), total), numbers, fails, [s.study for s in settings])


_LESS = (
    f"Less is a smaller mean R_T/T, by however little. {IN_ALL} How many differences are significant is said beside it "
    f"and decides nothing: paired t tests, two-sided, over the expert sets, at {LEVEL:.0%} with Holm's correction for "
    "the number of settings."
)
_THREE = f"Each of the three comparisons in each setting is one check; less as in claims 1 to 3. {IN_ALL}"

GT_BELOW_NT, GT_BELOW_UCB, NT_BELOW_UCB = (
    Claim(
        number,
        f"{better} has less regret than {worse} on all data sets and costs.",
        _LESS,
        partial(less_regret, better, worse),
        of_readings=True,
    )
    for number, (better, worse) in enumerate(ORDERS, 1)
)
EXTREME = Claim(7, "Claims 1 to 3 also hold at extreme costs.", _THREE, partial(elsewhere, "extreme"))
CONFIDENCE = Claim(8, "Claims 1 to 3 also hold for confidence-based experts.", _THREE, partial(elsewhere, "confidence"))
FEWER = Claim(9, "Claims 1 to 3 also hold for 500 experts.", _THREE, partial(elsewhere, "small"))
