"""The rate of exponential weights, and the least probability they divide by."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..jit import kernel

FIXED, ANYTIME, ADAPTIVE = 0, 1, 2

LEAST_PROBABILITY = 1e-150
"""No probability of seeing a label is taken for less: 1 over its square is still far from overflow."""


class Rate(NamedTuple):
    """How the rate is set."""

    kind: int
    scale: float  # the rate itself, or for the anytime rate eta_t sqrt(t)
    log_experts: float


@kernel
def adaptive(log_experts: float, squares: float) -> float:
    """``min(1, sqrt(log K / (1 + V)))``, rounded down to a power of 2^(1/8); 1 for a single expert."""
    eta = min(1.0, math.sqrt(log_experts / (1.0 + squares)))
    return 2.0 ** (math.floor(8.0 * math.log2(eta)) / 8.0) if eta > 0.0 else 1.0
