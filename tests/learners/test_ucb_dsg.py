"""UCB-DSG: its twin, the rules all learners obey, files, and where it does better than UCB-GT."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain._core.validation import own_stream
from abstain.checks import check_learner, state_of
from abstain.errors import DecisionError, InputError

from ..conformance.test_learners import COSTS, EXPERTS, RINGS
from ..instances import delays, games, tables
from ..reference.game import written_out
from ..reference.ucb_dsg import ucb_dsg

pytestmark = pytest.mark.long  # its kernels are its own, and take long to compile

SEED = 7
slacks = st.sampled_from([(1.0, 1.0), (0.001, 0.1), (0.0005, 0.01), (0.0002, 0.02), (0.0, 0.0), (0.01, 0.001)])


def assert_same(learner, X, y, delay, u=None):
    """Simulate a learner and compare the choices, losses, edges and estimates, bit for bit."""
    game = written_out(learner, X, y)
    twin, chosen, edges = ucb_dsg(game, learner.slack, learner.loss_slack, delay, u)
    T = len(X)
    trace = ab.simulate(learner, X, y, checkpoints=np.arange(1, T + 1), delay=delay)
    np.testing.assert_array_equal(trace.expert, chosen)
    np.testing.assert_array_equal(trace.loss, game.loss[np.arange(T), chosen])
    np.testing.assert_array_equal(trace.edges, edges)
    np.testing.assert_array_equal(learner.counts, twin.Q - 1)
    np.testing.assert_array_equal(learner.means, twin.means())
    arrays = learner.arrays()
    np.testing.assert_array_equal(arrays["trusted"][learner.rule_of], twin.U)
    of_slots = np.empty_like(arrays["unseen_losses"])
    of_slots[:, learner.layout.expert] = arrays["unseen_losses"]
    np.testing.assert_array_equal(of_slots[learner.rule_of].T, twin.nu)
    return twin


@games(1000)
@given(tables(max_rounds=40), slacks, delays, st.sampled_from(["first", "random"]))
def test_equals_the_twin(table, factors, delay, ties):
    slack, loss_slack = factors
    learner = ab.UCBDSG(
        table.experts, cost=table.cost, loss=table.loss, seed=SEED, slack=slack, loss_slack=loss_slack, ties=ties
    )
    u = np.random.default_rng(own_stream(SEED)).random(len(table.X)) if ties == "random" else None
    assert_same(learner, table.X, table.y, delay, u)


@pytest.mark.parametrize("loss", ["zero_one", "ramp"])
@pytest.mark.parametrize("delay", [0, 20])
def test_equals_the_twin_in_a_longer_game(loss, delay):
    """More rounds than are kept before they are added; edges come and go, and losses are estimated."""
    experts = ab.experts.hyperplanes(2, 2, 3, regions="balls", seed=1)
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (700, 2))
    y = np.where(X.sum(axis=1) + rng.normal(0, 0.2, 700) > 0, 1, -1)
    learner = ab.UCBDSG(experts, cost=0.3, loss=loss, slack=0.0003, loss_slack=0.005)
    twin = assert_same(learner, X, y, delay)
    assert twin.nu.max() > 5
    assert loss == "ramp" or 1 < twin.U.min() < twin.Q.max()


def test_equals_the_twin_with_rules_of_their_own():
    experts = ab.experts.thresholds(4, [-1.0, 0.1, 0.3])
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4)) * 0.3
    y = np.where(X[:, :2].sum(axis=1) > 0, 1, -1)
    assert_same(ab.UCBDSG(experts, cost=0.2, slack=0.0003, loss_slack=0.02), X, y, 3)


def test_the_first_round_updates_everybody():
    learner = ab.UCBDSG(RINGS, cost=0.3)
    decision = learner.decide([0.6, 0.6])
    learner.learn(decision, 1)
    assert set(learner.counts) == {1}


def test_an_estimate_by_hand():
    """One predictor, always wrong; rule 0 never abstains, rule 1 does in every fourth round.

    At c = 1 both have mean 1. Ties go to expert 0, which shows all: after 8 rounds, U = Q = 9 and two losses count for
    ``nu_{0,1}``. Expert 1 then hides expert 0 with frequency 2 / 8, so that ``min(2 / 9 / (2 / 8), 1) = 8 / 9``
    stands for its loss.
    """
    experts = ab.experts.from_columns(1, 2)
    silent = np.arange(1, 10) % 4 == 0
    X = np.column_stack([np.ones(9), np.ones(9), np.where(silent, -1.0, 1.0)])
    learner = ab.UCBDSG(experts, cost=1.0, slack=0.0)
    ab.simulate(learner, X[:8], -np.ones(8))
    assert learner.counts.tolist() == [8, 8]
    arrays = learner.arrays()
    arrays["losses"][0] = 9.0  # expert 0 looks worse, so that expert 1 is chosen
    with learner.lock:
        learner.set_arrays(arrays)
    decision = learner.decide([1.0, 1.0, -1.0])
    assert decision.expert == 1
    assert decision.abstained
    np.testing.assert_allclose(learner.means, [(9 + 8 / 9) / 10, (6 + 3) / 10])


@pytest.mark.parametrize("ties", ["first", "random"])
@pytest.mark.parametrize("name", EXPERTS)
@pytest.mark.sample(2)
def test_rules_all_learners_obey(name, ties):
    check_learner(lambda: ab.UCBDSG(EXPERTS[name], cost=0.3, seed=1, slack=0.0003, loss_slack=0.02, ties=ties))


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("loss", ["zero_one", "ramp"])
@pytest.mark.sample(2)
def test_rules_with_every_cost_and_loss(name, loss):
    check_learner(lambda: ab.UCBDSG(RINGS, cost=COSTS[name], loss=loss, slack=0.0003, loss_slack=0.02))


@pytest.mark.parametrize("name", ["slack", "loss_slack"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "1", None])
def test_wrong_factors(name, value):
    with pytest.raises(InputError, match=f"{name}: expected a number from 0"):
        ab.UCBDSG(RINGS, cost=0.3, **{name: value})


def test_wrong_ties():
    with pytest.raises(InputError, match="ties: expected 'first' or 'random', got 'last'"):
        ab.UCBDSG(RINGS, cost=0.3, ties="last")


def test_less_regret_than_ucb_gt():
    """Confident and right inside, as good as a coin outside: UCB-GT counts hidden losses as 0, UCB-DSG does not."""
    regrets = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, (10_000, 2))
        far = np.hypot(*X.T) > 0.7
        y = np.where(far, rng.choice([-1, 1], 10_000), np.where(X[:, 0] > 0, 1, -1))
        experts = ab.experts.hyperplanes(2, 20, 10, regions="balls", seed=seed)
        best = ab.best_in_hindsight(experts, X, y, cost=0.2)
        regrets.append([
            ab.simulate(learner, X, y).regret(best)[-1]
            for learner in (ab.UCBDSG(experts, cost=0.2, slack=0.001, loss_slack=0.1), ab.UCBGT(experts, cost=0.2))
        ])  # fmt: skip
    ours, theirs = np.mean(regrets, axis=0)
    assert ours < 0.8 * theirs


def test_forged_decisions():
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    learner = ab.UCBDSG(RINGS, cost=0.9, slack=0.001, loss_slack=0.1)
    ab.simulate(learner, X, y)
    decision = next(d for d in (learner.decide(x) for x in X) if not d.abstained)
    before = state_of(learner)
    for place, value in ((0, 4.0), (0, 0.5), (-1, 1.5), (-1, -0.1), (-1, np.nan)):
        carry = decision.carry.copy()
        carry[place] = value
        with pytest.raises(DecisionError, match="changed"):
            learner.learn(dataclasses.replace(decision, carry=carry), 1)
    assert all(np.array_equal(value, before[name]) for name, value in state_of(learner).items())
    learner.learn(decision, 1)


@pytest.mark.parametrize(
    ("match", "name", "value"),
    [
        ("1 to 101 in updates", "updates", 0.0),
        ("1 to 101 in updates", "updates", 102.0),
        ("1 to 101 in trusted", "trusted", 1.5),
        ("1 at most an update", "losses", 102.0),
        ("1 at most an update", "paid", 102.0),
        ("where they are trusted", "unseen_losses", 102),
        ("as many disagreements", "disagreements", 101),
        ("finite", "losses", np.nan),
        ("from 0 on", "paid", -1.0),
    ],
)
def test_states_that_cannot_be(match, name, value):
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    learner = ab.UCBDSG(RINGS, cost=0.3)
    ab.simulate(learner, X, y)
    arrays = learner.arrays()
    with learner.lock:
        learner.set_arrays(arrays)
    before = state_of(learner)
    arrays[name].flat[0] = value
    with learner.lock, pytest.raises(InputError, match=match):
        learner.set_arrays(arrays)
    assert all(np.array_equal(value, before[name]) for name, value in state_of(learner).items())
