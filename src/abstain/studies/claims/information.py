"""Whether more edges go with less regret (claim 16)."""

from collections.abc import Sequence

import numpy as np

from .claim import Claim
from .order import scope
from .results import Results
from .settings import PAPER, Setting
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

TIED = 0.01
"""Two learners have as many edges where the numbers differ by no more than this share: the claim is about "higher"."""


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
    fails, correlations, tied = [], [], []
    for setting in settings:
        edges = np.array([setting.lines[name].edges[-1] for name in PAPER])
        regret = np.array([setting.regret(name) for name in PAPER])
        swapped = [
            f"{PAPER[i]} has more edges than {PAPER[j]} but regret {regret[i]:.4f} against {regret[j]:.4f}"
            for i, j in np.argwhere((edges[:, None] > (1.0 + TIED) * edges) & (regret[:, None] >= regret))
        ]
        close = np.triu(np.abs(edges[:, None] - edges) <= TIED * np.minimum(edges[:, None], edges), 1)
        tied += [(f"{PAPER[i]} and {PAPER[j]}", setting) for i, j in np.argwhere(close)]
        correlations.append(rank_correlation(edges, regret))
        if swapped:
            fails.append(Failure(setting.dataset, setting.cost, "; ".join(swapped)))
    numbers = (
        f"The four learners are in order on {len(settings) - len(fails)} of {scope(settings, results.main[0])}; "
        f"the mean rank correlation of edges and regret is {np.mean(correlations):.2f}{_ties(tied)}."
    )
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


def _ties(tied: Sequence[tuple[str, Setting]]) -> str:
    """Who has as many edges as whom, and where."""
    parts = []
    for pair in dict.fromkeys(pair for pair, _ in tied):
        here = [setting for one, setting in tied if one == pair]
        sets = ", ".join(sorted({setting.dataset for setting in here}))
        parts.append(f"{pair} have as many edges on {len(here)} ({sets}), where it says nothing of these two")
    return "".join(f"; {part}" for part in parts)


MORE_EDGES = Claim(
    16,
    "In general, provided that the bias of the estimates is controlled, the more edges the less regret.",
    f"Of any two of the paper's four learners, the one with more edges at T has less R_T/T; pairs "
    f"whose edges differ by {TIED:.0%} or less are not compared, and named. {IN_ALL}",
    more_edges,
    of_readings=True,
)
