"""Axis-aligned planes that abstain where they are not confident (appendix D)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..tables import MOST, as_count
from ..trust import trusted
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, nested
from .thresholds import as_thresholds


class AxisPlanes(ExpertSet):
    """Each plane with each threshold of its own; see `axis_planes`."""

    kind = "axis_planes"

    def __init__(self, dim: int, offsets: ArrayLike, thresholds: ArrayLike) -> None:
        dim = as_count(dim, "dim", most=MOST)
        offsets, thresholds = as_thresholds(offsets, "offsets"), as_thresholds(thresholds)
        n_planes, n_rules = dim * len(offsets), dim * len(offsets) * len(thresholds)
        if n_rules > MOST:
            raise InputError(f"expected at most {MOST} rules, got {n_planes} planes with {len(thresholds)} each")
        rule = np.arange(n_rules)
        super().__init__(n_planes, n_rules, dim, np.column_stack([rule // len(thresholds), rule]))
        self.offsets, self.thresholds = offsets, thresholds
        self._feature = np.repeat(np.arange(dim), len(offsets))
        self._offset = np.tile(offsets, dim)
        # No difference to an offset is above the largest float.
        self.largest_input = float(np.finfo(np.float64).max - np.abs(offsets).max())
        # The ends, rounded once: intervals that lie in each other by them do so for every input.
        with np.errstate(over="ignore"):
            self._low = (self._offset[:, np.newaxis] - thresholds).ravel()
            self._high = (self._offset[:, np.newaxis] + thresholds).ravel()

    @trusted
    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        coordinate = X[:, self._feature]
        along = np.repeat(coordinate, len(self.thresholds), axis=1)
        return Advice(coordinate - self._offset, (self._low <= along) & (along <= self._high))

    def _find_subset(self) -> Bools:
        return nested(self._low, self._high, np.repeat(self._feature, len(self.thresholds)))

    def parameters(self) -> dict[str, Any]:
        return {"dim": self.n_features, "offsets": self.offsets, "thresholds": self.thresholds}


def axis_planes(dim: int, n_predictors: int = 100, thresholds: ArrayLike | None = None) -> AxisPlanes:
    """Planes ``h(x) = x_i - b`` with rules ``r(x) = |h(x)| - theta``: confidence-based experts.

    Rule ``p * n_thresholds + k`` belongs to plane p.

    Args:
        dim: The number of features.
        n_predictors: How many planes: each feature has ``floor(n_predictors / dim)`` offsets b, equally spaced inside
            (-1, 1).
        thresholds: The thetas; ``linspace(0, 0.25, 20)`` unless given.

    >>> axis_planes(dim=4)
    <axis_planes: 2000 experts, 100 predictors, 2000 rules>
    """
    dim = as_count(dim, "dim", most=MOST)
    offsets = np.linspace(-1.0, 1.0, as_count(n_predictors, "n_predictors", dim, MOST) // dim + 2)[1:-1]
    return AxisPlanes(dim, offsets, np.linspace(0.0, 0.25, 20) if thresholds is None else thresholds)
