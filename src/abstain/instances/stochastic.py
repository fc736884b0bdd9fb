"""Problems with independent rounds: lower bounds, biased graphs, and problems for ContEXP3-ABS."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import graphs, losses
from .._core.validation import MOST, as_count, as_floats, as_number, as_seed, as_share, as_table
from ..errors import InputError, shown
from ..experts import ExpertSet, from_columns
from ..typing import Floats, Ints


def difference(gap: float) -> float:
    """Return the relative entropy of errors with probability 1/2 and 1/2 - gap: what one loss tells."""
    return -0.5 * math.log1p(-4.0 * gap * gap)


def as_gap(gap: float) -> float:
    """Check by how much the best expert's error probability lies below 1/2."""
    return as_number(gap, "gap", "a number in [1e-6, 1/2)", lambda one: 1e-6 <= one < 0.5)


def misled_share(rounds: float, groups: int, heard: float) -> float:
    """Return a lower bound on the share of rounds that go to wrong groups, averaged over which group is best.

    ``heard`` is what choosing the best group tells, as a relative entropy. Without a best expert each group would be
    chosen in 1/m of the rounds on average; by Pinsker's inequality the choices differ from these in a share of at most
    ``sqrt(heard T / (2 m))`` of the rounds.
    """
    return max(0.0, 1.0 - 1.0 / groups - math.sqrt(heard * rounds / (2.0 * groups)))


