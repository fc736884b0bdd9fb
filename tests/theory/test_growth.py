"""ContEXP3-ABS's regret grows no faster than theorem 2's rate on Lipschitz problems; its estimates are unbiased."""

import numpy as np
import pytest

import abstain as ab

COST = 0.3


def regret(d, n, seed, **options):
    """Expected regret against the best action on every input: more than against any pair of Lipschitz functions."""
    problem = ab.instances.lipschitz(d, COST)
    X, y = problem.draw(n, seed)
    learner = ab.ContExp3Abs(d, cost=COST, horizon=n, seed=seed, **options)
    trace = ab.simulate(learner, X, y)
    expected = problem.expected(X)
    return float((expected[trace.expert, np.arange(n)] - expected.min(axis=0)).sum())


def slope(d, rounds, seeds, **options):
    means = [np.mean([regret(d, n, seed, **options) for seed in range(seeds)]) for n in rounds]
    return np.polyfit(np.log(rounds), np.log(means), 1)[0]


@pytest.mark.long
@pytest.mark.parametrize("d", [1, 2])
def test_regret_grows_no_faster_than_the_rate(d):
    assert slope(d, [10**3, 10**4, 10**5, 10**6], 20) <= (d + 1) / (d + 2) + 0.05


@pytest.mark.parametrize("d", [1, 2])
def test_regret_grows_no_faster_than_the_rate_in_short_games(d):
    """The same with fewer rounds; a learner that does not learn has slope 1."""
    assert slope(d, [10**3, 10**4, 10**5], 4) <= (d + 1) / (d + 2) + 0.08
    assert slope(d, [10**3, 10**4, 10**5], 2, eta=1e-9) > 0.98


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 7])
def test_estimates_in_balls_are_unbiased(delay):
    """The sum of 1 / P over the labels +1 seen counts all labels +1, on average over 4,000 games."""
    n, games = 40, 4000
    X, y = np.zeros((n, 1)), np.where(np.arange(n) % 3 == 0, 1, -1)
    sums = np.empty((games, 2))
    for seed in range(games):
        learner = ab.ContExp3Abs(1, cost=0.3, epsilon=1.0, seed=seed)
        ab.simulate(learner, X, y, delay=delay)
        sums[seed] = learner.arrays()["sums"][0, :2]
    error = sums.std(axis=0) / np.sqrt(games)
    truth = np.array([(y == 1).sum(), (y == -1).sum()])
    assert (np.abs(sums.mean(axis=0) - truth) < 5 * error).all()
    assert (error < 0.03 * truth).all()


def test_a_learner_may_share_its_seed_with_the_data():
    """The learner's numbers are not those the inputs were made of, though both come from the same seed."""
    X = np.random.default_rng(5).uniform(-1, 1, (1000, 1))
    learner = ab.ContExp3Abs(1, cost=0.3, epsilon=2.0, eta=1e-9, seed=5)
    trace = ab.simulate(learner, X, np.ones(1000))
    assert abs(np.corrcoef(X[:, 0], trace.expert)[0, 1]) < 0.16  # five standard errors; 0.94 if they were
