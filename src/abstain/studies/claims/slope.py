"""How fast average regret falls (claim 10)."""

import numpy as np
from numpy.typing import ArrayLike

from .claim import Claim
from .order import scope
from .results import Results
from .settings import Line
from .verdict import IN_ALL, Failure, Finding, by_share, not_judged

SLOW = -0.1
"""Slowly: the slope of log(R_t / t) against log t is above this, so that ten times as many rounds take at most a fifth
off. A learner at the rate sqrt(t) has slope -1/2 and loses two thirds; one at log(t) has nearly -1. The paper's reason
(2,100 experts, 10,000 rounds, one update a round) promises next to no fall; "decreases" still asks for a slope below 0.
"""


def slope(x: ArrayLike, y: ArrayLike) -> float:
    """The least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def late_slope(line: Line) -> float | None:
    """The slope over the second half of the log scale, t >= sqrt(T); None where regret is not positive there."""
    late = line.t >= np.sqrt(line.t[-1])
    regret = line.regret[late]
    return slope(line.t[late], regret) if len(regret) > 1 and (regret > 0).all() else None


def ucb_is_slow(results: Results) -> Finding:
    """UCB's slope lies between `SLOW` and 0 in every setting of figures 7 and 8."""
    settings = [s for s in results.settings(*results.main, learners=("UCB",)) if late_slope(s.lines["UCB"]) is not None]
    if not settings:
        return not_judged(results.main[0])
    slopes = [late_slope(setting.lines["UCB"]) or 0.0 for setting in settings]
    fails = [
        Failure(s.dataset, s.cost, f"slope {value:+.3f}, {'falls faster' if value <= SLOW else 'does not fall'}")
        for s, value in zip(settings, slopes, strict=True)
        if not SLOW < value < 0.0
    ]
    numbers = (
        f"From t = sqrt(T) to T the slope of log R_t/t is between {SLOW:g} and 0 on {len(settings) - len(fails)} of "
        f"{scope(settings, results.main[0])}; it goes from {min(slopes):+.3f} to {max(slopes):+.3f}, median "
        f"{np.median(slopes):+.3f}; it is not below 0 on {sum(value >= 0.0 for value in slopes)}."
    )
    return Finding(by_share(len(settings) - len(fails), len(settings)), numbers, fails, [s.study for s in settings])


SLOWLY = Claim(
    10,
    "UCB's average regret falls, but slowly.",
    f"From t = sqrt(T) on, the slope of log(R_t/t) against log t is below 0 and above {SLOW:g}. {IN_ALL}",
    ucb_is_slow,
)
