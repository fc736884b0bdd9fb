"""A lower bound to play against, within the abstention game: rules that accept one region of inputs each."""

from dataclasses import dataclass

import numpy as np

from .. import losses
from ..experts import ExpertSet, from_columns
from ..tables import MOST, as_count, as_seed, as_share
from ..typing import Floats, Ints
from .grouped import as_gap, difference, told_apart


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
