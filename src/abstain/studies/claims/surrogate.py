"""What the surrogate loss L~ is made for (claim 23)."""

import numpy as np

from ...losses import ramp_value, surrogate
from .claim import Claim
from .results import Results
from .verdict import Failure, Finding, by_share

POINTS = 161
"""Values of h and of r in [-1, 1]."""
COSTS, GAMMAS = (0.0, 0.2, 0.5, 1.0), (0.05, 0.2, 0.5, 0.9)
EXACT = 1e-9
"""Up to rounding."""
STEEPEST = 2.0
"""L~ is 2/gamma-Lipschitz in (a, r), by the Euclidean distance."""


def properties(cost: float, gamma: float) -> tuple[dict[str, bool], float]:
    """Which of the four properties hold on a grid, and gamma times the steepest slope between neighbours."""
    values = np.linspace(-1.0, 1.0, POINTS)
    h, r = values[:, np.newaxis], values[np.newaxis, :]
    both = [surrogate(h, r, y, cost, gamma) for y in (1.0, -1.0)]
    losses = [np.where(r > 0.0, ramp_value(-y * h, gamma), cost) for y in (1.0, -1.0)]
    far, step = np.abs(values) >= gamma, values[1] - values[0]
    slopes = [np.abs(L[1:] - L[:-1]).max() / step for L in both] + [
        np.abs(L[:, 1:] - L[:, :-1]).max() / step for L in both
    ]
    for L in both:
        crossed = (L[1:, 1:] - L[:-1, :-1], L[1:, :-1] - L[:-1, 1:])
        slopes += [np.abs(change).max() / (step * np.sqrt(2.0)) for change in crossed]
    steepest = float(max(slopes)) * gamma
    return {
        "L~ is at least L": all((ours >= L - EXACT).all() for ours, L in zip(both, losses, strict=True)),
        "L~ is L where |r| >= gamma": all(
            (np.abs(ours - L)[:, far] <= EXACT).all() for ours, L in zip(both, losses, strict=True)
        ),
        "L~ is 2/gamma-Lipschitz": steepest <= STEEPEST + EXACT,
        "L~ does not depend on y where r <= 0": bool((both[0] == both[1])[:, values <= 0.0].all()),
    }, steepest


def four_properties(results: Results) -> Finding:
    """Each property for each cost and gamma is a check."""
    fails, steepest, checks = [], 0.0, 0
    for cost in COSTS:
        for gamma in GAMMAS:
            found, slope = properties(cost, gamma)
            steepest, checks = max(steepest, slope), checks + len(found)
            fails += [
                Failure(f"gamma = {gamma:g}", cost, f"not so: {what}") for what, good in found.items() if not good
            ]
    numbers = (
        f"{checks - len(fails)} of {checks} checks, four for each of {len(COSTS) * len(GAMMAS)} pairs of a cost and a "
        f"gamma, on {POINTS} x {POINTS} pairs (h, r) and both labels; the steepest slope is {steepest:.3f}/gamma."
    )
    return Finding(by_share(checks - len(fails), checks), numbers, fails)


FOUR_PROPERTIES = Claim(
    23,
    "The surrogate loss L~ is above L, is L where |r| >= gamma, is 2/gamma-Lipschitz, and does not depend on y where "
    "r <= 0.",
    "Each property is tried on a grid of pairs (h, r), for several costs and gammas; up to rounding. It holds if all "
    "do.",
    four_properties,
)
