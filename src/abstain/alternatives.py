"""What a learner on a log is compared with: one threshold, tuned once, re-tuned, or in hindsight; a stack of models.

A pair of a model and a threshold answers if the model's confidence is above the threshold, and abstains otherwise.
`tuned`, `retuned`, `stacked` and `hindsight` play whole tables. `Retuning`, `Stacking` and `Totals` play the same
policies in pieces, for logs that do not fit into memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import costs
from ._core.validation import as_count, as_flag, as_floats
from .capacity import Capacity
from .errors import InputError
from .kernels.compiling import inline, kernel
from .typing import Bools, Floats, Ints


class Rounds(NamedTuple):
    """A checked log: confidence and losses (n, P), cost (n,); answers (n, P), equal numbers for equal answers; the time
    since the round before, in microseconds (n,), for capacities per day; what a mistake would lose (n, P), for a stack.
    """

    confidence: Floats
    losses: Floats
    cost: Floats
    of_answers: Floats | None = None
    passed: Ints | None = None
    risk: Floats | None = None

    @property
    def risks(self) -> Floats:
        """What a mistake of each model would lose; without any, 1."""
        return np.ones(self.confidence.shape) if self.risk is None else self.risk

    @property
    def answers(self) -> Floats:
        """The answers; without any, no two models ever agree."""
        if self.of_answers is not None:
            return self.of_answers
        return np.broadcast_to(np.arange(float(self.confidence.shape[1])), self.confidence.shape)

    def cut(self, rows: "slice | Bools") -> "Rounds":
        """Some of the rounds."""
        return Rounds(*(None if part is None else part[rows] for part in self))  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Played:
    """What a policy did and lost."""

    loss: Floats
    """The loss of each round (n,)."""
    abstained: Bools
    """Whether it abstained in each round (n,)."""


def as_rounds(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike) -> Rounds:
    """Check a log, or raise an error that says what is wrong."""
    sure, lost = as_floats(confidence, "confidence"), as_floats(losses, "losses")
    if sure.ndim != 2 or sure.size == 0:
        raise InputError(f"confidence: expected one row per round and one column per model, got shape {sure.shape}")
    if lost.shape != sure.shape:
        raise InputError(f"losses: expected the shape of confidence, {sure.shape}, got {lost.shape}")
    if not (sure < np.inf).all():
        raise InputError(f"confidence: expected numbers below infinity, got {sure[~(sure < np.inf)][0]}")
    if not ((lost >= 0.0) & (lost <= 1.0)).all():
        raise InputError(f"losses: expected values in [0, 1], got {lost[~((lost >= 0.0) & (lost <= 1.0))][0]}")
    price = costs.get(cost)
    if not isinstance(price, (costs.Constant, costs.PerRound)):
        raise InputError(f"cost: expected a number or one per round, got {type(cost).__name__}")
    if isinstance(price, costs.PerRound) and len(price.values) != len(sure):
        raise InputError(f"cost: expected one value or {len(sure)}, one per round, got {len(price.values)}")
    return Rounds(sure, lost, np.ascontiguousarray(price.of(None, 1, len(sure))))


@kernel
def sweep(order: Ints, sure: Floats, lost: Floats, cost: Floats, thresholds: Floats, totals: Floats) -> None:
    """For increasing ``thresholds``, the cost of the rounds at or below each and the losses of those above it.

    ``order`` has the rounds that count, by ``sure``, increasing.
    """
    n, whole = len(order), 0.0
    for i in range(n):
        whole += lost[order[i]]
    silent, gone, i = 0.0, 0.0, 0
    for k in range(len(thresholds)):
        while i < n and sure[order[i]] <= thresholds[k]:
            silent += cost[order[i]]
            gone += lost[order[i]]
            i += 1
        totals[k] = silent + (whole - gone)


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


QUANTILES = 200
"""Thresholds to try for each model; on that many rounds or fewer, all that make a difference."""


@dataclass(frozen=True, eq=False)
class Tuned(Played):
    """A model and the threshold that its confidence has to exceed.

    A threshold of minus infinity always answers (if the model has an answer), infinity never does.
    """

    model: int
    threshold: float


def tuned(confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike, first: int) -> Tuned:
    """Choose the model and threshold with the least loss on the first rounds, and keep them.

    It tries 200 quantiles of each model's confidence in those rounds, and always or never answering.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        cost: The cost of abstaining: a number, or one per round.
        first: How many rounds to tune on; all their labels are known.

    Returns:
        The policy with its loss in every round.

    Raises:
        InputError: If a shape or a value is wrong.

    >>> confidence = np.array([[0.9], [0.6], [0.8], [0.5], [0.7]])
    >>> losses = np.array([[0.0], [1.0], [0.0], [1.0], [1.0]])
    >>> policy = tuned(confidence, losses, cost=0.2, first=4)
    >>> policy.model, policy.threshold, policy.loss
    (0, 0.6, array([0. , 0.2, 0. , 0.2, 1. ]))
    """
    rounds = as_rounds(confidence, losses, cost)
    return _best_in(rounds, 0, as_count(first, "first", most=len(rounds.cost)))


def hindsight(
    confidence: ArrayLike, losses: ArrayLike, cost: float | ArrayLike, first: int = 0, last: int | None = None
) -> Tuned:
    """Choose the model and threshold with the least loss afterwards: a yardstick that no policy could have known.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        cost: The cost of abstaining: a number, or one per round.
        first: The first round to choose on, from 0.
        last: The round to stop before; by default all rounds count.

    Returns:
        The policy with its loss in every round.

    Raises:
        InputError: If a shape or a value is wrong.
    """
    rounds = as_rounds(confidence, losses, cost)
    end = len(rounds.cost) if last is None else as_count(last, "last", most=len(rounds.cost))
    begin = as_count(first, "first", least=0)
    if begin >= end:
        raise InputError(f"first: expected a round before {end}, got {begin}")
    return _best_in(rounds, begin, end)


def _best_in(rounds: Rounds, first: int, last: int) -> Tuned:
    model, threshold, _ = best(rounds.cut(slice(first, last)))
    played = follow(rounds, model, threshold)
    return Tuned(played.loss, played.abstained, model, threshold)


def follow(rounds: Rounds, model: int, threshold: float) -> Played:
    """Play one pair of a model and a threshold."""
    silent = rounds.confidence[:, model] <= threshold
    return Played(np.where(silent, rounds.cost, rounds.losses[:, model]), silent)


def first_tenth(n: int) -> int:
    """How many of n rounds a threshold is tuned on; they do not count afterwards."""
    return n // 10


def best(
    rounds: Rounds, orders: Sequence[Ints] | None = None, share: float | None = None
) -> tuple[int, float, float]:  # fmt: skip
    """The best model, its threshold and their total loss; among equals the first model, then the lowest threshold.

    ``orders`` are the rounds that count, sorted by the confidence of each model, if they are known. With ``share``, no
    threshold abstains on more than this share of the rounds, unless more have no answer.
    """
    models = range(rounds.confidence.shape[1])
    found = (sums(rounds, model, None if orders is None else orders[model]) for model in models)
    if share is None or len(rounds.cost) == 0:
        return _least(found)
    most = np.sort(rounds.confidence, axis=0)[max(0, int(share * len(rounds.cost)) - 1)]
    most = most if share * len(rounds.cost) >= 1.0 else np.full(len(models), -np.inf)
    return _least((at[at <= most[m]], totals[at <= most[m]]) for m, (at, totals) in enumerate(found))


def _least(of_models: Iterable[tuple[Floats, Floats]]) -> tuple[int, float, float]:
    """The model, threshold and total with the least total, from each model's thresholds and totals."""
    found = (0, -np.inf, np.inf)
    for model, (thresholds, totals) in enumerate(of_models):
        k = int(np.argmin(totals))
        if totals[k] < found[2]:
            found = (model, float(thresholds[k]), float(totals[k]))
    return found


