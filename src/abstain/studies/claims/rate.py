"""How fast ContEXP3-ABS's regret grows (claim 14)."""

from collections.abc import Sequence

import numpy as np

from ..growth import Row
from .claim import Claim
from .results import Results
from .slope import slope
from .verdict import PART, Failure, Finding, by_share, not_judged

LOGARITHMS = 0.05
"""How much steeper than its exponent a rate may look: theorem 2's hides logarithms, and a factor sqrt(log T) alone adds
0.05 to the slope from T = 1,000 to T = 100,000."""


STUDIES = ("adversarial-growth", "adversarial-grid")
"""Where the runs come from."""


def means_by(rows: Sequence[Row], name: str) -> tuple[list[float], list[float]]:
    """The values of a field, and the mean regret at each."""
    values = sorted({getattr(row, name) for row in rows})
    return values, [float(np.mean([row.regret for row in rows if getattr(row, name) == value])) for value in values]


def _checks(rows: Sequence[Row]) -> list[tuple[str, float, float]]:
    """What grows, its slope and the exponent of the rate: with T, and with 1/gamma in the longest games."""
    found = []
    for actions, gamma, d in sorted({(row.actions, row.gamma, row.dim) for row in rows}, key=str):
        here = [row for row in rows if (row.actions, row.gamma, row.dim) == (actions, gamma, d)]
        values, means = means_by(here, "rounds")
        if len(values) > 1 and min(means) > 0.0:  # what is not positive has no logarithm
            which = f"{actions}, gamma = {gamma:g}" if gamma is not None else actions
            found.append((f"d = {d}, {which}: with T", slope(values, means), (d + 1) / (d + 2)))
    for d in sorted({row.dim for row in rows if row.gamma is not None}):
        here = [row for row in rows if row.dim == d and row.gamma is not None]
        here = [row for row in here if row.rounds == max(row.rounds for row in here)]
        values, means = means_by(here, "gamma")
        if len(values) > 1 and min(means) > 0.0:
            found.append((f"d = {d}, grid: with 1/gamma", slope(1.0 / np.array(values), means), d / (d + 2)))
    return found


def grows_no_faster(results: Results) -> Finding:
    """The slopes of log mean regret, against the exponents of T^((d+1)/(d+2)) gamma^(-d/(d+2))."""
    checks = _checks(results.known.growth)
    if not checks:
        return not_judged("adversarial")
    fails = [
        Failure(what, None, f"slope {value:.3f}, the rate's exponent is {rate:.3f}")
        for what, value, rate in checks
        if value > rate + LOGARITHMS
    ]
    listed = "; ".join(f"{what}: {value:.2f}, rate {rate:.2f}" for what, value, rate in checks)
    numbers = f"Slopes of log regret and exponents of the rate (up to {LOGARITHMS:g} more): {listed}."
    return Finding(by_share(len(checks) - len(fails), len(checks)), numbers, fails, STUDIES)


GROWTH = Claim(
    14,
    "ContEXP3-ABS's regret grows no faster than theorem 2's rate.",
    "The slope of log mean regret against log T is at most (d + 1)/(d + 2), for the three actions and for the paper's "
    "grid with each gamma; on the grid, that against log(1/gamma) at the largest T is at most d/(d + 2); each plus "
    f"{LOGARITHMS:g}, which leaves room for the rate's logarithms. It holds if all are so, in part if at least "
    f"{PART:.0%}.",
    grows_no_faster,
)
