"""The rounds of a log, checked, and what a policy makes of them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import costs
from ..errors import InputError
from ..tables import as_floats
from ..typing import Bools, Floats


class Rounds(NamedTuple):
    """A log, checked."""

    confidence: Floats
    losses: Floats
    cost: Floats


@dataclass(frozen=True, eq=False)
class Played:
    """What was paid for following a policy."""

    loss: Floats
    """In each round (n,)."""
    abstained: Bools
    """Whether the round was handed over (n,)."""


def as_rounds(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike) -> Rounds:
    """The log, or an error that says what is wrong with it."""
    sure, lost = as_floats(confidence, "confidence"), as_floats(losses, "losses")
    if sure.ndim != 2 or sure.size == 0:
        raise InputError(f"confidence: expected one row a round, one column a model, got shape {sure.shape}")
    if lost.shape != sure.shape:
        raise InputError(f"losses: expected the shape of confidence, {sure.shape}, got {lost.shape}")
    if not (sure < np.inf).all():
        raise InputError(f"confidence: expected numbers below infinity, got {sure[~(sure < np.inf)][0]}")
    if not ((lost >= 0.0) & (lost <= 1.0)).all():
        raise InputError(f"losses: expected values in [0, 1], got {lost[~((lost >= 0.0) & (lost <= 1.0))][0]}")
    price = costs.get(cost)
    if not isinstance(price, (costs.Constant, costs.PerRound)):
        raise InputError(f"cost: expected a number or one a round, got {type(cost).__name__}")
    if isinstance(price, costs.PerRound) and len(price.values) != len(sure):
        raise InputError(f"cost: expected one value or {len(sure)}, one a round, got {len(price.values)}")
    return Rounds(sure, lost, np.ascontiguousarray(price.of(None, 1, len(sure))))
