"""Rounds without a label wait: a learner that hears nothing changes nothing."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.checks import state_of
from abstain.engine import backlog as engine
from abstain.errors import InputError, LabelError
from abstain.learners.exp3.state import LEARNT

from ..instances import games
from ..reference.backlog import Backlog

EXPERTS = ab.experts.thresholds(3, [-1.0, 0.3, 0.6, 0.9, 5.0])
MAKE = {
    "Exp3Abs": lambda **k: ab.Exp3Abs(EXPERTS, cost=0.2, **k),
    "Exp3Abs, adaptive": lambda **k: ab.Exp3Abs(EXPERTS, cost=0.2, memory="adaptive", **k),
    "DoublyRobust": lambda **k: ab.DoublyRobust(EXPERTS, cost=0.2, **k),
    "Exp3": lambda **k: ab.Exp3(EXPERTS, cost=0.2, **k),
}


def rounds(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.choice([-1, 1], n)


def after_an_answer(make, seed=0):
    """A learner whose first decision is open."""
    learner = make(seed=seed)
    first = learner.decide([2.0, 2.0, 2.0])
    while first.abstained:
        learner = make(seed=learner.seed + 1)
        first = learner.decide([2.0, 2.0, 2.0])
    return learner, first


@pytest.mark.parametrize("name", MAKE)
def test_without_any_label_nothing_is_learnt(name):
    X, _ = rounds(1_000)
    learner, _ = after_an_answer(MAKE[name])
    before = learner.weights
    decisions = [learner.decide(x) for x in X]
    np.testing.assert_array_equal(learner.weights, before)
    assert len(learner._backlog.unlabelled) == sum(d.abstained for d in decisions) > 100
    assert learner.pending == (1, *(d.round for d in decisions if not d.abstained))


@pytest.mark.long
@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("delay", [1_000, 10**9])
def test_before_the_first_label_a_simulated_learner_draws_from_the_prior(name, delay):
    """The share of reviews is that of the prior: of a learner that decides on every row as its first."""
    X, y = rounds(1_000)
    learner, prior = MAKE[name](seed=3), MAKE[name](seed=3)
    trace = ab.simulate(learner, X, y, delay=delay)
    expected = 1.0 - np.mean([prior.peek(x).probability for x in X])
    assert trace.abstained.mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 1_000))
    assert ab.simulate(MAKE[name](seed=3), X, y).abstained.mean() != pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("name", MAKE)
def test_with_labels_at_once_no_round_waits(name):
    X, y = rounds(300)
    learner = MAKE[name](seed=1)
    for x, label in zip(X, y, strict=True):
        decision = learner.decide(x)
        if not decision.abstained:
            learner.learn(decision, label)
        assert not learner._backlog.unlabelled


@pytest.mark.long
@pytest.mark.parametrize("delay", [1, 3, 50, 10**6])
@pytest.mark.parametrize("name", [*MAKE, "UCB", "UCBGT"])
def test_live_equals_simulated_from_the_first_answer_on(name, delay):
    """If the first round predicts, a fixed delay gives the same game, bit for bit."""
    make = MAKE.get(name, lambda seed: getattr(ab, name)(EXPERTS, cost=0.2))
    X, y = rounds(400)
    X[0] = 2.0
    seed = next(s for s in range(100) if not make(seed=s).peek(X[0]).abstained)
    live, decisions = make(seed=seed), []
    trace = ab.simulate(make(seed=seed), X, y, delay=delay)
    for i, x in enumerate(X):
        decisions.append(live.decide(x))
        if i >= delay and not decisions[i - delay].abstained:
            live.learn(decisions[i - delay], y[i - delay])
    assert [d.expert for d in decisions] == trace.expert.tolist()


class Recording(ab.Learner):
    """Predicts where x > 0, and notes what it learns."""

    def __init__(self, experts, *, cost, loss="zero_one", seed=None):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.learnt = []

    def choose(self, advice, cost):
        predicts = advice.predictions[0, 0] > 0.0
        return ab.extend.Choice(0 if predicts else 1, float(predicts), np.array([float(self.round)]))

    def absorb(self, decision, losses):
        self.learnt.append((decision.round, losses.tolist(), decision.carry.tolist()))

    def miss(self, decision):
        self.learnt.append((decision.round, None, decision.carry.tolist()))

    def drop(self, decision):
        pass

    def arrays(self):
        return {}

    def set_arrays(self, arrays):
        pass


ALWAYS_OR_NEVER = ab.experts.thresholds(1, [-1.0, 5.0])


@games(300)
@given(st.lists(st.tuples(st.booleans(), st.lists(st.integers(0, 12), max_size=3)), max_size=40), st.data())
def test_the_order_is_that_of_the_rule(game, data):
    """Any labels at any time, forgotten decisions, copies on the way: rounds are learnt as the reference says."""
    learner, twin, learnt, decisions = Recording(ALWAYS_OR_NEVER, cost=0.2), Backlog(), [], {}
    for t, (answers, closed) in enumerate(game, start=1):
        decision = learner.decide([2.0] if answers else [-2.0])
        assert decision.abstained != answers
        if decision.abstained:
            twin.decided(t, lambda t=t: learnt.append(t))
        else:
            twin.decided(t, None)
            decisions[t] = decision
        for k in closed:
            still = sorted(decisions)
            if k < len(still):
                s = still[k]
                if data.draw(st.booleans()):
                    learner.learn(decisions.pop(s), 1)
                    learnt.append(s)
                    twin.learnt(s)
                else:
                    learner.forget(decisions.pop(s))
                    twin.open.remove(s)
                    twin.release()
        if data.draw(st.booleans()):
            kept = learner.learnt
            learner = copy.deepcopy(learner)
            with learner.lock:
                learner.learnt = kept
    assert [t for t, *_ in learner.learnt] == learnt
    assert all(carry == [t - 1.0] for t, _, carry in learner.learnt)


@pytest.mark.parametrize("how", ["file", "pickle", "copy", "snapshot"])
@pytest.mark.parametrize("name", [*MAKE, "UCB", "UCBGT"])
def test_what_waits_is_kept(tmp_path, name, how):
    make = MAKE.get(name, lambda seed: getattr(ab, name)(EXPERTS, cost=0.2))
    X, y = rounds(200)
    learner, first = after_an_answer(make) if name in MAKE else (make(seed=0), None)
    first = first or learner.decide([2.0, 2.0, 2.0])
    decisions = [learner.decide(x) for x in X]
    waiting = learner._backlog.rounds()
    assert len(waiting) > 3
    if how == "file":
        learner.save(tmp_path / "learner")
        other = ab.load(tmp_path / "learner")
    elif how == "snapshot":
        other, before = learner, learner.snapshot()
        twin = copy.deepcopy(learner)
        other.learn(first, 1)
        other.restore(before)
        learner = twin
    else:
        other = copy.deepcopy(learner) if how == "copy" else pickle.loads(pickle.dumps(learner))
    assert other._backlog.rounds() == waiting
    for one in (learner, other):
        one.learn(first, 1)
        for decision, label in zip(decisions, y, strict=True):
            if decision.round in one.pending:
                one.learn(decision, label)
    assert learner._backlog.rounds() == other._backlog.rounds()
    for key, value in state_of(learner).items():
        np.testing.assert_array_equal(state_of(other)[key], value)


def test_what_waits_survives_other_models():
    gate = ab.Gate(["a", "b"], cost=0.2, seed=0)
    sure = {"a": ("x", 1.0), "b": ("x", 1.0)}
    case = next(case for case in (gate.decide(sure) for _ in range(1_000)) if case.action == "answer")
    reviews = [gate.decide({"a": ("x", 0.5), "b": ("y", 0.2)}) for _ in range(100)]
    n = sum(one.action == "review" for one in reviews)
    assert len(gate.learner._backlog.unlabelled) == n > 10
    gate.add_model("c")
    gate.remove_model("a")
    before = gate.learner.weights
    later = next(case for case in (gate.decide({"b": ("x", 1.0)}) for _ in range(1_000)) if case.action == "answer")
    gate.learn(case, "x")
    gate.learn(later, "x")
    assert all(one.round > later.round for one in gate.learner._backlog.unlabelled)
    assert not np.array_equal(gate.learner.weights, before)


def test_forgetting_the_oldest_open_round_releases():
    learner, first = after_an_answer(MAKE["Exp3Abs"])
    before = learner.weights
    while not learner.decide([-2.0, 0.1, -0.2]).abstained:  # rounds that predict stay open
        pass
    assert learner._backlog.unlabelled
    for name, (t, _) in list(learner._identity.open.items()):
        if t > 1:
            del learner._identity.open[name]
            learner._backlog.awaited.pop(t, None)
    np.testing.assert_array_equal(learner.weights, before)
    learner.forget(first)
    assert not learner._backlog.unlabelled
    assert not np.array_equal(learner.weights, before)


def test_labels_that_are_overdue_hold_nothing_up():
    """A decision that is never closed does not keep rounds waiting once a later label has come."""
    learner, _ = after_an_answer(MAKE["DoublyRobust"])
    later = learner.decide([2.0, 2.0, 2.0])
    while later.abstained:
        later = learner.decide([2.0, 2.0, 2.0])
    learner.learn(later, 1)
    for _ in range(20):
        decision = learner.decide([0.1, 0.1, 0.1])
        if not decision.abstained:
            learner.learn(decision, 1)
        assert not learner._backlog.unlabelled


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(engine, "MOST_WAITING", 50)
    learner, _ = after_an_answer(MAKE["Exp3Abs"])
    for x in rounds(500)[0]:
        learner.decide(x)
    assert len(learner._backlog.unlabelled) == 50


def test_an_exception_changes_nothing():
    learner, first = after_an_answer(MAKE["DoublyRobust"])
    for x in rounds(50)[0]:
        learner.decide(x)
    before = state_of(learner)
    with pytest.raises(LabelError):
        learner.learn(first, 7)
    with pytest.raises(InputError):
        learner.decide([np.nan, 0.0, 0.0])
    for key, value in before.items():
        np.testing.assert_array_equal(state_of(learner)[key], value)


def test_what_waits_does_not_depend_on_labels():
    """Flipped labels change what is learnt, not when."""
    X, y = rounds(300)
    traces = []
    for labels in (y, -y):
        learner = Recording(ALWAYS_OR_NEVER, cost=0.2)
        decisions = [learner.decide(x[:1]) for x in X]
        for decision, label in zip(decisions[::-2], labels[::-2], strict=True):
            if decision.round in learner.pending:
                learner.learn(decision, label)
        traces.append([t for t, *_ in learner.learnt])
    assert traces[0] == traces[1]
    assert len(traces[0]) > 100


def test_many_threads():
    learner = MAKE["DoublyRobust"](seed=0)
    X, y = rounds(400)

    def play(k):
        mine = []
        for i in range(k, 400, 4):
            mine.append((learner.decide(X[i]), y[i]))
            if len(mine) > 5:
                decision, label = mine.pop(0)
                if not decision.abstained:
                    learner.learn(decision, label)
        for decision, label in mine:
            if not decision.abstained:
                learner.learn(decision, label)

    threads = [threading.Thread(target=play, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    learner.catch_up()
    assert learner.round == learner._weights.numbers[0, LEARNT] == 400
    assert learner.pending == learner._backlog.rounds() == ()
