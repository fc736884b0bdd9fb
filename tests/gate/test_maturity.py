"""Cases that are learnt at an age: a label that comes earlier is kept."""

import copy
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.errors import DecisionError, InputError
from abstain.gate.frames import Block
from abstain.gate.maturity import as_maturity

START = datetime(2026, 3, 1, tzinfo=UTC)
MODELS = ["a", "b"]


def gate(**options):
    return ab.Gate(MODELS, **{"cost": 0.2, "seed": 0, **options})


def answers(rng):
    return {name: (("x", "y")[int(rng.integers(2))], float(rng.random())) for name in MODELS}


def assert_same(one, other):
    first, second = state_of(one.learner), state_of(other.learner)
    for key, value in first.items():
        np.testing.assert_array_equal(second[key], value)


@pytest.mark.parametrize(
    ("given", "known"),
    [(7, 7), ("7", 7), ("14 days", timedelta(days=14)), ("1.5 hours", timedelta(minutes=90)), ("1 week", timedelta(7)),
     (timedelta(seconds=3), timedelta(seconds=3)), (None, None)],
)  # fmt: skip
def test_ages(given, known):
    found = as_maturity(given)
    assert (None if found is None else found.given) == known
    assert gate(maturity=given).maturity == known


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "soon", "14", True, "0 days", timedelta(0), timedelta(days=40_000), []])
def test_wrong_ages(wrong):
    if wrong == "14":
        assert gate(maturity=wrong).maturity == 14
        return
    with pytest.raises(InputError, match="maturity: expected"):
        gate(maturity=wrong)


def test_a_span_needs_times():
    with pytest.raises(InputError, match="because the maturity is a span of time"):
        gate(maturity="2 days").decide({"a": ("x", 0.5)})


@pytest.mark.parametrize("labels", ["answered", "reviewed", "both", (0.5, 0.0)])
@pytest.mark.parametrize("maturity", [1, 10])
def test_whenever_labels_come_they_are_learnt_at_that_age(labels, maturity, tmp_path):
    """Labels at once, and labels with any delay up to the age, give the same game; files on the way change nothing."""
    games = []
    for most in (0, maturity):
        one, rng, late, waiting, actions = gate(maturity=maturity, labels=labels), np.random.default_rng(1), 0, [], []
        delays = np.random.default_rng(2)
        for t in range(200):
            case, label = one.decide(answers(rng)), ("x", "y")[int(rng.integers(2))]
            actions.append((case.action, case.model, case.threshold))
            seen = rng.random() < 0.5
            if one.learner.expects[case.action == "review"]:
                late = int(delays.integers(0, most + 1))
                waiting.append((t + late, case, label, seen))
            for due in [one for one in waiting if one[0] <= t]:
                waiting.remove(due)
                if due[3] or labels != (0.5, 0.0):
                    one.learn(due[1], due[2])
                else:
                    one.forget(due[1])
            if most and t % 50 == 49:
                one.save(tmp_path / "gate")
                one = copy.deepcopy(one) if t % 100 == 49 else ab.load(tmp_path / "gate")
        games.append((actions, one, waiting))
    assert games[0][0] == games[1][0]
    for _, case, label, seen in games[1][2]:
        games[1][1].learn(case, label) if seen or labels != (0.5, 0.0) else games[1][1].forget(case)
    assert_same(games[0][1], games[1][1])
    assert games[0][1].pending == ()
    assert len(games[0][1].learner._backlog.rounds()) == maturity


def test_a_label_that_comes_early_is_given_once():
    one = gate(maturity=5, labels="both")
    case = one.decide({"a": ("x", 0.9)})
    before = one.learner.weights
    one.learn(case, "y")
    np.testing.assert_array_equal(one.learner.weights, before)
    assert one.pending == ()
    with pytest.raises(DecisionError, match="not open"):
        one.learn(case, "y")
    for _ in range(4):
        one.decide({"a": ("x", 0.9)})
    np.testing.assert_array_equal(one.learner.weights, before)
    one.decide({"a": ("x", 0.9)})
    assert not np.array_equal(one.learner.weights, before)


