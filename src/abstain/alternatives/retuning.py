"""Choosing a threshold again and again, for rounds that come in pieces."""

from typing import NamedTuple

import numpy as np

from ..kernels.thresholds import merge
from ..typing import Bools, Floats, Ints
from .rounds import Rounds
from .tuning import best

_NUMBER, _SEEN, _COST, _MODELS = 0, 1, 2, 3
"""Columns of a table of rounds; from the last on, the confidences of the models and then their losses."""


class Used(NamedTuple):
    """The pair in use in each round, and what it did."""

    loss: Floats
    abstained: Bools
    model: Ints
    threshold: Floats


class Retuning:
    """The policy of `retuned`. Memory holds the window and the rounds whose labels are still to come."""

    def __init__(self, labelled: Rounds, every: int = 500, window: int = 4_000, own: bool = True) -> None:
        """``labelled`` are the first rounds, which `play` gets again."""
        self.model, self.threshold, _ = best(labelled)
        self._first, self._every, self._own = len(labelled.cost), every, own
        self._round = 0
        # By the number of the choice that is the first to know them.
        self._waiting: dict[int, list[Floats]] = {}
        self._window = Window(labelled.confidence.shape[1], window)

    def play(self, rounds: Rounds, due: Ints) -> Used:
        """The next rounds; the label of round t (counted from 0 over all pieces) is known in round ``due[t]``, later
        than t, and from then on.
        """
        n = len(rounds.cost)
        used = Used(np.empty(n), np.empty(n, np.bool_), np.empty(n, np.int64), np.empty(n))
        begin = 0
        while begin < n:
            # The first choice holds until it is made again; later ones for one step.
            number, gone = divmod(max(0, self._round - self._first), self._every)
            if number > 0 and gone == 0:
                self._window.add(self._waiting.pop(number, []))
                self.model, self.threshold = self._window.choose(self.model, self.threshold)
            rows = slice(begin, min(n, begin + self._every - gone + max(0, self._first - self._round)))
            used.model[rows], used.threshold[rows] = self.model, self.threshold
            used.abstained[rows] = rounds.confidence[rows, self.model] <= self.threshold
            used.loss[rows] = np.where(used.abstained[rows], rounds.cost[rows], rounds.losses[rows, self.model])
            self._wait(Rounds(*(part[rows] for part in rounds)), due[rows], used.abstained[rows])
            self._round += rows.stop - begin
            begin = rows.stop
        return used

    def _wait(self, rounds: Rounds, due: Ints, abstained: Bools) -> None:
        """Keep rounds until the first choice after their labels came."""
        number = np.arange(self._round, self._round + len(due))
        seen = ~abstained | (number < self._first) if self._own else np.ones(len(due), np.bool_)
        table = np.column_stack([number, seen, rounds.cost, rounds.confidence, rounds.losses])
        choice = np.maximum(1, -((self._first - due) // self._every))
        order = np.argsort(choice, kind="stable")
        table, choice = table[order], choice[order]
        cuts = np.flatnonzero(np.diff(choice)) + 1
        most = self._window.size
        for k, part in zip(choice[[0, *cuts]].tolist(), np.split(table, cuts), strict=True):
            parts = self._waiting.setdefault(k, [])
            parts.append(part[-most:])
            if sum(map(len, parts)) > 2 * most:  # only the last can be in the window
                self._waiting[k] = [np.concatenate(parts)[-most:]]


class Window:
    """The last rounds whose labels have come, and the order of each model's confidences in them."""

    def __init__(self, models: int, size: int) -> None:
        self.size = size
        self._table = np.empty((0, _MODELS + 2 * models))
        self._orders = [np.empty(0, np.int64) for _ in range(models)]

    def add(self, come: list[Floats]) -> None:
        """Rounds whose labels came. Those that stay are in order already: the others are merged into it."""
        if not come:
            return
        table = np.concatenate([self._table, *come])
        by_number = np.argsort(table[:, _NUMBER], kind="stable")[-self.size :]
        place = np.full(len(table), -1)
        place[by_number] = np.arange(len(by_number))
        old, self._table = len(self._table), table[by_number]
        fresh = np.sort(place[old:][(place[old:] >= 0) & (table[old:, _SEEN] == 1.0)])
        for model, order in enumerate(self._orders):
            sure = np.ascontiguousarray(self._table[:, _MODELS + model])
            sorted_fresh = fresh[np.argsort(sure[fresh], kind="stable")]
            merged = np.empty(len(order) + len(fresh), np.int64)
            self._orders[model] = merged[: merge(order, place, sorted_fresh, sure, merged)]

    def choose(self, model: int, threshold: float) -> tuple[int, float]:
        """The best pair on the labels that were seen, unless the one in use is as good."""
        table, middle = self._table, _MODELS + len(self._orders)
        seen = table[:, _SEEN] == 1.0
        if not seen.any():
            return model, threshold
        silent = table[:, _MODELS + model] <= threshold
        now = np.where(silent, table[:, _COST], table[:, middle + model])[seen].sum()
        better = best(Rounds(table[:, _MODELS:middle], table[:, middle:], table[:, _COST]), self._orders)
        # Sums in another order differ by rounding, which is no evidence.
        return better[:2] if better[2] < now - 1e-9 * seen.sum() else (model, threshold)
