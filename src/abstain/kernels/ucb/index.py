"""The index of an expert: an optimistic estimate of its mean loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..jit import inline
from .state import Variant


@inline
def round_width(t: int, beta: float) -> float:
    """The width's numerator at round t: ``sqrt(2 beta) sqrt(log(t - 1))``, so that S_{j,t-1} is it over sqrt(Q)."""
    return math.sqrt(2.0 * beta) * math.sqrt(math.log(t - 1.0)) if t > 1 else 0.0


@inline
def index_of(losses: Any, paid: float, updates: float, width: float, variant: Variant) -> float:
    """mu_{j,t-1} - S_{j,t-1}, or the sum of losses; an expert never observed comes before any other.

    The mean is (E + c*n) / Q and S is ``width`` over sqrt(Q); c*n is ``price * paid``.
    """
    index = (losses + variant.price * paid) / (1.0 if variant.sums else updates) - width / math.sqrt(updates)
    return index if updates > 0.0 else -np.inf
