"""Stacked equals its twin; what it asks for, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.errors import InputError

from ..instances import games, tables
from ..reference.game import written_out
from ..reference.stacked import Stacked
from .test_weighted import SETS, assert_plays_like_its_twin, delays

pytestmark = pytest.mark.long


def twin_of(learner, X, y):
    advice = learner.experts.advise(np.asarray(X, float))
    losses = learner.loss(advice.predictions, learner.loss.labels(y)).astype(float)
    outcomes, constants = learner.loss.outcomes(advice.predictions), learner.state.guesses.constants
    game, of = written_out(learner, X, y), learner.experts.predictor_of
    return Stacked(game, of, losses, advice.abstains, outcomes.astype(float), constants)


@games(500)
@given(tables(max_rounds=40), delays, st.integers(0, 99))
def test_it_equals_its_twin(table, delay, seed):
    learner = ab.Stacked(table.experts, cost=table.cost, loss=table.loss, seed=seed)
    assert learner.stacker_weight == pytest.approx(0.5)
    twin = twin_of(learner, table.X, table.y)
    assert_plays_like_its_twin(learner, table.X, table.y, delay, twin)
    assert learner.weights.sum() + learner.stacker_weight == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(("loss", "delay"), [("zero_one", 0), ("ramp", 3), ("hinge", 1)])
@pytest.mark.parametrize("cost", [0.1, 0.3, 0.5])
def test_longer_games_equal_the_twin(name, loss, delay, cost):
    experts, rng = SETS[name], np.random.default_rng(5)
    X = rng.uniform(-1.0, 1.0, (200, experts.n_features))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0.0, 1, -1)
    learner = ab.Stacked(experts, cost=cost, loss=loss, seed=8)
    assert_plays_like_its_twin(learner, X, y, delay, twin_of(learner, X, y))


OPPOSED = ab.experts.from_columns(2, 2)


def knowing(odds, cost=0.3):
    """A learner whose model believes in the label +1 by these log-odds, whatever it sees, and follows the stacker."""
    learner = ab.Stacked(OPPOSED, cost=cost, seed=0)
    learner.state.guesses.belief[-1] = odds
    learner.state.stack[0] = -1e6
    return learner


@pytest.mark.parametrize(
    ("odds", "margins", "follows"),
    [
        (3.0, (1, 1), 0),  # it predicts +1: the first pair that does so
        (-3.0, (1, 1), 2),  # it predicts -1
        (3.0, (-1, 1), 1),  # the first who predicts has another rule
        (0.1, (1, -1), 1),  # it would rather abstain: so does rule B
        (0.1, (-1, -1), 0),
        (0.1, (1, 1), 0),  # nobody abstains: the likelier label
        (-0.1, (1, 1), 2),
        (3.0, (-1, -1), 0),  # nobody predicts
    ],
)
def test_whom_it_follows(odds, margins, follows):
    """By hand: experts are (predictor, rule) = (+1, A), (+1, B), (-1, A), (-1, B)."""
    decision = knowing(odds).decide([1.0, -1.0, *margins])
    assert decision.expert == follows
    assert decision.abstained == (margins[follows % 2] < 0)
    assert decision.probability == pytest.approx(0.0 if decision.abstained else 1.0)


def test_it_abstains_where_those_who_could_predict_say_the_unlikely():
    """It wants to predict +1, but who would do so abstains; the other one is expected to lose more than the cost."""
    experts = ab.experts.from_columns(2, 2, "aligned")
    learner = ab.Stacked(experts, cost=0.3, seed=0)
    learner.state.guesses.belief[-1] = 3.0
    learner.state.stack[0] = -1e6
    assert learner.decide([1.0, -1.0, -1.0, 1.0]).expert == 0
    assert learner.decide([1.0, -1.0, 1.0, 1.0]).expert == 0
    assert learner.decide([1.0, 1.0, -1.0, 1.0]).expert == 1


@pytest.mark.parametrize("loss", ["multiclass", "absolute", "squared", ab.losses.multiclass(["a", "b"])])
def test_other_labels_are_refused(loss):
    with pytest.raises(InputError, match=r"^loss: Stacked needs one of labels -1 and \+1, got"):
        ab.Stacked(OPPOSED, cost=0.3, loss=loss)


def test_it_may_lose_less_than_the_best_expert():
    for seed in range(3):
        X, y = ab.datasets.load("synthetic", n=2000, seed=seed)
        experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=seed)
        learner = ab.Stacked(experts, cost=0.2, seed=seed)
        trace = ab.simulate(learner, X, y)
        assert trace.regret(ab.best_in_hindsight(experts, X, y, cost=0.2))[-1] < 0.0
        assert learner.stacker_weight > 0.75
