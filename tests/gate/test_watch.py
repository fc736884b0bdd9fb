"""Shadow mode: cases that somebody else decided teach no more than their labels say."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import DecisionError, InputError

CLAUDE = {"claude": ("a", 0.9)}


def cases(n, seed=0):
    """A model that is nearly always right where it is sure, and nearly always wrong elsewhere."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        sure = rng.random() < 0.4
        confidence = rng.uniform(0.85, 1.0) if sure else rng.uniform(0.3, 0.8)
        yield confidence, rng.random() < (0.05 if sure else 0.9), rng


def watched(answered, n=6_000):
    """A gate that watched a policy: ``answered`` is the probability of answering, by confidence."""
    gate, truth = ab.Gate(["claude"], cost=0.2, seed=0, on_alarm="report"), []
    for confidence, wrong, rng in cases(n):
        p = answered(confidence)
        done = "claude" if rng.random() < p else "review"
        case = gate.watch({"claude": ("x", confidence)}, decided=done, probability=p)
        assert (case.action, case.probability) == ("answer" if done == "claude" else "review", p)
        if done == "claude":
            gate.learn(case, "y" if wrong else "x")
        truth.append(wrong)
    return gate, float(np.mean(truth))


def price_of_always(gate):
    policy = gate.policy()
    return policy.filter(policy["threshold"] == -1.0)["price"][0]


def test_probabilities_make_up_for_labels_that_are_rarely_seen():
    """Hard cases are answered one time in ten. What always answering costs is estimated as it is."""
    gate, truth = watched(lambda confidence: 1.0 if confidence > 0.85 else 0.1)
    assert price_of_always(gate) == pytest.approx(truth, abs=0.06)
    assert truth > 0.5
    heaviest = gate.policy().row(0, named=True)
    assert 0.75 <= heaviest["threshold"] <= 0.86


def test_what_was_never_answered_is_not_taken_to_be_easy():
    """A fixed rule shows the easy cases only. The gate does not learn from it to answer the others."""
    gate, truth = watched(lambda confidence: 1.0 if confidence > 0.85 else 0.0)
    assert price_of_always(gate) >= truth
    assert gate.policy().row(0, named=True)["threshold"] >= 0.75
    answers = [gate.decide({"claude": ("x", 0.5)}).action for _ in range(100)]
    assert answers.count("review") >= 90
    assert [gate.decide({"claude": ("x", 0.97)}).action for _ in range(20)].count("answer") >= 18


def test_feeding_the_same_log_to_decide_would_mislead():
    """What the sentences in the documentation warn of."""
    gate, labels = ab.Gate(["claude"], cost=0.2, seed=0), 0
    for confidence, wrong, _ in cases(6_000):
        case = gate.decide({"claude": ("x", confidence)})
        if case.action == "answer" and confidence > 0.85:
            gate.learn(case, "y" if wrong else "x")
            labels += 1
    assert labels > 1_000
    assert price_of_always(gate) < 0.3


def test_watching_draws_nothing():
    """The gate's own random numbers go on as if it had not watched, but for what it learnt."""
    one, two = (ab.Gate(["claude"], cost=0.2, seed=3) for _ in range(2))
    state = one.learner.random.bit_generator.state
    case = one.watch(CLAUDE, decided="claude", probability=0.5)
    assert one.learner.random.bit_generator.state == state == two.learner.random.bit_generator.state
    assert (one.round, one.pending) == (1, (1,))
    one.learn(case.to_json(), "a")
    with pytest.raises(DecisionError, match="learnt before"):
        one.learn(case, "a")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"decided": "gpt", "probability": 0.5}, "decided: expected review or one of claude, rules, got 'gpt'"),
        ({"decided": "rules", "probability": 0.5}, "decided: expected a model with an answer"),
        ({"decided": "claude", "probability": 0.0}, "probability: expected one with which 'claude' can happen, got 0"),
        ({"decided": "review", "probability": 1.0}, "probability: expected one with which 'review' can happen, got 1"),
        ({"decided": "review", "probability": 1.5}, "probability: expected a number in"),
    ],
)
def test_what_is_refused(given, words):
    gate = ab.Gate(["claude", "rules"], cost=0.2, seed=0)
    with pytest.raises(InputError, match=words):
        gate.watch(CLAUDE, **given)
    assert gate.round == 0


def test_learners_that_cannot_watch():
    gate = ab.Gate(["claude"], cost=0.2, learner=ab.UCB, seed=0)
    with pytest.raises(InputError, match="watch: expected DoublyRobust or Exp3Abs as learner, got UCB"):
        gate.watch(CLAUDE, decided="review", probability=0.0)
    gate = ab.Gate(["claude"], cost=0.2, capacity=0.5, seed=0)
    with pytest.raises(InputError, match="watch: expected a learner without a capacity"):
        gate.watch(CLAUDE, decided="review", probability=0.5)
    assert gate.round == 0


@pytest.mark.parametrize("options", [{"learner": ab.Exp3Abs}, {"labels": "both"}, {"maturity": 3}])
def test_a_label_comes_late_and_after_a_restart(options, tmp_path):
    """Exp3Abs carries nothing but the probability of seeing the label."""
    one = ab.Gate(["claude"], **{"cost": 0.2, "seed": 0, **options})
    case = one.watch(CLAUDE, decided="claude", probability=0.5)
    one.save(tmp_path / "gate.abstain")
    two, before = ab.load(tmp_path / "gate.abstain"), one.learner.weights
    for gate in (one, two):
        for _ in range(5):
            gate.watch(CLAUDE, decided="review", probability=0.5)
        gate.learn(case.to_json(), "b")
    assert not np.array_equal(one.learner.weights, before)
    assert np.array_equal(one.learner.weights, two.learner.weights)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"probability": 1.5}, "probability: expected a number in"),
        ({"probability": 0.0}, "probability: expected one with which expert 0 can be followed, got 0"),
        ({"probability": 0.5, "observed": 0.0}, "observed: expected a probability above 0, got 0.0"),
        ({"probability": 0.5, "observed": float("nan")}, "observed: expected a probability above 0, got nan"),
    ],
)
def test_what_a_learner_refuses_to_watch(given, words):
    """A label that could not be seen would count for more than anything."""
    experts = ab.experts.thresholds(2, [0.0, 0.5])
    learner = ab.Exp3Abs(experts, cost=0.2, seed=0)
    with pytest.raises(InputError, match=words):
        learner.watch([0.9, 0.8], 0, **given)
    assert (learner.round, learner.pending) == (0, ())
