"""Saved learners: what is written, what is read, and what is refused."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import abstain as ab
from abstain._core.files import VERSION
from abstain.checks import play_online
from abstain.errors import FileError, InputError

from ..data.make import LEARNERS, learnt

FIXTURES = Path(__file__).parents[1] / "data"
EXPERTS = ab.experts.hyperplanes(2, 3, 4, seed=0)


@pytest.fixture
def played():
    X, y = ab.datasets.load("synthetic", n=300, seed=0)
    learner = ab.UCBGT(EXPERTS, cost=0.3, seed=5)
    ab.simulate(learner, X, y)
    return learner


@pytest.mark.parametrize(("name", "version"), [(name, v) for name in LEARNERS for v in range(1, VERSION + 1)])
def test_files_of_every_version_are_read(name, version):
    """Written by that version of the format (`tests/data/make.py`), with what the learner did next."""
    learner = ab.load(FIXTURES / f"{name}-v{version}.abstain")
    expected = json.loads((FIXTURES / f"{name}-v{version}.json").read_text())
    X, y = ab.datasets.load("synthetic", n=400, seed=1)
    assert (learner.round, list(learner.pending)) == (expected["round"], expected["pending"])
    decision = ab.Decision.from_json(json.dumps(expected["decision"]))
    learner.learn(decision, 1)
    trace = ab.simulate(learner, X[200:], y[200:])
    assert trace.expert.tolist() == expected["expert"]
    np.testing.assert_allclose(learnt(learner), expected["learnt"], rtol=1e-12)


def test_a_label_comes_after_a_restart(tmp_path, played):
    """Save, a new process, load, learn: the same as if nothing had happened."""
    X, y = ab.datasets.load("synthetic", n=100, seed=2)
    decision = next(d for d in map(played.decide, X) if not d.abstained)
    played.save(tmp_path / "gate.abstain")
    (tmp_path / "decision.json").write_text(decision.to_json())
    code = f"""
import numpy as np, abstain as ab
from pathlib import Path
folder = Path({str(tmp_path)!r})
learner = ab.load(folder / "gate.abstain")
learner.learn(ab.Decision.from_json((folder / "decision.json").read_text()), 1)
X, y = ab.datasets.load("synthetic", n=100, seed=2)
np.savez(folder / "there.npz", expert=ab.simulate(learner, X, y).expert, means=learner.means, pending=learner.pending)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    played.learn(decision, 1)
    here = ab.simulate(played, X, y)
    there = np.load(tmp_path / "there.npz")
    np.testing.assert_array_equal(here.expert, there["expert"])
    np.testing.assert_array_equal(played.means, there["means"])
    assert played.pending == tuple(there["pending"])


def test_the_id_survives(tmp_path, played):
    played.save(tmp_path / "x")
    assert ab.load(tmp_path / "x").id == played.id


