"""Going back: after exceptions, interruptions, and by hand."""

import numpy as np
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.engine.kernel_learner import KernelLearner
from abstain.errors import DecisionError

from .learners import MAKE, RINGS

X, Y = ab.datasets.load("synthetic", n=300, seed=0)


def same(one, other):
    assert one.keys() == other.keys()
    return all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("rounds", [0, 100])
def test_a_snapshot_can_be_restored_again_and_again(name, rounds):
    learner = MAKE[name]()
    if rounds:
        ab.simulate(learner, X[:rounds], Y[:rounds])
    kept, before, cost = learner.snapshot(), state_of(learner), learner.cost
    for new_cost in (0.5, 0.1):
        learner.cost = new_cost
        ab.simulate(learner, X, Y)
        decision = learner.decide(X[0])
        learner.restore(kept)
        assert same(state_of(learner), before)
        assert learner.cost == cost
        with pytest.raises(DecisionError, match="hidden|before a restart"):
            learner.learn(decision, 1)
    twin = MAKE[name]()
    if rounds:
        ab.simulate(twin, X[:rounds], Y[:rounds])
    np.testing.assert_array_equal(ab.simulate(learner, X, Y).expert, ab.simulate(twin, X, Y).expert)
    if name == "ContExp3Abs":
        np.testing.assert_array_equal(learner.weights_at(X[0]), twin.weights_at(X[0]))


@pytest.mark.parametrize("name", ["UCB", "UCBGT", "FS"])
@pytest.mark.parametrize("method", ["absorb", "_decision"])
def test_an_interruption_never_makes_a_file_unreadable(name, method, monkeypatch, tmp_path):
    """Ctrl-C between the two steps of deciding or learning: a label or a decision is lost, nothing else."""
    learner = MAKE[name]()
    decision = next(d for d in map(learner.decide, X) if d.round in learner.pending)

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(KernelLearner, method, stop)
        with pytest.raises(KeyboardInterrupt):
            learner.learn(decision, 1) if method == "absorb" else [learner.decide(x) for x in X]
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert (again.round, again.pending) == (learner.round, learner.pending)
    ab.simulate(again, X, Y)


def test_looking_changes_nothing():
    """Whether anybody looked at the state before the cost was set."""
    one, other = (ab.Exp3Abs(RINGS, cost=0.0, eta="tuned", horizon=100, seed=0) for _ in range(2))
    assert one.weights.sum() == pytest.approx(1.0)
    one.cost = other.cost = 1.0
    np.testing.assert_array_equal(ab.simulate(one, X, Y).expert, ab.simulate(other, X, Y).expert)


@pytest.mark.parametrize("eta", ["tuned", "anytime", "adaptive", 0.3])
def test_a_file_after_the_cost_was_set(eta, tmp_path):
    learner = ab.Exp3Abs(RINGS, cost=0.0, eta=eta, horizon=1, seed=0)
    ab.simulate(learner, X, Y)
    learner.cost = 1.0
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    np.testing.assert_array_equal(ab.simulate(learner, X, Y).expert, ab.simulate(again, X, Y).expert)


@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
@pytest.mark.parametrize("capacity", [None, 0.5])
@pytest.mark.parametrize(
    "change", [lambda one: one.limit(0.3), lambda one: one.limit(None), lambda one: one.start_afresh(0.2, "ramp")]
)
def test_another_capacity_or_loss_is_undone(kind, capacity, change, tmp_path):
    learner, twin = (kind(RINGS, cost=0.3, seed=0, capacity=capacity) for _ in range(2))
    for one in (learner, twin):
        ab.simulate(one, X, Y)
    kept, before = learner.snapshot(), state_of(learner)
    change(learner)
    ab.simulate(learner, X, Y)
    learner.restore(kept)
    assert same(state_of(learner), before)
    assert learner.get_params() == twin.get_params()
    learner.save(tmp_path / "x")
    games = [ab.simulate(one, X, Y).expert for one in (learner, ab.load(tmp_path / "x"), twin)]
    np.testing.assert_array_equal(games[0], games[2])
    np.testing.assert_array_equal(games[1], games[2])
