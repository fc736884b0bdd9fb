"""DoublyRobust on problems whose best expert hides: no run locks in, and theorem A holds."""

import numpy as np
import pytest

import abstain as ab
from abstain import instances, theory

PROBLEMS = {
    "specialists": instances.specialists(),
    "specialists, spoilt": instances.specialists(2, 0.8, 0.5, spoilt=100),
    "specialists among 20": instances.specialists(20),
    "two models": instances.two_models(),
    "two models, ten thresholds": instances.two_models(10),
    "two models, spoilt": instances.two_models(spoilt=100),
    "one model, spoilt": instances.one_model(spoilt=100),
}
RECOMMENDED = {"memory": "adaptive", "min_observe": 0.005}


def regrets(problem, T, seeds, late=False, **options):
    """Return the regret of each run; ``late``: of its second half."""
    found = []
    for seed in seeds:
        X, y = problem.draw(T, seed=seed)
        rounds = ab.prepare(problem.experts, X, y)
        best = ab.best_in_hindsight(problem.experts, X, y, cost=problem.cost)
        learner = ab.DoublyRobust(problem.experts, cost=problem.cost, seed=seed, **options)
        regret = ab.simulate(learner, rounds).regret(best)
        found.append(regret[-1] - late * regret[T // 2 - 1])
    return np.array(found)


def gap(problem):
    """What a run loses per round that is locked in: the second best mean, of those that differ."""
    means = sorted(set(problem.means))
    return means[1] - means[0]


@pytest.mark.parametrize("options", [{}, RECOMMENDED], ids=["default", "recommended"])
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.sample(6)
def test_no_run_locks_in(name, options):
    """A run that is locked in loses the gap in nearly every round; in the second half no run loses half of that."""
    problem, T = PROBLEMS[name], 40_000
    assert regrets(problem, T, range(12), late=True, **options).max() < gap(problem) * T / 4


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, RECOMMENDED], ids=["default", "recommended"])
@pytest.mark.parametrize("name", ["specialists, spoilt", "two models, ten thresholds", "two models, spoilt"])
def test_regret_grows_no_faster_than_the_root_of_T(name, options):
    """From 10^4 to 10^6 rounds, the mean and the worst run: at most sqrt(100) = 10 times, beside a constant."""
    problem = PROBLEMS[name]
    small, large = regrets(problem, 10_000, range(20), **options), regrets(problem, 1_000_000, range(4), **options)
    assert large.mean() < 10.0 * max(small.mean(), 30.0)
    assert large.max() < 10.0 * max(small.max(), 60.0)


@pytest.mark.long
def test_theorem_a_holds_where_it_can_fail():
    """At 10^6 rounds a run that is locked in loses 80,000 and more: the bound is 23,000."""
    problem, T = instances.specialists(), 1_000_000
    bound = theory.doubly_robust_bound(T, problem.experts.n_experts)
    assert bound < gap(problem) * T / 3  # the test can fail
    assert regrets(problem, T, range(4)).max() < bound


def test_accounts_stay_below_their_limit():
    """Theorem A's proof: a predictor's debt is at most the limit and 1, and is the sum of its accounts."""
    largest = 0.0
    for problem in (instances.two_models(spoilt=300), instances.specialists(spoilt=300), instances.trap(1000)):
        X, y = problem.draw(6_000, seed=1)
        learner = ab.DoublyRobust(problem.experts, cost=problem.cost, seed=1)
        for first in range(0, 6_000, 500):
            ab.simulate(learner, X[first : first + 500], y[first : first + 500])
            guesses = learner.state.guesses
            limit = guesses.constants.pessimism * np.sqrt(first + 500)
            assert guesses.debt.max() <= limit + 1.0
            np.testing.assert_allclose(guesses.debt, guesses.account.sum(axis=0), atol=1e-9)
            largest = max(largest, guesses.debt.max() / limit)
    assert largest > 0.5  # they were used


def test_the_means_of_hidden_problems_are_those_of_their_draws():
    for problem in (instances.specialists(4), instances.two_models(10), instances.one_model()):
        X, y = problem.draw(200_000, seed=0)
        totals = ab.best_in_hindsight(problem.experts, X, y, cost=problem.cost).total
        np.testing.assert_allclose(totals / 200_000, problem.means, atol=0.006)
