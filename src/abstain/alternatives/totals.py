"""What many thresholds lose, for rounds that come in pieces."""

from collections.abc import Sequence

import numpy as np

from ..typing import Floats, Ints
from .rounds import Rounds


class Totals:
    """For each model and each of its thresholds: how often it answered, and what it lost in all.

    ``thresholds`` are increasing, one array a model. A round is counted between two of them, once; sums come at the
    end.
    """

    def __init__(self, thresholds: Sequence[Floats]) -> None:
        self.thresholds = [np.asarray(one) for one in thresholds]
        # Bin k: the confidence is above k of the thresholds.
        self._count, self._lost, self._cost = ([np.zeros(len(one) + 1) for one in thresholds] for _ in range(3))

    def add(self, rounds: Rounds) -> None:
        """Count rounds."""
        for model, thresholds in enumerate(self.thresholds):
            above, n = np.searchsorted(thresholds, rounds.confidence[:, model], side="left"), len(thresholds) + 1
            self._count[model] += np.bincount(above, minlength=n)
            self._lost[model] += np.bincount(above, rounds.losses[:, model], n)
            self._cost[model] += np.bincount(above, rounds.cost, n)

    def answered(self, model: int) -> tuple[Ints, Floats]:
        """For each threshold of a model: the rounds above it, and what was lost in them."""
        return _above(self._count[model]).astype(np.int64), _above(self._lost[model])

    def sums(self, model: int) -> Floats:
        """What each threshold of a model loses in all rounds: the losses above it, the costs of the others."""
        return _above(self._lost[model]) + np.cumsum(self._cost[model])[:-1]

    def best(self) -> tuple[int, float, float]:
        """The best model, its threshold and what they lose in all; among equals the first model, the least threshold.

        >>> totals = Totals([np.array([-np.inf, 0.5])])
        >>> totals.add(Rounds(np.array([[0.9], [0.4]]), np.array([[0.0], [1.0]]), np.array([0.25, 0.25])))
        >>> totals.best()
        (0, 0.5, 0.25)
        """
        found = (0, -np.inf, np.inf)
        for model, thresholds in enumerate(self.thresholds):
            sums = self.sums(model)
            k = int(np.argmin(sums))
            if sums[k] < found[2]:
                found = (model, float(thresholds[k]), float(sums[k]))
        return found


def _above(bins: Floats) -> Floats:
    """For each threshold the sum of the bins above it."""
    return np.cumsum(bins[::-1])[::-1][1:]
