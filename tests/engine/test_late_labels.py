"""Late labels do not freeze the UCB family: an expert whose label is still to come is not tried again and again."""

import numpy as np
import pytest

import abstain as ab

RINGS = ab.experts.hyperplanes(2, 5, 6, seed=0)
THRESHOLDS = ab.experts.thresholds(3, [-1.0, 0.1, 0.2])
MAKE = {
    "UCB": lambda e, **k: ab.UCB(e, cost=0.3, **k),
    "UCBNT": lambda e, **k: ab.UCBNT(e, cost=0.3, **k),
    "UCBNT-fixed": lambda e, **k: ab.UCBNT(e, cost=0.3, graph=ab.graphs.fixed(np.eye(e.n_experts)), **k),
    "UCBGT": lambda e, **k: ab.UCBGT(e, cost=0.3, **k),
}


def rounds(experts, n=2500):
    rng = np.random.default_rng(0)
    return rng.uniform(-1.0, 1.0, (n, experts.n_features)), rng.choice([-1, 1], n)


@pytest.mark.parametrize("experts", [RINGS, THRESHOLDS], ids=["rings", "thresholds"])
@pytest.mark.parametrize("name", MAKE)
def test_all_experts_are_tried(name, experts):
    X, y = rounds(experts)
    learner = MAKE[name](experts)
    trace = ab.simulate(learner, X, y, delay=2000)
    times = np.bincount(trace.expert[:2000], minlength=experts.n_experts)
    if name in ("UCB", "UCBNT-fixed"):  # on other graphs an abstention updates many
        assert (times > 0).all()
    assert times.max() < 1500
    assert not learner.state.estimates.open.any()


@pytest.mark.parametrize("name", MAKE)
def test_the_fewest_open_choices_come_first(name):
    """Written out: of the experts never updated, the fewest open choices, then the lowest number."""
    experts = THRESHOLDS
    X, _ = rounds(experts, 60)
    learner = MAKE[name](experts)
    open_choices, tried = np.zeros(experts.n_experts, int), 0
    for x in X:
        never = np.flatnonzero(learner.counts == 0)
        decision = learner.decide(x)
        if len(never):
            tried += 1
            assert decision.expert == never[np.argmin(open_choices[never])]
        if learner.pending or decision.round > 1:
            open_choices[decision.expert] += 1  # those that abstained wait, too
    assert tried > 0
    np.testing.assert_array_equal(learner.state.estimates.open, open_choices)


def test_forgetting_lowers_the_count():
    learner = MAKE["UCB"](ab.experts.from_columns(3, 1))
    x = [1.0, 1.0, 1.0, 1.0]  # everybody predicts
    decisions = [learner.decide(x) for _ in range(5)]
    assert [d.expert for d in decisions] == [0, 1, 2, 0, 1]
    learner.forget(decisions[1])
    learner.forget(decisions[4])
    assert learner.peek(x).expert == 1
    assert [learner.decide(x).expert for _ in range(3)] == [1, 1, 2]


def test_it_is_saved(tmp_path):
    learner = MAKE["UCB"](ab.experts.from_columns(3, 1))
    x = [1.0, 1.0, 1.0, 1.0]
    decisions = [learner.decide(x) for _ in range(4)]
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    assert again.decide(x).expert == learner.decide(x).expert == 1
    for decision in decisions:
        again.learn(decision, 1)
    assert again.state.estimates.open.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", MAKE)
def test_with_labels_at_once_nothing_is_open(name):
    """What a table shows without delay: the count is back at 0 before every choice."""
    X, y = rounds(RINGS, 300)
    learner = MAKE[name](RINGS, ties="random", seed=3)
    for x, label in zip(X, y, strict=True):
        assert learner.state.estimates.n_open[0] == 0
        decision = learner.decide(x)
        if not decision.abstained:
            learner.learn(decision, label)


@pytest.mark.parametrize("kind", [ab.UCBGT, ab.Exp3Abs])
def test_single_rounds_go_on_after_a_game_with_late_labels(kind):
    """Labels that are open at the end of a table are learnt by the same compiled function as single rounds."""
    X, y = ab.datasets.load("synthetic", n=40, seed=0)
    learner = kind(ab.experts.hyperplanes(2, 5, 6, seed=0), cost=0.3, seed=1)
    ab.simulate(learner, X[:20], y[:20], delay=3)
    for x, label in zip(X[20:], y[20:], strict=True):
        decision = learner.decide(x)
        if decision.round in learner.pending:
            learner.learn(decision, label)
    assert learner.round == 40
