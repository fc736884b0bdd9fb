"""Streams in which the best expert changes (section 3) or hides.

It hides in independent rounds where it is good while the others abstain: who follows them never sees it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import losses
from .._core.validation import MOST, as_count, as_seed, as_share
from ..experts import ExpertSet, from_columns, thresholds
from ..typing import Floats, Ints
from .stochastic import Problem


@dataclass(frozen=True, eq=False)
class Stream:
    """A sequence of regimes, to be played with these experts, this cost and this loss.

    Within a regime rounds are independent; which regime a round belongs to is not random.
    """

    experts: ExpertSet
    """The experts to learn with."""
    cost: float
    """The cost of abstaining."""
    loss: losses.Loss
    """The loss of a prediction."""
    errs: Floats
    """The probability that each predictor errs, in each regime (R, P)."""
    abstains: Floats
    """The probability that each rule abstains, in each regime (R, A); if a rule abstains, so do all rules with a larger
    probability."""
    _regime: Callable[[Ints, int], Ints]

    def regime(self, n: int) -> Ints:
        """Return the regime of each round.

        Args:
            n: The number of rounds.

        Returns:
            The regimes (n,), counted from 0.
        """
        n = as_count(n, "n", least=0, most=MOST)
        return self._regime(np.arange(n), n)

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Draw rounds.

        Args:
            n: The number of rounds.
            seed: The seed of the draw.

        Returns:
            The inputs of the experts X (n, d) and the labels y (n,).

        Raises:
            InputError: ``n`` is not a number of rounds, or too large.
        """
        n, rng = as_count(n, "n", least=0, most=MOST), np.random.default_rng(as_seed(seed))
        y, regime = rng.choice([-1.0, 1.0], n), self.regime(n)
        errs = rng.random((n, self.errs.shape[1])) < self.errs[regime]
        scores = np.where(errs, -y[:, np.newaxis], y[:, np.newaxis])
        return np.hstack([scores, np.where(rng.random((n, 1)) < self.abstains[regime], -1.0, 1.0)]), y


_ERRS, _ABSTAINS = np.linspace(0.05, 0.5, 10), np.linspace(0.0, 0.8, 5)


def _stream(cost: float, errs: Floats, abstains: Floats, regime: Callable[[Ints, int], Ints]) -> Stream:
    return Stream(from_columns(10, 5), as_share(cost, "cost"), losses.ZeroOne(), errs, abstains, regime)


def _reversing(cost: float, regime: Callable[[Ints, int], Ints]) -> Stream:
    """Make a stream in which the order of predictors and rules is reversed in regime 1."""
    return _stream(cost, np.stack([_ERRS, _ERRS[::-1]]), np.stack([_ABSTAINS, _ABSTAINS[::-1]]), regime)


def switching(cost: float = 0.2) -> Stream:
    """Make ten predictors times five rules; half way through the best predictor becomes the worst, and so do the rules.

    The predictors err with probabilities from 0.05 to 0.5, the rules abstain with probabilities from 0 to 0.8.

    Args:
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> X, y = switching().draw(1000, seed=0)
    >>> [(X[half, 0] != y[half]).mean() < 0.2 for half in (slice(500), slice(500, None))]
    [np.True_, np.False_]
    """
    return _reversing(cost, lambda t, n: (t / n >= 0.5).astype(np.int64))


