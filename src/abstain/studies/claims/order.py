"""Who has less regret than whom (claims 1 to 3, 7 to 9), and whether more edges go with it (claim 16)."""

from collections.abc import Sequence

import numpy as np

from .settings import MAIN, PAPER, Results, Setting
from .verdict import Failure, Verdict, by_share, give, not_judged

ORDERS = {1: ("UCB-GT", "UCB-NT"), 2: ("UCB-GT", "UCB"), 3: ("UCB-NT", "UCB")}
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


def less_regret(results: Results, number: int, studies: Sequence[str] = MAIN) -> Verdict:
    """Claims 1, 2 and 3."""
    better, worse = ORDERS[number]
    settings = results.settings(*studies, learners=(better, worse))
    if not settings:
        return not_judged(number, studies[0], f"No results of {better} and {worse}")
    fails = [failure for setting in settings if (failure := _worse(setting, better, worse))]
    ratios = [setting.regret(better) / setting.regret(worse) for setting in settings if setting.regret(worse) > 0]
    middle = f"; the median of its regret is {np.median(ratios):.2f} times {worse}'s" if ratios else ""
    numbers = f"{better} has less on {len(settings) - len(fails)} of {scope(settings, studies[0])}{middle}."
    return give(
        number, by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings]
    )


def elsewhere(results: Results, number: int, studies: Sequence[str]) -> Verdict:
    """Claims 7, 8 and 9: claims 1 to 3 in other studies. Every pair in every setting is one check."""
    found = [s for study in studies for s in results.settings(study, learners=("UCB", "UCB-NT", "UCB-GT"))]
    settings = [s for s in found if not s.role.repeats(s.dataset)]
    if not settings:
        return not_judged(number, studies[0])
    counts, fails = [], []
    for better, worse in ORDERS.values():
        lost = [failure for setting in settings if (failure := _worse(setting, better, worse))]
        counts.append(f"{better} below {worse} on {len(settings) - len(lost)}")
        fails += lost
    total = len(settings) * len(ORDERS)
    numbers = f"Of {scope(settings, *studies)}: {', '.join(counts)}."
    return give(number, by_share(total - len(fails), total), numbers, fails, [s.study for s in settings])


def more_edges(results: Results, studies: Sequence[str] = MAIN) -> Verdict:
    """Claim 16: of two of the paper's learners, the one with more edges at T has less regret at T.

    "The higher the number of edges, the smaller the regret" is a statement of order, so a setting counts only if all
    its pairs are in order: the rank correlation of edges and regret over the four learners is then -1.
    """
    settings = results.settings(*studies, learners=PAPER)
    if not settings:
        return not_judged(16, studies[0])
    fails, correlations = [], []
    for setting in settings:
        edges = np.array([setting.lines[name].edges[-1] for name in PAPER])
        regret = np.array([setting.regret(name) for name in PAPER])
        swapped = [
            f"{PAPER[i]} has more edges than {PAPER[j]} but regret {regret[i]:.4f} against {regret[j]:.4f}"
            for i, j in np.argwhere((edges[:, None] > edges) & (regret[:, None] >= regret))
        ]
        correlations.append(rank_correlation(edges, regret))
        if swapped:
            fails.append(Failure(setting.dataset, setting.cost, "; ".join(swapped)))
    numbers = (
        f"The four learners are in order on {len(settings) - len(fails)} of {scope(settings, studies[0])}; "
        f"the mean rank correlation of edges and regret is {np.mean(correlations):.2f}."
    )
    return give(16, by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's, with mean ranks for ties; 0 if all values of one are equal."""
    ranks = [np.array([(v < x).sum() + ((v == x).sum() - 1) / 2 for x in v]) for v in (a, b)]
    deviations = [rank - rank.mean() for rank in ranks]
    scale = np.sqrt((deviations[0] ** 2).sum() * (deviations[1] ** 2).sum())
    return float((deviations[0] * deviations[1]).sum() / scale) if scale > 0 else 0.0
