"""UCB-ABS: its twin, the rules all learners obey, files, and what it is measured against."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.checks import check_learner, state_of
from abstain.errors import DecisionError, InputError

from ..conformance.test_learners import COSTS, EXPERTS, RINGS
from ..instances import delays, games, tables
from ..reference.game import written_out
from ..reference.ucb_abs import ucb_abs


def assert_same(learner, X, y, delay):
    """Simulate a learner and compare the choices, and what was learnt in each region."""
    game = written_out(learner, X, y)
    chosen, regions = ucb_abs(game, learner.experts.predictor_of, delay)
    T = len(X)
    trace = ab.simulate(learner, X, y, delay=delay)
    np.testing.assert_array_equal(trace.expert, chosen)
    np.testing.assert_array_equal(trace.loss, game.loss[np.arange(T), chosen])
    np.testing.assert_array_equal(learner.counts, [region.n for region in regions])
    means = learner.means
    for k, region in enumerate(regions):
        if region.n > 0:
            assert [means[k, p] for p in region.E] == [E / region.n for E in region.E.values()]
        np.testing.assert_array_equal(np.flatnonzero(learner.patterns[k][learner.rule_of]), region.silent)


def repeated(table, n):
    """Its rows again and again, in another order, so that regions fill."""
    rows = np.random.default_rng(n).permutation(np.tile(np.arange(len(table.X)), n))
    cost = np.tile(table.cost, n) if isinstance(table.cost, np.ndarray) else table.cost
    return dataclasses.replace(table, X=table.X[rows], y=table.y[rows], cost=cost)


@games(1500)
@given(tables(), delays, st.sampled_from([1, 1, 5, 30]))
def test_equals_the_twin(table, delay, times):
    table = repeated(table, times)
    assert_same(ab.UCBAbs(table.experts, cost=table.cost, loss=table.loss), table.X, table.y, delay)


def test_the_games_of_the_twin_are_not_all_alike():
    """Regions that turn from predicting to abstaining, and costs between them: else the twin would show little."""
    rng = np.random.default_rng(0)
    experts = ab.experts.from_columns(2, 2)
    scores, margins = rng.choice([-1.0, 1.0], (3000, 2)), rng.uniform(-1, 1, (3000, 2))
    X, y = np.column_stack([scores, margins]), rng.choice([-1, 1], 3000)
    cost = rng.choice([0.05, 0.95], 3000)
    learner = ab.UCBAbs(experts, cost=cost)
    assert_same(learner, X, y, 3)
    trace = ab.simulate(learner.clone(), X, y)
    mixed = (margins <= 0).any(axis=1) & (margins > 0).any(axis=1)
    late = np.arange(3000) > 2500
    assert trace.abstained[mixed & late & (cost < 0.5)].all()
    assert not trace.abstained[mixed & (late | (np.arange(3000) < 50)) & (cost > 0.5)].any()


def many_regions():
    """20 models x 100 thresholds: 2,000 rules, and nearly every round a region of its own."""
    rng = np.random.default_rng(1)
    experts = ab.experts.thresholds(20, np.linspace(0.0, 0.99, 100))
    X = np.round(rng.uniform(-1, 1, (700, 20)), 2)
    X[350:] = X[rng.integers(0, 350, 350)]
    return experts, X, np.where(X[:, :3].sum(axis=1) > 0, 1, -1)


@pytest.mark.parametrize("delay", [0, 40])
def test_equals_the_twin_on_many_regions(delay):
    """Patterns of many words, and more regions than there was room for."""
    experts, X, y = many_regions()
    learner = ab.UCBAbs(experts, cost=0.1)
    assert_same(learner, X, y, delay)
    assert 300 < learner.n_regions <= 350
    assert learner.patterns.shape == (learner.n_regions, 2000)


@pytest.mark.parametrize("n_rules", [1, 63, 64, 65, 128])
def test_patterns_that_fill_a_word(n_rules):
    rng = np.random.default_rng(n_rules)
    experts = ab.experts.from_columns(1, n_rules)
    margins = np.ones((600, n_rules))
    margins[np.arange(600), rng.integers(0, n_rules, 600)] = -1.0
    X, y = np.column_stack([rng.choice([-1.0, 1.0], 600), margins]), np.ones(600)
    learner = ab.UCBAbs(experts, cost=0.01)
    assert_same(learner, X, y, 0)
    assert learner.n_regions == n_rules


@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.sample(2)
def test_rules_all_learners_obey(name):
    check_learner(lambda: ab.UCBAbs(EXPERTS[name], cost=0.3))


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("loss", ["zero_one", "ramp", "hinge"])
@pytest.mark.sample(2)
def test_rules_with_every_cost_and_loss(name, loss):
    check_learner(lambda: ab.UCBAbs(RINGS, cost=COSTS[name], loss=loss))


@pytest.mark.long
def test_rules_with_other_labels():
    rng = np.random.default_rng(0)
    experts = ab.experts.from_columns(2, 2)
    classes = np.column_stack([rng.integers(0, 3, (150, 2)), rng.normal(size=(150, 2))])
    check_learner(lambda: ab.UCBAbs(experts, cost=0.3, loss="multiclass"), classes, rng.integers(0, 3, 150))
    check_learner(lambda: ab.UCBAbs(experts, cost=0.3, loss="squared"), rng.normal(size=(150, 4)), rng.normal(size=150))


@pytest.mark.long
def test_rules_with_many_regions_and_hidden_labels():
    """Some rounds abstain, so that there are labels to hide."""
    experts, X, y = many_regions()
    check_learner(lambda: ab.UCBAbs(experts, cost=0.1), X[:150], y[:150])
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, (400, 2)), rng.choice([-1, 1], 400)
    assert ab.simulate(ab.UCBAbs(RINGS, cost=0.0), X, y).abstained.any()
    check_learner(lambda: ab.UCBAbs(RINGS, cost=0.0), X, y)


def test_advice_is_enough():
    """Who abstains is all it needs of x: rounds on advice are those on inputs."""
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    one, other = ab.UCBAbs(RINGS, cost=0.1), ab.UCBAbs(RINGS, cost=0.1)
    for x, label in zip(X, y, strict=True):
        first, second = one.decide(x), other.decide(RINGS.advise(x[np.newaxis]))
        assert first.expert == second.expert
        if not first.abstained:
            one.learn(first, label)
            other.learn(second, label)
    np.testing.assert_array_equal(one.means, other.means)


def two_regions(seed, n):
    """Left, predictors err in 0.1 and 0.4 of the rounds, right in 0.5 and 0.45; a rule for either side."""
    rng = np.random.default_rng(seed)
    left, y = rng.random(n) < 0.5, rng.choice([-1.0, 1.0], n)
    error = np.where(left[:, None], [0.1, 0.4], [0.5, 0.45])
    scores = np.where(rng.random((n, 2)) < error, -y[:, None], y[:, None])
    side = np.where(left, 1.0, -1.0)
    return np.column_stack([scores, side, -side]), y


def test_it_approaches_the_best_choice_per_region():
    """Rule 1 abstains on the right, rule 2 on the left, so that every expert abstains on half of the inputs.

    At c = 0.2 the best choice per region loses (0.1 + 0.2) / 2 = 0.15, which is the best expert, too: predict with the
    first predictor on the left. At c = 0.05, abstaining everywhere loses 0.05, the best expert (0.1 + 0.05) / 2; at
    c = 0.6, predicting everywhere loses (0.1 + 0.45) / 2, the best expert (0.1 + 0.6) / 2.
    """
    experts = ab.experts.from_columns(2, 2)
    n = 200_000
    for cost, per_region, best_expert in ((0.2, 0.15, 0.15), (0.05, 0.05, 0.075), (0.6, 0.275, 0.35)):
        means, regrets = [], []
        for seed in range(3):
            X, y = two_regions(seed, n)
            trace = ab.simulate(ab.UCBAbs(experts, cost=cost), X, y)
            best = ab.best_in_hindsight(experts, X, y, cost=cost)
            means.append([trace.loss[: n // 20].mean(), trace.loss.mean(), trace.loss[n // 2 :].mean()])
            regrets.append(trace.regret(best)[-1] / n)
        early, whole, late = np.mean(means, axis=0)
        assert late == pytest.approx(per_region, abs=0.012)
        assert abs(whole - per_region) <= abs(early - per_region) + 0.003, "it gets nearer"
        assert np.mean(regrets) == pytest.approx(whole - best_expert, abs=0.003)
        if best_expert > per_region:
            assert max(regrets) < 0.0


@pytest.mark.long
def test_ten_million_rounds():
    """Three models, 20 thresholds: sums stay whole, every round is one of a region, and it does not wear out."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    y = rng.choice([-1.0, 1.0], n)
    X = y[:, np.newaxis] * rng.normal(0.2, 0.4, (n, 3))
    learner = ab.UCBAbs(ab.experts.thresholds(3, np.linspace(0.0, 0.95, 20)), cost=0.2)
    losses = [ab.simulate(learner, X, y, delay=100).loss.mean() for _ in range(10)]
    arrays = learner.arrays()
    assert learner.n_regions <= 21**3
    assert all(np.isfinite(array).all() for array in arrays.values())
    with learner.lock:
        learner.set_arrays(arrays)
    assert losses[-1] < losses[0]