def alternating(length: int = 500, cost: float = 0.2) -> Stream:
    """Make a stream like `switching` that switches back and forth.

    Args:
        length: The number of rounds between two switches.
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> alternating(length=2).regime(7)
    array([0, 0, 1, 1, 0, 0, 1])
    """
    length = as_count(length, "length")
    return _reversing(cost, lambda t, n: t // length % 2)


def rotating(cost: float = 0.2) -> Stream:
    """Make a stream like `switching` in which, after every twentieth of the game, each predictor and rule takes the
    place of the next one.

    Args:
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> rotating().experts.n_experts
    50
    """
    phase = np.arange(10)[:, np.newaxis]
    errs, abstains = _ERRS[(np.arange(10) + phase) % 10], _ABSTAINS[(np.arange(5) + phase) % 5]
    return _stream(cost, errs, abstains, lambda t, n: (20.0 * (t / n)).astype(np.int64) % 10)


def _inverting(cost: float, regime: Callable[[Ints, int], Ints]) -> Stream:
    """Make a stream in which labels are inverted in regime 1. The last rule always abstains."""
    return _stream(cost, np.stack([_ERRS, 1.0 - _ERRS]), np.tile(np.linspace(0.0, 1.0, 5), (2, 1)), regime)


def flipping(cost: float = 0.2) -> Stream:
    """Make ten predictors times five rules, of which the last always abstains; in the second and fourth fifth of the
    game all labels are inverted, so that every predictor errs in at least half of the rounds.

    Args:
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> flipping().regime(10)
    array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0])
    """
    return _inverting(cost, lambda t, n: (5.0 * (t / n)).astype(np.int64) % 2)


def trap(length: int = 300, cost: float = 0.2) -> Stream:
    """Make a stream like `flipping` with inverted labels only at the start: a learner that learns to abstain, and then
    stops exploring, never finds out that predicting is best from then on.

    Args:
        length: The number of rounds with inverted labels.
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> trap(length=2).regime(5)
    array([1, 1, 0, 0, 0])
    """
    return _inverting(cost, _at_first(length))


def _at_first(length: int) -> Callable[[Ints, int], Ints]:
    """Return the function for regime 1 in the first rounds, then regime 0."""
    length = as_count(length, "length")
    return lambda t, n: (t < length).astype(np.int64)


def late_bloomer(length: int = 200, cost: float = 0.5) -> Stream:
    """Make a choice between predicting and abstaining: expert 0 always predicts, and errs only at the start; expert 1
    always abstains.

    EXP3-ABS learns to abstain, and then predicts so rarely that some runs find out very late: its regret has a heavy
    tail without ``ix`` (`theory.exp3_abs_tail_bound`, and "The tail" in the documentation's guarantees).

    Args:
        length: The number of rounds in which expert 0 errs.
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The stream.

    Raises:
        InputError: An argument is out of range.

    >>> late_bloomer(length=2).regime(5)
    array([1, 1, 0, 0, 0])
    """
    errs, abstains = np.array([[0.0], [1.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    return Stream(from_columns(1, 2), as_share(cost, "cost"), losses.ZeroOne(), errs, abstains, _at_first(length))


@dataclass(frozen=True, eq=False)
class Hidden(Problem):
    """A problem whose best expert is good on inputs that others hide; see `specialists`, `two_models`, `one_model`."""

    spoilt: int
    """The number of rounds at the start whose labels are random."""
    _inputs: Callable[[Floats, np.random.Generator], Floats]

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        width = 2 * self.experts.n_experts
        n, rng = as_count(n, "n", least=0, most=MOST // width), np.random.default_rng(as_seed(seed))
        y = rng.choice([-1.0, 1.0], n)
        X = self._inputs(y, rng)
        spoilt = min(n, self.spoilt)
        y[:spoilt] = rng.choice([-1.0, 1.0], spoilt)
        return X, y

    def regime(self, n: int) -> Ints:
        """Return the regime of each round.

        Args:
            n: The number of rounds.

        Returns:
            1 while labels are spoilt, then 0 (n,).
        """
        return (np.arange(as_count(n, "n", least=0, most=MOST)) < self.spoilt).astype(np.int64)


def _hidden(experts: ExpertSet, cost: float, means: list[float], spoilt: int, inputs: Callable[..., Floats]) -> Hidden:
    spoilt = as_count(spoilt, "spoilt", least=0)
    return Hidden(experts, cost, losses.ZeroOne(), tuple(round(mean, 12) for mean in means), spoilt, inputs)


def specialists(n_experts: int = 2, left: float = 0.6, cost: float = 0.8, spoilt: int = 0) -> Hidden:
    """Make a generalist, expert 0, that is right on the left and wrong on the right, and a specialist, expert 1, that
    abstains on the left and is right on the right. Further experts abstain on the left and err in half of the rounds on
    the right.

    With the defaults the generalist is better (0.4 against 0.48). A learner that follows the specialist sees labels
    only where the generalist is wrong.

    Args:
        n_experts: The number of experts, 2 or more.
        left: The probability of the left side.
        cost: The cost of abstaining, in [0, 1].
        spoilt: The number of rounds at the start whose labels are random.

    Returns:
        The problem. Its ``means`` are those of the rounds that are not spoilt.

    Raises:
        InputError: An argument is out of range.

    >>> specialists(3).means
    (0.4, 0.48, 0.68)
    """
    n_experts = as_count(n_experts, "n_experts", least=2, most=1_000)
    left, cost = as_share(left, "left"), as_share(cost, "cost")

    def inputs(y: Floats, rng: np.random.Generator) -> Floats:
        on_left, n = rng.random(len(y)) < left, len(y)
        scores, margins = np.tile(y[:, np.newaxis], (1, n_experts)), np.ones((n, n_experts))
        scores[~on_left, 0] *= -1.0
        scores[:, 2:] *= rng.choice([-1.0, 1.0], (n, n_experts - 2))
        margins[on_left, 1:] = -1.0
        return np.hstack([scores, margins])

    right = 1.0 - left
    means = [right, left * cost, *[left * cost + right / 2.0] * (n_experts - 2)]
    return _hidden(from_columns(n_experts, n_experts, "aligned"), cost, means, spoilt, inputs)


_LEFT, _SURE_ERRS, _DOUBTS = 0.6, 0.4, 0.5


def two_models(n_thresholds: int = 2, cost: float = 0.3, spoilt: int = 0) -> Hidden:
    """Make two models with thresholds from -0.01 to 0.5. The first is always sure (0.75), never wrong on the left and
    wrong in two of five rounds on the right. The second is right and sure on the right; on the left it is unsure (0.25)
    and guesses.

    With the defaults it is best to follow the first model always (0.16). Next best is the second one where it is sure
    (0.18), and it hides the left side, six of ten rounds, where the first model is never wrong.

    Args:
        n_thresholds: The number of thresholds of each model, 2 or more.
        cost: The cost of abstaining, in [0, 1].
        spoilt: The number of rounds at the start whose labels are random.

    Returns:
        The problem. Its ``means`` are those of the rounds that are not spoilt.

    Raises:
        InputError: An argument is out of range.

    >>> two_models().means
    (0.16, 0.16, 0.3, 0.18)
    """
    cost, n_thresholds = as_share(cost, "cost"), as_count(n_thresholds, "n_thresholds", least=2, most=1_000)
    levels = np.linspace(-0.01, 0.5, n_thresholds)

    def inputs(y: Floats, rng: np.random.Generator) -> Floats:
        on_left = rng.random(len(y)) < _LEFT
        first = np.where(~on_left & (rng.random(len(y)) < _SURE_ERRS), -y, y)
        second = np.where(on_left & (rng.random(len(y)) < _DOUBTS), -y, y)
        return np.column_stack([0.75 * first, np.where(on_left, 0.25, 0.75) * second])

    sure = [_SURE_ERRS * (1.0 - _LEFT)] * n_thresholds
    unsure = [_LEFT * (_DOUBTS if level < 0.25 else cost) for level in levels]
    return _hidden(thresholds(2, levels), cost, [*sure, *unsure], spoilt, inputs)


def one_model(n_thresholds: int = 20, cost: float = 0.3, spoilt: int = 0) -> Hidden:
    """Make one model with thresholds from -0.01 to 0.95 whose confidence misleads: on the left, in six of ten rounds,
    it is never wrong and its confidence is uniform in [0, 0.5]; on the right it is wrong in two of five rounds, with a
    confidence in [0.5, 1].

    It is best to follow it always (0.16); every larger threshold hides some of what it is good at.

    Args:
        n_thresholds: The number of thresholds, 2 or more.
        cost: The cost of abstaining, in [0, 1].
        spoilt: The number of rounds at the start whose labels are random.

    Returns:
        The problem. Its ``means`` are those of the rounds that are not spoilt.

    Raises:
        InputError: An argument is out of range.

    >>> one_model(3).means
    (0.16, 0.3292, 0.304)
    """
    cost, n_thresholds = as_share(cost, "cost"), as_count(n_thresholds, "n_thresholds", least=2, most=1_000)
    levels = np.linspace(-0.01, 0.95, n_thresholds)

    def inputs(y: Floats, rng: np.random.Generator) -> Floats:
        on_left = rng.random(len(y)) < _LEFT
        confidence = np.where(on_left, 0.0, 0.5) + 0.5 * rng.random(len(y))
        return np.asarray(confidence * np.where(~on_left & (rng.random(len(y)) < _SURE_ERRS), -y, y))[:, np.newaxis]

    hidden = np.clip(2.0 * levels, 0.0, 1.0), np.clip(2.0 * levels - 1.0, 0.0, 1.0)
    means = _LEFT * hidden[0] * cost + (1.0 - _LEFT) * (hidden[1] * cost + (1.0 - hidden[1]) * _SURE_ERRS)
    return _hidden(thresholds(1, levels), cost, means.tolist(), spoilt, inputs)
