"""Theorem 2's M* (claim 24)."""

import numpy as np

from .claim import Claim
from .results import Results
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged


def below_with_close_calls(results: Results) -> Finding:
    """Mean regret against theorem 2's bound with constants, on the grid, where the bound says something."""
    rows = [row for row in results.known.growth if row.bound is not None]
    fails, shares, parts, empty, without = [], [], [], [], 0
    for d, gamma, T in sorted({(row.dim, row.gamma, row.rounds) for row in rows}):
        here = [row for row in rows if (row.dim, row.gamma, row.rounds) == (d, gamma, T)]
        regret, bound, close = (
            float(np.mean([getattr(row, name) for row in here])) for name in ("regret", "bound", "close")
        )
        worst = float(np.mean([np.nan if row.worst is None else row.worst for row in here]))
        if not bound < worst:
            empty.append((bound / worst, f"{bound:,.0f} against {worst:,.0f}, d = {d}, gamma = {gamma:g}, T = {T:,}"))
            continue
        shares.append(regret / bound)
        parts.append(close / bound)
        without += regret <= bound - close
        if regret > bound:
            fails.append(Failure(f"d = {d}, gamma = {gamma:g}, T = {T:,}", None, f"{shares[-1]:.2f} times the bound"))
    if not rows:
        return not_judged("adversarial")
    if not shares:
        return Finding(
            "not judged",
            "In no game that was played is the bound below what the worst action of every round costs: it says nothing "
            f"there, whatever the learner does (nearest: {min(empty)[1]}).",
            studies=["adversarial-grid"],
        )
    numbers = (
        f"Below the bound on {len(shares) - len(fails)} of the {len(shares)} settings in which it says something; "
        f"regret is at most {max(shares):.3f} of it; M* is {min(parts):.0%} to {max(parts):.0%} of it, and {without} "
        "are below the rest alone."
    )
    return Finding(by_share(len(shares) - len(fails), len(shares)), numbers, fails, ["adversarial-grid"])


CLOSE_CALLS = Claim(
    24,
    "Theorem 2: beyond its rate ContEXP3-ABS pays at most M*, the rounds in which the best pair comes within gamma of "
    "changing between predicting and abstaining.",
    "On the paper's grid, at its rate: mean regret against the pair h = lean, r = |lean| - (1 - 2c), which is right on "
    "every input, is at most the bound with its proof's constants and this pair's M*; for each d, gamma and T for "
    f"which the bound is below what the worst action of every round costs, as it says nothing elsewhere. {IN_ALL}",
    below_with_close_calls,
)
