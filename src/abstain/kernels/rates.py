"""The adaptive rate."""

from __future__ import annotations

import math

from .jit import jit


@jit
def adaptive(log_experts: float, squares: float) -> float:
    """``min(1, sqrt(log K / (1 + V)))``, rounded down to a power of 2^(1/8); 1 for a single expert."""
    eta = min(1.0, math.sqrt(log_experts / (1.0 + squares)))
    return 2.0 ** (math.floor(8.0 * math.log2(eta)) / 8.0) if eta > 0.0 else 1.0
