"""Problems on which no learner can do well: regret is at least what they say, and at most what the theorems say."""

import math

import numpy as np
import pytest

import abstain as ab
from abstain import theory

LIMITED = {
    "UCB": lambda p, n, seed: ab.UCB(p.experts, cost=p.cost, beta=0.625),
    "UCB-NT": lambda p, n, seed: ab.UCBNT(p.experts, cost=p.cost, graph=p.graph, beta=0.625),
    "greedy": lambda p, n, seed: ab.UCBNT(p.experts, cost=p.cost, graph=p.graph, beta=0.02),
    "EXP3": lambda p, n, seed: ab.Exp3(p.experts, cost=p.cost, eta="tuned", horizon=n, seed=seed),
}


def regrets(problems, n, repeats, make):
    """Return the regret of each problem and repeat, by the expected losses of the experts followed."""
    found = []
    for b, problem in enumerate(problems):
        means = np.array(problem.means)
        for seed in range(repeats):
            X, y = problem.draw(n, seed=1000 * seed + b)
            trace = ab.simulate(make(problem, n, seed), X, y)
            found.append((means[trace.expert] - means.min()).sum())
    return np.mean(found), np.std(found) / math.sqrt(len(found))


@pytest.mark.filterwarnings("ignore:beta. nothing is proved")
@pytest.mark.parametrize("name", LIMITED)
def test_cliques_force_regret_on_learners_that_see_one_group(name):
    """On average over which group has the best expert."""
    m, n = 8, 2000
    gap = (1 - 1 / m) * math.sqrt(m / n) / 2
    problems = [ab.instances.cliques(m, 2, gap, best) for best in range(m)]
    mean, error = regrets(problems, n, 10, LIMITED[name])
    assert mean - 5 * error > problems[0].least(n) > 0.15 * math.sqrt(m * n)


def test_a_learner_that_sees_all_losses_has_less_regret():
    """The test above can fail: a learner that sees all losses has less than half of the forced regret."""
    m, n = 64, 2000
    gap = (1 - 1 / m) * math.sqrt(m / n) / 2
    problems = [ab.instances.cliques(m, 1, gap, best) for best in (0, 20, 40, 60)]
    mean, error = regrets(problems, n, 3, lambda p, n, seed: ab.Exp3Abs(p.experts, cost=p.cost, seed=seed))
    assert mean + 5 * error < problems[0].least(n)


def test_ucb_nt_on_cliques_lies_between_the_bounds():
    """UCB-NT's regret is between half of ``rate log T`` and theorem 3; it grows with groups, not with their size."""
    n, beta = 40_000, 0.625
    means = {}
    for m, size in ((3, 1), (3, 8), (9, 1)):
        problem = ab.instances.cliques(m, size, 0.2)
        mean, error = regrets([problem], n, 5, LIMITED["UCB-NT"])
        gaps = np.array(problem.means) - min(problem.means)
        assert mean - 5 * error > problem.rate * math.log(n) / 2
        assert mean + 5 * error < theory.ucb_nt_bound(gaps, "best", n, beta, graph=problem.graph.edges)
        means[m, size] = mean
    assert means[9, 1] > 3 * means[3, 1]
    assert means[3, 8] < 2 * means[3, 1]


NOT_LOOKING = {
    "UCB": lambda p, n, seed: ab.UCB(p.experts, cost=p.cost, beta=0.625),
    "UCB-NT": lambda p, n, seed: ab.UCBNT(p.experts, cost=p.cost, beta=0.625),
    "UCB-GT": lambda p, n, seed: ab.UCBGT(p.experts, cost=p.cost, beta=0.625),
    "EXP3-ABS": lambda p, n, seed: ab.Exp3Abs(p.experts, cost=p.cost, seed=seed),
    "doubly robust": lambda p, n, seed: ab.DoublyRobust(p.experts, cost=p.cost, seed=seed),
}


@pytest.mark.parametrize("name", NOT_LOOKING)
def test_regions(name):
    """Within the abstention game, for learners that do not look at x."""
    m, n = 4, 2000
    gap = (m - 1) / (2 * math.sqrt(n))
    problems = [ab.instances.regions(m, 3, gap, best) for best in range(m)]
    mean, error = regrets(problems, n, 20, NOT_LOOKING[name])
    assert mean - 5 * error > problems[0].least(n) > 0.12 * math.sqrt(n)


def test_regions_force_no_factor_for_their_number():
    """The forced regret at the worst gap hardly changes with m; cliques force sqrt(m) times as much."""
    n = 10_000
    of_regions = [ab.instances.regions(m, 1, (m - 1) / (2 * math.sqrt(n))).least(n) for m in (4, 16, 32)]
    of_cliques = [ab.instances.cliques(m, 1, (1 - 1 / m) * math.sqrt(m / n) / 2).least(n) for m in (4, 16, 32)]
    assert max(of_regions) < 2 * min(of_regions)
    assert of_cliques[2] / of_cliques[0] > math.sqrt(8)
    assert max(of_regions) < theory.exp3_abs_bound(n, 32, 0.5)


def test_the_means_of_the_problems_are_those_of_the_losses():
    """The means they say are those of the losses drawn, within five standard errors."""
    for problem in (ab.instances.cliques(3, 2, 0.2, 1), ab.instances.regions(3, 2, 0.3, 2, cost=0.7)):
        n = 100_000
        X, y = problem.draw(n, seed=0)
        total = ab.best_in_hindsight(problem.experts, X, y, cost=problem.cost).total
        np.testing.assert_allclose(total / n, problem.means, atol=5 * 0.5 / math.sqrt(n))


@pytest.mark.parametrize("d", [2, 3])
def test_random_labels_force_regret_on_cont_exp3_abs(d):
    """The function is in the class and loses what `best_loss` returns; ContEXP3-ABS has at least the forced regret."""
    problem, n = ab.instances.random_labels(d, gamma=0.3, lipschitz=0.8), 600
    X, y = problem.draw(n, seed=0)
    h = problem.best(y)
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    assert (np.abs(np.subtract.outer(h, h)) <= 0.8 * distances + 1e-12).all()
    assert (distances + np.eye(n)).min() > 0.0
    assert np.abs(X).max() < 1.0
    assert ab.losses.ramp(0.3)(h[:, np.newaxis], y).sum() == pytest.approx(problem.best_loss(n))
    for options in ({}, {"actions": "grid", "gamma": 0.3}):
        found = []
        for seed in range(20):
            X, y = problem.draw(n, seed)
            trace = ab.simulate(ab.ContExp3Abs(d, cost=problem.cost, horizon=n, seed=seed, **options), X, y)
            found.append(trace.loss.sum() - problem.best_loss(n))
        error = np.std(found) / math.sqrt(len(found))
        assert np.mean(found) > problem.least(n) - 5 * error
        assert error < 0.2 * problem.least(n)


def test_the_regret_forced_by_random_labels_grows_with_the_rate():
    for d in (2, 3, 5):
        problem = ab.instances.random_labels(d)
        T = [10**k for k in range(3, 8)]
        slope = np.polyfit(np.log(T), np.log([problem.least(t) for t in T]), 1)[0]
        assert slope == pytest.approx((d - 1) / d, abs=0.03)
        for t in T:  # theorem 2 with its constants is above it
            epsilon = theory.cont_exp3_abs_epsilon(t, d, 0.25)
            assert problem.least(t) < theory.cont_exp3_abs_bound(t, 1, epsilon, 0.25)
