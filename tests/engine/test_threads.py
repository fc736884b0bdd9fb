"""A learner may be used by many threads."""

import copy
import threading

import numpy as np
import pytest

import abstain as ab

from .learners import MAKE, RINGS

X, Y = ab.datasets.load("synthetic", n=2000, seed=0)
N_THREADS, ROUNDS, FEW = 8, 2000, 400
SHORT = ("UCBGT", "FS", "Exp3Abs", "DoublyRobust")
NAMES = [name if name in SHORT else pytest.param(name, marks=pytest.mark.long) for name in MAKE]


def in_threads(work, n=N_THREADS):
    """Run ``work(k)`` in n threads; what they raised."""
    errors, begin = [], threading.Barrier(n)

    def run(k):
        begin.wait()
        try:
            work(k)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert not any(thread.is_alive() for thread in threads)
    return errors


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sample(2)
def test_rounds_of_many_threads(name):
    """Every round is decided once, every label learnt once, nothing is left open, and the sums are those of a game."""
    learner = MAKE[name]()
    rounds = [[] for _ in range(N_THREADS)]

    def work(k):
        for x, label in zip(X[:ROUNDS], Y[:ROUNDS], strict=True):
            decision = learner.decide(x)
            rounds[k].append(decision.round)
            if learner.expects[decision.abstained]:
                learner.learn(decision, label)

    assert in_threads(work) == []
    assert sorted(t for one in rounds for t in one) == list(range(1, N_THREADS * ROUNDS + 1))
    assert learner.pending == ()
    if hasattr(learner, "counts"):
        assert learner.counts.max() <= learner.round
    if hasattr(learner.state, "estimates"):
        assert not learner.state.estimates.open.any()
    if name == "FS":
        assert set(learner.counts) == {N_THREADS * ROUNDS}
        advice = RINGS.advise(X)
        wrong = (advice.predictions * Y[:, None] <= 0)[:, RINGS.predictor_of]
        total = np.where(advice.abstains[:, RINGS.rule_of], 0.3, wrong).sum(axis=0) * N_THREADS
        np.testing.assert_allclose(learner.means * learner.round, total)


@pytest.mark.parametrize("name", NAMES)
def test_labels_from_other_threads(name):
    """One thread decides, others learn, look, copy and save at the same time."""
    learner = MAKE[name]()
    waiting, done = [], threading.Event()

    def work(k):
        if k == 0:
            for x, label in zip(X[:FEW], Y[:FEW], strict=True):
                decision = learner.decide(x)
                if decision.round in learner.pending:
                    waiting.append((decision, label))
            done.set()
        elif k == 1:
            while not done.is_set():
                twin = copy.deepcopy(learner)
                twin.decide(X[0])
                assert len(twin.pending) <= twin.round
        elif k == 2:
            while not done.is_set():
                header, arrays = learner.contents()
                assert len(arrays["pending.rounds"]) <= header["round"]
                learner.peek(X[1])
        else:
            while not done.is_set() or waiting:
                try:
                    decision, label = waiting.pop()
                except IndexError:
                    continue
                learner.learn(decision, label)

    assert in_threads(work, 5) == []
    assert learner.round == FEW
    assert learner.pending == ()


def test_a_table_is_played_in_one_go():
    """Rounds of other threads come before or after it, never in between."""
    learner, twin = MAKE["UCBGT"](), MAKE["UCBGT"]()
    traces = {}

    def work(k):
        traces[k] = ab.simulate(learner, X, Y)

    assert in_threads(work, 2) == []
    expected = [ab.simulate(twin, X, Y).expert.tolist() for _ in range(2)]
    assert sorted(traces[k].expert.tolist() for k in traces) == sorted(expected)


def test_a_learner_is_locked_for_several_rounds():
    learner = MAKE["UCB"]()
    pairs = []

    def work(k):
        for _ in range(200):
            with learner.lock:
                pairs.append((learner.decide(X[0]).round, learner.decide(X[1]).round))

    assert in_threads(work) == []
    assert all(second == first + 1 for first, second in pairs)
