"""The simple example of figure 6 (claim 18)."""

import numpy as np

from ... import experts
from ...regret import best_in_hindsight
from .verdict import Failure, Verdict, by_share, give

POINTS = 40
"""Inputs, equally spaced in (0, 1); each counts twice, so that to the left of eta both labels come equally often."""
EXACT = 1e-9
"""The sums are exact up to rounding."""


def losses(P: float, cost: float) -> tuple[float, float]:
    """The least expected loss of a pair (threshold, rule "abstain up to rho"), and of a threshold that never abstains.

    The inputs are uniform on [0, 1]; up to eta = P the label is a coin toss, beyond it is +1.
    """
    x = (np.arange(POINTS) + 0.5) / POINTS
    cuts = np.arange(POINTS + 1) / POINTS
    inputs, labels = np.repeat(x, 2), np.where(np.repeat(x > P, 2), 1.0, np.tile([-1.0, 1.0], POINTS))
    margins = inputs[:, np.newaxis] - cuts
    never = np.ones((len(inputs), 1))
    pairs = experts.from_columns(len(cuts), len(cuts) + 1)
    total = best_in_hindsight(pairs, np.hstack([margins, margins, never]), labels, cost=cost).total / len(inputs)
    return float(total.min()), float(total[pairs.rule_of == len(cuts)].min())


def simple_example() -> Verdict:
    """Claim 18, for several P = Pr[x <= eta] and costs below 1/2, by trying all pairs on a grid."""
    cases = [(P, cost) for P in (0.1, 0.3, 0.5, 0.8) for cost in (0.05, 0.2, 0.4)]
    fails = []
    for P, cost in cases:
        pair, threshold = losses(P, cost)
        if abs(pair - cost * P) > EXACT or abs(threshold - P / 2) > EXACT:
            fails.append(Failure(f"P = {P}", cost, f"pair {pair:.4f}, threshold {threshold:.4f}"))
    pair, threshold = losses(0.5, 0.2)
    numbers = (
        f"As stated for {len(cases) - len(fails)} of {len(cases)} choices of P and c < 1/2, over all pairs of a grid; "
        f"P = 0.5, c = 0.2: pair {pair:.3f}, threshold {threshold:.3f}."
    )
    return give(18, by_share(len(cases) - len(fails), len(cases)), numbers, fails)
