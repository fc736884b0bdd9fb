"""Policies that are chosen again at regular intervals, on the last labels: thresholds, tuned again and again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_count, as_flag
from ..capacity import Capacity
from ..kernels.compiling import kernel
from ..typing import Bools, Floats, Ints
from .thresholds import Played, Rounds, as_rounds, best, follow


@dataclass(frozen=True, eq=False)
class Retuned(Played):
    """The model and the threshold in use in each round."""

    model: Ints
    threshold: Floats


class Bucket:
    """Holds a policy to a capacity as a gate is held: without a token left, a case is answered.

    A case that cannot be answered goes to review all the same, and the bucket then owes a token.
    """

    def __init__(self, capacity: Capacity) -> None:
        self._earn, self._take = capacity.units
        self._most = self._take * (capacity.burst or 1)
        self._tokens = np.array([self._most], np.int64)

    def hold(self, abstained: Bools, answerable: Bools, passed: Ints | None = None) -> Bools:
        """Return which of the next rounds may go to review, of those that should.

        With a capacity per day, ``passed`` is the time since the round before, in microseconds.
        """
        allowed = np.empty(len(abstained), np.bool_)
        full = -(-self._most // max(1, self._earn))  # more would overflow, and is not needed
        earned = np.minimum(np.ones(len(abstained), np.int64) if passed is None else passed, full) * self._earn
        spend(abstained, answerable, earned, self._take, self._most, self._tokens, allowed)
        return allowed


@kernel
def spend(
    wanted: Bools, answerable: Bools, earned: Ints, take: int, most: int, tokens: Ints, allowed: Bools
) -> None:  # fmt: skip
    """Play a bucket of ``tokens[0]`` units: a round earns ``earned``, a review takes ``take``."""
    for t in range(len(wanted)):
        tokens[0] = min(most, tokens[0] + earned[t])
        allowed[t] = not answerable[t] or (wanted[t] and tokens[0] >= take)
        if allowed[t]:
            tokens[0] -= take


class Renewed:
    """A policy chosen on the first rounds, and again at regular intervals on the last rounds with known labels.

    It is played in pieces. Memory holds the window and the rounds that wait for their labels.
    """

    model: int
    threshold: float
    ordered = True
    """Whether the order of confidences is needed."""

    def __init__(
        self, models: int, first: int, every: int, window: int, own: bool, capacity: Capacity | None,
        share: float | None = None,
    ) -> None:  # fmt: skip
        """Prepare for rounds of which the first, ``first``, were tuned on and are played all the same.

        With a capacity per day, ``share`` is about what share of the rounds it is, to tune to.
        """
        self._first, self._every, self._own = first, every, own
        self._share = share if capacity is None or capacity.share is None else capacity.share
        self._bucket = None if capacity is None else Bucket(capacity)
        self._round = 0
        # By the number of the choice that is the first to know them.
        self._waiting: dict[int, list[Floats]] = {}
        self._window = Window(models, window, self.ordered)

    def renew(self) -> None:
        """Choose again, on the window."""
        raise NotImplementedError

    def follow(self, rounds: Rounds) -> tuple[Bools, Ints]:
        """Say on which rounds the current choice abstains, and which model it follows otherwise."""
        raise NotImplementedError

    def play(self, rounds: Rounds, due: Ints) -> "Retuned":
        """Play the next rounds. The label of round t, counted over all pieces, is known from round ``due[t]`` on."""
        n = len(rounds.cost)
        used = Retuned(np.empty(n), np.empty(n, np.bool_), np.empty(n, np.int64), np.empty(n))
        begin = 0
        while begin < n:
            # The first choice holds until it is made again; later ones for one step.
            number, gone = divmod(max(0, self._round - self._first), self._every)
            if number > 0 and gone == 0:
                self._window.add(self._waiting.pop(number, []))
                self.renew()
            rows = slice(begin, min(n, begin + self._every - gone + max(0, self._first - self._round)))
            piece = rounds.cut(rows)
            abstained, model = self.follow(piece)
            at = np.arange(len(model))
            if self._bucket is not None:
                abstained = self._bucket.hold(abstained, piece.confidence[at, model] > -np.inf, piece.passed)
            used.model[rows], used.threshold[rows] = model, self.threshold
            used.abstained[rows] = abstained
            used.loss[rows] = np.where(abstained, piece.cost, piece.losses[at, model])
            self._wait(piece, due[rows], abstained)
            self._round += rows.stop - begin
            begin = rows.stop
        return used

    def _wait(self, rounds: Rounds, due: Ints, abstained: Bools) -> None:
        """Keep rounds until the first choice after their labels arrive."""
        number = np.arange(self._round, self._round + len(due))
        seen = ~abstained | (number < self._first) if self._own else np.ones(len(due), np.bool_)
        of_models = rounds.confidence, rounds.losses, rounds.answers, rounds.risks
        table = np.column_stack([number, seen, rounds.cost, *of_models])
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


EVERY, WINDOW = 500, 4_000


class Retuning(Renewed):
    """The policy of `retuned`, in pieces."""

    def __init__(
        self, labelled: Rounds, every: int = EVERY, window: int = WINDOW, own: bool = True, *,
        first: int | None = None, capacity: Capacity | None = None, share: float | None = None,
    ) -> None:  # fmt: skip
        """Tune on ``labelled``, the first rounds, which `play` gets again; ``first``, if some have no label."""
        n = len(labelled.cost) if first is None else first
        super().__init__(labelled.confidence.shape[1], n, every, window, own, capacity, share)
        self.model, self.threshold, _ = best(labelled, share=self._share)

    def renew(self) -> None:
        self.model, self.threshold = self._window.choose(self.model, self.threshold, self._share)

    def follow(self, rounds: Rounds) -> tuple[Bools, Ints]:
        abstained = rounds.confidence[:, self.model] <= self.threshold
        return abstained, np.full(len(abstained), self.model)


_NUMBER, _SEEN, _COST, _MODELS = 0, 1, 2, 3
"""Columns of a table of rounds; from `_MODELS` on, the models' confidences, losses, answers and risks."""