def test_a_region_abstains_after_enough_labels():
    """Labels of errors only: it abstains as soon as 1 - sqrt(5 log t / n) is at least c."""
    experts = ab.experts.from_columns(1, 2)
    X = np.tile([1.0, 1.0, -1.0], (200, 1))
    trace = ab.simulate(ab.UCBAbs(experts, cost=0.5), X, -np.ones(200))
    first = next(t for t in range(2, 200) if 1 - np.sqrt(5 * np.log(t) / (t - 1)) >= 0.5)
    assert trace.abstained.argmax() == first - 1
    assert set(trace.expert) == {0, 1}


def test_a_bound_that_equals_the_cost_abstains():
    """Costs that are the bound itself, from the first round on in which it is not negative."""
    t = np.arange(1, 101)
    bound = [1.0 - math.sqrt(5.0 * math.log(k) / (k - 1)) if k > 1 else -1.0 for k in t]
    trace = ab.simulate(
        ab.UCBAbs(ab.experts.from_columns(1, 2), cost=np.maximum(bound, 0.0)),
        np.tile([1.0, 1.0, -1.0], (100, 1)),
        -np.ones(100),
    )
    first = next(k for k in t if bound[k - 1] >= 0.0)
    assert bound[first - 1] > 0.0
    assert trace.abstained.argmax() == first - 1


