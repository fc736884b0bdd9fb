"""Gates that many threads use while models come and go, and copies of gates."""

import copy
import pickle
import sys
import threading
from functools import partial

import numpy as np
import pytest

import abstain as ab

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