def sums(rounds: Rounds, model: int, order: Ints | None = None) -> tuple[Floats, Floats]:
    """The thresholds of a model, increasing, and the total loss of each, from one sort."""
    sure, lost, cost = (
        np.ascontiguousarray(part) for part in (rounds.confidence[:, model], rounds.losses[:, model], rounds.cost)
    )
    if order is None:
        order = np.argsort(sure, kind="stable")
    thresholds = np.concatenate([[-np.inf], sure[order[_quantiles(len(order))]], [np.inf]])
    totals = np.empty(len(thresholds))
    sweep(order, sure, lost, cost, thresholds, totals)
    return thresholds, totals


@lru_cache(maxsize=16)
def _quantiles(n: int) -> Ints:
    """The places of the quantiles among n sorted numbers."""
    return np.linspace(0, n - 1, min(n, QUANTILES)).round().astype(np.int64)


_NUMBER, _SEEN, _COST, _MODELS = 0, 1, 2, 3
"""Columns of a table of rounds; from `_MODELS` on, the models' confidences, losses, answers and risks."""


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


FARTHEST = 7.0
"""Logits of confidences are clipped to plus or minus this."""
RIDGE = 1.0
STEPS = 2
"""Newton steps of a fit, from the weights of the fit before."""


class Stacking(Renewed):
    """The policy of `stacked`, in pieces: a logistic regression on what all models say, and Chow's rule."""

    ordered = False

    def __init__(
        self, labelled: Rounds, every: int = EVERY, window: int = WINDOW, *, first: int | None = None,
        capacity: Capacity | None = None, share: float | None = None,
    ) -> None:  # fmt: skip
        """Fit on ``labelled``, the first rounds, which `play` gets again; ``first``, if some have no label."""
        models = labelled.confidence.shape[1]
        super().__init__(models, len(labelled.cost) if first is None else first, every, window, True, capacity, share)
        self._weights = np.zeros(4 * models + 1)
        self._room = np.zeros(2 * models + 1, np.int64), np.zeros(2 * models + 1)
        self._limit = np.inf
        self._fit(labelled, 10 * STEPS)
        self._ration(labelled)

    @property
    def threshold(self) -> float:  # type: ignore[override]
        """NaN: the stack compares expected losses with costs, not one model's confidence with a threshold."""
        return float("nan")

    def renew(self) -> None:
        rounds, seen = self._window.rounds()
        if seen.any():
            self._fit(rounds.cut(seen), STEPS)
        self._ration(rounds)

    def follow(self, rounds: Rounds) -> tuple[Bools, Ints]:
        expected = self._expected(rounds)
        model = np.argmin(expected, axis=1)
        least = expected[np.arange(len(model)), model]
        return least >= np.maximum(rounds.cost, self._limit if self._limit < np.inf else 0.0), model

    def _ration(self, rounds: Rounds) -> None:
        """With a capacity, review only as large a share of the rounds as there is, the least sure ones."""
        if self._share is not None and len(rounds.cost) > 0:
            self._limit = float(np.quantile(self._expected(rounds).min(axis=1), 1.0 - self._share, method="higher"))

    def _expected(self, rounds: Rounds) -> Floats:
        """The expected loss of each model's answer (n, P); infinity without one."""
        expected = np.full(rounds.confidence.shape, np.inf)
        index, value = self._room
        expect(_log_odds(rounds), np.ascontiguousarray(rounds.answers), self._weights, index, value, expected)
        return expected * np.where(rounds.confidence > -np.inf, rounds.risks, 1.0)

    def _fit(self, rounds: Rounds, steps: int) -> None:
        """Newton steps on the penalised likelihood, from the weights of before.

        What is learnt is how likely an answer is wrong, whatever that would cost; nothing tells where it costs nothing.
        """
        rounds = rounds.cut(np.asarray((rounds.risks > 0.0).all(axis=1)))
        wrong = np.minimum(1.0, rounds.losses / rounds.risks)
        z, answers, losses = _log_odds(rounds), np.ascontiguousarray(rounds.answers), np.ascontiguousarray(wrong)
        w, n = self._weights, len(self._weights)
        for _ in range(steps):
            gradient, curvature = -RIDGE * w, RIDGE * np.eye(n)
            add_up(z, answers, losses, w, *self._room, gradient, curvature)
            step = np.linalg.solve(curvature + np.tril(curvature, -1).T, gradient)
            w = w + step * min(1.0, 5.0 / max(1e-12, float(np.abs(step).max())))
            if np.abs(step).max() < 1e-3:
                break
        self._weights = w


