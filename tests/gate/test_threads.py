"""Gates that many threads use while models come and go, and copies of gates."""

import copy
import pickle
import sys
import threading
from functools import partial

import numpy as np
import pytest

import abstain as ab
from abstain._core import files

SAID = {"a": ("x", 0.9)}


def run(*jobs):
    """Run functions in threads at the same time, and raise what one of them raises."""
    errors, start = [], threading.Barrier(len(jobs))

    def guarded(job):
        start.wait()
        try:
            job()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # so that threads meet in the middle of things
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


def small(models=("a",), **options):
    return ab.Gate(list(models), **{"cost": 0.2, "labels": "both", "thresholds": 4, "seed": 0, **options})


def test_models_added_by_many_threads_are_all_there():
    gate = small()
    names = [f"m{i}" for i in range(40)]

    def add(first):
        for name in names[first::4]:
            gate.add_model(name)

    run(*(partial(add, first) for first in range(4)))
    assert sorted(gate.models) == sorted(["a", *names])
    assert gate.thresholds.shape == (41, 4)
    assert gate.policy().height == 41 * 4


def test_names_stay_with_their_models_weights():
    gate = small(["a", "b"])
    for _ in range(300):
        case = gate.decide({"a": ("x", 0.9), "b": ("y", 0.9)})
        gate.learn(case, "x")

    def change(name):
        for _ in range(20):
            gate.add_model(name)
            gate.remove_model(name)

    run(lambda: change("c"), lambda: change("d"), lambda: change("e"))
    weights = {row["model"]: row["weight"] for row in gate.policy().iter_rows(named=True)}
    assert gate.models == ["a", "b"]
    assert gate.policy()["model"][0] == "a"
    assert weights.keys() == {"a", "b"}


def consistent(gate):
    """Check that a gate's parts are of one moment."""
    assert len(gate.models) == len(gate.thresholds) == len(gate._tally.counts) == gate.learner.experts.n_predictors
    case = gate.decide(SAID)
    assert list(case.answers) == gate.models
    gate.learn(case, "x")


@pytest.mark.parametrize("use", ["deepcopy", "copy", "pickle", "save", "decide_many", "policy", "str", "repr", "peek"])
@pytest.mark.sample(4)
def test_nothing_tears_while_models_change(use, tmp_path):
    gate, done = small(), threading.Event()
    gate.decide(SAID)

    def change():
        try:
            for i in range(60):
                gate.add_model(f"m{i % 7}")
                if i % 7 == 6:
                    for k in range(7):
                        gate.remove_model(f"m{k}")
        finally:
            done.set()

    def look():
        while not done.is_set():
            if use == "deepcopy":
                consistent(copy.deepcopy(gate))
            elif use == "copy":
                consistent(copy.copy(gate))
            elif use == "pickle":
                consistent(pickle.loads(pickle.dumps(gate)))
            elif use == "save":
                gate.save(tmp_path / "gate.abstain")
                consistent(ab.load(tmp_path / "gate.abstain"))
            elif use == "decide_many":
                columns = {
                    f"m{k}{end}": value for k in range(7) for end, value in (("", ["x"]), ("_confidence", [0.5]))
                }
                assert gate.decide_many({"a": ["x"], "a_confidence": [0.5], **columns}).height == 1
            elif use == "policy":
                policy = gate.policy()
                assert policy.height == 4 * policy["model"].n_unique()
            elif use == "peek":
                assert gate.peek(SAID).answers["a"] == "x"
            else:
                assert isinstance(str(gate) if use == "str" else repr(gate), str)

    run(change, look)
    consistent(gate)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda gate: pickle.loads(pickle.dumps(gate))])
def test_a_copy_shares_nothing(how):
    gate = small(["a", "b"])
    for _ in range(20):
        gate.learn(gate.decide(SAID), "x")
    twin, before = how(gate), gate.policy()
    for _ in range(20):
        twin.learn(twin.decide(SAID), "y")
    twin.add_model("c")
    twin.review_price = 0.5
    assert (gate.round, gate.models, gate.review_price) == (20, ["a", "b"], 0.2)
    assert gate.policy().equals(before)
    assert gate.learner is not twin.learner
    assert gate.learner.lock is not twin.learner.lock


