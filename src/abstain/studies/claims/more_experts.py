"""What more experts cost EXP3-ABS, and EXP3 (claim 22)."""

import numpy as np

from ..problems import PREDICTING
from .claim import Claim
from .results import Results
from .slope import slope
from .verdict import Failure, Finding, Word, not_judged

OURS, BANDIT = "EXP3-ABS, tuned", "EXP3, tuned"

NOISE = 0.1
"""EXP3-ABS's regret grows no faster than sqrt(log K) if the slope of log regret against log log K is at most 1/2 and
this more, which 40 runs leave open."""
ROOT = (0.25, 0.75)
"""EXP3's grows as sqrt(K) if the slope of log regret against log K is nearer to 1/2 than to 0 and to 1."""


def root_of_log(results: Results) -> Finding:
    """The slopes over K at one T."""
    settings = [s for s in results.with_role("adversarial", (OURS, BANDIT)) if s.dataset in PREDICTING]
    settings.sort(key=lambda s: PREDICTING[s.dataset])
    if len(settings) < 3:
        return not_judged("adversarial")
    K = np.array([PREDICTING[s.dataset] for s in settings], np.float64)
    ours, bandit = (np.array([s.regret(name) * s.lines[name].t[-1] for s in settings]) for name in (OURS, BANDIT))
    if min(ours.min(), bandit.min()) <= 0.0:
        return Finding("not judged", "Regret is not positive somewhere, and so has no logarithm.")
    slow, fast = slope(np.log(K), ours), slope(K, bandit)
    chance = np.sqrt(K[-1] * settings[-1].lines[BANDIT].t[-1]) * (1.0 - 1.0 / K[-1])
    ends = f"{ours[-1]:,.0f} and {bandit[-1]:,.0f} (chance {chance:,.0f})"
    checks = {
        f"EXP3-ABS's regret grows as log K to the power {slow:.2f}": slow <= 0.5 + NOISE,
        f"EXP3's as K to the power {fast:.2f}": ROOT[0] <= fast <= ROOT[1],
        f"at K = {K[-1]:,.0f} they have {ends}": ours[-1] < bandit[-1],
    }
    verdict: Word = "holds" if all(checks.values()) else "holds in part" if any(checks.values()) else "fails"
    streams = [s for s in results.with_role("adversarial", (OURS, BANDIT)) if s.dataset not in PREDICTING]
    ratios = [s.regret(BANDIT) / s.regret(OURS) for s in streams if s.regret(OURS) > 0]
    numbers = "; ".join(checks)
    if ratios:
        numbers += f"; on {len(ratios)} streams of claim 13 EXP3's regret is {np.median(ratios):.1f} times "
        numbers += "EXP3-ABS's in the median"
    fails = [Failure("K", None, what) for what, good in checks.items() if not good]
    return Finding(verdict, f"{numbers}.", fails, [s.study for s in settings])


ROOT_OF_LOG = Claim(
    22,
    "EXP3-ABS's regret depends on the number of experts as sqrt(log K), EXP3's, which sees its own loss only, as "
    "sqrt(K).",
    "The paper says so of the bounds; here it is asked of regret. On experts that always predict, one of which is "
    "better by sqrt(K/T), which is what those who see one loss a round can hardly find, at their tuned rates: the "
    f"slope of log mean regret at T against log log K is at most 1/2 + {NOISE:g} for EXP3-ABS; against log K it is "
    f"between {ROOT[0]:g} and {ROOT[1]:g}, nearer to 1/2 than to 0 and to 1, for EXP3; EXP3-ABS has less at the "
    "largest K. It holds if all are so, in part if some.",
    root_of_log,
)
