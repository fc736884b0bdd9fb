"""Independent rounds in which the best expert is good where the others abstain: who follows them never sees it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import losses
from .._core.validation import MOST, as_count, as_seed, as_share
from ..experts import ExpertSet, from_columns, thresholds
from ..typing import Floats, Ints
from .stochastic import Problem


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


_LEFT, _ERRS, _DOUBTS = 0.6, 0.4, 0.5


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
        first = np.where(~on_left & (rng.random(len(y)) < _ERRS), -y, y)
        second = np.where(on_left & (rng.random(len(y)) < _DOUBTS), -y, y)
        return np.column_stack([0.75 * first, np.where(on_left, 0.25, 0.75) * second])

    sure = [_ERRS * (1.0 - _LEFT)] * n_thresholds
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
        return np.asarray(confidence * np.where(~on_left & (rng.random(len(y)) < _ERRS), -y, y))[:, np.newaxis]

    hidden = np.clip(2.0 * levels, 0.0, 1.0), np.clip(2.0 * levels - 1.0, 0.0, 1.0)
    means = _LEFT * hidden[0] * cost + (1.0 - _LEFT) * (hidden[1] * cost + (1.0 - hidden[1]) * _ERRS)
    return _hidden(thresholds(1, levels), cost, means.tolist(), spoilt, inputs)
