"""Playing tables: what goes in, what comes out, what happens when it is interrupted."""

import copy
import json
import pickle
import signal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.errors import DecisionError, InputError, LabelError

EXPERTS = ab.experts.hyperplanes(2, 5, 6, seed=0)
X, Y = ab.datasets.load("synthetic", n=3000, seed=0)


def test_inputs_as_numpy_pandas_polars_and_lists():
    expected = ab.simulate(ab.UCBGT(EXPERTS, cost=0.2), X[:100], Y[:100]).expert
    tables = [
        (pd.DataFrame(X[:100], columns=["a", "b"]), pd.Series(Y[:100])),
        (pl.DataFrame(X[:100], schema=["a", "b"]), pl.Series(Y[:100])),
        (X[:100].tolist(), Y[:100].tolist()),
        (np.asfortranarray(X[:100]), Y[:100].astype(float)),
    ]
    for table, labels in tables:
        np.testing.assert_array_equal(ab.simulate(ab.UCBGT(EXPERTS, cost=0.2), table, labels).expert, expected)
        learner = ab.UCBGT(EXPERTS, cost=0.2)
        row = table.iloc[0] if isinstance(table, pd.DataFrame) else table[0]
        assert learner.decide(row.row(0) if isinstance(row, pl.DataFrame) else row).expert == expected[0]


def test_frame():
    trace = ab.simulate(ab.UCBGT(EXPERTS, cost=0.2), X[:50], Y[:50], checkpoints=[2, 50])
    frame = trace.to_frame()
    assert frame.columns == ["round", "expert", "abstained", "loss", "edges"]
    np.testing.assert_array_equal(frame["round"], np.arange(1, 51))
    np.testing.assert_array_equal(frame["loss"], trace.loss)
    assert frame.filter(pl.col("edges").is_not_null())["round"].to_list() == [2, 50]


def test_regret_against_the_best():
    trace = ab.simulate(ab.UCBNT(EXPERTS, cost=0.2), X, Y)
    best = ab.best_in_hindsight(EXPERTS, X, Y, cost=0.2)
    advice = EXPERTS.advise(X)
    table = np.where(
        advice.abstains[:, EXPERTS.rule_of], 0.2, (advice.predictions * Y[:, None] <= 0)[:, EXPERTS.predictor_of]
    )
    np.testing.assert_allclose(best.total, table.sum(axis=0))
    assert best.expert == np.argmin(best.total)
    np.testing.assert_array_equal(best.loss, table[:, best.expert])
    np.testing.assert_allclose(trace.regret(best), np.cumsum(trace.loss) - np.cumsum(best.loss), atol=1e-9)
    with pytest.raises(InputError, match="^best: expected losses of 10 rounds"):
        ab.simulate(ab.UCB(EXPERTS, cost=0.2), X[:10], Y[:10]).regret(best)


def test_best_with_costs_that_vary_and_real_losses():
    costs = np.random.default_rng(0).uniform(0, 1, 200)
    best = ab.best_in_hindsight(EXPERTS, X[:200], Y[:200], cost=costs, loss="ramp")
    advice = EXPERTS.advise(X[:200])
    ramp = ab.losses.get("ramp")(advice.predictions, Y[:200].astype(float))
    table = np.where(advice.abstains[:, EXPERTS.rule_of], costs[:, None], ramp[:, EXPERTS.predictor_of])
    np.testing.assert_allclose(best.total, table.sum(axis=0))


def test_full_supervision_ends_at_the_best():
    learner = ab.FullSupervision(EXPERTS, cost=0.2)
    ab.simulate(learner, X, Y)
    assert learner.peek(X[0]).expert == ab.best_in_hindsight(EXPERTS, X, Y, cost=0.2).expert


def test_progress_and_interruption():
    """Ctrl-C leaves a learner that goes on: after any block, with the labels so far learnt."""
    experts = ab.experts.hyperplanes(2, 500, 6, seed=0)
    told = []
    whole = ab.simulate(ab.UCBGT(experts, cost=0.2), X, Y, progress=told.append)
    assert told[-1] == len(X)
    assert len(told) > 10
    assert told == sorted(told)

    def stop(done):
        if done >= 1000:
            raise KeyboardInterrupt

    for delay in (0, 7):
        learner = ab.UCBGT(experts, cost=0.2)
        with pytest.raises(KeyboardInterrupt):
            ab.simulate(learner, X, Y, delay=delay, progress=stop)
        assert 1000 <= learner.round < 1200
        assert learner.pending == ()
        rest = ab.simulate(learner, X[learner.round :], Y[learner.round :])
        if delay == 0:
            np.testing.assert_array_equal(rest.expert, whole.expert[-len(rest) :])


