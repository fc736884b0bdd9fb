"""ContEXP3-ABS equals its twin, obeys the rules, finds the nearest centre, and says what is wrong."""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.checks import check_learner
from abstain.errors import DecisionError, InputError

from ..instances import games
from ..reference.backlog import Backlog
from ..reference.cont_exp3 import ContExp3, pairs_of, rate_of


def of_distance(x, centres):
    return np.sqrt(((centres - x) ** 2).sum(axis=1))


def cost_of(X):
    return np.abs(X[:, 0])


@games(1000)
@given(
    st.integers(1, 3),
    st.sampled_from([("three", None), ("grid", 0.3), ("grid", 0.05), ("grid", 0.9)]),
    st.sampled_from([0.25, 0.5, 1.0, 3.0]),
    st.sampled_from(["adaptive", "anytime", 0.01, 0.7]),
    st.sampled_from([0.0, 0.3, 1.0, cost_of]),
    st.sampled_from([0, 0, 1, 5, 100]),
    st.sampled_from(["euclidean", "cityblock", "chebyshev"]),
    st.integers(0, 999),
)
def test_equals_the_twin(dim, kind, epsilon, eta, cost, delay, metric, seed):
    """Round by round, with the choices and probabilities of the learner: weights, balls and losses."""
    actions, gamma = kind
    rng = np.random.default_rng(seed)
    X = rng.choice(np.linspace(-1, 1, 9), (25, dim)) if seed % 2 else rng.uniform(-1, 1, (25, dim))
    y = rng.choice([-1, 1], 25)
    learner = ab.ContExp3Abs(
        dim, cost=cost, gamma=gamma, epsilon=epsilon, eta=eta, actions=actions, metric=metric, seed=seed
    )
    twin = ContExp3(epsilon, *pairs_of(learner), rate_of(learner), metric)
    paid = learner.cost.of(X, 1, len(X))
    waiting, backlog = {}, Backlog()
    for t in range(len(X)):
        before = learner.n_balls
        ball = twin.active(X[t])
        instance = twin.instances[ball]
        np.testing.assert_allclose(learner.weights_at(X[t]), instance.q(), rtol=1e-11, atol=1e-12)
        assert learner.n_balls == before, "looking makes no ball"
        decision = learner.decide(X[t])
        assert decision.carry[0] == ball
        assert decision.probability == pytest.approx(instance.probability(), abs=1e-12)
        assert (decision.prediction is None) == (instance.pairs[decision.expert][1] <= 0) == decision.abstained
        if not decision.abstained:
            assert decision.prediction == pytest.approx(instance.pairs[decision.expert][0], abs=1e-15)
        instance.visits += 1
        if decision.abstained:
            backlog.decided(t + 1, partial(instance.learn, None, paid[t], decision.probability))
        else:
            backlog.decided(t + 1, None)
            waiting[t] = decision
        if t - delay in waiting:
            late = waiting.pop(t - delay)
            learner.learn(late, y[t - delay])
            twin.instances[int(late.carry[0])].learn(y[t - delay], late.cost, late.probability)
            backlog.learnt(late.round)
    np.testing.assert_array_equal(learner.centres, twin.centres)


def test_radius_and_rates():
    """The numbers of theorem 2, written out."""
    three = ab.ContExp3Abs(3, cost=0.3, horizon=1000, eta="tuned")
    assert three.epsilon == pytest.approx(1000 ** (-1 / 5))
    cubes = math.ceil(2 * math.sqrt(3) / three.epsilon) ** 3
    assert three.state.rate.scale == pytest.approx(math.sqrt(min(1000, cubes) * math.log(3) / 1000))
    grid = ab.ContExp3Abs(1, cost=0.3, gamma=0.2, horizon=1000, actions="grid", eta="anytime")
    assert grid.epsilon == pytest.approx(1000 ** (-1 / 3) * 0.2 ** (2 / 3))
    n = math.ceil(math.sqrt(2) / grid.epsilon)
    assert grid.experts.n_experts == n * n
    assert grid.state.rate.scale == pytest.approx(math.sqrt(math.log(n * n) / 2))
    few = ab.ContExp3Abs(1, cost=0.6, epsilon=0.5, horizon=1000, eta="tuned", metric="cityblock")
    assert few.state.rate.scale == pytest.approx(math.sqrt(4 * math.log(3) / 1000))
    assert ab.ContExp3Abs(1, cost=0.6, epsilon=0.5, eta="anytime").state.rate.scale == pytest.approx(
        math.sqrt(math.log(3) / 1.36)
    )
    assert ab.ContExp3Abs(1, cost=0.3, gamma=0.2, epsilon=9.0, actions="grid").experts.n_experts == 4


