"""A label is learnt for its own decision, once, whatever crashed, was copied or was changed in between."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

import abstain as ab
from abstain.checks import state_of
from abstain.errors import AbstainError, DecisionError, FileError

from .learners import MAKE

X, Y = ab.datasets.load("synthetic", n=400, seed=0)


def next_open(learner, rows=X):
    """The next decision whose label is to come."""
    return next(d for d in map(learner.decide, rows) if d.round in learner.pending)


@pytest.fixture(params=MAKE)
def played(request):
    learner = MAKE[request.param]()
    ab.simulate(learner, X[:100], Y[:100])
    return learner


def refused(learner, decision, why):
    before = state_of(learner)
    for action in (lambda: learner.learn(decision, 1), lambda: learner.forget(decision)):
        with pytest.raises(DecisionError, match=why):
            action()
    after = state_of(learner)
    assert all(np.array_equal(before[name], after[name], equal_nan=False) for name in before)


def test_ids_are_random_and_their_own(played):
    decisions = [played.decide(x) for x in X[:50]]
    ids = {d.id for d in decisions}
    assert len(ids) == 50
    assert all(len(bytes.fromhex(name)) == 16 for name in ids)
    assert decisions[0] == decisions[0] != decisions[1]
    assert decisions[0] == ab.Decision.from_json(decisions[0].to_json())
    assert decisions[0] != "a decision"


def test_every_reason_is_told(played, tmp_path):
    decision = next_open(played)
    played.learn(decision, 1)
    refused(played, decision, "learnt before")
    refused(played, ab.Decision.from_json(decision.to_json()), "learnt before")
    decision = next_open(played)
    played.forget(decision)
    refused(played, decision, "forgotten before")
    refused(played, next_open(played.clone()), "expected one of learner")
    refused(played, played.peek(X[0]), "only peeked at")
    refused(played, ab.Decision.from_json(played.peek(X[0]).to_json()), "only peeked at")
    refused(played, None, "expected a Decision")
    played.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    refused(again, decision, "learnt or forgotten before")
    refused(again, next_open(played), "before a restart")
    if not all(played.expects):
        hidden = next(d for d in map(played.decide, X) if not played.expects[d.abstained])
        refused(played, hidden, "stays hidden")


def test_every_life_learns_what_was_open_once(played, tmp_path):
    """Files, copies and pickles: what was open when they were made can be learnt in each; what came later cannot."""
    decision = next_open(played)
    played.save(tmp_path / "x")
    lives = [played, copy.deepcopy(played), copy.copy(played), pickle.loads(pickle.dumps(played))]
    lives += [ab.load(tmp_path / "x"), ab.load(tmp_path / "x")]
    later = [next_open(one) for one in lives]
    for k, one in enumerate(lives):
        one.learn(decision, 1)
        refused(one, decision, "learnt (or forgotten )?before")
        for j, other in enumerate(later):
            if j != k:
                refused(one, other, "before a restart, or of another copy")
        one.learn(later[k], 1)
    assert len({d.id for d in later}) == len(lives)


def test_a_file_is_written_and_read_many_times(played, tmp_path):
    """Every restart is told apart, and a decision from any life is learnt if it was open."""
    kept = []
    for _ in range(5):
        kept.append(next_open(played))
        lost = None
        played.save(tmp_path / "x")
        lost = next_open(played)
        played = ab.load(tmp_path / "x")
        refused(played, lost, "before a restart")
    for decision in kept:
        played.learn(ab.Decision.from_json(decision.to_json()), 1)
        refused(played, decision, "learnt or forgotten before|learnt before")


def changed(value):
    """Other values of the same type, and of others."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, -1, 10**30, float(value), 0)
    elif isinstance(value, float):
        yield from (5e-324, 0.0, -value - 0.1, np.nan, np.inf, np.nextafter(value, 2.0))
    elif isinstance(value, str):
        yield from ("", value[:-1], value + "0", value[::-1] + "1")
        yield value.translate(str.maketrans("01", "10"))
    elif isinstance(value, list):
        yield from ([], value + value[:1], [1.5, *value[1:]], [np.nan] * len(value))
    elif isinstance(value, dict):
        yield {}
    yield from (None, "x", [1], {"a": 1}, 7)


def test_a_decision_with_anything_changed_is_refused(played):
    """Every field in turn: changed, removed; and one added."""
    decision = next_open(played)
    fields = json.loads(decision.to_json())
    wrong = [{k: v for k, v in fields.items() if k != name} for name in fields]
    wrong += [{**fields, name: value} for name in fields for value in changed(fields[name])]
    wrong += [{**fields, "more": 1}, {**fields, "neighbours": ""}]
    before, n_refused = state_of(played), 0
    for text in map(json.dumps, wrong):
        if json.loads(text) == fields and text == json.dumps(fields):
            continue
        with pytest.raises(AbstainError):
            played.learn(ab.Decision.from_json(text), 1)
        n_refused += 1
    after = state_of(played)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert n_refused > 60
    played.learn(ab.Decision.from_json(decision.to_json()), 1)


def test_a_decision_without_digest(played):
    decision = next_open(played)
    text = json.dumps({**json.loads(decision.to_json()), "digest": None})
    with pytest.raises(DecisionError, match="was changed"):
        played.learn(ab.Decision.from_json(text), 1)
    played.learn(decision, 1)