@pytest.mark.parametrize("delay", [0, 7])
def test_a_real_interruption(delay):
    """A signal that comes while compiled code runs: the rounds played are the rounds counted, and no others."""
    experts = ab.experts.thresholds(40, np.linspace(0, 0.5, 50))
    rng = np.random.default_rng(0)
    table, labels = rng.uniform(-1, 1, (20_000, 40)), rng.choice([-1, 1], 20_000)
    ab.simulate(ab.UCBGT(experts, cost=0.2), table[:300], labels[:300], delay=delay)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for pause in (0.003, 0.01, 0.03):
            learner = ab.UCBGT(experts, cost=0.2)
            with pytest.raises(KeyboardInterrupt):  # noqa: PT012  (on a busy machine the timer may fire at once)
                signal.setitimer(signal.ITIMER_REAL, pause)
                ab.simulate(learner, table, labels, delay=delay)
            twin = ab.UCBGT(experts, cost=0.2)
            if learner.round > 0:
                ab.simulate(twin, table[: learner.round], labels[: learner.round], delay=delay)
            after, expected = state_of(learner), state_of(twin)
            assert all(np.array_equal(after[name], expected[name]) for name in after)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_delay_longer_than_the_table():
    first, second = ab.UCBGT(EXPERTS, cost=0.2), ab.UCBGT(EXPERTS, cost=0.2)
    traces = [ab.simulate(one, X[:50], Y[:50], delay=d) for one, d in ((first, 50), (second, 10**15))]
    np.testing.assert_array_equal(traces[0].expert, traces[1].expert)


def test_an_exception_in_the_middle_changes_nothing():
    experts = ab.experts.from_functions([(lambda x: x[0], lambda x: 1.0 if x[1] < 0.99 else np.nan)])
    learner = ab.UCB(experts, cost=0.2)
    ab.simulate(learner, X[:10] / 2, Y[:10])
    before = state_of(learner)
    with pytest.raises(InputError, match="rules"):
        ab.simulate(learner, np.tile(X, (30, 1)), np.tile(Y, 30))
    after = state_of(learner)
    assert all(np.array_equal(before[name], after[name]) for name in before)

    def angry(done):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        ab.simulate(learner, X / 2, Y, progress=angry)
    assert learner.round == 10


@pytest.mark.long
def test_a_loss_out_of_range_changes_nothing():
    learner = ab.UCB(EXPERTS, cost=0.2, loss=lambda h, y: np.abs(h) * 10)
    with pytest.raises(InputError, match=r"^loss: expected values in \[0, 1\]"):
        ab.simulate(learner, X, Y)
    decision = learner.decide(X[5])
    with pytest.raises(InputError, match="^loss"):
        learner.learn(decision, 1)
    assert learner.pending == (1,)
    assert learner.counts.sum() == 0


def test_delay_is_what_it_says():
    """Round t's label is learnt just before round t + n + 1 is decided, the rest at the end."""
    learner, twin = ab.UCBNT(EXPERTS, cost=0.2), ab.UCBNT(EXPERTS, cost=0.2)
    trace = ab.simulate(learner, X[:200], Y[:200], delay=3)
    decisions = {}
    for t in range(1, 201):
        if t - 4 in decisions and not decisions[t - 4].abstained:
            twin.learn(decisions[t - 4], Y[t - 5])
        decisions[t] = twin.decide(X[t - 1])
    assert trace.expert.tolist() == [decisions[t].expert for t in range(1, 201)]


