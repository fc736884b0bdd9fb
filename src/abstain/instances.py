"""Small problems to be played: where the instance's own graph misleads (section 4.1, appendix C.3), and streams whose
best expert changes (section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import losses
from .errors import InputError, shown
from .experts import ExpertSet, from_columns
from .tables import MOST, as_count, as_number, as_seed, as_table
from .typing import Floats


def _as_share(value: Any, name: str) -> float:
    return as_number(value, name, "a number in [0, 1]", lambda share: 0.0 <= share <= 1.0)


@dataclass(frozen=True, eq=False)
class Instance:
    """A stochastic problem: draw a stream, give it to learners on these experts with this cost and loss."""

    experts: ExpertSet
    cost: float
    loss: losses.Loss
    means: tuple[float, ...]
    """The expected loss of each expert."""
    values: Floats
    """The rounds there are: predictions and margins for the experts, and the label last."""
    probabilities: Floats
    """Of each of them."""

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Independent rounds: X (n, d) for the experts, y (n,)."""
        n = as_count(n, "n", least=0, most=MOST)
        rows = np.random.default_rng(as_seed(seed)).choice(len(self.values), n, p=self.probabilities)
        return np.ascontiguousarray(self.values[rows, :-1]), self.values[rows, -1]


# A row: predictions of the experts, margins of their rules, label. A prediction agrees with the label +1 or not.
def bias_problem(left: float = 0.52, cost: float = 0.9, blue_left: float = 0.8) -> Instance:
    """Two experts on [0, 1] (figure 3): red (expert 0) is better on the left half, but abstains on the right; blue is
    expert 1.

    On the left, which has probability ``left``, red never errs and blue errs with probability ``blue_left``; on the
    right red pays the cost and blue never errs. With the numbers here blue is better (0.416 against 0.432), but
    UCB-NT on the instance's own graph mostly ends with red: choosing red on the right hides blue's good side.

    >>> bias_problem().means
    (0.432, 0.416)
    """
    left, cost, blue_left = _as_share(left, "left"), _as_share(cost, "cost"), _as_share(blue_left, "blue_left")
    values = np.array([[1, -1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, -1, 1, 1]], np.float64)
    probabilities = np.array([left * blue_left, left * (1.0 - blue_left), 1.0 - left])
    experts = from_columns(2, 2, "aligned", rule_subset=np.array([[True, False], [True, True]]))
    means = (round(cost * (1.0 - left), 12), round(left * blue_left, 12))
    return Instance(experts, cost, losses.ZeroOne(), means, values, probabilities)


def proposition_1(p: float = 0.99, cost: float = 0.9) -> Instance:
    """The construction behind proposition 1 (appendix C.3): expert 0 is better, expert 1 hides it by abstaining.

    With probability p the input is x~, where both predict with hinge losses ``c - beta`` and ``c - alpha``; else it
    is x*, where expert 0 has loss 0 and expert 1 abstains; ``alpha = c (1-p) / (2p)`` and ``beta = c (1-p) / 4``. The
    proof asks for p so close to 1 that the first n inputs are likely all x~, but n depends on alpha and beta, and so
    on p: whether a run is trapped has to be tried. Of 200 runs of 100,000 rounds on the instance's own graph, more than
    half follow expert 1 for over 90 % of their second half with the p and cost here, hardly any with p = 0.9, c = 0.5.

    >>> proposition_1().means[0] < proposition_1().means[1]
    True
    """
    p = as_number(p, "p", "a number in (1/2, 1)", lambda share: 0.5 < share < 1.0)
    cost = as_number(cost, "cost", "a number in (0, 1)", lambda share: 0.0 < share < 1.0)
    alpha, beta = cost * (1.0 - p) / (2.0 * p), cost * (1.0 - p) / 4.0
    values = np.array([[1.0 - cost + beta, 1.0 - cost + alpha, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, -1.0, 1.0]])
    experts = from_columns(2, 2, "aligned", rule_subset=np.array([[True, True], [False, True]]))
    means = ((cost - beta) * p, cost - alpha * p)
    return Instance(experts, cost, losses.Hinge(), means, values, np.array([p, 1.0 - p]))


