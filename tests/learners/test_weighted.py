"""Exponential weights with memories, feedback and a floor equal their twins, on EXP3-ABS's and on doubly robust
estimates.
"""

import copy
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.engine.feedback import chances_of

from ..instances import games, tables
from ..reference.backlog import Backlog
from ..reference.game import written_out
from ..reference.robust import Player, Robust

memories = st.sampled_from([None, None, 2, 7, 200, "adaptive"])
feedbacks = st.sampled_from(
    ["predicted", "predicted", "abstained", "both", (0.3, 1.0), (0.6, 0.0), (0.5, 0.5), (0.2, 0.9)]
)
floors = st.sampled_from([0.0, 0.0, 0.05, 0.2])
delays = st.sampled_from([0, 0, 1, 5, 100])


def twin_of(learner, X, y):
    game = written_out(learner, X, y)
    options = {"holds": learner.memories, "chances": tuple(learner.chances), "floor": learner.min_observe}
    if isinstance(learner, ab.Exp3Abs):
        rate = None if learner.eta == "adaptive" else learner.eta
        return Player(game, **options, shared=learner.memory == "share", rate=rate)
    advice = learner.experts.advise(np.asarray(X, float))
    losses = learner.loss(advice.predictions, learner.loss.labels(y)).astype(float)
    outcomes = learner.loss.outcomes(advice.predictions)
    return Robust(
        game, learner.experts.predictor_of, losses, advice.abstains,
        None if outcomes is None else outcomes.astype(float), learner.state.guesses.constants, learner.guard, **options,
    )  # fmt: skip


def carried(decision):
    """What was fixed before the draw, without what the predictors would lose for either label."""
    P = len(decision.predictions)
    return np.append(decision.carry[2 : 2 + P], decision.carry[2 + 3 * P :])


def assert_plays_like_its_twin(learner, X, y, delay, twin=None):
    """Round by round, with the choices the learner makes: weights, whom it follows, what it carries."""
    twin, random, waiting = twin or twin_of(learner, X, y), copy.deepcopy(learner._random), {}
    backlog = Backlog()

    def close(t):
        decision, fixed, seen = waiting.pop(t)
        learner.close(decision, y[t - 1])
        twin.learn(t, decision.observed, fixed, seen)
        backlog.learnt(t)

    for t in range(1, len(X) + 1):
        np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
        segments, predicts, o = twin.segments(t)
        fixed, u = twin.before(t, o), random.random()
        decision = learner.decide(X[t - 1])
        if twin.follows_another(fixed, decision):
            return  # by rounding: from here on they play different games
        assert decision.probability == pytest.approx(predicts, abs=1e-10)
        assert decision.observed == pytest.approx(o, abs=1e-10)
        ends = np.cumsum([0.0] + [length for length, _, _ in segments])
        near = (ends[:-1] - 1e-9 <= u) & (u <= ends[1:] + 1e-9)
        if twin.floor > 0.0 and abs(twin.seen(t)[1] - twin.floor) < 1e-9:
            near[:] = True  # just at the floor, rounding decides in which order experts are laid end to end
        assert (decision.expert, decision.explored) in {segments[i][1:] for i in np.flatnonzero(near)}
        if fixed is not None:
            known = ~np.isnan(fixed)
            np.testing.assert_allclose(carried(decision)[known], fixed[known], rtol=1e-9, atol=1e-12)
        chance = learner.chances[decision.abstained]
        if chance == 0.0:
            backlog.decided(t, partial(twin.learn, t, decision.observed, fixed, False))
        else:
            backlog.decided(t, None)
            if decision.observed <= 1e-6:
                return  # from here on rounding is amplified by 1 / o in any implementation
            waiting[t] = decision, fixed, bool(learner.comes(t, 1)[0, int(decision.abstained)])
        if t - delay in waiting:
            close(t - delay)
    for t in sorted(waiting):
        close(t)
    np.testing.assert_allclose(learner.weights, twin.weights(), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(learner._weights.mix, twin.memories.mix, rtol=1e-9, atol=1e-12)


@games(1000)
@given(tables(max_rounds=40), memories, feedbacks, floors, delays, st.integers(0, 99))
def test_exp3_abs_equals_its_twin(table, memory, feedback, floor, delay, seed):
    learner = ab.Exp3Abs(
        table.experts, cost=table.cost, loss=table.loss, seed=seed, memory=memory, feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))),
    )  # fmt: skip
    assert_plays_like_its_twin(learner, table.X, table.y, delay)


