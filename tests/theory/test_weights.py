"""Exponential weights on doubly robust estimates: guarantees by simulation with fixed seeds, and very long games."""

import math

import numpy as np
import pytest

import abstain as ab


def late_clean(T, seed):
    """Return a log: labels of the first fifth are random, so abstaining is best; then two models are good."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], T)
    right = rng.random((T, 4)) < np.array([0.98, 0.95, 0.6, 0.5])
    right[: T // 5] = rng.random((T // 5, 4)) < 0.5
    return np.where(right, 1.0, -1.0) * y[:, None] * rng.random((T, 4)), y


SIXTY = ab.experts.thresholds(3, np.linspace(0.0, 0.95, 20))
MODELS = ab.experts.thresholds(4, np.linspace(0.0, 0.9, 10))


def regret(learner, X, y):
    trace = ab.simulate(learner, X, y)
    return trace.regret(ab.best_in_hindsight(learner.experts, X, y, cost=learner.cost))[-1]


@pytest.mark.long
def test_a_guard_keeps_regret_below_the_root_of_T():
    """Below sqrt(T log(2K) / w0) where the first fifth of the labels is random, also without the guard."""
    w0 = 1 / 16
    for T in (5_000, 20_000, 80_000):
        games = [late_clean(T, seed) for seed in range(5)]
        guarded = [regret(ab.DoublyRobust(MODELS, cost=0.2, guard=w0, seed=s), *game) for s, game in enumerate(games)]
        alone = [regret(ab.DoublyRobust(MODELS, cost=0.2, seed=s), *game) for s, game in enumerate(games)]
        bound = math.sqrt(T * math.log(2 * MODELS.n_experts) / w0)
        assert max(guarded) < bound
        assert max(alone) < bound
    assert np.mean(guarded) / T < 0.005


def paired(one, other):
    """Return the mean of the differences and its standard error."""
    differences = np.array(one) - np.array(other)
    return differences.mean(), differences.std(ddof=1) / math.sqrt(len(differences))


def drifting(T, seed):
    """A log of three models with confidences: the first gets worse, the second better."""
    rng = np.random.default_rng(seed)
    y, time, confidence = rng.choice([-1.0, 1.0], T), np.arange(T) / T, rng.random((T, 3))
    skill = np.column_stack([0.92 - 0.4 * time, 0.6 + 0.3 * time, np.full(T, 0.75)]) + 0.15 * (confidence - 0.5)
    return np.where(rng.random((T, 3)) < skill, 1.0, -1.0) * y[:, None] * confidence, y


@pytest.mark.parametrize("kind", [ab.DoublyRobust, ab.Exp3Abs])
@pytest.mark.parametrize("memory", ["adaptive", None])
def test_more_labels_never_cost_more_than_noise(kind, memory):
    """On a log that drifts: "both" against "predicted", the same ten streams; with memories they pay."""
    losses = {"both": [], "predicted": []}
    for seed in range(10):
        X, y = drifting(20_000, seed)
        for feedback, of_one in losses.items():
            learner = kind(SIXTY, cost=0.2, memory=memory, feedback=feedback, seed=seed)
            of_one.append(ab.simulate(learner, X, y).loss.mean())
    mean, error = paired(losses["both"], losses["predicted"])
    assert mean < 3 * error
    if memory == "adaptive":
        assert mean < -3 * error


@pytest.mark.parametrize("kind", [ab.DoublyRobust, ab.Exp3Abs])
def test_memories_pay_where_the_best_expert_changes(kind):
    """On a stream that switches half way; the short memories then weigh more."""
    stream, losses = ab.instances.switching(), {"adaptive": [], None: []}
    for seed in range(5):
        X, y = stream.draw(40_000, seed)
        for memory, of_one in losses.items():
            learner = kind(stream.experts, cost=stream.cost, memory=memory, seed=seed)
            first = ab.simulate(learner, X[:20_000], y[:20_000])
            before = learner.memory_weights
            second = ab.simulate(learner, X[20_000:23_000], y[20_000:23_000])
            if memory == "adaptive":
                after = learner.memory_weights
                assert sum(after.values()) == pytest.approx(1.0)
                assert after[1_250] > before[1_250]
            third = ab.simulate(learner, X[23_000:], y[23_000:])
            of_one.append(np.concatenate([first.loss, second.loss, third.loss]).mean())
    mean, error = paired(losses["adaptive"], losses[None])
    assert mean < -5 * error


LONG = {
    "adaptive": lambda: ab.DoublyRobust(SIXTY, cost=0.2, seed=0, memory="adaptive"),
    "guard": lambda: ab.DoublyRobust(SIXTY, cost=0.2, seed=0, guard=1 / 64),
    "abstained": lambda: ab.DoublyRobust(SIXTY, cost=0.2, seed=0, feedback="abstained", min_observe=0.02),
    "Exp3Abs": lambda: ab.Exp3Abs(SIXTY, cost=0.2, seed=0, memory="adaptive", feedback=(0.9, 0.1), min_observe=0.2),
    "Stacked": lambda: ab.Stacked(SIXTY, cost=0.2, seed=0),
}


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_ten_million_rounds(name):
    """Models take turns in being good, in phases that become quite certain; one of them says nothing for long."""
    T, rng = 500_000, np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], T)
    skill = np.array([[0.9, 0.6, 0.5], [0.5, 0.6, 0.9], [1.0, 1.0, 0.5], [0.2, 0.9, 0.5]])[np.arange(T) * 4 // T]
    X = np.where(rng.random((T, 3)) < skill, 1.0, -1.0) * y[:, None] * rng.random((T, 3))
    X[: T // 2, 2] = 0.0
    learner = LONG[name]()
    for _ in range(20):
        trace = ab.simulate(learner, X, y, delay=100)
        assert np.isfinite(trace.loss).all()
    assert learner.round == 10_000_000
    weights, rest = learner.weights, getattr(learner, "stacker_weight", 0.0)
    assert np.isfinite(weights).all()
    assert (weights >= 0.0).all()
    assert weights.sum() + rest == pytest.approx(1.0, abs=1e-9)
    for array in learner.contents()[1].values():
        assert np.isfinite(array).all()
    for x in X[:: T // 20]:
        decision = learner.peek(x)
        assert 0.0 <= decision.observed <= 1.0
        assert np.isfinite(decision.carry).all()
