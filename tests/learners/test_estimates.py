"""What the learner thinks every expert loses."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import FileError, InputError
from abstain.learners.exp3.weighted import fading, rounds_held

LEVELS = [-1.0, 0.3, 0.6, 0.9, 2.0]


def stationary(T, seed):
    """Two models whose confidence is the probability of being right, one better; the labels, and what experts lose."""
    rng = np.random.default_rng(seed)
    y, sure = rng.choice([-1, 1], T), rng.uniform(0.0, 1.0, (T, 2))
    right = rng.random((T, 2)) < (1.0 + sure * [1.0, 0.4]) / 2.0
    return np.where(right, 1, -1) * y[:, None] * sure, y


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
@pytest.mark.parametrize(
    "options",
    [
        {"feedback": "both"},
        {"min_observe": 0.2},
        {"min_observe": 0.2, "memory": 5_000},
        {"min_observe": 0.2, "memory": "adaptive"},
        {"feedback": (0.3, 0.9)},
    ],
)
@pytest.mark.long
def test_near_the_true_mean_loss(kind, options):
    X, y = stationary(20_000, 1)
    experts = ab.experts.thresholds(2, LEVELS)
    learner = kind(experts, cost=0.2, seed=0, **options)
    assert np.isnan(learner.estimates).all()
    ab.simulate(learner, X, y)
    true = ab.best_in_hindsight(experts, X, y, cost=0.2).total / len(X)
    assert learner.estimates == pytest.approx(true, abs=0.04 if "memory" in options else 0.025)
    assert learner.estimates[[4, 9]] == pytest.approx([0.2, 0.2], abs=1e-9)  # always review
    assert np.ptp(true) > 0.2


@pytest.mark.parametrize("kind", [ab.Exp3Abs, pytest.param(ab.DoublyRobust, marks=pytest.mark.long)])
def test_exact_where_every_label_is_seen(kind):
    """Also with a guard and with rules that are shared."""
    X, y = ab.datasets.load("synthetic", n=500, seed=0)
    experts = ab.experts.hyperplanes(dim=2, n_predictors=5, n_rings=4, seed=0)
    options = {"guard": 0.1} if kind is ab.DoublyRobust else {}
    learner = kind(experts, cost=0.3, feedback="both", seed=0, **options)
    ab.simulate(learner, X, y)
    total = ab.best_in_hindsight(experts, X, y, cost=0.3).total
    np.testing.assert_allclose(learner.estimates, total / 500, rtol=1e-9)


def test_rounds_that_memories_hold():
    memory = fading((None, 20_000, 640, 2))
    held = np.zeros(4)
    for t in range(1, 3_001):
        held += 1.0
        for j in np.flatnonzero(memory.every):
            if t % memory.every[j] == 0:
                held[j] *= memory.keep[j]
        if t in (1, 9, 10, 312, 3_000):
            np.testing.assert_allclose(rounds_held(memory, float(t)), held, rtol=1e-9)
    assert rounds_held(memory, 0.0).tolist() == [0.0] * 4


def test_after_a_change_of_experts():
    """Nothing is known of a newcomer; who stays is estimated as before."""
    X, y = stationary(2_000, 2)
    learner = ab.DoublyRobust(ab.experts.thresholds(1, LEVELS), cost=0.2, seed=0, min_observe=0.1)
    ab.simulate(learner, X[:, :1], y)
    before = learner.estimates
    learner.rearrange(ab.experts.thresholds(2, LEVELS), [0, -1], [*range(5), *[-1] * 5])
    np.testing.assert_allclose(learner.estimates[:5], before, rtol=1e-12)
    assert np.isnan(learner.estimates[5:]).all()
    ab.simulate(learner, X, y)
    assert np.isfinite(learner.estimates).all()
    never = [4, 9]  # the last threshold
    np.testing.assert_allclose(learner.estimates[never], 0.2, rtol=1e-9)


def test_costs_that_vary():
    X, y = stationary(100, 3)
    experts, paid = ab.experts.thresholds(2, LEVELS), np.linspace(0.0, 0.4, 100)
    learner = ab.Exp3Abs(experts, cost=paid, feedback="both", seed=0)
    ab.simulate(learner, X, y)
    np.testing.assert_allclose(learner.estimates, ab.best_in_hindsight(experts, X, y, cost=paid).total / 100, rtol=1e-9)
    with pytest.raises(InputError, match="estimates: expected a learner whose cost is a number"):
        _ = ab.DoublyRobust(experts, cost=paid).estimates


def test_a_debt_that_rounding_made_negative_is_read_back(tmp_path):
    """It is the sum of accounts, each 0 or more, but it is kept by what changes: in the game of 30 rounds with the seed
    162 it ends at -7e-18.
    """
    experts, rng = ab.experts.thresholds(3, [0.2, 0.5, 0.8]), np.random.default_rng(162)
    learner = ab.DoublyRobust(experts, cost=0.3, memory="adaptive", seed=0)
    ab.simulate(learner, rng.random((30, 3)), rng.choice([-1, 1], 30))
    debt = learner.state.guesses.debt
    debt[debt.argmin()] = -7e-18  # on all systems
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    np.testing.assert_array_equal(again.state.guesses.debt, debt)
    debt[:] = -0.1
    learner.save(tmp_path / "x")
    with pytest.raises(FileError, match="the sum of its accounts"):
        ab.load(tmp_path / "x")
