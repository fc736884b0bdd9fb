"""The simple example of figure 6 (claim 18)."""

from .. import simple
from .claim import Claim
from .results import Results
from .verdict import Failure, Finding, by_share

PIECES = 40
"""Of the line; a threshold can be at any border between them."""
EXACT = 1e-9
"""The sums are exact up to rounding."""


def losses(P: float, cost: float) -> tuple[float, float]:
    """The least expected loss of a pair (a threshold, perhaps with a rule), and of a threshold that never abstains."""
    found = simple.losses(P, cost, PIECES)
    threshold = float(found.alone.min())
    return min(threshold, float(found.paired.min())), threshold


def simple_example(results: Results) -> Finding:
    """For several P = Pr[x <= eta] and costs below 1/2, by trying all pairs on a grid."""
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
    return Finding(by_share(len(cases) - len(fails), len(cases)), numbers, fails)


SIMPLE_EXAMPLE = Claim(
    18,
    "In the simple example of figure 6 the best pair pays c P, the best threshold P/2.",
    "All pairs of a grid are tried, for several P and costs below 1/2; equal up to rounding.",
    simple_example,
)
