"""EXP3, the baseline that sees its own loss only: its twin, the rules all learners obey, its bound."""

import copy
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import abstain as ab
from abstain import theory
from abstain.checks import check_hidden_labels, check_learner
from abstain.errors import InputError

from ..conformance.test_learners import COSTS, EXPERTS, RINGS
from ..instances import delays, games, tables
from ..reference.backlog import Backlog
from ..reference.bandit import Bandit
from ..reference.game import written_out


@games(1000)
@given(tables(max_rounds=40), st.sampled_from(["anytime", "tuned", 1e-6, 0.05, 0.7]), delays, st.integers(0, 99))
def test_equals_the_twin(table, eta, delay, seed):
    """Round by round: weights, probabilities, and who is drawn by the learner's own random numbers."""
    T = len(table.X)
    learner = ab.Exp3(table.experts, cost=table.cost, loss=table.loss, eta=eta, horizon=T, seed=seed)
    game = written_out(learner, table.X, table.y)
    twin, random, waiting = Bandit(game, eta, T), copy.deepcopy(learner._random), {}
    backlog = Backlog()
    for t in range(1, T + 1):
        q = twin.q(t)
        np.testing.assert_allclose(learner.weights, q, rtol=1e-9, atol=1e-12)
        edges = np.concatenate([[0.0], np.cumsum(q)])
        u, decision = random.random(), learner.decide(table.X[t - 1])
        assert edges[decision.expert] - 1e-9 <= u <= edges[decision.expert + 1] + 1e-9
        assert decision.probability == pytest.approx(q[~game.abstains[t - 1]].sum(), abs=1e-12)
        assume(q[decision.expert] > 1e-6)  # else rounding is amplified by 1 / q in any implementation
        if decision.abstained:
            backlog.decided(t, partial(twin.learn, t, decision.expert, q[decision.expert]))
        else:
            backlog.decided(t, None)
            waiting[t] = decision, q[decision.expert]
        if t - delay in waiting:
            late, probability = waiting.pop(t - delay)
            learner.learn(late, table.y[late.round - 1])
            twin.learn(late.round, late.expert, probability)
            backlog.learnt(late.round)


@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.sample(2)
def test_rules_all_learners_obey(name):
    check_learner(lambda: ab.Exp3(EXPERTS[name], cost=0.3, seed=1))


@pytest.mark.long
@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("loss", ["zero_one", "ramp"])
def test_rules_with_every_cost_and_loss(name, loss):
    check_learner(lambda: ab.Exp3(RINGS, cost=COSTS[name], loss=loss, eta=0.05, seed=1))


def test_nothing_but_its_own_loss_is_seen():
    """Whatever the other predictors say, the game is the same: EXP3-ABS plays another one."""
    X, y = ab.datasets.load("synthetic", n=400, seed=0)
    check_hidden_labels(lambda: ab.Exp3(RINGS, cost=0.3, seed=1), X, y)
    experts, rng = ab.experts.from_columns(3, 1), np.random.default_rng(0)
    scores, same = rng.choice([-1.0, 1.0], (400, 3)), []
    for kind in (ab.Exp3, ab.Exp3Abs):
        table = np.column_stack([scores, np.ones(400)])
        first = ab.simulate(kind(experts, cost=0.3, seed=2), table, y)
        others = np.arange(3) != first.expert[:, np.newaxis]
        table[:, :3][others] *= -1.0
        second = ab.simulate(kind(experts, cost=0.3, seed=2), table, y)
        same.append(np.array_equal(first.expert, second.expert))
    assert same == [True, False]
    learner = ab.Exp3(RINGS, cost=0.3, seed=1)
    assert learner.n_edges(X[0]) == RINGS.n_experts


@pytest.mark.long
def test_estimates_are_unbiased():
    """The mean over 4,000 games of the cumulative estimates is the cumulative loss, within five standard errors."""
    experts, n = ab.experts.from_columns(2, 2), 30
    rng = np.random.default_rng(3)
    X, y = rng.uniform(-1, 1, (n, 4)), rng.choice([-1, 1], n)
    sums = []
    for seed in range(4000):
        learner = ab.Exp3(experts, cost=0.4, eta=0.05, seed=seed)
        ab.simulate(learner, X, y)
        sums.append(learner.state.losses.copy())
    truth = written_out(learner, X, y).loss.sum(axis=0)
    error = np.std(sums, axis=0) / math.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - truth) < 5 * error).all()
    assert (error < 0.1 * truth).all()


@pytest.mark.parametrize("eta", ["anytime", "tuned"])
def test_regret_below_its_bound(eta):
    """Mean over 30 seeds on a stream whose best expert changes, by five standard errors."""
    stream, n, regrets = ab.instances.switching(), 3000, []
    X, y = stream.draw(n, seed=0)
    best = ab.best_in_hindsight(stream.experts, X, y, cost=stream.cost)
    for seed in range(30):
        learner = ab.Exp3(stream.experts, cost=stream.cost, eta=eta, horizon=n, seed=seed)
        regrets.append(ab.simulate(learner, X, y).regret(best)[-1])
    worst = np.mean(regrets) + 5 * np.std(regrets) / math.sqrt(len(regrets))
    assert worst < theory.exp3_bound(n, stream.experts.n_experts, eta)
    assert theory.exp3_bound(n, 50, 0.1) == pytest.approx(math.log(50) / 0.1 + 0.05 * n * 50)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"eta": "adaptive"}, "eta"),
        ({"eta": 0.0}, "eta"),
        ({"eta": "tuned"}, "horizon"),
        ({"feedback": "both"}, "feedback"),
        ({"feedback": "abstained"}, "feedback"),
    ],
)
def test_wrong_options(options, name):
    with pytest.raises(InputError, match=f"^{name}"):
        ab.Exp3(RINGS, cost=0.3, **options)
