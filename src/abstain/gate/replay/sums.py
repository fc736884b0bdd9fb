"""Sums over stretches of rows, for rows that come in slices."""

import math

import numpy as np

from ...typing import Array, Bools, Floats, Ints

MOST_PIECES = 200
"""Points of a curve over time."""


class Cuts:
    """Where rows are cut: stretch k has the rows from ``edges[k]`` to before ``edges[k + 1]``."""

    def __init__(self, edges: Ints) -> None:
        self.edges = edges
        self.n = len(edges) - 1
        self.sizes = np.diff(edges)

    def add(self, sums: Floats, values: Array, begin: int) -> None:
        """Add the values of the rows from ``begin`` on to the sums of their stretches; others are left out."""
        low, high = max(begin, int(self.edges[0])), min(begin + len(values), int(self.edges[-1]))
        if low >= high:
            return
        first, last = np.searchsorted(self.edges, [low, high - 1], side="right") - 1
        starts = np.maximum(self.edges[first : last + 1], low) - low
        sums[first : last + 1] += np.add.reduceat(values[low - begin : high - begin], starts, dtype=np.float64)


def pieces(n: int) -> Cuts:
    """All rows, for curves over time."""
    k = min(n, MOST_PIECES)
    return Cuts(np.arange(k + 1) * n // k)


def blocks(first: int, n: int) -> Cuts:
    """The scored rows, in blocks as long as there are blocks: sqrt(n) rows each; the last may be shorter."""
    length = math.isqrt(n - first - 1) + 1
    return Cuts(np.append(np.arange(first, n, length), n))


class PolicySums:
    """What a policy paid and handed over: over time, and in the blocks of the scored rows."""

    def __init__(self, over_time: Cuts, scored: Cuts, mistake: float) -> None:
        """An answer that loses more than ``mistake`` is a mistake."""
        self._over_time, self._scored, self._mistake = over_time, scored, mistake
        self.loss, self.reviewed = np.zeros(over_time.n), np.zeros(over_time.n)
        self.blocks, self._reviewed, self._mistakes = (np.zeros(scored.n) for _ in range(3))

    def add(self, begin: int, loss: Floats, reviewed: Bools) -> Bools:
        """Count rows from ``begin`` on; which of them are mistakes."""
        wrong = ~reviewed & (loss > self._mistake)
        self._over_time.add(self.loss, loss, begin)
        self._over_time.add(self.reviewed, reviewed, begin)
        self._scored.add(self.blocks, loss, begin)
        self._scored.add(self._reviewed, reviewed, begin)
        self._scored.add(self._mistakes, wrong, begin)
        return wrong

    @property
    def means(self) -> tuple[float, float, float]:
        """Loss, share reviewed and share of mistakes, a scored row."""
        n = self._scored.sizes.sum()
        return tuple(float(part.sum() / n) for part in (self.blocks, self._reviewed, self._mistakes))  # type: ignore[return-value]
