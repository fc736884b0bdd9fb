"""EXP3-ABS equals its twin, whatever the rate, the cost and the order of the labels."""

import copy
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.validation import own_stream
from abstain.checks import check_learner
from abstain.errors import DecisionError, InputError

from ..instances import games, tables
from ..reference.backlog import Backlog
from ..reference.exp3 import Exp3
from ..reference.game import written_out

rates = st.sampled_from(["adaptive", "anytime", "tuned", 1e-6, 0.05, 0.7])


@games(1500)
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
    waiting, backlog = {}, Backlog()

    def learn_without(s, probability):
        twin.learn(s, backlog.now, probability, False)

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
            backlog.decided(t, partial(learn_without, t, decision.probability))
        else:
            backlog.decided(t, None)
            assume(decision.probability > 1e-6)  # else rounding is amplified by 1 / P in any implementation
            waiting[t] = decision
        if t - delay in waiting:
            late = waiting.pop(t - delay)
            learner.learn(late, table.y[late.round - 1])
            twin.learn(late.round, t, late.probability, True)
            backlog.learnt(late.round)


SETS = {
    "cells": ab.experts.hyperplanes(3, 30, 10, seed=0),
    "cells of all sizes": ab.experts.from_columns(7, 5, np.random.default_rng(0).integers(0, 5, (40, 2))),
    "singles in runs": ab.experts.thresholds(30, np.linspace(-0.05, 0.4, 10)),
    "scattered singles": ab.experts.from_columns(277, 277, "aligned"),
}


@pytest.mark.long
@games(1000)
@given(tables(max_rounds=30), rates, st.sampled_from([0.0, 0.1]), st.integers(0, 99))
def test_one_update_equals_the_twins(table, eta, ix, seed):
    """From the same cumulative estimates, whatever led there: estimates, V and weights after one more round."""
    T = len(table.X)
    learner = ab.Exp3Abs(table.experts, cost=table.cost, loss=table.loss, eta=eta, horizon=T, ix=ix, seed=seed)
    if T > 1:
        ab.simulate(learner, table.X[: T - 1], table.y[: T - 1])
    twin = Exp3(written_out(learner, table.X, table.y), eta, ix, T, learner.cost.largest)
    w = learner.state.memories

    def estimates():
        total = np.empty(table.experts.n_experts)
        total[w.layout.expert] = w.losses[0] + np.repeat(w.paid[0], np.diff(w.start))
        return total

    twin.total, twin.V = estimates(), w.numbers[0, 1]
    np.testing.assert_allclose(learner.weights, twin.q(T), rtol=1e-11, atol=1e-12)
    decision = learner.decide(table.X[T - 1])
    if not decision.abstained:
        learner.learn(decision, table.y[T - 1])
    before = twin.total.copy()
    twin.learn(T, T, decision.probability, not decision.abstained)
    np.testing.assert_allclose(estimates() - before, twin.total - before, rtol=1e-12, atol=1e-12 * (1 + before.max()))
    if eta == "adaptive":
        assert w.numbers[0, 1] == pytest.approx(twin.V, rel=1e-12)
    np.testing.assert_allclose(learner.weights, twin.q(T + 1), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("eta", "T"), [(0.01, 3000), (0.1, 300), (1.0, 30), ("adaptive", 300), ("anytime", 300)])
@pytest.mark.parametrize(("cost", "loss", "delay"), [(0.2, "zero_one", 0), (0.5, "ramp", 3)])
@pytest.mark.long
def test_whole_runs_equal_the_twin(name, eta, T, cost, loss, delay):
    """For eta T up to 30; beyond that rounding is amplified by 1 / P in any implementation.

    The twin makes the learner's choices, and each must be the one its own q_t gives for the same random number.
    """
    experts = SETS[name]
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (T, experts.n_features))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=T) > 0.0, 1, -1)
    learner = ab.Exp3Abs(experts, cost=cost, loss=loss, eta=eta, seed=8)
    game = written_out(learner, X, y)
    trace = ab.simulate(learner, X, y, delay=delay)
    twin = Exp3(game, eta, largest=cost)
    order = np.argsort(game.rule_of, kind="stable")
    place = np.argsort(order)
    waiting = {}
    for t, u in enumerate(np.random.default_rng(own_stream(8)).random(T), start=1):
        expert, abstained = trace.expert[t - 1], trace.abstained[t - 1]
        edges = np.append(0.0, np.cumsum(twin.q(t)[order]))
        assert edges[place[expert]] - 1e-10 <= u <= edges[place[expert] + 1] + 1e-10
        assert abstained == game.abstains[t - 1, expert]
        waiting[t] = (1.0, False) if abstained else (twin.probability(t), True)
        if t - delay in waiting:
            twin.learn(t - delay, t, *waiting.pop(t - delay))
    for t in sorted(waiting):
        twin.learn(t, T, *waiting[t])
    np.testing.assert_allclose(learner.weights, twin.q(T + 1), rtol=1e-10, atol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("name", ["cells", pytest.param("singles in runs", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("eta", "ix"),
    [("both", 0.0), ("anytime", "anytime"), pytest.param("both", "anytime", marks=pytest.mark.long)],
)
@pytest.mark.parametrize("delay", [0, 3])
def test_rates_by_matching_and_exploration_by_the_rate(name, eta, ix, delay):
    """Round by round, with the choices the learner makes; gamma is that of the decision's own round."""
    T, experts = 250, SETS[name]
    rng = np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (T, experts.n_features))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=T) > 0.0, 1, -1)
    learner = ab.Exp3Abs(experts, cost=0.2, eta=eta, ix=ix, seed=8)
    twin, waiting, backlog = Exp3(written_out(learner, X, y), eta, ix, largest=0.2), {}, Backlog()
    for t in range(1, T + 1):
        np.testing.assert_allclose(learner.weights, twin.q(t), rtol=1e-8, atol=1e-12)
        decision = learner.decide(X[t - 1])
        assert decision.probability == pytest.approx(twin.probability(t), abs=1e-10)
        explored = twin.explored(t)
        if decision.abstained:
            missed = partial(
                lambda s, *known: twin.learn(s, backlog.now, *known), t, decision.probability, False, explored
            )
            backlog.decided(t, missed)
        else:
            waiting[t] = decision, explored
            backlog.decided(t, None)
        if t - delay in waiting:
            late, explored = waiting.pop(t - delay)
            learner.learn(late, y[late.round - 1])
            twin.learn(late.round, t, late.probability, True, explored)
            backlog.learnt(late.round)
    assert twin.rate(T) < 0.5


