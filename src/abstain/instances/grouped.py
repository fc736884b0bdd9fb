"""A lower bound to play against: groups of experts that show each other, and nobody else."""

import math
from dataclasses import dataclass

import numpy as np

from .. import graphs, losses
from ..experts import ExpertSet, from_columns
from ..tables import MOST, as_count, as_number, as_seed
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
