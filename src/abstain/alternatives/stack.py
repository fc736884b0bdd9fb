"""A stack: a logistic regression on what all models say, fitted again at regular intervals, and Chow's rule."""

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_count, as_floats
from ..capacity import Capacity
from ..errors import InputError
from ..kernels.compiling import inline, kernel
from ..typing import Bools, Floats, Ints
from .renewed import EVERY, WINDOW, Renewed, Retuned
from .thresholds import Rounds, as_rounds

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
        told = np.asarray((rounds.risks > 0.0).all(axis=1))
        rounds = rounds if told.all() else rounds.cut(told)
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