def test_exploration_by_the_rate_has_a_rate_for_every_memory():
    learner = ab.Exp3Abs(SETS["cells"], cost=0.2, ix="anytime", memory="adaptive", seed=0)
    decision = learner.decide(np.zeros(3))
    assert decision.carry[2:].tolist() == (learner.state.memories.numbers[:, 0] / 2.0).tolist()


@pytest.mark.long
@pytest.mark.parametrize("options", [{"eta": "both"}, {"ix": "anytime", "memory": "adaptive"}])
def test_rules_that_newer_options_obey(options):
    check_learner(lambda: ab.Exp3Abs(ab.experts.hyperplanes(2, 4, 5, seed=0), cost=0.3, seed=1, **options))


@pytest.mark.parametrize("eta", ["adaptive", "anytime", "tuned", 0.1])
@pytest.mark.parametrize("cost", [0.0, 1.0, 0.3, np.linspace(0, 1, 1000)])
@pytest.mark.sample(2)
def test_rules_all_learners_obey(eta, cost):
    experts = ab.experts.hyperplanes(2, 4, 5, seed=0)
    check_learner(lambda: ab.Exp3Abs(experts, cost=cost, eta=eta, horizon=200, seed=1))


@pytest.mark.long
def test_other_experts():
    for experts in (
        ab.experts.thresholds(3, [-1.0, 0.1, 0.5]),
        ab.experts.from_columns(2, 4, [(0, 3), (1, 0), (0, 0)]),
        ab.experts.from_columns(1, 1),
        ab.experts.thresholds(30, np.linspace(0.0, 1.0, 10)),  # single experts: chunks of them, in runs
        ab.experts.from_columns(300, 300, "aligned"),  # and no two with the same predictor
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
    assert np.isfinite(learner.state.memories.losses).all()
    assert np.isin(trace.expert, np.arange(6)).all()


@pytest.mark.parametrize(
    ("experts", "row"),
    [
        (ab.experts.from_columns(2, 2), [1, -1, 1, -1]),
        (ab.experts.thresholds(2, [0.0] + 8 * [5.0]), [1, -1]),
        (ab.experts.from_columns(2, 4, [(0, 0), (1, 1), (0, 2), (1, 3)]), [1, -1, 1, 1, -1, -1]),
    ],
    ids=["cells", "singles in runs", "scattered singles"],
)
def test_no_number_is_close_to_zero(experts, row):
    """Processors are slow with those below 2e-308: exp(-0.715 t) is among them at t = 1024, when weights are remade."""
    learner = ab.Exp3Abs(experts, cost=1.0, eta=0.715, seed=0)
    for _ in range(1100):
        ab.simulate(learner, [row], [1])
        for numbers in (learner.state.memories.weight, learner.state.memories.factor):
            assert ((numbers == 0.0) | (numbers > 1e-300)).all()
    assert learner.weights[0] == pytest.approx(1.0)


@pytest.mark.long
def test_ten_million_rounds():
    """Rates from tiny to huge, with and without cost: experts take turns in being the best, and rules in abstaining."""
    T, pieces = 42_000, 8  # times five rates, three costs, two kinds of experts: 10,080,000 rounds
    rng = np.random.default_rng(0)
    y = np.ones(T)
    turn = (np.arange(T) * 4 // T)[:, np.newaxis] == np.arange(4)
    scores = np.where(turn, 1.0, -1.0) * rng.choice([0.05, 0.3, 1.0], (T, 4))
    margins = np.column_stack([np.ones(T), rng.choice([-1.0, 1.0], T), np.arange(T) % 1000 - 500.0])
    games = [
        (ab.experts.from_columns(4, 3), np.column_stack([scores, margins])),
        (ab.experts.thresholds(4, [-1.0, 0.1, 0.5]), scores),
    ]
    for experts, X in games:
        for eta in (1e-6, 1e-3, 0.1, 1.0, 10.0):
            for cost in (0.0, 0.3, 1.0):
                learner = ab.Exp3Abs(experts, cost=cost, eta=eta, seed=0)
                for _ in range(pieces):
                    trace = ab.simulate(learner, X, y)
                    w = learner.state.memories
                    assert np.isfinite(trace.loss).all()
                    assert np.isin(trace.expert, np.arange(12)).all()
                    assert np.isfinite(learner.weights).all()
                    assert learner.weights.sum() == pytest.approx(1.0, abs=1e-12)
                    assert ((w.weight >= 0.0) & (w.weight <= 1.0)).all()
                    for row in X[:: T // 20]:
                        decision = learner.peek(row)
                        assert 0.0 <= decision.probability <= 1.0
                        assert decision.abstained or decision.probability > 0.0
                assert np.isfinite(w.losses).all()
                assert learner.round == T * pieces


@pytest.mark.long
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
        w = learner.state.memories
        total = np.empty(4)
        total[w.layout.expert] = w.losses + np.repeat(w.paid, np.diff(w.layout.start))
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
