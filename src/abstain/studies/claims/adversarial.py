"""The guarantees against an adversary (claims 13 and 14)."""

import numpy as np

from ... import theory
from .claim import Claim
from .settings import Results
from .slope import slope
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

RATES = {
    "EXP3-ABS, tuned": "tuned",
    "EXP3-ABS, anytime": "anytime",
    "EXP3-ABS, adaptive": "adaptive",
    "EXP3-ABS": "adaptive",
}
"""The rate behind each label. The tuned rate's bound is for its horizon T, the others' for every t."""

LOGARITHMS = 0.05
"""How much steeper than its exponent a rate may look: theorem 2's hides logarithms, and a factor sqrt(log T) alone adds
0.05 to the slope from T = 1,000 to T = 100,000."""


def below_bound(results: Results) -> Finding:
    """Claim 13: mean regret against the bound, in every stream of the study, with every rate that has one."""
    settings, n_experts = results.with_role("adversarial"), results.known.n_experts
    lines = [(s, label, s.lines[label]) for s in settings for label in RATES if label in s.lines]
    lines = [entry for entry in lines if entry[0].dataset in n_experts]
    if not lines:
        return not_judged("adversarial")
    fails, shares = [], []
    for setting, label, line in lines:
        rate = RATES[label]
        at = slice(-1, None) if rate == "tuned" else slice(None)
        bounds = [theory.exp3_abs_bound(int(t), n_experts[setting.dataset], setting.cost, rate) for t in line.t[at]]
        share = (line.regret * line.t)[at] / np.array(bounds)
        worst = int(np.argmax(share))
        shares.append(share[worst])
        if share[worst] > 1.0:
            note = f"{label}: {share[worst]:.2f} times the bound at t = {line.t[at][worst]:,}"
            fails.append(Failure(setting.dataset, setting.cost, note))
    numbers = (
        f"Below it on {len(lines) - len(fails)} of {len(lines)} pairs of stream and rate; mean regret is at most "
        f"{max(shares):.2f} times the rate's bound (median {np.median(shares):.2f})."
    )
    return Finding(by_share(len(lines) - len(fails), len(lines)), numbers, fails, [s.study for s, _, _ in lines])


def grows_no_faster(results: Results) -> Finding:
    """Claim 14: for each dimension d, the slope of log mean regret against log T is at most (d + 1) / (d + 2)."""
    rows = results.known.growth
    found = {}
    for d in sorted({row[0] for row in rows}):
        horizons = sorted({T for dim, T, _, _ in rows if dim == d})
        means = [float(np.mean([regret for dim, at, _, regret in rows if (dim, at) == (d, T)])) for T in horizons]
        if len(horizons) > 1:
            # Regret that is not positive somewhere cannot grow as a power of T.
            found[d] = slope(horizons, means) if min(means) > 0 else 0.0
    if not found:
        return not_judged("adversarial")
    rates = {d: (d + 1) / (d + 2) for d in found}
    fails = [
        Failure(f"d = {d}", None, f"slope {value:.3f}, the rate's exponent is {rates[d]:.3f}")
        for d, value in found.items()
        if value > rates[d] + LOGARITHMS
    ]
    listed = "; ".join(f"d = {d}: slope {value:.2f}, rate {rates[d]:.2f}" for d, value in found.items())
    numbers = f"Slope of log regret against log T and the exponent of the rate (up to {LOGARITHMS:g} more), {listed}."
    return Finding(by_share(len(found) - len(fails), len(found)), numbers, fails, ["adversarial-growth"])


BELOW_BOUND = Claim(
    13,
    "EXP3-ABS stays below theorem 1's bound.",
    "Mean regret is at most the rate's bound (theorem 1's and those of the documentation): at T for the tuned rate, at "
    f"every checkpoint for the others. {IN_ALL}",
    below_bound,
)
GROWTH = Claim(
    14,
    "ContEXP3-ABS's regret grows no faster than theorem 2's rate.",
    f"The slope of log mean regret against log T is at most (d + 1)/(d + 2) + {LOGARITHMS:g}, which leaves room for "
    "the rate's logarithms. It holds if so for every d, in part if for at least half of them.",
    grows_no_faster,
)
