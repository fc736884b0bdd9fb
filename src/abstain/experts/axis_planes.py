"""Axis-aligned planes that abstain where they are not confident (appendix D)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..tables import as_count
from .base import Advice, Bools, ExpertSet, Floats, nested
from .thresholds import as_thresholds


class AxisPlanes(ExpertSet):
    """Each plane with each threshold of its own; see `axis_planes`."""

    kind = "axis_planes"

    def __init__(self, dim: int, offsets: Floats, thresholds: Floats) -> None:
        n_planes, n_rules = dim * len(offsets), dim * len(offsets) * len(thresholds)
        rule = np.arange(n_rules)
        super().__init__(n_planes, n_rules, dim, np.column_stack([rule // len(thresholds), rule]))
        self.offsets, self.thresholds = offsets, thresholds
        self._feature = np.repeat(np.arange(dim), len(offsets))
        self._offset = np.tile(offsets, dim)
        # The ends, rounded once: intervals that lie in each other by them do so for every input.
        self._low = (self._offset[:, np.newaxis] - thresholds).ravel()
        self._high = (self._offset[:, np.newaxis] + thresholds).ravel()

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

    Each feature has ``floor(n_predictors / dim)`` offsets b, equally spaced inside (-1, 1); the thresholds are
    ``linspace(0, 0.25, 20)`` unless given. Rule ``p * n_thresholds + k`` belongs to plane p.

    >>> axis_planes(dim=4)
    <axis_planes: 2000 experts, 100 predictors, 2000 rules>
    """
    dim = as_count(dim, "dim")
    offsets = np.linspace(-1.0, 1.0, as_count(n_predictors, "n_predictors", least=dim) // dim + 2)[1:-1]
    return AxisPlanes(dim, offsets, as_thresholds(np.linspace(0.0, 0.25, 20) if thresholds is None else thresholds))