def test_a_span_of_time(tmp_path):
    """Five hours at one case an hour are five cases; the clock may be started anew."""
    by_time, by_number, rng = gate(maturity="5 hours"), gate(maturity=5), np.random.default_rng(0)
    for t in range(100):
        said, label = answers(rng), ("x", "y")[int(rng.integers(2))]
        one, other = by_time.decide(said, time=START + timedelta(hours=t)), by_number.decide(said)
        assert (one.action, one.model, one.threshold) == (other.action, other.model, other.threshold)
        if one.action == "answer":
            by_time.learn(one, label)
            by_number.learn(other, label)
        if t % 30 == 29:
            by_time.save(tmp_path / "gate")
            by_time = ab.load(tmp_path / "gate")
            assert by_time.maturity == timedelta(hours=5)
    assert_same(by_time, by_number)
    weights = by_time.learner.weights
    by_time.last_time = None
    for seconds in range(100):
        by_time.decide({"a": ("x", 0.9)}, time=seconds)
    np.testing.assert_array_equal(by_time.learner.weights, weights)
    by_time.save(tmp_path / "gate")
    ab.load(tmp_path / "gate").decide({"a": ("x", 0.9)}, time=10_000)
    by_time.decide({"a": ("x", 0.9)}, time=5 * 3600)
    assert not np.array_equal(by_time.learner.weights, weights)


def test_models_may_change_while_labels_are_kept():
    one, rng = gate(maturity=20, labels="both"), np.random.default_rng(0)
    for t in range(60):
        if t == 30:
            one.add_model("c")
        if t == 35:
            one.remove_model("a")
        said = {name: (("x", "y")[int(rng.integers(2))], float(rng.random())) for name in one.models}
        one.learn(one.decide(said), "x")
    assert len(one.learner._backlog.early) == 20
    assert np.isfinite(one.learner.weights).all()


def test_an_error_in_the_middle_of_a_frame_changes_nothing():
    one = gate(maturity="2 hours")
    one.decide({"a": ("x", 0.9)}, time=START)
    before = state_of(one.learner), one._ages.to_file()
    frame = {"a": ["x"] * 2, "a_confidence": [0.5, 2.0], "b": ["x"] * 2, "b_confidence": [0.5] * 2,
             "time": [START + timedelta(hours=9)] * 2}  # fmt: skip
    with pytest.raises(InputError):
        one.decide_many(frame)
    assert one._ages.to_file()[1].tolist() == before[1][1].tolist()
    np.testing.assert_array_equal(state_of(one.learner)["waiting.rounds"], before[0]["waiting.rounds"])


def fraud(n, seed):
    """One model with one confidence for all: 10 % of its answers are wrong, and errors are reported soon."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(n) < 0.1
    experts = ab.experts.thresholds(1, [-1.0, 5.0])  # answer all, or none
    return experts, np.ones((n, 1)), np.where(wrong, -1, 1), np.where(wrong, 10, 400)


@pytest.mark.long
def test_early_errors_bias_a_learner_and_maturity_cures_it():
    """Answering costs 0.1 a case, a review 0.2. Errors are known after 10 cases, the rest after 400."""
    found = {}
    for maturity in (0, 400):
        traces = []
        for seed in range(20):
            experts, X, y, delay = fraud(1_200, seed)
            learner = ab.Exp3Abs(experts, cost=0.2, eta=0.1, seed=seed, feedback="both")
            traces.append(ab.simulate(learner, X, y, delay=delay, maturity=maturity))
        found[maturity] = np.mean([trace.abstained for trace in traces], axis=0)
    assert found[0][300:400].mean() > 0.9  # all that was heard were errors
    assert found[400][:400].mean() == pytest.approx(0.5, abs=0.05)  # nothing was heard: the prior
    assert found[400][700:].mean() < 0.2  # answering is cheaper


def test_labels_that_are_overdue_after_a_log_are_so_after_a_restart_too(tmp_path):
    """Labels of the first cases are still to come, later ones came: cases that go to review do not wait for them."""
    gate = ab.Gate(["a"], cost=0.2, seed=0, thresholds=4)
    n = 40
    block = Block(np.full((n, 1), 0.999), np.zeros((n, 1)), due=np.where(np.arange(n) < 20, n + 1, np.arange(n) + 1))
    with gate._playing(later=True) as play:
        reviewed = play(block).reviewed
    assert not reviewed.all()
    gate.save(tmp_path / "gate.abstain")
    other = ab.load(tmp_path / "gate.abstain")
    for one in (gate, other):
        assert min(one.pending) <= 20 < one.learner.last_heard
        assert not one.learner._backlog.awaited
        for _ in range(20):
            one.decide({})  # always a review
        assert not one.learner._backlog.unlabelled
    assert np.array_equal(gate.learner.weights, other.learner.weights)