@dataclass(frozen=True, eq=False)
class Problem(ABC):
    """A problem with independent rounds: draw some, and play them with these experts, this cost and this loss.

    A problem of your own is a subclass with `draw`; a function that makes one can be named in a study.
    """

    experts: ExpertSet
    """The experts to learn with."""
    cost: float
    """The cost of abstaining."""
    loss: losses.Loss
    """The loss of a prediction."""
    means: tuple[float, ...]
    """The expected loss of each expert."""

    @abstractmethod
    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Draw independent rounds.

        Args:
            n: The number of rounds.
            seed: The seed of the draw.

        Returns:
            The inputs of the experts X (n, d) and the labels y (n,).

        Raises:
            InputError: ``n`` is not a number of rounds, or too large.
        """

    def regime(self, n: int) -> Ints:
        """Return the regime of each round.

        Args:
            n: The number of rounds.

        Returns:
            Zeros (n,), because there is only one regime.
        """
        return np.zeros(as_count(n, "n", least=0, most=MOST), np.int64)


@dataclass(frozen=True, eq=False)
class Cliques(Problem):
    """Groups of experts, and the graph in which each group sees itself; see `cliques`."""

    graph: graphs.FeedbackGraph
    """The graph of disjoint cliques."""
    groups: int
    """m, the number of groups."""
    gap: float
    """By how much the best expert errs less often."""

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        K = self.experts.n_experts
        n, rng = as_count(n, "n", least=0, most=MOST // (2 * K)), np.random.default_rng(as_seed(seed))
        y = rng.choice([-1.0, 1.0], n)
        errs = rng.random((n, K)) < np.array(self.means)
        return np.hstack([np.where(errs, -y[:, np.newaxis], y[:, np.newaxis]), np.ones((n, 1))]), y

    @property
    def rate(self) -> float:
        """The regret of a learner that sees only its group's losses is at least ``rate log T`` in the end, if it is
        below every power of T on all such problems (Lai and Robbins 1985; for graphs Caron et al. 2012).
        """
        return (self.groups - 1) * self.gap / difference(self.gap)

    def least(self, n: int) -> float:
        """Bound from below the regret of *any* learner that sees only its group's losses, averaged over which group has
        the best expert. It is largest for a gap of about ``(1 - 1/m) sqrt(m / n) / 2``.

        Args:
            n: The number of rounds.

        Returns:
            The bound.

        Raises:
            InputError: ``n`` is not a number of rounds.
        """
        n = as_count(n, "n", least=0)
        return self.gap * n * misled_share(n, self.groups, difference(self.gap))


def cliques(groups: int, size: int, gap: float, best: int = 0) -> Cliques:
    """Make m groups of experts; each expert shows the losses of its own group and of no other.

    All experts always predict and err in half of the rounds, independently, except for the first of the group
    ``best``, which errs less by ``gap``. To find it, a learner has to look at every group, however large the groups
    are: theorem 3's sum over the sets of a covering is at least of the order ``(m - 1) log T / gap`` for learners that
    see only what this graph shows (``UCBNT(graph=problem.graph)``; `UCB` and `Exp3` see less). In the abstention game
    every prediction shows all losses; `regions` is what remains of the lower bound there.

    Args:
        groups: m, the number of groups.
        size: The number of experts in each group.
        gap: By how much the best expert errs less often, in [1e-6, 1/2).
        best: The group of the best expert.

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

    >>> problem = cliques(5, 3, gap=0.1)
    >>> problem.experts.n_experts, round(problem.rate, 1), round(problem.least(100), 2)
    (15, 19.6, 3.48)
    """
    groups, size = as_count(groups, "groups", least=2, most=10_000), as_count(size, "size", most=10_000)
    gap, best = as_gap(gap), as_count(best, "best", least=0, most=groups - 1)
    n_experts = as_count(groups * size, "groups * size", most=10_000)
    means = np.full(n_experts, 0.5)
    means[best * size] -= gap
    group = np.arange(n_experts) // size
    return Cliques(
        experts=from_columns(n_experts, 1, rule_subset=[[True]]),
        cost=1.0,
        loss=losses.ZeroOne(),
        means=tuple(means.tolist()),
        graph=graphs.fixed(group[:, np.newaxis] == group),
        groups=groups,
        gap=gap,
    )


@dataclass(frozen=True, eq=False)
class Regions(Problem):
    """Regions of inputs, and rules that accept one region each; see `regions`."""

    gap: float
    """By how much the best expert errs less often in its region."""
    best: int
    """The region of the best expert."""

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        P, m = self.experts.n_predictors, self.experts.n_rules
        n, rng = as_count(n, "n", least=0, most=MOST // (P + m)), np.random.default_rng(as_seed(seed))
        y, region = rng.choice([-1.0, 1.0], n), rng.integers(0, m, n)[:, np.newaxis]
        error = np.where((region == self.best) & (np.arange(P) == 0), 0.5 - self.gap, 0.5)
        scores = np.where(rng.random((n, P)) < error, -y[:, np.newaxis], y[:, np.newaxis])
        return np.hstack([scores, np.where(region == np.arange(m), 1.0, -1.0)]), y

    def least(self, n: int) -> float:
        """Bound from below the regret of any learner that chooses without looking at x, averaged over which region is
        the best one. It is largest for a gap of about ``(m - 1) / (2 sqrt(n))``.

        Args:
            n: The number of rounds.

        Returns:
            The bound.

        Raises:
            InputError: ``n`` is not a number of rounds.
        """
        n, m = as_count(n, "n", least=0), self.experts.n_rules
        return self.gap / m * n * misled_share(n, m, difference(self.gap) / m)


def regions(n_regions: int, size: int, gap: float, best: int = 0, cost: float = 0.5) -> Regions:
    """Make m equally likely regions; rule a predicts only in region a, and all predictors go with every rule.

    All predictors err in half of the rounds, except for the first one in the region ``best``, which errs less by
    ``gap``. A learner sees labels only from the region of the expert it follows, so G^SUB is m disjoint cliques, one
    per rule, and nothing more can be known: the lower bound for graphs within the abstention game. But a region has
    only 1/m of the rounds, so the best expert leads by ``gap / m``. The forced regret is of the order ``sqrt(T)``,
    without the factor ``sqrt(m)`` of `cliques`, for which theorem 1 leaves no room.

    Args:
        n_regions: m, the number of regions and rules.
        size: The number of predictors.
        gap: By how much the best expert errs less often in its region, in [1e-6, 1/2).
        best: The region of the best expert.
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

    >>> problem = regions(4, 3, gap=0.1)
    >>> problem.experts.n_experts, round(problem.least(100), 2)
    (12, 1.24)
    """
    m, size = as_count(n_regions, "n_regions", least=2, most=10_000), as_count(size, "size", most=10_000)
    gap, best, cost = as_gap(gap), as_count(best, "best", least=0, most=m - 1), as_share(cost, "cost")
    as_count(m * size, "n_regions * size", most=MOST)
    means = np.full((size, m), cost * (1.0 - 1.0 / m) + 0.5 / m)
    means[0, best] -= gap / m
    experts = from_columns(size, m, rule_subset=np.eye(m, dtype=np.bool_))
    return Regions(experts, cost, losses.ZeroOne(), tuple(means.ravel().tolist()), gap, best)


@dataclass(frozen=True)
class Lipschitz:
    """Inputs in [-1, 1]^d; the label leans to one side by a Lipschitz function of the input; see `lipschitz`."""

    dim: int
    """d, the number of features."""
    cost: float
    """The cost of abstaining."""

    def lean(self, X: Floats) -> Floats:
        """Compute the difference of the probabilities of +1 and -1.

        Args:
            X: Inputs in [-1, 1] (n, d).

        Returns:
            The differences (n,).

        Raises:
            InputError: The inputs have another shape or range.
        """
        table = as_table(X, self.dim)
        if np.abs(table).max() > 1.0:
            raise InputError(f"X: expected inputs in [-1, 1], got {shown(X)}")
        return self._lean(table)

    def _lean(self, X: Floats) -> Floats:
        return np.asarray(np.sin(3.0 * X).mean(axis=1))

    def expected(self, X: Floats) -> Floats:
        """Compute the expected loss of predicting +1, of predicting -1 and of abstaining.

        Args:
            X: Inputs in [-1, 1] (n, d).

        Returns:
            The expected losses (3, n).

        Raises:
            InputError: The inputs have another shape or range.
        """
        lean = self.lean(X)
        return np.stack([(1.0 - lean) / 2.0, (1.0 + lean) / 2.0, np.full(len(lean), self.cost)])

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Draw independent rounds.

        Args:
            n: The number of rounds.
            seed: The seed of the draw.

        Returns:
            Uniform inputs X (n, d) and labels y (n,).

        Raises:
            InputError: ``n`` is not a number of rounds, or too large.
        """
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        X = rng.uniform(-1.0, 1.0, (n, self.dim))
        return X, np.where(rng.random(n) < (1.0 + self._lean(X)) / 2.0, 1.0, -1.0)