@kernel
def merge(old: Ints, place: Ints, fresh: Ints, sure: Floats, out: Ints) -> int:
    """Merge rounds in the order of ``sure``: those of ``old`` that still have a place (not -1), and ``fresh`` ones.

    Returns how many there are in ``out``; equals go by place, as a stable sort has them.
    """
    i, j, n = 0, 0, 0
    while i < len(old) or j < len(fresh):
        if i < len(old) and place[old[i]] < 0:
            i += 1
            continue
        first = j == len(fresh)
        if i < len(old) and not first:
            a, b = place[old[i]], fresh[j]
            first = sure[a] < sure[b] or (sure[a] == sure[b] and a < b)
        if first:
            out[n] = place[old[i]]
            i += 1
        else:
            out[n] = fresh[j]
            j += 1
        n += 1
    return n


class Window:
    """The last rounds with known labels, and the order of each model's confidences in them."""

    def __init__(self, models: int, size: int, ordered: bool = True) -> None:
        """Begin with no rounds; without ``ordered``, no order is kept, and `choose` cannot be used."""
        self.size = size
        self._table = np.empty((0, _MODELS + 4 * models))
        self._orders = [np.empty(0, np.int64) for _ in range(models if ordered else 0)]

    def add(self, come: list[Floats]) -> None:
        """Add rounds with new labels. Those that stay are already in order; the others are merged."""
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

    def rounds(self) -> tuple[Rounds, Bools]:
        """All rounds, and which of them count."""
        table = self._table
        sure, lost, said, risk = np.split(table[:, _MODELS:], 4, axis=1)
        return Rounds(sure, lost, table[:, _COST], said, risk=risk), table[:, _SEEN] == 1.0

    def choose(self, model: int, threshold: float, share: float | None = None) -> tuple[int, float]:
        """The best pair on the labels seen, unless the current one is as good."""
        rounds, seen = self.rounds()
        if not seen.any():
            return model, threshold
        now = follow(rounds, model, threshold).loss[seen].sum()
        better = best(rounds, self._orders, share)
        # Sums in another order differ by rounding, which is no evidence.
        return better[:2] if better[2] < now - 1e-9 * seen.sum() else (model, threshold)


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
    """Tune on the first rounds, then tune again at regular intervals on the last rounds with known labels.

    With ``own``, only answers bring labels (and the first rounds), as in production. Like most teams, it then tunes on
    the labelled rounds as if there were no others. That is biased: the rounds that it handed over are the uncertain
    ones, and nothing stands in for them. A threshold that rose once shows no label below it, so there is no evidence
    that it should fall. The current pair stays unless another one is strictly better.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        cost: The cost of abstaining: a number, or one per round.
        first: How many rounds to tune on first; all their labels are known.
        every: How many rounds pass between two choices.
        window: How many of the last rounds with known labels to tune on.
        delay: The label of round t is known from round t + ``delay`` + 1 on.
        own: Whether only the policy's own answers bring labels; otherwise every round does.

    Returns:
        The pair in use and its loss in every round.

    Raises:
        InputError: If a shape or a value is wrong.

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
    policy = Retuning(rounds.cut(slice(start)), step, width, as_flag(own, "own"))
    # A label that comes later than the last round is not needed.
    return policy.play(rounds, np.minimum(np.arange(1, n + 1) + min(late, n), n))