@pytest.mark.parametrize("version", [0, 2, 4, None, True, "1"])
def test_other_formats_of_decisions_are_refused(version):
    fields = json.loads(next_open(MAKE["UCB"]()).to_json())
    assert fields["format"] == 1
    with pytest.raises(FileError, match="its format is"):
        ab.Decision.from_json(json.dumps({**fields, "format": version}))


@pytest.mark.parametrize(
    "predictions",
    [
        np.array([[2**63, 1]], np.uint64),
        np.array([[0.5, -1.0]], np.float32),
        np.array([[True, False]]),
        np.array([["a", "bcd"]]),
        np.array([["a\0", "b"]], object),
        np.array([[0.5, 1.5]], np.longdouble),
    ],
)
def test_predictions_of_every_type(predictions):
    """They come back from JSON as they were."""
    experts = ab.experts.from_columns(2, 1)
    loss = "multiclass" if predictions.dtype.kind in "uUOb" else "zero_one"
    learner = ab.UCB(experts, cost=0.3, loss=loss)
    decision = learner.decide(ab.experts.Advice(predictions, np.array([[False]])))
    again = ab.Decision.from_json(decision.to_json())
    assert again.predictions.tolist() == predictions[0].tolist()
    learner.learn(again, decision.prediction if loss == "multiclass" else 1)


def test_killed_between_save_and_label(tmp_path):
    """A process saves, decides on, hands its decisions out and is killed; the next one tells them apart."""
    code = f"""
import os, signal
import abstain as ab
from pathlib import Path
folder = Path({str(tmp_path)!r})
X, y = ab.datasets.load("synthetic", n=400, seed=0)
learner = ab.UCBGT(ab.experts.hyperplanes(2, 5, 6, seed=0), cost=0.3)
ab.simulate(learner, X[:100], y[:100])
is_open = lambda: next(d for d in map(learner.decide, X) if not d.abstained)
saved = is_open()
learner.save(folder / "gate.abstain")
lost = [is_open() for _ in range(3)]
(folder / "saved.json").write_text(saved.to_json())
for k, decision in enumerate(lost):
    (folder / f"lost{{k}}.json").write_text(decision.to_json())
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL
    learner = ab.load(tmp_path / "gate.abstain")
    fresh = [next_open(learner) for _ in range(3)]  # the same rounds are decided again
    lost = [ab.Decision.from_json((tmp_path / f"lost{k}.json").read_text()) for k in range(3)]
    assert [d.round for d in lost] == [d.round for d in fresh]
    for decision in lost:
        refused(learner, decision, "before a restart")
    learner.learn(ab.Decision.from_json((tmp_path / "saved.json").read_text()), 1)
    for decision in fresh:
        learner.learn(decision, 1)
    assert learner.pending == ()


@pytest.mark.long
def test_two_processes_with_one_file(tmp_path):
    """Each learns what was open, and nothing the other decides."""
    played = MAKE["UCBGT"]()
    ab.simulate(played, X[:100], Y[:100])
    decision = next_open(played)
    played.save(tmp_path / "x")
    (tmp_path / "open.json").write_text(decision.to_json())
    code = f"""
import sys
import abstain as ab
from pathlib import Path
folder, name = Path({str(tmp_path)!r}), sys.argv[1]
learner = ab.load(folder / "x")
learner.learn(ab.Decision.from_json((folder / "open.json").read_text()), 1)
X, y = ab.datasets.load("synthetic", n=400, seed=0)
decision = next(d for d in map(learner.decide, X) if d.round in learner.pending)
(folder / f"{{name}}.json").write_text(decision.to_json())
learner.save(folder / name)
"""
    for name in ("a", "b"):
        subprocess.run([sys.executable, "-c", code, name], check=True, timeout=300)
    a, b = (ab.load(tmp_path / name) for name in ("a", "b"))
    of_a, of_b = (ab.Decision.from_json((tmp_path / f"{name}.json").read_text()) for name in ("a", "b"))
    assert of_a.round == of_b.round
    refused(a, of_b, "another copy")
    refused(b, of_a, "another copy")
    a.learn(of_a, 1)
    b.learn(of_b, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_is_a_copy(played):
    """Also of a learner that another thread is using: the lock is not inherited."""
    decision = next_open(played)
    played.lock.acquire()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            played.learn(decision, 1)
            os.write(write, next_open(played).to_json().encode())
        finally:
            os._exit(0)
    played.lock.release()
    os.close(write)
    text = b"".join(iter(lambda: os.read(read, 65536), b"")).decode()
    os.close(read)
    os.waitpid(child, 0)
    refused(played, ab.Decision.from_json(text), "another copy")
    played.learn(decision, 1)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"round": 1' + "0" * 5000 + "}", "\0", '"x"'])
def test_junk_for_json(text):
    with pytest.raises(AbstainError, match="decision: expected JSON"):
        ab.Decision.from_json(text)


def test_forgotten_ones_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr("abstain.engine.decision._REMEMBERED", 5)
    learner = MAKE["UCB"]()
    decisions = [next_open(learner) for _ in range(8)]
    for decision in decisions:
        learner.forget(decision)
    refused(learner, decisions[0], "learnt or forgotten before")
    refused(learner, decisions[-1], "forgotten before")