def test_every_damage_is_found(tmp_path, played):
    """Cut anywhere, or with any byte changed, a file is refused or means the same; nothing else is raised."""
    path = tmp_path / "x"
    played.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in [0, 1, len(whole) // 2, len(whole) - 1, *rng.integers(0, len(whole), 30)]:
        path.write_bytes(whole[:size])
        with pytest.raises(FileError):
            ab.load(path)
    for place in rng.integers(0, len(whole), 150):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        path.write_bytes(bytes(changed))
        try:
            again = ab.load(path)
        except (FileError, InputError):
            continue
        np.testing.assert_array_equal(again.means, played.means)
        assert again.id == played.id


def rewrite(path, **changes):
    """Change the header of a file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["header.json"] = json.dumps({**json.loads(parts["header.json"]), **changes}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def test_newer_and_other_files_are_refused(tmp_path, played):
    path = tmp_path / "x"
    played.save(path)
    rewrite(path, version=2)
    with pytest.raises(FileError, match="version 2 is newer"):
        ab.load(path)
    rewrite(path, version=1, format="poem")
    with pytest.raises(FileError, match="another kind"):
        ab.load(path)
    path.write_text("not a file of ours")
    with pytest.raises(FileError, match="damaged"):
        ab.load(path)
    with pytest.raises(FileNotFoundError):
        ab.load(tmp_path / "nothing")


def test_a_failed_save_leaves_the_old_file(tmp_path, played, monkeypatch):
    path = tmp_path / "x"
    played.save(path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.lib.format.write_array", full)
    with pytest.raises(OSError, match="No space"):
        played.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def cost_of(X):
    return np.abs(X[:, 0])


def test_python_functions_must_be_given_again(tmp_path):
    pairs = [(lambda x: x[0], lambda x: x[1]), (lambda x: x[1], lambda x: 1.0)]
    experts = ab.experts.from_functions(pairs)
    learner = ab.UCB(experts, cost=cost_of, loss=lambda h, y: (h * y[:, None] <= 0) / 2.0)
    learner.save(tmp_path / "x")
    with pytest.raises(InputError, match="experts="):
        ab.load(tmp_path / "x")
    with pytest.raises(InputError, match="expected those"):
        ab.load(tmp_path / "x", experts=EXPERTS)
    with pytest.raises(InputError, match="cost="):
        ab.load(tmp_path / "x", experts=experts)
    with pytest.raises(InputError, match="loss="):
        ab.load(tmp_path / "x", experts=experts, cost=cost_of)
    with pytest.raises(InputError, match="^cost: expected a function"):
        ab.load(tmp_path / "x", experts=experts, cost=0.5, loss=learner.loss)
    with pytest.raises(InputError, match="^loss: expected a function"):
        ab.load(tmp_path / "x", experts=experts, cost=cost_of, loss="zero_one")
    again = ab.load(tmp_path / "x", experts=experts, cost=cost_of, loss=learner.loss)
    assert again.id == learner.id


def test_what_does_not_fit_is_refused(tmp_path, played):
    played.save(tmp_path / "x")
    with pytest.raises(InputError, match="^cost: expected"):
        ab.load(tmp_path / "x", cost=0.5)
    with pytest.raises(InputError, match="^loss: expected"):
        ab.load(tmp_path / "x", loss="hinge")
    with pytest.raises(InputError, match="^experts: expected"):
        ab.load(tmp_path / "x", experts=ab.experts.hyperplanes(2, 3, 4, seed=1))
    assert ab.load(tmp_path / "x", cost=0.3, loss="zero_one", experts=EXPERTS).round == 300


class Own(ab.graphs.FeedbackGraph):
    """A graph that remembers, which the file does not."""

    def __init__(self):
        self.memory = []

    def out_neighbours(self, expert, now):
        return np.ones(now.experts.n_experts, bool)


def test_graphs(tmp_path):
    matrix = np.tri(12, dtype=bool)
    ab.UCBNT(EXPERTS, cost=0.1, graph=ab.graphs.fixed(matrix)).save(tmp_path / "x")
    np.testing.assert_array_equal(ab.load(tmp_path / "x").graph.edges, matrix)
    ab.UCBNT(EXPERTS, cost=0.1, graph=Own()).save(tmp_path / "x")
    with pytest.raises(InputError, match="graph="):
        ab.load(tmp_path / "x")
    assert isinstance(ab.load(tmp_path / "x", graph=Own()).graph, Own)


class Saving(ab.Learner):
    """A user's learner, which saves one array under a name of its own."""

    name, width = "total", 3

    def choose(self, advice, cost):
        return ab.extend.Choice(0, 1.0, np.zeros(0))

    def absorb(self, decision, losses):
        pass

    def arrays(self):
        return {self.name: np.zeros(self.width)}

    def set_arrays(self, arrays):
        if arrays[self.name].shape != (self.width,):
            raise ValueError("another shape")


def test_a_class_that_changed_is_not_called_damage(tmp_path, monkeypatch):
    Saving(EXPERTS, cost=0.3).save(tmp_path / "x")
    assert isinstance(ab.load(tmp_path / "x"), Saving)
    monkeypatch.setattr(Saving, "width", 4)
    with pytest.raises(FileError, match=r"damaged, or .*:Saving has changed since the file was saved.*another shape"):
        ab.load(tmp_path / "x")
    monkeypatch.setattr(Saving, "name", "sums")
    with pytest.raises(FileError, match=r"Saving has changed since .*: expected the arrays sums, got total; load the"):
        ab.load(tmp_path / "x")


def test_numbers_of_numpy(tmp_path):
    """They are as good as Python's, in files, too."""
    sets = [
        ab.experts.hyperplanes(np.int64(2), np.int32(3), np.int64(4), always_predict=np.True_, seed=np.int64(0)),
        ab.experts.thresholds(np.int64(2), np.array([0.1])),
        ab.experts.from_columns(np.int64(2), np.int64(3)),
        ab.experts.axis_planes(np.int64(2), np.int64(4)),
    ]
    for experts in sets:
        learner = ab.UCB(experts, cost=np.float32(0.5), loss=ab.losses.ramp(np.float32(0.5)), beta=np.int64(2))
        learner.save(tmp_path / "x")
        assert ab.load(tmp_path / "x", experts=experts).loss == learner.loss
    assert ab.experts.hyperplanes(2, 3, 4, seed=0).fingerprint == (
        ab.experts.hyperplanes(2, 3, np.int64(4), seed=np.int64(0)).fingerprint
    )


SEQUENCES = [np.random.SeedSequence(5).spawn(2)[1], np.random.SeedSequence(np.array([1, 2]))]


@pytest.mark.parametrize("seed", [None, 3, np.int64(4), *SEQUENCES])
def test_seeds(tmp_path, seed):
    learner = ab.UCB(EXPERTS, cost=0.1, seed=seed, ties="random")
    learner.save(tmp_path / "x")
    again = ab.load(tmp_path / "x")
    X, y = ab.datasets.load("synthetic", n=50, seed=0)
    np.testing.assert_array_equal(ab.simulate(learner, X, y).expert, ab.simulate(again, X, y).expert)
    if seed is not None:
        first, second = (ab.simulate(one.clone(), X, y).expert for one in (learner, again))
        np.testing.assert_array_equal(first, second)


def test_joblib(tmp_path, played):
    joblib = pytest.importorskip("joblib")
    joblib.dump(played, tmp_path / "x")
    again = joblib.load(tmp_path / "x")
    X, y = ab.datasets.load("synthetic", n=50, seed=0)
    trace = play_online(again, X, y)  # single rounds, then a table: both must see the same arrays
    np.testing.assert_array_equal(ab.simulate(played, X, y).expert, trace.expert)
    np.testing.assert_array_equal(ab.simulate(played, X, y).expert, ab.simulate(again, X, y).expert)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"round": 1}', "null"])
def test_wrong_decisions(text):
    with pytest.raises(FileError, match="^decision: expected JSON"):
        ab.Decision.from_json(text)