MAKE = {
    "three": lambda **k: ab.ContExp3Abs(2, epsilon=0.3, seed=1, **k),
    "grid": lambda **k: ab.ContExp3Abs(2, epsilon=0.3, gamma=0.2, actions="grid", seed=1, **k),
    "many": lambda **k: ab.ContExp3Abs(2, horizon=10**6, seed=1, **k),
    "scan": lambda **k: ab.ContExp3Abs(7, epsilon=1.3, seed=1, **k),
    "box": lambda **k: ab.ContExp3Abs(2, epsilon=0.3, domain=([-1.0, -2.0], [1.0, 3.0]), seed=1, **k),
    "chebyshev": lambda **k: ab.ContExp3Abs(2, epsilon=0.3, metric="chebyshev", seed=1, **k),
    "one": lambda **k: ab.ContExp3Abs(1, epsilon=9.0, seed=1, **k),
}


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("cost", [0.0, 0.3, 1.0, cost_of, np.linspace(0, 1, 1000)], ids=list("03ixr"))
@pytest.mark.sample(2)
def test_rules_all_learners_obey(name, cost):
    check_learner(lambda: MAKE[name](cost=cost))


@pytest.mark.long
def test_rules_with_functions_and_other_domains():
    check_learner(lambda: MAKE["three"](cost=lambda X: np.abs(X[:, 0]), metric=of_distance))
    check_learner(lambda: MAKE["three"](cost=0.3, domain=(0, [1, 50.0])))
    check_learner(lambda: MAKE["three"](cost=0.3, domain=np.array([[0.0, 5.0], [1.0, 6.0]])))


@pytest.mark.long
@pytest.mark.parametrize("eta", ["anytime", "tuned", 0.1])
def test_rules_with_every_rate(eta):
    check_learner(lambda: MAKE["grid"](cost=0.3, eta=eta, horizon=200))


