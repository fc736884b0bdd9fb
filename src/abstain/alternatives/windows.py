"""A threshold that is chosen again now and then, from the labels of a window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..tables import as_count, as_flag
from ..typing import Bools, Floats, Ints
from .rounds import Played, Rounds, as_rounds
from .tuning import best


@dataclass(frozen=True, eq=False)
class Retuned(Played):
    """The model and the threshold in use in each round."""

    model: Ints
    threshold: Floats


def retuned(
    confidence: ArrayLike,
    losses: ArrayLike,
    cost: float | ArrayLike,
    first: int,
    *,
    every: int = 500,
    window: int = 4_000,
    delay: int = 0,
    own: bool = True,
) -> Retuned:
    """`tuned` on the ``first`` rounds, then tuned again after every ``every`` rounds on the last ``window`` rounds
    whose labels have come: those of round t are known from round t + ``delay`` + 1 on.

    With ``own`` only answers bring labels (and the ``first`` rounds, which were labelled to begin with), as in
    production. It does what is usually done: it tunes on the rounds that have a label as if they were all there are.
    So an estimate of a pair of model and threshold is its mean loss on those, the cost where it would hand over. That
    is biased: rounds handed over are the uncertain ones, and nothing stands for them. A threshold that rose once shows
    no label below it, so no evidence that it should fall; where no pair is strictly better than the one in use, that
    one stays. Without ``own`` every round has its label.

    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.random((1000, 2))
    >>> losses = (rng.random((1000, 2)) > confidence) * 1.0
    >>> policy = retuned(confidence, losses, 0.2, first=100, every=100, own=False)
    >>> policy.threshold[[0, -1]].round(1)
    array([0.8, 0.7])
    """
    rounds = as_rounds(confidence, losses, cost)
    n = len(rounds.cost)
    start = as_count(first, "first", most=n)
    step, width, late = as_count(every, "every"), as_count(window, "window"), as_count(delay, "delay", least=0)
    policy = Retuning(Rounds(*(part[:start] for part in rounds)), step, width, as_flag(own, "own"))
    return policy.play(rounds, np.minimum(np.arange(1, n + 1) + np.int64(min(late, n)), n))


class Retuning:
    """The policy of `retuned`, for rounds that come in pieces: memory holds the window and the rounds whose labels are
    still to come.
    """

    def __init__(self, labelled: Rounds, every: int = 500, window: int = 4_000, own: bool = True) -> None:
        """``labelled`` are the first rounds, which `play` gets again."""
        self.model, self.threshold, _ = best(labelled)
        self._first, self._every, self._window, self._own = len(labelled.cost), every, window, own
        self._round = 0
        models = labelled.confidence.shape[1]
        self._known = np.empty((0, 2 * models + 3))
        # By the number of the choice that is the first to know them; columns: see _wait.
        self._waiting: dict[int, list[Floats]] = {}

    def play(self, rounds: Rounds, due: Ints) -> Retuned:
        """The next rounds; the label of round t (counted from 0 over all pieces) is known in round ``due[t]``, later
        than t, and from then on.
        """
        n = len(rounds.cost)
        models, thresholds = np.empty(n, np.int64), np.empty(n)
        abstained, loss = np.empty(n, np.bool_), np.empty(n)
        begin = 0
        while begin < n:
            # The first choice holds until it is made again; later ones for one step.
            number, gone = divmod(max(0, self._round - self._first), self._every)
            if number > 0 and gone == 0:
                self._choose_again(number)
            end = min(n, begin + self._every - gone + max(0, self._first - self._round))
            rows = slice(begin, end)
            models[rows], thresholds[rows] = self.model, self.threshold
            abstained[rows] = rounds.confidence[rows, self.model] <= self.threshold
            loss[rows] = np.where(abstained[rows], rounds.cost[rows], rounds.losses[rows, self.model])
            self._wait(Rounds(*(part[rows] for part in rounds)), due[rows], abstained[rows])
            self._round += end - begin
            begin = end
        return Retuned(loss, abstained, models, thresholds)

    def _wait(self, rounds: Rounds, due: Ints, abstained: Bools) -> None:
        """Keep rounds until the first choice after their labels came."""
        number = np.arange(self._round, self._round + len(due))
        seen = ~abstained | (number < self._first) if self._own else np.ones(len(due), np.bool_)
        table = np.column_stack([number, seen, rounds.cost, rounds.confidence, rounds.losses])
        choice = np.maximum(1, -((self._first - due) // self._every))
        if (choice != choice[0]).any():
            order = np.argsort(choice, kind="stable")
            table, choice = table[order], choice[order]
        cuts = np.flatnonzero(np.diff(choice)) + 1
        for k, part in zip(choice[[0, *cuts]].tolist(), np.split(table, cuts), strict=True):
            parts = self._waiting.setdefault(k, [])
            parts.append(part[-self._window :])
            if sum(map(len, parts)) > 2 * self._window:  # only the last can be in the window
                self._waiting[k] = [np.concatenate(parts)[-self._window :]]

    def _choose_again(self, number: int) -> None:
        come = self._waiting.pop(number, [])
        if come:
            known = np.concatenate([self._known, *come])
            self._known = known[np.argsort(known[:, 0], kind="stable")[-self._window :]]
        seen = self._known[self._known[:, 1] == 1.0]
        models = (seen.shape[1] - 3) // 2
        labelled = Rounds(seen[:, 3 : 3 + models], seen[:, 3 + models :], seen[:, 2])
        self.model, self.threshold = _again(labelled, self.model, self.threshold)


def _again(labelled: Rounds, model: int, threshold: float) -> tuple[int, float]:
    """The best pair on these rounds, unless the one in use is as good."""
    if len(labelled.cost) == 0:
        return model, threshold
    silent = labelled.confidence[:, model] <= threshold
    now = np.where(silent, labelled.cost, labelled.losses[:, model]).sum()
    better = best(labelled)
    # Sums in another order differ by rounding, which is no evidence.
    return better[:2] if better[2] < now - 1e-9 * len(silent) else (model, threshold)
