"""Medians over stretches of rows, for rows that come in slices."""

import numpy as np

from ...typing import Floats
from .sums import Cuts


class Medians:
    """The median of each stretch, for values that come in order."""

    def __init__(self, cuts: Cuts, medians: Floats) -> None:
        self._cuts, self._medians = cuts, medians
        self._piece, self._open = -1, []  # type: int, list[Floats]

    def add(self, begin: int, values: Floats) -> None:
        """The next values."""
        edges = self._cuts.edges
        inside = edges[(edges > begin) & (edges < begin + len(values))]
        for part in np.split(values, inside - begin):
            piece = int(np.searchsorted(edges, begin, side="right")) - 1
            if piece != self._piece:
                self.close()
                self._piece = piece
            self._open.append(part)
            begin += len(part)

    def close(self) -> None:
        """The stretch that was open is whole."""
        if self._open:
            self._medians[self._piece] = np.median(np.concatenate(self._open))
        self._open = []
