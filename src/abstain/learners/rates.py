"""The rate of exponential weights, from what the user asked for."""

import math
from collections.abc import Callable

from ..errors import InputError
from ..kernels.exp3_state import ADAPTIVE, ANYTIME, FIXED
from ..tables import is_number

_KINDS = {"anytime": ANYTIME, "adaptive": ADAPTIVE}


def find_rate(
    eta: str | float, log_experts: float, spread: float, horizon: int | None, tuned: Callable[[int], float]
) -> tuple[int, float]:
    """The kind of rate and its number: the rate itself, or ``eta_t sqrt(t)`` of the anytime rate.

    ``spread`` bounds the mean of ``sum_j q(j) Lhat(j)^2`` in a round; ``tuned`` gives the rate for a horizon.
    """
    if isinstance(eta, str):
        if eta in _KINDS:
            return _KINDS[eta], math.sqrt(log_experts / spread)
        if eta == "tuned":
            if horizon is None:
                raise InputError("horizon: eta='tuned' needs the number of rounds, got None")
            return FIXED, tuned(horizon)
    elif is_number(eta) and 0.0 < eta < math.inf:
        return FIXED, float(eta)
    raise InputError(f"eta: expected 'adaptive', 'anytime', 'tuned' or a positive number, got {eta!r}")
