"""Regret of the stochastic learners stays below the theorems' bounds, and estimates on safe graphs are unbiased."""

import numpy as np

import abstain as ab


def stochastic(seed, n):
    """Four experts of different error, three rules nested in each other, drawn independently every round."""
    rng = np.random.default_rng(seed)
    error = np.array([0.1, 0.3, 0.4, 0.5])
    y = rng.choice([-1.0, 1.0], n)
    predictions = np.where(rng.random((n, 4)) < error, -y[:, None], y[:, None])
    margins = rng.random((n, 1)) - np.array([0.0, 0.3, 0.6])
    silent = np.array([0.0, 0.3, 0.6])
    means = (1 - silent) * error[:, None] + 0.3 * silent
    return np.column_stack([predictions, margins]), y, means.ravel()


EXPERTS = ab.experts.from_columns(4, 3, rule_subset=np.triu(np.ones((3, 3), bool)))


def test_regret_of_ucb_is_below_theorem_3():
    """Theorem 3 with the trivial covering and the proof's constants: sum 8 beta log T / Delta + 5 K."""
    T = 100_000
    for kind in (ab.UCB, ab.UCBNT, ab.UCBGT):
        regrets = []
        for seed in range(5):
            X, y, means = stochastic(seed, T)
            trace = ab.simulate(kind(EXPERTS, cost=0.3), X, y)
            gaps = means - means.min()
            regrets.append(gaps[trace.expert].sum())
        bound = ab.theory.ucb_nt_bound(gaps, [[k] for k in range(len(gaps))], T)
        assert bound < gaps.mean() * T  # choosing at random would break it
        assert np.mean(regrets) < bound


def test_estimates_are_unbiased_on_the_subset_graph():
    """The mean over runs of (estimate - mean) Q, a martingale at its end, is 0 within five standard errors."""
    for kind in (ab.UCBNT, ab.UCB):
        sums = []
        for seed in range(300):
            X, y, means = stochastic(seed, 400)
            learner = kind(EXPERTS, cost=0.3)
            ab.simulate(learner, X, y)
            sums.append(np.nan_to_num(learner.means - means) * learner.counts)
        sums = np.array(sums)
        error = sums.std(axis=0) / np.sqrt(len(sums))
        assert (np.abs(sums.mean(axis=0)) <= 5 * error + 1e-12).all()


def test_estimates_are_biased_on_the_own_graph():
    """The same quantity on the instance's own graph is far from 0: the test above can fail."""
    instance = ab.instances.bias_problem()
    sums = []
    for seed in range(300):
        X, y = instance.draw(2000, seed)
        learner = ab.UCBNT(instance.experts, cost=instance.cost, graph="abstention")
        ab.simulate(learner, X, y)
        sums.append((learner.means - instance.means) * learner.counts)
    sums = np.array(sums)
    assert (np.abs(sums.mean(axis=0)) > 10 * sums.std(axis=0) / np.sqrt(len(sums))).any()
