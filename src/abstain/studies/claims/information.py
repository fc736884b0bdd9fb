"""Whether more edges go with less regret (claim 16)."""

import numpy as np

from .claim import Claim
from .order import scope
from .settings import PAPER, Results
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged


def rank_correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's; 0 if all values of one are equal."""
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic) if np.ptp(a) > 0 and np.ptp(b) > 0 else 0.0


def more_edges(results: Results) -> Finding:
    """Of two of the paper's learners, the one with more edges at T has less regret at T.

    "The higher the number of edges, the smaller the regret" is a statement of order, so a setting counts only if all
    its pairs are in order: the rank correlation of edges and regret over the four learners is then -1.
    """
    settings = results.settings(*results.main, learners=PAPER)
    if not settings:
        return not_judged(results.main[0])
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
        f"The four learners are in order on {len(settings) - len(fails)} of {scope(settings, results.main[0])}; "
        f"the mean rank correlation of edges and regret is {np.mean(correlations):.2f}."
    )
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


MORE_EDGES = Claim(
    16,
    "The more edges, the less regret.",
    f"Of any two of the paper's four learners, the one with more edges at T has less R_T/T. {IN_ALL}",
    more_edges,
)