def _log_odds(rounds: Rounds) -> Floats:
    """Log odds of the confidences (n, P), clipped; NaN without an answer."""
    sure = np.clip(rounds.confidence, 1e-9, 1.0 - 1e-9)
    z = np.clip(np.log(sure) - np.log1p(-sure), -FARTHEST, FARTHEST)
    return np.where(rounds.confidence > -np.inf, z, np.nan)


@inline
def look_at(
    t: int, m: int, z: Floats, answers: Floats, weights: Floats, index: Ints, value: Floats
) -> tuple[int, float]:
    """What a stack sees of an answer: who agrees with it and how surely, who differs and how surely, and a 1.

    Returns how many inputs are not 0, which are put into ``index`` and ``value``, and the probability that it is right.
    """
    models, k, score = z.shape[1], 0, weights[-1]
    for j in range(models):
        if np.isnan(z[t, j]):
            continue
        at = j if j == m or answers[t, j] == answers[t, m] else 2 * models + j
        index[k], value[k] = at, 1.0
        index[k + 1], value[k + 1] = at + models, z[t, j]
        score += weights[at] + weights[at + models] * z[t, j]
        k += 2
    index[k], value[k] = 4 * models, 1.0
    return k + 1, 1.0 / (1.0 + np.exp(-score))