def lipschitz(dim: int, cost: float = 0.3) -> Lipschitz:
    """Make a problem for ContEXP3-ABS: ``P[y = 1 | x] = (1 + mean_k sin(3 x_k)) / 2``, x uniform in [-1, 1]^d.

    Args:
        dim: d, the number of features.
        cost: The cost of abstaining, in [0, 1].

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

    >>> problem = lipschitz(2)
    >>> X, y = problem.draw(4, seed=0)
    >>> problem.expected(X).shape
    (3, 4)
    """
    return Lipschitz(as_count(dim, "dim", most=MOST), as_share(cost, "cost"))


@dataclass(frozen=True, eq=False)
class Instance(Problem):
    """A problem with a few possible rounds, each with its probability."""

    values: Floats
    """The possible rounds, one per row: predictions, margins and, last, the label."""
    probabilities: Floats
    """The probability of each of these rounds."""

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        n = as_count(n, "n", least=0, most=MOST)
        rows = np.random.default_rng(as_seed(seed)).choice(len(self.values), n, p=self.probabilities)
        return np.ascontiguousarray(self.values[rows, :-1]), self.values[rows, -1]


# One row: predictions of the experts, margins of their rules, label. A prediction agrees with the label +1 or not.
def bias_problem(left: float = 0.52, cost: float = 0.9, blue_left: float = 0.8) -> Instance:
    """Make two experts on [0, 1] (figure 3): red, expert 0, is better on the left but abstains on the right; blue is
    expert 1.

    On the left red never errs and blue errs with probability ``blue_left``; on the right red pays the cost and blue
    never errs. With the defaults blue is better (0.416 against 0.432), but UCB-NT on the instance's own graph mostly
    ends with red: choosing red on the right hides blue's good side.

    Args:
        left: The probability of the left side.
        cost: The cost of abstaining, in [0, 1].
        blue_left: The probability that blue errs on the left.

    Returns:
        The problem.

    Raises:
        InputError: An argument is not in [0, 1].

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
    """Make the construction behind proposition 1 (appendix C.3): expert 0 is better, expert 1 hides it by abstaining.

    With probability p the input is x~, and both predict with hinge losses ``c - beta`` and ``c - alpha``; else it is
    x*, and expert 0 has loss 0 while expert 1 abstains; ``alpha = c (1-p) / (2p)`` and ``beta = c (1-p) / 4``. The
    printed proof needs p so close to 1 that the first n inputs are likely all x~, but its n depends on p: it gives no
    probability above 3e-6. The documentation has another proof (`UCBNT` on the instance's own graph follows expert 1
    for ever with a probability as near to 1 as one likes, for p near enough to 1), which says nothing of a given p. Of
    200 runs of 100,000 rounds, more than half follow expert 1 in over 90 % of their second half with the defaults,
    hardly any with p = 0.9, c = 0.5.

    Args:
        p: The probability of x~, in (1/2, 1).
        cost: The cost of abstaining, in (0, 1).

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

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