def test_warm_starts_in_two_threads_make_one_learner():
    rng = np.random.default_rng(0)
    log = {"a": ["x"] * 50, "a_confidence": rng.random(50).tolist(), "label": ["x"] * 50}
    gate, found = small(thresholds="quantiles"), []

    def start():
        gate.warm_start(log)
        found.append(gate.learner)

    run(start, start, start)
    assert len(set(map(id, found))) == 1
    assert gate._tally.counts.sum() == 150


def test_health_is_of_one_moment_while_threads_decide_learn_and_change_models():
    gate = small(["a", "b"])
    found = []

    def use():
        for _ in range(150):
            gate.learn(gate.decide({"a": ("x", 0.9)}), "x")

    def change():
        for i in range(10):
            gate.add_model(f"m{i}")
            gate.remove_model(f"m{i}")

    def look():
        for _ in range(60):
            health = gate.health()
            found.append(health.cases - health.labels - health.pending)
            assert len(health.models) in (2, 3)

    run(use, use, change, look)
    health = gate.health()
    assert (health.cases, health.labels, health.pending) == (300, 300, 0)
    assert set(found) == {0}
    assert gate._monitor.watch.cases == 300


def meanwhile(gate, work, change):
    """Let ``work`` wait for the gate's lock while the gate changes."""
    thread = threading.Thread(target=work)
    with gate.learner.lock:
        thread.start()
        thread.join(0.2)
        change()
    thread.join()


def test_who_is_watched_is_a_model_of_the_moment():
    gate, cases = small(["a", "b", "c"]), []
    said = {"b": ("x", 0.9), "c": ("y", 0.8)}
    meanwhile(
        gate,
        lambda: cases.append(gate.watch(said, decided="b", probability=0.5)),
        lambda: gate.remove_model("a"),
    )
    assert (cases[0].model, cases[0].answer) == ("b", "x")


def test_a_log_is_read_and_learnt_at_the_same_prices():
    log = {"a": ["x", "x"], "a_confidence": [0.9, 0.8], "label": ["y", "x"]}
    one, other = (small(cost=None, review_price=1.0, mistake_price={("x", "y"): 4, "other": 8}) for _ in range(2))
    read = one._as_block

    def interrupted(log):
        block = read(log)
        thread = threading.Thread(target=lambda: setattr(one, "mistake_price", 8.0))
        thread.start()
        thread.join(0.2)
        threads.append(thread)
        return block

    threads = []
    vars(one)["_as_block"] = interrupted
    one.warm_start(log)
    threads[0].join()
    del vars(one)["_as_block"]
    other.warm_start(log)
    other.mistake_price = 8.0
    assert np.array_equal(one.learner.weights, other.learner.weights)
    assert one.mistake_price == 8.0


def test_nobody_decides_before_a_warm_start_is_done(monkeypatch):
    """A gate with quantiles of a log has no learner until it has learnt the log."""
    gate, found = small(thresholds="quantiles"), []
    learn = ab.DoublyRobust.warm_start

    def look(learner, X, y):
        thread = threading.Thread(target=lambda: found.append(str(gate)))
        thread.start()
        thread.join(10)
        with pytest.raises(ValueError, match="expected warm_start first"):
            gate.decide(SAID)
        learn(learner, X, y)

    monkeypatch.setattr(ab.DoublyRobust, "warm_start", look)
    gate.warm_start({"a": ["x"] * 3, "a_confidence": [0.1, 0.5, 0.9], "label": ["x"] * 3})
    assert found == ["follows a; has decided nothing yet"]
    assert gate.decide(SAID).round == 1


def test_a_file_is_of_one_moment(monkeypatch, tmp_path):
    """Cases that come while it is written are no part of it."""
    gate = small(["a", "b"])
    write = files.write

    def late(*arguments):
        before.append(gate.health())
        for _ in range(70):
            gate.learn(gate.decide({"a": ("x", 0.9)}), "x")
        write(*arguments)

    before = []
    gate.learn(gate.decide(SAID), "x")
    monkeypatch.setattr(files, "write", late)
    gate.save(tmp_path / "gate.abstain")
    assert str(ab.load(tmp_path / "gate.abstain").health()) == str(before[0]) != str(gate.health())
