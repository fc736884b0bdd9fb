"""Fast rates with full information: the twin, the rules all learners obey, files, and the bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.validation import own_stream
from abstain.checks import check_learner
from abstain.errors import InputError
from abstain.learners.fast_rates import fast_rate

from ..conformance.test_learners import EXPERTS, RINGS
from ..instances import delays, games, tables
from ..reference.fast_rates import fast_rates

SEED = 7


def assert_same(learner, X, y, delay):
    """Simulate a learner and compare choices and weights."""
    experts, T = learner.experts, len(X)
    advice = experts.advise(X)
    losses = learner.loss(advice.predictions, learner.loss.labels(y)).astype(float)
    said = advice.predictions.tolist()
    signed = learner.loss.name == "zero_one"
    if signed:
        said = [[np.sign(score) if score else None for score in row] for row in said]
    pairs = list(zip(experts.predictor_of.tolist(), experts.rule_of.tolist(), strict=True))
    u = np.random.default_rng(own_stream(SEED)).random(T)
    eta = learner.eta if learner.eta is not None else fast_rate(learner.cost.largest)
    chosen, probabilities, q = fast_rates(
        said, losses, pairs, advice.abstains, eta, u, learner.loss.name == "zero_one", delay
    )
    first = learner.peek(X[0])
    assert first.probability == pytest.approx(probabilities[0], abs=1e-9)
    trace = ab.simulate(learner, X, y, delay=delay)
    np.testing.assert_array_equal(trace.expert, chosen)
    np.testing.assert_allclose(learner.weights, q, rtol=1e-9, atol=1e-300)


@games(1000)
@given(tables(losses=("zero_one",)), delays, st.sampled_from([0.1, 1.0, 5.0]))
def test_equals_the_twin(table, delay, eta):
    learner = ab.FastRates(table.experts, cost=table.cost, seed=SEED, eta=eta)
    assert_same(learner, table.X, table.y, delay)


@games(300)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), delays)
def test_equals_the_twin_with_several_classes(seed, n_predictors, delay):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, (50, n_predictors)), rng.normal(size=(50, 2))]).astype(float)
    experts = ab.experts.from_columns(n_predictors, 2)
    learner = ab.FastRates(experts, cost=0.3, loss="multiclass", seed=SEED)
    assert_same(learner, X, rng.integers(0, 4, 50), delay)


@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.sample(2)
def test_rules_all_learners_obey(name):
    check_learner(lambda: ab.FastRates(EXPERTS[name], cost=0.3, seed=1))


def test_rules_with_several_classes_that_are_strings():
    rng = np.random.default_rng(0)
    estimators = ab.experts.from_columns(3, 2)
    X = np.column_stack([rng.integers(0, 3, (150, 3)), rng.normal(size=(150, 2))])
    check_learner(lambda: ab.FastRates(estimators, cost=0.2, loss="multiclass", seed=1), X, rng.integers(0, 3, 150))


def test_a_vote_by_hand():
    """Weights 1 and exp(-eta): at eta = log 3 the better predictor has 3/4 of the weight, so that half abstains."""
    experts = ab.experts.from_columns(2, 2)
    learner = ab.FastRates(experts, cost=0.1, seed=0, eta=np.log(3.0))
    ab.simulate(learner, [[1.0, -1.0, 1.0, -1.0]], [1])
    np.testing.assert_allclose(learner.weights, [0.75, 0.25])
    decision = learner.peek([1.0, -1.0, 1.0, -1.0])
    assert decision.probability == pytest.approx(0.5)
    assert learner.peek([1.0, 1.0, 1.0, -1.0]).probability == 1.0
    assert learner.peek([1.0, -1.0, 1.0, 1.0]).probability == 1.0, "nobody abstains"
    assert learner.peek([1.0, -1.0, -1.0, -1.0]).probability == 0.0, "nobody predicts"


def test_the_rate_follows_the_cost():
    learner = ab.FastRates(RINGS, cost=0.3)
    assert learner.state.rate[0] == fast_rate(0.3)
    learner.cost = 0.1
    assert learner.state.rate[0] == fast_rate(0.1)
    with pytest.raises(InputError, match="cost: expected less than 1/2 unless you give eta, got up to 0.6"):
        learner.cost = 0.6
    assert learner.cost.value == 0.1
    assert learner.state.rate[0] == fast_rate(0.1)


@pytest.mark.parametrize("cost", [0.5, 1.0, np.linspace(0.0, 0.5, 9), lambda X: np.abs(X[:, 0])])
def test_costs_that_need_a_rate(cost):
    with pytest.raises(InputError, match="less than 1/2 unless you give eta"):
        ab.FastRates(RINGS, cost=cost)
    ab.FastRates(RINGS, cost=cost, eta=0.1)


@pytest.mark.parametrize("eta", [0.0, -1.0, np.nan, np.inf, "tuned"])
def test_wrong_rates(eta):
    with pytest.raises(InputError, match="eta: expected a positive number"):
        ab.FastRates(RINGS, cost=0.3, eta=eta)


@pytest.mark.parametrize("loss", ["ramp", "hinge", "squared"])
def test_losses_without_labels_to_vote_for(loss):
    with pytest.raises(InputError, match="loss: expected 'zero_one' or 'multiclass'"):
        ab.FastRates(RINGS, cost=0.3, loss=loss)


@pytest.mark.parametrize("value", [0.5, 101.0])
def test_states_that_cannot_be(value):
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    learner = ab.FastRates(RINGS, cost=0.3)
    ab.simulate(learner, X, y)
    with pytest.raises(InputError, match="at most 100 losses, a whole number"):
        learner.set_arrays({"totals": np.array([value, 0.0, 0.0, 0.0])})
