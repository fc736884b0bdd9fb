"""The guarantees against an adversary (claims 13 and 14)."""

from collections.abc import Iterable, Mapping

import numpy as np

from ... import theory
from .settings import Results
from .slope import slope
from .verdict import Failure, Verdict, by_share, give, not_judged

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


def below_bound(results: Results, n_experts: Mapping[str, int] | None) -> Verdict:
    """Claim 13: mean regret against the bound, in every stream of the study, with every rate that has one."""
    settings = results.settings(*results.roles.named("adversarial"))
    lines = [(s, label, s.lines[label]) for s in settings for label in RATES if label in s.lines]
    lines = [entry for entry in lines if entry[0].dataset in (n_experts or {})]
    if n_experts is None or not lines:
        return not_judged(13, "adversarial")
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
    return give(13, by_share(len(lines) - len(fails), len(lines)), numbers, fails, [s.study for s, _, _ in lines])


def grows_no_faster(growth: Iterable[tuple[int, int, int, float]] | None) -> Verdict:
    """Claim 14: for each dimension d, the slope of log mean regret against log T is at most (d + 1) / (d + 2)."""
    rows = list(growth or ())
    found = {}
    for d in sorted({row[0] for row in rows}):
        horizons = sorted({T for dim, T, _, _ in rows if dim == d})
        means = [float(np.mean([regret for dim, at, _, regret in rows if (dim, at) == (d, T)])) for T in horizons]
        if len(horizons) > 1:
            # Regret that is not positive somewhere cannot grow as a power of T.
            found[d] = slope(horizons, means) if min(means) > 0 else 0.0
    if not found:
        return not_judged(14, "adversarial")
    rates = {d: (d + 1) / (d + 2) for d in found}
    fails = [
        Failure(f"d = {d}", None, f"slope {value:.3f}, the rate's exponent is {rates[d]:.3f}")
        for d, value in found.items()
        if value > rates[d] + LOGARITHMS
    ]
    listed = "; ".join(f"d = {d}: slope {value:.2f}, rate {rates[d]:.2f}" for d, value in found.items())
    numbers = f"Slope of log regret against log T and the exponent of the rate (up to {LOGARITHMS:g} more), {listed}."
    return give(14, by_share(len(found) - len(fails), len(found)), numbers, fails, ["adversarial-growth"])