def test_advice_instead_of_x():
    learner, other = ab.UCBGT(EXPERTS, cost=0.2), ab.UCBGT(EXPERTS, cost=0.2)
    first, second = learner.decide(X[0]), other.decide(EXPERTS.advise(X[:1]))
    assert (first.expert, first.prediction) == (second.expert, second.prediction)
    for wrong in (EXPERTS.advise(X[:2]), ab.experts.hyperplanes(2, 4, 6).advise(X[:1])):
        with pytest.raises(InputError, match="^advice"):
            learner.decide(wrong)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"X": X[:, :1]}, "X: expected 2 columns, got 1"),
        ({"X": X[0]}, "X: expected a table"),
        ({"X": np.zeros((0, 2)), "y": []}, "X: expected a table with"),
        ({"X": np.where(np.arange(3000)[:, None] == 7, np.nan, X)}, "X: expected finite numbers, got nan in row 7"),
        ({"X": [["a", "b"]], "y": [1]}, "X: expected numbers"),
        ({"y": Y[:10]}, "y: expected 3000 labels"),
        ({"y": 5}, "y: expected 3000 labels"),
        ({"y": None}, "y: expected 3000 labels"),
        ({"X": [[1.0, 2.0], [3.0]], "y": [1, 1]}, "X: expected rows of equal length"),
        ({"X": X.astype(complex)}, "X: expected numbers"),
        ({"X": [["0.5", "0.5"]], "y": [1]}, "X: expected numbers"),
        ({"checkpoints": np.array([9, 3], np.uint8)}, "checkpoints: expected increasing"),
        ({"y": np.zeros(3000)}, "y: expected labels -1 and"),
        ({"delay": 1.5}, "delay"),
        ({"checkpoints": [5, 5]}, "checkpoints"),
        ({"checkpoints": [3001]}, "checkpoints"),
        ({"checkpoints": [1.5]}, "checkpoints"),
    ],
)
def test_bad_input(change, match):
    learner = ab.UCBGT(EXPERTS, cost=0.2)
    with pytest.raises((InputError, LabelError), match=match):
        ab.simulate(learner, **{"X": X, "y": Y, **change})
    assert learner.round == 0


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"beta": -1}, "beta"),
        ({"beta": np.nan}, "beta"),
        ({"beta": "much"}, "beta"),
        ({"beta": True}, "beta"),
        ({"beta": 1e308}, "beta"),
        ({"ties": np.array(["first"])}, "ties"),
        ({"ties": "last"}, "ties"),
        ({"loss": "none"}, "loss"),
        ({"cost": 1.5}, "cost"),
        ({"seed": "x"}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(InputError, match=f"^{match}: expected"):
        ab.UCBGT(EXPERTS, **{"cost": 0.2, **arguments})


@pytest.mark.parametrize("kind", [ab.UCB, ab.UCBNT, ab.UCBGT])
@pytest.mark.parametrize("beta", [0, 0.3, 0.5])
def test_a_beta_for_which_nothing_is_proved(kind, beta):
    with pytest.warns(UserWarning, match=f"nothing is proved of {kind.__name__} for {beta:g}") as told:
        learner = kind(EXPERTS, cost=0.2, beta=beta)
    assert told[0].filename == __file__  # where it was asked for
    assert learner.beta == beta
    kind(EXPERTS, cost=0.2, beta=0.51)  # warnings are errors here: this has none
    ab.FullSupervision(EXPERTS, cost=0.2)


def test_nothing_given():
    with pytest.raises(InputError, match="^experts"):
        ab.UCBGT(None, cost=0.2)
    with pytest.raises(InputError, match="^learner"):
        ab.simulate(None, X, Y)
    with pytest.raises(InputError, match="^experts"):
        ab.best_in_hindsight(None, X, Y, cost=0.2)
    with pytest.raises(InputError, match="^best"):
        ab.simulate(ab.UCB(EXPERTS, cost=0.2), X[:5], Y[:5]).regret(None)


def test_learning_what_cannot_be_learnt():
    learner, other = ab.UCBGT(EXPERTS, cost=0.0), ab.UCBGT(EXPERTS, cost=0.0)
    decision = learner.decide(X[0])
    with pytest.raises(LabelError, match="-1 and"):
        learner.learn(decision, 0)
    with pytest.raises(DecisionError, match="learner"):
        other.learn(decision, 1)
    with pytest.raises(DecisionError, match="Decision"):
        learner.learn("yes", 1)
    learner.learn(decision, 1)
    with pytest.raises(DecisionError, match="not open"):
        learner.learn(decision, 1)
    silent = next(d for d in map(learner.decide, X) if d.abstained)
    with pytest.raises(DecisionError, match="stays hidden"):
        learner.learn(silent, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"expert": ', '"expert": 9'), ('"cost": 0.25', '"cost": 9.0'), ('"abstained": false', '"abstained": true')],
)
def test_a_decision_that_was_changed(old, new):
    learner = ab.UCBGT(EXPERTS, cost=0.25)
    text = next(d for d in map(learner.decide, X) if not d.abstained).to_json()
    assert old in text
    with pytest.raises(DecisionError, match="^decision"):
        learner.learn(ab.Decision.from_json(text.replace(old, new)), 1)
    nan = {**json.loads(text), "predictions": [np.nan] * 5}
    with pytest.raises(DecisionError, match="^decision"):
        learner.learn(ab.Decision.from_json(json.dumps(nan)), 1)
    learner.learn(ab.Decision.from_json(text), 1)


def test_copies_of_a_decision_cannot_be_written_to():
    decision = ab.UCBGT(EXPERTS, cost=0.25).decide(X[0])
    for twin in (copy.copy(decision), copy.deepcopy(decision), pickle.loads(pickle.dumps(decision))):
        assert twin == decision
        assert not twin.predictions.flags.writeable
        assert not twin.carry.flags.writeable


def test_a_shallow_copy_of_a_learner_shares_nothing():
    learner = ab.UCBGT(EXPERTS, cost=0.25)
    twin = copy.copy(learner)
    ab.simulate(learner, X, Y)
    assert twin.round == 0
    assert twin.counts.sum() == 0


def test_a_million_experts():
    """Memory grows with P x A, not with K^2."""
    experts = ab.experts.hyperplanes(3, 10_000, 100, seed=0)
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (40, 3))
    for kind in (ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision):
        learner = kind(experts, cost=0.2)
        trace = ab.simulate(learner, table, rng.choice([-1, 1], 40), checkpoints=[1])
        assert len(learner.counts) == 1_000_000
        assert trace.edges[0] in (10**6, 10**12, 100 * 10**8)