@kernel
def expect(z: Floats, answers: Floats, weights: Floats, index: Ints, value: Floats, expected: Floats) -> None:
    """The expected loss of every answer; where there is none, ``expected`` stays as it is."""
    for t in range(len(z)):
        for m in range(z.shape[1]):
            if not np.isnan(z[t, m]):
                _, right = look_at(t, m, z, answers, weights, index, value)
                expected[t, m] = 1.0 - right


@kernel
def add_up(
    z: Floats, answers: Floats, losses: Floats, weights: Floats, index: Ints, value: Floats, gradient: Floats,
    curvature: Floats,
) -> None:  # fmt: skip
    """Add the gradient of the log likelihood, and its negative second derivatives: their lower triangle."""
    for t in range(len(z)):
        for m in range(z.shape[1]):
            if np.isnan(z[t, m]):
                continue
            n, right = look_at(t, m, z, answers, weights, index, value)
            off, slope = 1.0 - losses[t, m] - right, right * (1.0 - right)
            for a in range(n):
                gradient[index[a]] += off * value[a]
                for b in range(n):
                    if index[b] <= index[a]:
                        curvature[index[a], index[b]] += slope * value[a] * value[b]


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


def stacked(
    confidence: ArrayLike,
    losses: ArrayLike,
    answers: ArrayLike,
    cost: float | ArrayLike,
    first: int,
    *,
    every: int = EVERY,
    window: int = WINDOW,
    delay: int = 0,
) -> Retuned:
    """Fit a logistic regression to how right each answer is, abstain by Chow's rule, and fit again at intervals.

    Inputs are who agrees with an answer, who differs, and how surely (log odds of the confidences). It answers with
    the model of the least expected loss, if that is below the cost. It is fitted on the first rounds, and then on the
    last rounds whose labels its own answers brought: what a careful engineer would build. It does not explore.

    Args:
        confidence: How sure each model is in each round (n, P); minus infinity if it has no answer.
        losses: The loss of each model's answer (n, P), in [0, 1].
        answers: What each model says in each round (n, P): equal numbers for equal answers.
        cost: The cost of abstaining: a number, or one per round.
        first: How many rounds to fit on first; all their labels are known.
        every: How many rounds pass between two fits.
        window: How many of the last rounds with known labels to fit on.
        delay: The label of round t is known from round t + ``delay`` + 1 on.

    Returns:
        The model it followed, or would have, and its loss in every round; its threshold is NaN.

    Raises:
        InputError: If a shape or a value is wrong.

    >>> rng = np.random.default_rng(0)
    >>> answers = rng.integers(0, 2, (2000, 3))
    >>> losses = (answers != 1) * 1.0  # the truth is 1; three models that know nothing
    >>> policy = stacked(np.full((2000, 3), 0.9), losses, answers, 0.2, first=200)
    >>> bool(policy.loss[200:].mean() <= 0.2)
    True
    """
    sure, lost, price, *_ = as_rounds(confidence, losses, cost)
    said = as_floats(answers, "answers")
    if said.shape != sure.shape:
        raise InputError(f"answers: expected the shape of confidence, {sure.shape}, got {said.shape}")
    n, rounds = len(price), Rounds(sure, lost, price, said)
    start = as_count(first, "first", most=n)
    step, width, late = as_count(every, "every"), as_count(window, "window"), as_count(delay, "delay", least=0)
    policy = Stacking(rounds.cut(slice(start)), step, width)
    return policy.play(rounds, np.minimum(np.arange(1, n + 1) + min(late, n), n))


