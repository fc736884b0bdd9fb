"""Where rounds wait for their labels in a simulated game, and when these come."""

import heapq

import numpy as np

from ..typing import Ints
from .loop import Arrivals


class Waiting:
    """Places for the rounds of a game, whose labels come ``delay`` rounds late, or when it is said of each.

    Rounds are numbered from 0 here.
    """

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.played = 0
        self.n_places = delay + 1
        self._open: list[tuple[int, int, int]] = []
        """If it is said of each: the round before which it is learnt, its number, its place; a heap."""
        self._free: list[int] = []

    def arrange(self, n: int, due: Ints | None) -> Arrivals:
        """The coming ``n`` rounds. ``due`` says before which round each label is learnt; among equals, the earlier
        round goes first.
        """
        first, self.played = self.played, self.played + n
        if due is None:
            rounds = np.arange(first, first + n)
            come = rounds[rounds >= self.delay] - self.delay
            counts = np.cumsum(rounds >= self.delay)
            return Arrivals(rounds % self.n_places, np.append(0, counts), come % self.n_places)
        place, starts, come_at = np.empty(n, np.int64), np.zeros(n + 1, np.int64), []
        for i in range(n):
            place[i] = self._take()
            heapq.heappush(self._open, (int(due[i]), first + i, int(place[i])))
            while self._open and self._open[0][0] <= first + i + 1:
                come_at.append(self._give_back())
            starts[i + 1] = len(come_at)
        return Arrivals(place, starts, np.array(come_at, np.int64))

    def left(self) -> Ints:
        """The places of all rounds that still wait, in the order in which they are learnt."""
        rounds = np.arange(max(0, self.played - self.delay), self.played)
        if not self._open and not self._free:
            return np.asarray(rounds % self.n_places)
        return np.array([self._give_back() for _ in range(len(self._open))], np.int64)

    def _take(self) -> int:
        if not self._free:
            self._free.append(len(self._open))
            self.n_places = max(self.n_places, len(self._open) + 1)
        return self._free.pop()

    def _give_back(self) -> int:
        *_, place = heapq.heappop(self._open)
        self._free.append(place)
        return place