def test_a_metric_of_the_user(tmp_path):
    """It gives the same game as the compiled one, and is asked for when a file is loaded."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (300, 2)), rng.choice([-1, 1], 300)
    own, known = MAKE["three"](cost=0.3, metric=of_distance), MAKE["three"](cost=0.3)
    first, second = ab.simulate(own, X, y, delay=3), ab.simulate(known, X, y, delay=3)
    np.testing.assert_array_equal(first.expert, second.expert)
    np.testing.assert_array_equal(own.centres, known.centres)
    np.testing.assert_array_equal(first.surrogate, second.surrogate)
    own.save(tmp_path / "own")
    with pytest.raises(InputError, match="metric"):
        ab.load(tmp_path / "own")
    known.save(tmp_path / "known")
    for wrong in ("chebyshev", of_distance):
        with pytest.raises(InputError, match="metric: expected 'euclidean'"):
            ab.load(tmp_path / "known", metric=wrong)
    assert ab.load(tmp_path / "known", metric="euclidean").metric == "euclidean"
    again = ab.load(tmp_path / "own", metric=of_distance)
    np.testing.assert_array_equal(ab.simulate(again, X, y).expert, ab.simulate(own, X, y).expert)


@games(200)
@given(
    st.integers(1, 6),
    st.sampled_from([0.02, 0.1, 0.5, 2.0]),
    st.sampled_from(["euclidean", "cityblock", "chebyshev"]),
    st.sampled_from([(-1.0, 1.0), (1000.0, 1000.5), (-1e9, 1e9), (-1e13, 1e13)]),
    st.integers(0, 999),
)
@pytest.mark.long
def test_the_nearest_centre(dim, epsilon, metric, domain, seed):
    """Inputs on a lattice of step epsilon meet every edge of a cell, and every tie; they are enough to be hashed."""
    low, high = domain
    rng = np.random.default_rng(seed)
    n, extent = 300, {1: 60, 2: 16, 3: 8}.get(dim, 6)
    steps = rng.integers(0, extent, (n, dim)) if seed % 2 else rng.uniform(0, extent, (n, dim))
    X = np.clip(low + steps * epsilon, low, high)
    learner = ab.ContExp3Abs(dim, cost=0.3, epsilon=epsilon, metric=metric, domain=domain, seed=0)
    centres = np.zeros((0, dim))
    for x in X:
        apart, distances = np.abs(centres - x), np.zeros(len(centres))
        for k in range(dim):  # in the kernel's order
            if metric == "euclidean":
                distances += apart[:, k] ** 2
            elif metric == "cityblock":
                distances += apart[:, k]
            else:
                distances = np.maximum(distances, apart[:, k])
        limit = epsilon**2 if metric == "euclidean" else epsilon
        decision = learner.decide(x)
        if len(centres) == 0 or distances.min() > limit:
            assert decision.carry[0] == len(centres)
            centres = np.vstack([centres, x])
        else:
            assert decision.carry[0] == distances.argmin()
    np.testing.assert_array_equal(learner.centres, centres)


@pytest.mark.long
def test_draws_follow_the_weights():
    """Of 20,000 peeks each action gets its share: deviations of five standard errors would show."""
    learner = MAKE["grid"](cost=0.3)
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.1, 0.1, (40, 2))
    ab.simulate(learner, X, rng.choice([-1, 1], 40))
    n, q = 20_000, learner.weights_at(X[0])
    counts = np.zeros(len(q))
    for _ in range(n):
        counts[learner.peek(X[0]).expert] += 1
        learner._random.random()
    assert (np.abs(counts - n * q) < 5 * np.sqrt(n * q * (1 - q)) + 1).all()


@pytest.mark.parametrize("gamma", [0.15, 0.3, 0.9])
def test_both_losses_of_a_trace(gamma):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 1))
    y = np.where(X[:, 0] > 0, 1, -1)
    learner = ab.ContExp3Abs(1, cost=cost_of, gamma=gamma, epsilon=0.2, actions="grid", seed=0)
    trace = ab.simulate(learner, X, y)
    h, r = learner.experts.values
    h, r = h[trace.expert], r[trace.expert]
    np.testing.assert_array_equal(trace.surrogate, ab.losses.surrogate(h, r, y, cost_of(X), gamma))
    ramp = ab.losses.ramp(gamma)(h[:, None], y.astype(float))[:, 0]
    np.testing.assert_array_equal(trace.loss, np.where(r <= 0, cost_of(X), ramp))
    assert (trace.surrogate >= trace.loss - 1e-12).all()
    assert (trace.surrogate > trace.loss + 1e-3).any()


@pytest.mark.long
def test_three_actions_suffice():
    """No constant pair has less loss, L or L~, than the best of the three, whatever the labels and costs."""
    rng = np.random.default_rng(0)
    values = np.linspace(-1, 1, 21)
    for gamma in (0.1, 0.5, 0.9):
        for _ in range(20):
            y, cost = rng.choice([-1, 1], 12, p=[0.3, 0.7]), rng.uniform(0, 1, 12)
            X = np.zeros((12, 1))
            pairs = [(h, r) for h in values for r in values]
            for surrogate in (False, True):
                best = ab.best_pair(X, y, cost=cost, gamma=gamma, pairs=pairs, surrogate=surrogate)
                assert best.total[:3].min() <= best.total.min() + 1e-9


def test_regret_against_pairs():
    X = np.array([[-0.5], [0.5], [0.1], [-0.1], [-0.6]])
    y = np.array([-1, 1, 1, 1, -1])
    learner = ab.ContExp3Abs(1, cost=0.3, gamma=0.2, epsilon=0.5, actions="grid", seed=0)
    trace = ab.simulate(learner, X, y)
    pair = (lambda X: X[:, 0], lambda X: np.abs(X[:, 0]) - 0.2)
    best = ab.best_pair(X, y, cost=0.3, gamma=0.2, pairs=[pair])
    assert best.total.round(12).tolist() == [2.0, 3.0, 1.5, 0.6]
    np.testing.assert_allclose(best.loss, [0.0, 0.0, 0.3, 0.3, 0.0])
    np.testing.assert_allclose(trace.regret(best), np.cumsum(trace.loss - [0.0, 0.0, 0.3, 0.3, 0.0]))
    smooth = ab.best_pair(X, y, cost=0.3, gamma=0.2, pairs=[pair], surrogate=True)
    expected = [0.0, 0.0, 0.65, 0.65, 0.0]
    np.testing.assert_allclose(smooth.loss, expected)
    np.testing.assert_allclose(trace.regret(smooth), np.cumsum(trace.surrogate - expected))
    assert trace.to_frame()["surrogate"].to_list() == trace.surrogate.tolist()
    with pytest.raises(InputError, match="gamma = 0.2"):
        trace.regret(ab.best_pair(X, y, cost=0.3, gamma=0.9, surrogate=True))
    three = ab.simulate(MAKE["one"](cost=0.3), X, y)
    np.testing.assert_allclose(three.regret(smooth), np.cumsum(three.loss - expected))
    plain = ab.simulate(ab.UCB(ab.experts.thresholds(1, [0.0]), cost=0.3), X, y)
    with pytest.raises(InputError, match="played on L,"):
        plain.regret(smooth)
    for wrong in (3, [(2.0, 1.0)], [(lambda X: X, 1.0)], [(1.0,)]):
        with pytest.raises(InputError, match="pairs"):
            ab.best_pair(X, y, cost=0.3, pairs=wrong)
    with pytest.raises(InputError, match="gamma"):
        ab.best_pair(X, y, cost=0.3, surrogate=True)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "horizon"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": np.nan}, "epsilon"),
        ({"epsilon": 0.1, "gamma": 0.2}, "gamma"),
        ({"epsilon": 0.1, "actions": "grid"}, "gamma"),
        ({"epsilon": 0.1, "actions": "grid", "gamma": 1.0}, "gamma"),
        ({"epsilon": 0.1, "actions": "grid", "gamma": 0.0}, "gamma"),
        ({"epsilon": 0.1, "actions": "four"}, "actions"),
        ({"epsilon": 0.1, "eta": 0.0}, "eta"),
        ({"epsilon": 0.1, "eta": -1.0}, "eta"),
        ({"epsilon": 0.1, "eta": "fast"}, "eta"),
        ({"epsilon": 0.1, "eta": "tuned"}, "horizon"),
        ({"horizon": 0}, "horizon"),
        ({"epsilon": 0.1, "metric": "cosine"}, "metric"),
        ({"epsilon": 0.1, "domain": (1.0, -1.0)}, "domain"),
        ({"epsilon": 0.1, "domain": 1.0}, "domain"),
        ({"epsilon": 0.1, "domain": ([0.0, 0.0, 0.0], 1.0)}, "domain"),
        ({"epsilon": 0.1, "cost": 1.5}, "cost"),
        ({"epsilon": 1e-200}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"epsilon": 0.1, "eta": np.array([0.1, 0.2])}, "eta"),
        ({"epsilon": 0.1, "eta": True}, "eta"),
        ({"epsilon": 0.1, "metric": ["euclidean"]}, "metric"),
        ({"horizon": 10**6, "gamma": 1e-4, "actions": "grid"}, "actions='three'"),
    ],
)
def test_wrong_arguments(options, match):
    with pytest.raises(InputError, match=match):
        ab.ContExp3Abs(2, **{"cost": 0.3, **options})


def test_wrong_inputs_change_nothing():
    learner = MAKE["three"](cost=0.3)
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (50, 2)), rng.choice([-1, 1], 50)
    ab.simulate(learner, X, y)
    before = learner.arrays()
    outside = np.tile(X, (2000, 1))
    outside[-1, 1] = 1.0001
    with pytest.raises(InputError, match="row 99999"):
        ab.simulate(learner, outside, np.tile(y, 2000))
    outside = outside[-50:]
    for action in (
        lambda: learner.decide(outside[-1]),
        lambda: learner.peek(outside[-1]),
        lambda: ab.simulate(learner, outside, y),
        lambda: learner.decide(learner.experts.advise(X[:1])),
    ):
        with pytest.raises(InputError, match="domain|advice"):
            action()
        for name, array in learner.arrays().items():
            np.testing.assert_array_equal(array, before[name])
    assert learner.round == 50
    decision = next(d for d in (learner.decide(x) for x in X) if not d.abstained)
    for carry in ([learner.n_balls, 0.5], [-1.0, 0.5], [0.5, 0.5], [0.0, 0.0], [0.0, np.nan], [0.0], [0.0, 2.0]):
        with pytest.raises(DecisionError, match="changed"):
            learner.learn(dataclasses.replace(decision, carry=np.array(carry)), 1)
    learner.learn(decision, 1)


def test_wrong_metric():
    for metric in (lambda x, centres: 0.1, lambda x, centres: -np.ones(len(centres))):
        learner = MAKE["three"](cost=0.3, metric=metric)
        learner.decide([0.0, 0.0])
        with pytest.raises(InputError, match="metric"):
            learner.decide([0.5, 0.5])
        assert learner.n_balls == learner.round == 1


@pytest.mark.parametrize("eta", [1e-6, 1.0, 10.0, "adaptive", "anytime"])
@pytest.mark.parametrize("cost", [0.0, 0.5, 1.0])
def test_nothing_overflows(eta, cost):
    """A ball whose label turns after long: sums stay finite, and the draw stays one of the actions."""
    X = np.zeros((200_000, 1))
    y = np.where(np.arange(len(X)) < len(X) // 2, 1, -1)
    learner = ab.ContExp3Abs(1, cost=cost, epsilon=1.0, eta=eta, seed=0)
    trace = ab.simulate(learner, X, y)
    q = learner.weights_at([0.0])
    assert np.isfinite(learner.arrays()["sums"]).all()
    assert np.isfinite(q).all()
    assert q.sum() == pytest.approx(1.0)
    assert set(trace.expert) <= {0, 1, 2}
