"""A lower bound to play against: groups of experts that show each other, and nobody else."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .. import graphs, losses
from .._core.validation import MOST, as_count, as_floats, as_number, as_seed, as_share, as_table
from ..errors import InputError, shown
from ..experts import ExpertSet, from_columns
from ..typing import Floats, Ints


def difference(gap: float) -> float:
    """The relative entropy of errors with probability 1/2 and with 1/2 - gap: what a loss tells of which it is."""
    return -0.5 * math.log1p(-4.0 * gap * gap)


def as_gap(gap: float) -> float:
    """How much less often than in half of the rounds the best expert errs."""
    return as_number(gap, "gap", "a number in [1e-6, 1/2)", lambda one: 1e-6 <= one < 0.5)


def told_apart(rounds: float, groups: int, heard: float) -> float:
    """At least this share of the rounds goes to wrong groups, on average over which group has the best expert.

    ``heard`` is what a choice of that group tells, as a relative entropy. Were there no best expert, groups would be
    chosen in 1/m of the rounds, on average; by Pinsker's inequality choices differ from these in a share of at most
    ``sqrt(heard T / (2 m))`` of the rounds.
    """
    return max(0.0, 1.0 - 1.0 / groups - math.sqrt(heard * rounds / (2.0 * groups)))


@dataclass(frozen=True, eq=False)
class Cliques:
    """Groups of experts, and the graph in which a group shows itself; see `cliques`."""

    experts: ExpertSet
    cost: float
    loss: losses.Loss
    means: tuple[float, ...]
    """The expected loss of each expert."""
    graph: graphs.FeedbackGraph
    groups: int
    gap: float

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Independent rounds: X (n, d) for the experts, y (n,)."""
        K = self.experts.n_experts
        n, rng = as_count(n, "n", least=0, most=MOST // (2 * K)), np.random.default_rng(as_seed(seed))
        y = rng.choice([-1.0, 1.0], n)
        errs = rng.random((n, K)) < np.array(self.means)
        return np.hstack([np.where(errs, -y[:, np.newaxis], y[:, np.newaxis]), np.ones((n, 1))]), y

    def regime(self, n: int) -> Ints:
        """The regime of each round (n,): there is but one."""
        return np.zeros(as_count(n, "n", least=0, most=MOST), np.int64)

    @property
    def rate(self) -> float:
        """The regret of a learner that sees its group's losses alone is at least ``rate log T`` in the end, if it is
        below every power of T on all such problems (Lai and Robbins 1985; for graphs Caron et al. 2012).
        """
        return (self.groups - 1) * self.gap / difference(self.gap)

    def least(self, n: int) -> float:
        """The regret of *any* learner that sees its group's losses alone is at least this after n rounds, on average
        over which group has the best expert. The largest for a gap of about ``(1 - 1/m) sqrt(m / n) / 2``.
        """
        n = as_count(n, "n", least=0)
        return self.gap * n * told_apart(n, self.groups, difference(self.gap))


def cliques(groups: int, size: int, gap: float, best: int = 0) -> Cliques:
    """Groups of ``size`` experts; each shows its own group, and no other: ``graph``, m disjoint cliques.

    All experts always predict and err in half of the rounds, independently, but for the first of the group ``best``,
    which errs less by ``gap``. To find it, every group has to be looked at by itself, however large it is: theorem 3's
    sum over the sets of a covering cannot be less than of the order ``(m - 1) log T / gap``, for learners that see no
    more than this graph shows (``UCBNT(graph=problem.graph)``; `UCB` and `Exp3` see less). In the abstention game
    whoever predicts sees everybody's loss: what is left of the lower bound there is `regions`.

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
class Regions:
    """Regions of inputs, and rules that accept one of them each; see `regions`."""

    experts: ExpertSet
    cost: float
    loss: losses.Loss
    means: tuple[float, ...]
    """The expected loss of each expert."""
    gap: float
    best: int

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Independent rounds: X (n, d) for the experts, y (n,)."""
        P, m = self.experts.n_predictors, self.experts.n_rules
        n, rng = as_count(n, "n", least=0, most=MOST // (P + m)), np.random.default_rng(as_seed(seed))
        y, region = rng.choice([-1.0, 1.0], n), rng.integers(0, m, n)[:, np.newaxis]
        error = np.where((region == self.best) & (np.arange(P) == 0), 0.5 - self.gap, 0.5)
        scores = np.where(rng.random((n, P)) < error, -y[:, np.newaxis], y[:, np.newaxis])
        return np.hstack([scores, np.where(region == np.arange(m), 1.0, -1.0)]), y

    def regime(self, n: int) -> Ints:
        """The regime of each round (n,): there is but one."""
        return np.zeros(as_count(n, "n", least=0, most=MOST), np.int64)

    def least(self, n: int) -> float:
        """The regret of any learner that chooses without looking at x is at least this after n rounds, on average over
        which region is the best one. The largest for a gap of about ``(m - 1) / (2 sqrt(n))``.
        """
        n, m = as_count(n, "n", least=0), self.experts.n_rules
        return self.gap / m * n * told_apart(n, m, difference(self.gap) / m)


def regions(n_regions: int, size: int, gap: float, best: int = 0, cost: float = 0.5) -> Regions:
    """There are m regions, as likely each; rule a predicts in region a alone, ``size`` predictors go with every rule.

    All predictors err in half of the rounds, but for the first in the region ``best``, which errs less by ``gap``. Who
    follows an expert sees labels of that expert's region only, so that G^SUB is m disjoint cliques, one a rule, and
    nothing more can be known: the lower bound for graphs within the abstention game. But a region has only 1/m of the
    rounds, and the best expert is better in these alone: its lead is ``gap / m``. So the regret that is forced is of
    the order ``sqrt(T)``, without the factor ``sqrt(m)`` of `cliques`, which theorem 1 does not leave room for.

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
    return Lipschitz(as_count(dim, "dim", most=MOST), as_share(cost, "cost"))


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


@dataclass(frozen=True)
class RandomLabels:
    """Inputs on a grid in [-1, 1]^d, each once, with random labels; see `random_labels`."""

    dim: int
    gamma: float
    lipschitz: float
    cost: float

    def side(self, n: int) -> int:
        """The least s with s^d at least n: how many points a side of the grid has."""
        n = as_count(n, "n", least=0, most=MOST)
        side = max(1, int(n ** (1.0 / self.dim)) - 1)  # by rounding it may be one more
        while side**self.dim < n:
            side += 1
        return side

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Rounds: X (n, d), no two alike, y (n,)."""
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        side = self.side(n)
        points = rng.choice(side**self.dim, n, replace=False)
        places = points[:, np.newaxis] // side ** np.arange(self.dim) % side
        return (2.0 * places + 1.0) / side - 1.0, rng.choice([-1.0, 1.0], n)

    def best(self, y: ArrayLike) -> Floats:
        """What a function of the class answers on each input (n,), knowing all labels: always r = 1, and ``h = y a``.

        Inputs are ``2 / s`` apart, so that values ``a = min(1, L / s)`` and -a are those of an L-Lipschitz function.
        """
        labels = as_floats(y, "y")
        if labels.ndim != 1 or not (np.abs(labels) == 1.0).all():
            raise InputError(f"y: expected labels -1 and 1, one a round, got {shown(y)}")
        return labels * min(1.0, self.lipschitz / self.side(len(labels)))

    def best_loss(self, n: int) -> float:
        """What that function loses in n rounds, by the ramp loss: ``(gamma - a) / (2 gamma)`` in each."""
        n = as_count(n, "n", least=0, most=MOST)
        return n / 2.0 - self.least(n)

    def least(self, n: int) -> float:
        """The expected regret of any learner is at least this after n rounds: ``min(a, gamma) / (2 gamma) n``.

        Whatever it does, it loses 1/2 a round or more; the function above loses less.
        """
        height = min(1.0, self.lipschitz / self.side(n), self.gamma)
        return n * height / (2.0 * self.gamma)


def random_labels(dim: int, gamma: float = 0.25, lipschitz: float = 1.0, cost: float = 0.5) -> RandomLabels:
    """The lower bound ``T^((d-1)/d)`` for Lipschitz functions (after Hazan and Megiddo 2007), as a problem.

    Labels are random, so that predicting loses 1/2 on average; abstaining costs no less (``cost``). No input comes
    twice, and none is close to another: some L-Lipschitz function h leans towards every label, by ``L / s`` with ``s =
    T^(1/d)`` points a side, and so loses less than 1/2 by ``L / (2 gamma s)`` in every round (ramp loss): in all
    ``L / (2 gamma) T^((d-1)/d)``. This holds for every learner, also with all labels shown; theorem 2 has
    ``T^((d+1)/(d+2))``.

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
