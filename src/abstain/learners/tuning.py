"""The rate of exponential weights, from what the user asked for."""

import math
from collections.abc import Callable
from typing import Any

from ..engine.decision import MOST_ROUNDS
from ..errors import InputError, shown
from ..kernels.exp3.rate import ADAPTIVE, ANYTIME, FIXED, Rate
from ..tables import as_count, is_number

_KINDS = {"anytime": ANYTIME, "adaptive": ADAPTIVE}


def as_eta(eta: Any) -> Any:
    """A rate as a float, if it is a number; `find_rate` says if it is neither that nor a word it knows."""
    return float(eta) if is_number(eta) else eta


def as_horizon(horizon: Any) -> int | None:
    """The number of rounds, if it is known."""
    return None if horizon is None else as_count(horizon, "horizon", most=MOST_ROUNDS)


def find_rate(eta: Any, log_experts: float, spread: float, horizon: int | None, tuned: Callable[[int], float]) -> Rate:
    """The kind of rate and its number: the rate itself, or ``eta_t sqrt(t)`` of the anytime rate.

    ``spread`` bounds the mean of ``sum_j q(j) Lhat(j)^2`` in a round; ``tuned`` gives the rate for a horizon.
    """
    if isinstance(eta, str):
        if eta in _KINDS:
            return Rate(_KINDS[eta], math.sqrt(log_experts / spread), log_experts)
        if eta == "tuned":
            if horizon is None:
                raise InputError("horizon: eta='tuned' needs the number of rounds, got None")
            return Rate(FIXED, tuned(horizon), log_experts)
    elif is_number(eta) and 0.0 < eta < math.inf:
        return Rate(FIXED, eta, log_experts)
    raise InputError(f"eta: expected 'adaptive', 'anytime', 'tuned' or a positive number, got {shown(eta)}")