@games(1500)
@given(tables(max_rounds=40), memories, feedbacks, floors, delays, st.integers(0, 99))
def test_doubly_robust_equals_its_twin(table, memory, feedback, floor, delay, seed):
    learner = ab.DoublyRobust(
        table.experts, cost=table.cost, loss=table.loss, seed=seed, memory=memory, feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))),
    )  # fmt: skip
    assert_plays_like_its_twin(learner, table.X, table.y, delay)


@pytest.mark.long
@games(500)
@given(tables(max_rounds=40), st.sampled_from([0.015625, 0.1, 0.5]), feedbacks, floors, delays, st.integers(0, 99))
def test_a_guard_equals_its_twin(table, guard, feedback, floor, delay, seed):
    learner = ab.DoublyRobust(
        table.experts, cost=table.cost, loss=table.loss, seed=seed, guard=guard, feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))),
    )  # fmt: skip
    assert_plays_like_its_twin(learner, table.X, table.y, delay)
    assert learner.guard_weight >= guard


@pytest.mark.long
@games(1000)
@given(tables(max_rounds=40), st.sampled_from(["adaptive", 0.3, 40.0]), feedbacks, floors, delays, st.integers(0, 99))
def test_shares_equal_their_twin(table, eta, feedback, floor, delay, seed):
    """Also at a rate at which all weights would shrink to nothing, were they not spared."""
    learner = ab.Exp3Abs(
        table.experts, cost=table.cost, loss=table.loss, seed=seed, eta=eta, memory="share", feedback=feedback,
        min_observe=min(floor, max(chances_of(feedback))),
    )  # fmt: skip
    assert_plays_like_its_twin(learner, table.X, table.y, delay)


SETS = {
    "rings": ab.experts.hyperplanes(3, 10, 8, seed=0),
    "balls": ab.experts.hyperplanes(3, 10, 8, regions="balls", always_predict=True, seed=0),
    "thresholds": ab.experts.thresholds(3, np.linspace(-0.05, 0.6, 30)),
    "scattered": ab.experts.from_columns(7, 5, np.random.default_rng(0).integers(0, 5, (40, 2))),
    "aligned": ab.experts.from_columns(90, 90, "aligned"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", [ab.Exp3Abs, ab.DoublyRobust])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"memory": "adaptive", "min_observe": 0.01},
        {"memory": 30, "feedback": "abstained", "min_observe": 0.1},
        {"feedback": (0.3, 0.8)},
    ],
)
@pytest.mark.parametrize(("loss", "delay"), [("zero_one", 0), ("ramp", 3)])
def test_longer_games_equal_the_twin(name, kind, options, loss, delay):
    experts, rng = SETS[name], np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (150, experts.n_features))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0.0, 1, -1)
    assert_plays_like_its_twin(kind(experts, cost=0.3, loss=loss, seed=8, **options), X, y, delay)


def classes(n, rng):
    """Two predictors of three classes, with three rules each."""
    y = rng.integers(0, 3, n)
    said = np.where(rng.random((n, 2)) < [0.8, 0.5], y[:, None], rng.integers(0, 3, (n, 2)))
    return ab.experts.from_columns(2, 3), np.column_stack([said, rng.normal(size=(n, 3))]), y


def numbers(n, rng):
    y = rng.random(n)
    return ab.experts.from_columns(2, 3), np.column_stack([y + 0.1, rng.random(n), rng.normal(size=(n, 3))]), y