@dataclass(frozen=True, eq=False)
class Stream:
    """A sequence that is not independent draws, for learners on these experts with this cost and loss."""

    experts: ExpertSet
    cost: float
    loss: losses.Loss
    _rates: Callable[[Floats], tuple[Floats, Floats]]

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Rounds: X (n, d) for the experts, y (n,)."""
        n, rng = as_count(n, "n", least=0, most=MOST), np.random.default_rng(as_seed(seed))
        y = rng.choice([-1.0, 1.0], n)
        errs, abstains = self._rates(np.arange(n) / n)
        scores = np.where(rng.random(errs.shape) < errs, -y[:, np.newaxis], y[:, np.newaxis])
        return np.hstack([scores, np.where(rng.random((n, 1)) < abstains, -1.0, 1.0)]), y


_ERRS, _ABSTAINS = np.linspace(0.05, 0.5, 10), np.linspace(0.0, 0.8, 5)


def switching(cost: float = 0.2) -> Stream:
    """Ten predictors times five rules; half way the best predictor becomes the worst, and so do the rules.

    The predictors err with probabilities from 0.05 to 0.5, the rules abstain with probabilities from 0 to 0.8.

    >>> X, y = switching().draw(1000, seed=0)
    >>> [(X[half, 0] != y[half]).mean() < 0.2 for half in (slice(500), slice(500, None))]
    [np.True_, np.False_]
    """

    def rates(time: Floats) -> tuple[Floats, Floats]:
        late = (time >= 0.5)[:, np.newaxis]
        return np.where(late, _ERRS[::-1], _ERRS), np.where(late, _ABSTAINS[::-1], _ABSTAINS)

    return Stream(from_columns(10, 5), _as_share(cost, "cost"), losses.ZeroOne(), rates)


def rotating(cost: float = 0.2) -> Stream:
    """As `switching`, but every twentieth of the game each predictor and rule takes the place of the next one.

    >>> rotating().experts.n_experts
    50
    """

    def rates(time: Floats) -> tuple[Floats, Floats]:
        phase = (20.0 * time).astype(np.int64)[:, np.newaxis]
        return _ERRS[(np.arange(10) + phase) % 10], _ABSTAINS[(np.arange(5) + phase) % 5]

    return Stream(from_columns(10, 5), _as_share(cost, "cost"), losses.ZeroOne(), rates)


@dataclass(frozen=True)
class Lipschitz:
    """Inputs in [-1, 1]^d whose label leans to one side by a Lipschitz function of them; see `lipschitz`."""

    dim: int
    cost: float

    def lean(self, X: Floats) -> Floats:
        """The difference of the probabilities of +1 and -1 (n,)."""
        table = as_table(X, self.dim)
        if np.abs(table).max() > 1.0:
            raise InputError(f"X: expected inputs in [-1, 1], got {shown(X)}")
        return self._lean(table)

    def _lean(self, X: Floats) -> Floats:
        return np.asarray(np.sin(3.0 * X).mean(axis=1))

    def expected(self, X: Floats) -> Floats:
        """The expected loss of predicting +1, predicting -1 and abstaining on each input (3, n)."""
        lean = self.lean(X)
        return np.stack([(1.0 - lean) / 2.0, (1.0 + lean) / 2.0, np.full(len(lean), self.cost)])

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Independent rounds: X (n, d) uniform, y (n,)."""
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        X = rng.uniform(-1.0, 1.0, (n, self.dim))
        return X, np.where(rng.random(n) < (1.0 + self._lean(X)) / 2.0, 1.0, -1.0)


def lipschitz(dim: int, cost: float = 0.3) -> Lipschitz:
    """A problem for ContEXP3-ABS: ``P[y = 1 | x] = (1 + mean_k sin(3 x_k)) / 2``, x uniform in [-1, 1]^d.

    >>> problem = lipschitz(2)
    >>> X, y = problem.draw(4, seed=0)
    >>> problem.expected(X).shape
    (3, 4)
    """
    return Lipschitz(as_count(dim, "dim", most=MOST), _as_share(cost, "cost"))
