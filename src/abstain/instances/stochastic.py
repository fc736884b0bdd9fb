"""Independent draws on which the instance's own graph misleads (section 4.1, appendix C.3)."""

from dataclasses import dataclass

import numpy as np

from .. import losses
from ..experts import ExpertSet, from_columns
from ..tables import MOST, as_count, as_number, as_seed, as_share
from ..typing import Floats, Ints


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

    def regime(self, n: int) -> Ints:
        """The regime of each round (n,): there is but one."""
        return np.zeros(as_count(n, "n", least=0, most=MOST), np.int64)


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
    left, cost, blue_left = as_share(left, "left"), as_share(cost, "cost"), as_share(blue_left, "blue_left")
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