@pytest.mark.parametrize(("loss", "make"), [("multiclass", classes), ("absolute", numbers), ("squared", numbers)])
@pytest.mark.parametrize("options", [{}, {"memory": 20, "feedback": "both"}, {"feedback": (0.5, 0.1)}])
def test_losses_without_a_model_of_the_label(loss, make, options):
    experts, X, y = make(120, np.random.default_rng(1))
    assert_plays_like_its_twin(ab.DoublyRobust(experts, cost=0.2, loss=loss, seed=2, **options), X, y, 2)


def test_a_predictor_that_says_nothing_for_long():
    """The sums that its belief is divided by fade, but not to 0: nobody uses predictor 1, and 2 never leans."""
    experts, rng, T = ab.experts.from_columns(3, 2, [(0, 0), (0, 1), (2, 1)]), np.random.default_rng(0), 3000
    scores = np.column_stack([rng.choice([-1.0, 1.0], (T, 2)), np.zeros(T)])
    X, y = np.column_stack([scores, rng.normal(size=(T, 2))]), rng.choice([-1, 1], T)
    learner = ab.DoublyRobust(experts, cost=0.3, seed=0, memory=2)
    ab.simulate(learner, X, y)
    assert np.isfinite(learner.state.guesses.belief).all()
    assert (learner.state.guesses.slopes >= 1e-8).all()
    assert learner.weights.sum() == pytest.approx(1.0)


@pytest.mark.long
def test_a_weight_that_counted_as_nothing_comes_back_in_time():
    """Who predicts loses for 5,120 rounds, and its weight falls far below the least number; then it is always right."""
    experts = ab.experts.from_columns(1, 2)
    X = np.column_stack([np.where(np.arange(6_000) < 5_120, -1.0, 1.0), np.ones(6_000), -np.ones(6_000)])
    learner = ab.DoublyRobust(experts, cost=0.9, feedback="both", seed=0)
    twin = twin_of(learner, X, np.ones(6_000))
    ab.simulate(learner, X, np.ones(6_000))
    for t in range(1, 6_001):
        twin.learn(t, 1.0, twin.before(t, 1.0), True)
    assert twin.memories.mixture()[0] > 0.99
    np.testing.assert_allclose(learner.weights, twin.memories.mixture(), atol=1e-9)


@pytest.mark.parametrize("T", [1, 127, 128, 129, 300])
@pytest.mark.parametrize("options", [{"eta": 0.05}, {"eta": 0.05, "memory": 40}])
def test_rounds_answered_are_known_at_any_time(T, options):
    """Changed prices, files, copies and other experts need them, though they are added up only every 128 rounds."""
    rng = np.random.default_rng(T)
    X, y = rng.uniform(-1.0, 1.0, (T, 3)), rng.choice([-1, 1], T)
    before, after = (
        ab.experts.thresholds(3, np.linspace(0.0, 0.9, 5)),
        ab.experts.thresholds(2, np.linspace(0.0, 0.9, 5)),
    )
    always, changed, rearranged = (
        ab.Exp3Abs(before, cost=cost, feedback="both", seed=0, **options) for cost in (0.1, 0.3, 0.3)
    )
    for learner in (always, changed, rearranged):
        ab.simulate(learner, X, y)
    rearranged.rearrange(after, [0, 2], [0, 1, 2, 3, 4, 10, 11, 12, 13, 14])
    loaded = ab.Exp3Abs(before, cost=0.3, feedback="both", seed=0, **options)
    loaded.set_arrays(changed.arrays())
    for learner in (copy.deepcopy(changed), loaded, changed):
        learner.reprice(0.1)
        np.testing.assert_allclose(learner.estimates, always.estimates, rtol=1e-9, atol=1e-12)
    rearranged.reprice(0.1)
    np.testing.assert_allclose(rearranged.estimates, np.delete(always.estimates, range(5, 10)), rtol=1e-9, atol=1e-12)