def simple_example(mixed: float = 0.4, cost: float = 0.2, pieces: int = 20) -> Instance:
    """Make the example of figure 6: on the left of a border labels are mixed, on the right all are +1.

    The input is uniform on [0, 1], here on the middles of equal pieces. Predictors are the thresholds
    ``sign(x - theta)``, rules abstain up to rho; theta and rho are any border between pieces, and a last rule never
    abstains (expert ``k (n + 1) + n`` is the threshold k alone, of n = pieces + 1). The best threshold errs on half of
    the mixed part, P/2, and the best pair abstains on it, c P, which is less for every c below 1/2.

    Args:
        mixed: P, the probability of the part with mixed labels; a multiple of ``1 / pieces``, in (0, 1).
        cost: The cost of abstaining, in [0, 1].
        pieces: The number of pieces of the line, 2 to 1,000.

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

    >>> problem = simple_example(mixed=0.4, cost=0.2)
    >>> problem.experts.n_experts, round(min(problem.means), 6), round(min(problem.means[21::22]), 6)
    (462, 0.08, 0.2)
    """
    cost, pieces = as_share(cost, "cost"), as_count(pieces, "pieces", least=2, most=1000)
    mixed = as_number(
        mixed, "mixed", f"a multiple of 1/{pieces} in (0, 1)",
        lambda share: 0.0 < share < 1.0 and abs(share * pieces - round(share * pieces)) < 1e-9,
    )  # fmt: skip
    border = np.arange(pieces + 1) / pieces
    x = np.repeat((border[:-1] + border[1:]) / 2.0, 2)  # every piece twice: with both labels, or with +1
    y = np.where((x < mixed) & (np.arange(len(x)) % 2 == 1), -1.0, 1.0)
    scores = x[:, np.newaxis] - border
    margins = np.hstack([scores, np.ones((len(x), 1))])
    wrong, silent = (y[:, np.newaxis] * scores <= 0.0).astype(np.float64), margins <= 0.0
    means = (wrong.T @ ~silent + cost * silent.sum(axis=0)) / len(x)
    until = np.append(border, 0.0)
    experts = from_columns(len(border), len(until), rule_subset=until[:, np.newaxis] <= until)
    values, chances = np.hstack([scores, margins, y[:, np.newaxis]]), np.full(len(x), 1.0 / len(x))
    return Instance(experts, cost, losses.ZeroOne(), tuple(means.ravel().tolist()), values, chances)


