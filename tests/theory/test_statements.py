"""Statements of the paper that the page "What the paper states, and what holds" is about, and figure 6's example."""

import math

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError


def test_figure_6():
    """Means are those of the possible rounds, the subset graph that of the rules, the best losses c P and P/2."""
    for mixed, cost, pieces in ((0.4, 0.2, 20), (0.25, 0.45, 8), (0.5, 0.7, 2)):
        problem, n = ab.instances.simple_example(mixed, cost, pieces), pieces + 1
        X, y = problem.values[:, :-1], problem.values[:, -1]
        counted = ab.best_in_hindsight(problem.experts, X, y, cost=cost).total / len(y)
        np.testing.assert_allclose(counted, problem.means)
        np.testing.assert_allclose(problem.probabilities.sum(), 1.0)
        assert min(problem.means[n :: n + 1]) == pytest.approx(mixed / 2)
        assert min(problem.means) == pytest.approx(min(cost, 0.5) * mixed)
        silent = problem.experts.advise(X).abstains
        inside = [[bool((~one | other).all()) for other in silent.T] for one in silent.T]
        np.testing.assert_array_equal(problem.experts.rule_subset, inside)
    for wrong in (0.0, 1.0, 0.42, "x"):
        with pytest.raises(InputError, match="mixed: expected a multiple of 1/20"):
            ab.instances.simple_example(wrong)


def test_figure_6_is_learnt():
    problem = ab.instances.simple_example()
    X, y = problem.draw(5_000, seed=0)
    trace = ab.simulate(ab.Exp3Abs(problem.experts, cost=problem.cost, seed=0), X, y)
    assert 0.07 < trace.loss[2_500:].mean() < 0.11  # the best pair pays 0.08, the best threshold 0.2


def test_what_the_printed_argument_of_proposition_1_can_give():
    """It needs ``alpha p - beta > sqrt(5 log n / n)``, where the left side is at most c (1 - p); then p^n is tiny."""
    rng = np.random.default_rng(0)
    c, p = rng.uniform(0.0, 1.0, (2, 100_000))
    beta = rng.uniform(0.0, c)
    alpha = rng.uniform(beta, np.minimum(c, beta + c * (1.0 - p) / p))  # conditions (1) and (2) of the proof
    margin = alpha * p - beta
    assert (margin <= c * (1.0 - p) + 1e-12).all()
    assert (margin > 0.9 * c * (1.0 - p)).any()
    n = np.arange(2, 10**6)
    width = np.sqrt(5.0 * np.log(n) / n)
    needed = n[width < 1.0]  # 1 - p, and c, are below 1
    assert needed[0] == 13
    chance = np.log1p(-width[width < 1.0]) * needed  # a bound on p^n, at c = 1
    assert (chance < -5.0 * np.log(needed)).all()
    assert 13.0**-5 < 3e-6
    assert (needed[np.argmax(chance)], math.exp(chance.max())) == (21, pytest.approx(4.1e-18, rel=0.01))


def test_the_repaired_argument_of_proposition_1():
    """As long as the share of x* stays below ``(1 - p) c sqrt(m / (124 log m))`` and 1/4, expert 1 is followed."""
    p, T = 0.9999, 50_000
    instance = ab.instances.proposition_1(p)
    m = np.arange(2, T + 1)
    limit = np.minimum(0.25, (1.0 - p) * instance.cost * np.sqrt(m / (124.0 * np.log(m))))
    kept = left = 0
    for seed in range(60):
        X, y = instance.draw(T, seed)
        share = np.cumsum(X[:, 3] < 0.0) / np.arange(1, T + 1)
        if share[0] == 0.0 and (share[1:] <= limit).all():
            learner = ab.UCBNT(instance.experts, cost=instance.cost, loss=instance.loss, graph="abstention")
            kept += 1
            assert (ab.simulate(learner, X, y).expert[1:] == 1).all()
        else:
            left += 1
    assert min(kept, left) >= 5  # it is no empty condition


@pytest.mark.parametrize("p", [0.9, 0.999])
@pytest.mark.long
def test_shares_of_a_rare_input_rarely_exceed_a_multiple(p):
    """The maximal inequality of the repaired proof: ``P[sup_m k_m / m >= a] <= (1 - p) / a``."""
    rng = np.random.default_rng(0)
    rare = rng.random((4_000, 2_000)) >= p
    most = (np.cumsum(rare, axis=1) / np.arange(1, 2_001)).max(axis=1)
    for factor in (2.0, 5.0):
        a = factor * (1.0 - p)
        assert (most >= a).mean() <= 1.0 / factor + 5.0 * math.sqrt(1.0 / factor / len(most))
    assert (most > 0.0).any()