def test_forged_decisions():
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    learner = ab.UCBAbs(RINGS, cost=0.3)
    ab.simulate(learner, X, y)
    decision = learner.decide(X[0])
    before = state_of(learner)
    for carry in ([learner.n_regions], [-1.0], [0.5], [np.nan], [], [(decision.carry[0] + 1) % learner.n_regions]):
        with pytest.raises(DecisionError, match="changed"):
            learner.learn(dataclasses.replace(decision, carry=np.array(carry, float)), 1)
    assert all(np.array_equal(value, before[name]) for name, value in state_of(learner).items())
    learner.learn(decision, 1)


def spoilt():
    """States that cannot be, each by one change of one that can."""

    def change(name, value, place=0):
        def spoil(arrays):
            arrays[name][place] = value

        return spoil

    yield "labels of at most", change("labels", 0.5)
    yield "labels of at most", change("labels", 1e308)
    yield "labels of at most", change("labels", 101.0)
    yield "losses in", change("losses", 99.0)
    yield "losses in", change("losses", 0.5)
    yield "5 bits", change("bits", 1 << 5)
    yield "5 bits", change("bits", 1 << 63)
    yield "differ", lambda arrays: change("bits", arrays["bits"][1])(arrays)
    yield "an expert predicts", change("bits", 0b11111)
    yield "finite", change("losses", np.nan)
    yield "from 0 on", change("losses", -1.0)
    yield "expected bits", lambda arrays: arrays.update(bits=arrays["bits"].astype(np.int64))
    yield "expected losses", lambda arrays: arrays.update(losses=arrays["losses"][:, :-1])


@pytest.mark.parametrize(("match", "spoil"), list(spoilt()))
def test_states_that_cannot_be(match, spoil):
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    learner = ab.UCBAbs(RINGS, cost=0.3)
    ab.simulate(learner, X, y)
    arrays = learner.arrays()
    with learner.lock:
        learner.set_arrays(arrays)
    before = state_of(learner)
    spoil(arrays)
    with learner.lock, pytest.raises(InputError, match=match):
        learner.set_arrays(arrays)
    assert all(np.array_equal(value, before[name]) for name, value in state_of(learner).items())


def test_more_regions_than_rounds():
    learner = ab.UCBAbs(RINGS, cost=0.3)
    bits = np.arange(3, dtype=np.uint64)[:, np.newaxis]
    with pytest.raises(InputError, match="at most 0 regions, got 3"):
        learner.set_arrays({"bits": bits, "labels": np.zeros(3), "losses": np.zeros((3, 4))})
