"""EXP3-ABS equals its twin, whatever the rate, the cost and the order of the labels."""

import copy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import abstain as ab
from abstain.checks import check_learner
from abstain.errors import DecisionError, InputError

from .instances import tables
from .reference.exp3 import Exp3
from .reference.game import written_out

rates = st.sampled_from(["adaptive", "anytime", "tuned", 1e-6, 0.05, 0.7])


@settings(max_examples=1500)
@given(
    tables(max_rounds=40), rates, st.sampled_from([0.0, 0.1]), st.sampled_from([0, 0, 1, 5, 100]), st.integers(0, 99)
)
def test_equals_the_twin(table, eta, ix, delay, seed):
    """Round by round, with the choices the learner makes: weights, probabilities and losses."""
    T = len(table.X)
    learner = ab.Exp3Abs(table.experts, cost=table.cost, loss=table.loss, eta=eta, horizon=T, ix=ix, seed=seed)
    game = written_out(learner, table.X, table.y)
    twin = Exp3(game, eta, ix, T, learner.cost.largest)
    random = copy.deepcopy(learner._random)
    waiting = {}
    for t in range(1, T + 1):
        q = twin.q(t)
        np.testing.assert_allclose(learner.weights, q, rtol=1e-9, atol=1e-12)
        u = random.random()
        decision = learner.decide(table.X[t - 1])
        assert decision.probability == pytest.approx(twin.probability(t), abs=1e-12)
        order = np.argsort(game.rule_of, kind="stable")
        edges = np.concatenate([[0.0], np.cumsum(q[order])])
        place = np.flatnonzero(order == decision.expert)[0]
        assert edges[place] - 1e-9 <= u <= edges[place + 1] + 1e-9
        if decision.abstained:
            twin.learn(t, t, decision.probability, False)
        else:
            assume(decision.probability > 1e-6)  # else rounding is amplified by 1 / P in any implementation
            waiting[t] = decision
        if t - delay in waiting:
            late = waiting.pop(t - delay)
            learner.learn(late, table.y[late.round - 1])
            twin.learn(late.round, t, late.probability, True)


@pytest.mark.parametrize("eta", ["adaptive", "anytime", "tuned", 0.1])
@pytest.mark.parametrize("cost", [0.0, 1.0, 0.3, np.linspace(0, 1, 1000)])
def test_rules_all_learners_obey(eta, cost):
    experts = ab.experts.hyperplanes(2, 4, 5, seed=0)
    check_learner(lambda: ab.Exp3Abs(experts, cost=cost, eta=eta, horizon=200, seed=1))


def test_other_experts():
    for experts in (
        ab.experts.thresholds(3, [-1.0, 0.1, 0.5]),
        ab.experts.from_columns(2, 4, [(0, 3), (1, 0), (0, 0)]),
        ab.experts.from_columns(1, 1),
    ):
        check_learner(lambda experts=experts: ab.Exp3Abs(experts, cost=0.3, loss="ramp", ix=0.05, seed=1))


@pytest.mark.parametrize("eta", [1e-6, 1e-2, 1.0, 10.0, "adaptive"])
@pytest.mark.parametrize("cost", [0.0, 0.5, 1.0])
def test_nothing_overflows(eta, cost):
    """Losers underflow and come back: everybody errs for long, then the best and the worst change places."""
    experts = ab.experts.from_columns(3, 2)
    T = 30_000
    rng = np.random.default_rng(0)
    y = np.ones(T)
    scores = np.column_stack([np.where(np.arange(T) < T // 2, 1, -1), np.where(np.arange(T) < T // 2, -1, 1), -y])
    margins = np.column_stack([np.ones(T), rng.choice([-1, 1], T)])
    learner = ab.Exp3Abs(experts, cost=cost, eta=eta, seed=0)
    trace = ab.simulate(learner, np.column_stack([scores, margins]), y)
    assert np.isfinite(learner.weights).all()
    assert learner.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(learner._weights.losses).all()
    assert np.isin(trace.expert, np.arange(6)).all()


def test_estimates_are_unbiased_also_when_labels_are_late():
    """The mean of Lhat over draws is the loss, with the probability of the decision's own round."""
    experts = ab.experts.from_columns(2, 2)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([-1.0, 1.0], (30, 2)), rng.normal(size=(30, 2))])
    y = rng.choice([-1.0, 1.0], 30)
    sums = []
    for seed in range(4000):
        learner = ab.Exp3Abs(experts, cost=0.4, eta=0.3, seed=seed)
        ab.simulate(learner, X, y, delay=10)
        w = learner._weights
        total = np.empty(4)
        total[w.places.expert] = w.losses + np.repeat(w.paid, np.diff(w.places.start))
        sums.append(total)
    truth = ab.best_in_hindsight(experts, X, y, cost=0.4).total
    error = np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - truth) <= 5 * error + 1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"eta": 0.0}, "eta"),
        ({"eta": -1}, "eta"),
        ({"eta": np.inf}, "eta"),
        ({"eta": "fast"}, "eta"),
        ({"eta": None}, "eta"),
        ({"eta": "tuned"}, "horizon"),
        ({"eta": "tuned", "horizon": 0}, "horizon"),
        ({"ix": -0.1}, "ix"),
        ({"ix": np.nan}, "ix"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(InputError, match=f"^{match}: "):
        ab.Exp3Abs(ab.experts.from_columns(2, 2), cost=0.2, **arguments)


def test_a_probability_of_zero_is_refused():
    learner = ab.Exp3Abs(ab.experts.from_columns(1, 1), cost=0.2, seed=0)
    text = learner.decide([1.0, 1.0]).to_json()
    with pytest.raises(DecisionError, match="changed"):
        learner.learn(ab.Decision.from_json(text.replace('"probability": 1.0', '"probability": 0.0')), 1)