@dataclass(frozen=True)
class RandomLabels:
    """Inputs on a grid in [-1, 1]^d, each once, with random labels; see `random_labels`."""

    dim: int
    """d, the number of features."""
    gamma: float
    """The width of the ramp loss."""
    lipschitz: float
    """L, the Lipschitz constant of the functions to compete with."""
    cost: float
    """The cost of abstaining."""

    def side(self, n: int) -> int:
        """Return the number of points per side of the grid.

        Args:
            n: The number of rounds.

        Returns:
            The least s with s^d at least n.
        """
        n = as_count(n, "n", least=0, most=MOST)
        side = max(1, int(n ** (1.0 / self.dim)) - 1)  # one less, because the root is rounded
        while side**self.dim < n:
            side += 1
        return side

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Draw rounds.

        Args:
            n: The number of rounds.
            seed: The seed of the draw.

        Returns:
            Inputs X (n, d), all different, and labels y (n,).

        Raises:
            InputError: ``n`` is not a number of rounds, or too large.
        """
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        side = self.side(n)
        points = rng.choice(side**self.dim, n, replace=False)
        places = points[:, np.newaxis] // side ** np.arange(self.dim) % side
        return (2.0 * places + 1.0) / side - 1.0, rng.choice([-1.0, 1.0], n)

    def best(self, y: ArrayLike) -> Floats:
        """Compute the scores of the function of the class that knows all labels: always r = 1, and ``h = y a``.

        Inputs are ``2 / s`` apart, so some L-Lipschitz function has the values ``a = min(1, L / s)`` and -a.

        Args:
            y: The labels of all rounds (n,).

        Returns:
            The scores (n,).

        Raises:
            InputError: A label is not -1 or 1.
        """
        labels = as_floats(y, "y")
        if labels.ndim != 1 or not (np.abs(labels) == 1.0).all():
            raise InputError(f"y: expected labels -1 and 1, one per round, got {shown(y)}")
        return labels * min(1.0, self.lipschitz / self.side(len(labels)))

    def best_loss(self, n: int) -> float:
        """Return the total ramp loss of the function of `best`.

        Args:
            n: The number of rounds.

        Returns:
            ``(gamma - a) / (2 gamma)`` times n.
        """
        n = as_count(n, "n", least=0, most=MOST)
        return n / 2.0 - self.least(n)

    def least(self, n: int) -> float:
        """Bound from below the expected regret of any learner: ``min(a, gamma) / (2 gamma) n``.

        Every learner loses at least 1/2 per round; the function of `best` loses less.

        Args:
            n: The number of rounds.

        Returns:
            The bound.

        Raises:
            InputError: ``n`` is not a number of rounds.
        """
        height = min(1.0, self.lipschitz / self.side(n), self.gamma)
        return n * height / (2.0 * self.gamma)


def random_labels(dim: int, gamma: float = 0.25, lipschitz: float = 1.0, cost: float = 0.5) -> RandomLabels:
    """Make a problem for the lower bound ``T^((d-1)/d)`` for Lipschitz functions (after Hazan and Megiddo 2007).

    Labels are random, so predicting loses 1/2 on average, and abstaining costs no less. No input comes twice, and none
    is close to another: some L-Lipschitz function h leans towards every label by ``L / s``, with ``s = T^(1/d)`` points
    per side. It loses less than 1/2 by ``L / (2 gamma s)`` in every round (ramp loss), in total
    ``L / (2 gamma) T^((d-1)/d)``. This holds for every learner, even if all labels are shown; theorem 2 has
    ``T^((d+1)/(d+2))``.

    Args:
        dim: d, the number of features, at most 20.
        gamma: The width of the ramp loss, in [1e-6, 1].
        lipschitz: L, the Lipschitz constant of the functions to compete with.
        cost: The cost of abstaining, in [1/2, 1].

    Returns:
        The problem.

    Raises:
        InputError: An argument is out of range.

    >>> problem = random_labels(2)
    >>> X, y = problem.draw(100, seed=0)
    >>> problem.side(100), problem.least(100), problem.best_loss(100)
    (10, 20.0, 30.0)
    """
    return RandomLabels(
        as_count(dim, "dim", most=20),
        as_number(gamma, "gamma", "a number in [1e-6, 1]", lambda one: 1e-6 <= one <= 1.0),
        as_number(lipschitz, "lipschitz", "a number in [1e-6, 1e6]", lambda one: 1e-6 <= one <= 1e6),
        as_number(cost, "cost", "a number in [1/2, 1]", lambda one: 0.5 <= one <= 1.0),
    )
