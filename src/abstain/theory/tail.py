"""EXP3-ABS with implicit exploration: a bound on the regret of nearly every run (after Neu 2015)."""

import math

from ..tables import as_number, as_share
from .arguments import LARGEST, LEAST, as_rate, as_size
from .theorem_1 import adaptive_on_estimates


def exp3_abs_tail_bound(
    T: int, K: int, cost: float, ix: float, delta: float = 0.01, eta: float | str | None = "adaptive"
) -> float:
    """With probability ``1 - delta`` the regret of ``Exp3Abs(eta=eta, ix=ix)`` is at most this, on any sequence and
    against every expert at once; at most T.

    With ``D = log((K + 2) / delta)`` and ``Z = T + D / (2 ix)`` it is the regret on the estimates, plus ``ix Z + D / (2
    ix) + (1 + c) sqrt(T D / 2)``. The first is ``log K / eta + eta (c^2 T + Z) / 2`` for a number (or the "tuned" one
    of theorem 1); for "anytime" and "adaptive" see the documentation, which has the proof. It is least for an ``ix`` of
    about ``sqrt(D / (2 T))``. Without ``ix`` there is no such bound: the regret of single runs has a heavy tail.

    >>> round(exp3_abs_tail_bound(10_000, 20, 0.2, ix=0.02))
    1060
    """
    rounds, experts, cost = as_size(T, "T"), as_size(K, "K"), as_share(cost, "cost")
    ix = as_number(ix, "ix", f"a positive number ({LEAST:g} to {LARGEST:g})", lambda x: LEAST <= x <= LARGEST)
    delta = as_number(delta, "delta", f"a number in (0, 1), at least {LEAST:g}", lambda share: LEAST <= share < 1.0)
    log_experts, doubt = math.log(experts), math.log((experts + 2.0) / delta)
    seen = rounds + doubt / (2.0 * ix)
    squares = cost**2 * rounds + seen
    rate, spread = as_rate(eta), cost**2 + 1.0
    if rate == "adaptive":
        on_estimates = adaptive_on_estimates(squares, log_experts, cost)
    elif rate == "anytime":
        on_estimates = 2.0 * math.sqrt(spread * rounds * log_experts)
        on_estimates += math.sqrt(log_experts / spread) * doubt / (4.0 * ix)
    else:
        number = rate if isinstance(rate, float) else math.sqrt(2.0 * log_experts / (spread * rounds))
        on_estimates = (log_experts / number if log_experts > 0.0 else 0.0) + number * squares / 2.0
    of_runs = ix * seen + doubt / (2.0 * ix) + (1.0 + cost) * math.sqrt(rounds * doubt / 2.0)
    return min(rounds, on_estimates + of_runs)
