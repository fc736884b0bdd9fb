"""EXP3-ABS and theorem 1's bound (claim 13)."""

import numpy as np

from ... import theory
from .claim import Claim
from .results import Results
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

RATES = {
    "EXP3-ABS, tuned": "tuned",
    "EXP3-ABS, anytime": "anytime",
    "EXP3-ABS, adaptive": "adaptive",
    "EXP3-ABS": "adaptive",
}
"""The rate behind each label. The tuned rate's bound is for its horizon T, the others' for every t."""


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


BELOW_BOUND = Claim(
    13,
    "EXP3-ABS stays below theorem 1's bound.",
    "Mean regret is at most the rate's bound (theorem 1's and those of the documentation): at T for the tuned rate, at "
    f"every checkpoint for the others. {IN_ALL}",
    below_bound,
)