class Totals:
    """For each model and each of its thresholds: how often it answered, and its total loss.

    ``thresholds`` are increasing, one array per model. Each round is counted once, between two of them.
    """

    def __init__(self, thresholds: Sequence[Floats]) -> None:
        self.thresholds = [np.asarray(one) for one in thresholds]
        # Bin k: the confidence is above k of the thresholds.
        self._count, self._lost, self._cost = ([np.zeros(len(one) + 1) for one in thresholds] for _ in range(3))
        self.n = 0

    def add(self, rounds: Rounds) -> None:
        """Add rounds."""
        self.n += len(rounds.cost)
        for model, thresholds in enumerate(self.thresholds):
            above, n = np.searchsorted(thresholds, rounds.confidence[:, model], side="left"), len(thresholds) + 1
            self._count[model] += np.bincount(above, minlength=n)
            self._lost[model] += np.bincount(above, rounds.losses[:, model], n)
            self._cost[model] += np.bincount(above, rounds.cost, n)

    def answered(self, model: int) -> tuple[Ints, Floats]:
        """For each threshold of a model: the rounds above it, and their losses."""
        return _above(self._count[model]).astype(np.int64), _above(self._lost[model])

    def sums(self, model: int) -> Floats:
        """The total loss of each threshold of a model: losses above it, costs of the other rounds."""
        return _above(self._lost[model]) + np.cumsum(self._cost[model])[:-1]

    def total(self, model: int, threshold: float) -> float:
        """The total loss of a model with one of its thresholds."""
        return float(self.sums(model)[np.searchsorted(self.thresholds[model], threshold)])

    def best(self) -> tuple[int, float, float]:
        """The best model, its threshold and their total loss; among equals the first model, then the lowest threshold.

        >>> totals = Totals([np.array([-np.inf, 0.5])])
        >>> totals.add(Rounds(np.array([[0.9], [0.4]]), np.array([[0.0], [1.0]]), np.array([0.25, 0.25])))
        >>> totals.best()
        (0, 0.5, 0.25)
        """
        return _least((thresholds, self.sums(model)) for model, thresholds in enumerate(self.thresholds))


def _above(bins: Floats) -> Floats:
    """For each threshold the sum of the bins above it."""
    return np.cumsum(bins[::-1])[::-1][1:]


__all__ = ["Played", "Retuned", "Tuned", "hindsight", "retuned", "stacked", "tuned"]
