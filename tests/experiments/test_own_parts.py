"""Experts, sets and streams of one's own: from TOML and from Python, in this process, in workers and on Dask."""

import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import abstain as ab
from abstain import paper as ours
from abstain._core import parts
from abstain.datasets import reading
from abstain.errors import FileError, InputError
from abstain.experiments import seeds
from abstain.experiments.results import MACHINE
from abstain.experiments.runner import run
from abstain.experiments.specs import ExpertsSpec, LearnerSpec, SetSpec
from abstain.experiments.study import LearnerStudy

PARTS = '''
"""Parts of a study."""

import numpy as np

import abstain as ab
from defined_elsewhere import Slack


def stream(n, seed, shift=0.0):
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, np.where(X[:, 0] > shift, 1, -1)


def wrong(n, seed):
    return stream(n, seed)[0]


def levels(dim, n_levels=2):
    return ab.experts.thresholds(dim, np.linspace(0.0, 0.4, n_levels))


class Signs(ab.experts.ExpertSet):
    """The sign of each feature, and a rule that abstains where the last is small."""

    def __init__(self, n_features, border, seed=None):
        super().__init__(n_features, 1, n_features)
        self.border, self.seed = border, seed

    def parameters(self):
        return {"n_features": self.n_features, "border": self.border, "seed": self.seed}

    def advise_rows(self, X, out=None):
        return ab.experts.Advice(np.sign(X), np.abs(X[:, -1:]) < self.border)
'''
ELSEWHERE = """
import abstain as ab

class Slack(ab.UCBGT):
    options = ("beta",)
"""
TOML = """
[sets]
mine = { path = "mine.csv", label = "quality" }
other = { path = "mine.csv", label = "quality", positive = "bad" }
drawn = { kind = "parts_of_mine:stream", shift = 0.25 }

[defaults]
costs = [0.1, 0.3]
learners = ["UCB-GT", { label = "slack", kind = "parts_of_mine:Slack", beta = 1 }]
rounds = 150
draws = 2
expert_sets = 2
checkpoints = 5

[studies.levels]
sets = ["mine", "drawn"]
experts = { kind = "parts_of_mine:levels", n_levels = 3 }

[studies.signs]
sets = ["other"]
experts = { kind = "parts_of_mine:Signs", border = 0.1 }

[studies.plain]
sets = ["mine"]
experts = { kind = "thresholds", thresholds = [0.0, 0.2] }
scale = "none"
"""


def rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    return X, np.where(X[:, 0] + X[:, 1] > 0, "good", "bad")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "study"
    place.mkdir()
    (place / "parts_of_mine.py").write_text(PARTS)
    (place / "defined_elsewhere.py").write_text(ELSEWHERE)
    (place / "mine.toml").write_text(TOML)
    X, y = rows()
    pl.DataFrame({"a": X[:, 0], "quality": y, "b": X[:, 1]}).write_csv(place / "mine.csv")
    yield place
    for name in ("parts_of_mine", "defined_elsewhere"):
        sys.modules.pop(name, None)
        parts._imported.pop(name, None)


@pytest.fixture
def studies(folder):
    return list(ours.read(folder / "mine.toml").values())


@pytest.fixture
def alone(studies, tmp_path):
    session = run(studies, tmp_path / "alone", jobs=1)
    assert session.failures == []
    return session.curves.drop(MACHINE)


def last(curves, **setting):
    return curves.filter(t=150, **setting).row(0, named=True)


def test_they_are_played_as_the_public_functions_play_them(folder, alone):
    module = parts._import("parts_of_mine", str(folder))[0]
    X, y = rows()
    place = np.random.default_rng(seeds.of_data(2018, "mine", 1, 1)).choice(90, 150, replace=True)
    sign = np.where(y == "good", 1, -1)
    scaled = X / np.abs(X).max(axis=0)
    where = {"dataset": "mine", "cost": 0.3, "expert_set": 1, "draw": 1, "learner": "slack"}
    for study, table, experts in (
        ("levels", scaled, module.levels(2, 3)),
        ("plain", X, ab.experts.thresholds(2, [0.0, 0.2])),
    ):
        trace = ab.simulate(ab.UCBGT(experts, cost=0.3, beta=1), table[place], sign[place])
        assert last(alone, study=study, **where)["loss"] == np.cumsum(trace.loss)[-1]
    place = np.random.default_rng(seeds.of_data(2018, "other", 1, 1)).choice(90, 150, replace=True)
    trace = ab.simulate(ab.UCBGT(module.Signs(2, 0.1), cost=0.3, beta=1), scaled[place], -sign[place])
    assert last(alone, study="signs", **(where | {"dataset": "other"}))["loss"] == np.cumsum(trace.loss)[-1]
    seed = seeds.as_number(seeds.of_data(2018, "drawn", 1, 1))
    trace = ab.simulate(ab.UCBGT(module.levels(2, 3), cost=0.3, beta=1), *module.stream(150, seed, 0.25))
    assert last(alone, study="levels", **(where | {"dataset": "drawn"}))["loss"] == np.cumsum(trace.loss)[-1]


@pytest.mark.long
def test_two_workers(studies, alone, tmp_path):
    session = run(studies, tmp_path / "two", jobs=2)
    assert session.failures == []
    assert_frame_equal(session.curves.drop(MACHINE), alone, check_exact=True)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
def test_a_dask_cluster_of_two_processes(studies, alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        session = run(studies, tmp_path / "dask", dask=cluster.scheduler_address)
    assert session.failures == []
    assert_frame_equal(session.curves.drop(MACHINE), alone, check_exact=True)


@pytest.mark.long
def test_objects_from_python(folder, alone, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    import parts_of_mine as parts

    X, y = rows()
    study = LearnerStudy(
        "levels",
        sets=(SetSpec("mine", table=(X, y)), SetSpec("drawn", kind=parts.stream, options={"shift": 0.25})),
        costs=(0.1, 0.3),
        learners=(LearnerSpec("UCB-GT", ab.UCBGT), LearnerSpec("slack", parts.Slack, {"beta": 1})),
        experts=ExpertsSpec(parts.levels, {"n_levels": 3}),
        rounds=150, draws=2, expert_sets=2, checkpoints=5, seed=2018,
    )  # fmt: skip
    assert [learner.kind for learner in study.learners] == ["UCBGT", "defined_elsewhere:Slack"]
    assert ExpertsSpec("Signs", {"border": 0.1}).kind == "parts_of_mine:Signs"  # registered when it was defined
    session = run([study], tmp_path / "objects", jobs=2)
    assert session.failures == []
    assert_frame_equal(session.curves.drop(MACHINE), alone.filter(study="levels"), check_exact=True)


def test_a_changed_file_or_stream_is_played_anew(folder, tmp_path):
    out = tmp_path / "out"
    first = run(list(ours.read(folder / "mine.toml").values()), out, jobs=1)
    assert run(list(ours.read(folder / "mine.toml").values()), out, jobs=1).n_run == 0
    frame = pl.read_csv(folder / "mine.csv")
    frame.with_columns(pl.col("quality").reverse()).write_csv(folder / "mine.csv")  # of the same size
    second = run(list(ours.read(folder / "mine.toml").values()), out, jobs=1)
    assert second.failures == []
    assert second.n_kept == 2 * 2 * 2 + 4  # what was drawn: cells and comparators
    assert not first.curves.filter(dataset="mine")["best"].equals(second.curves.filter(dataset="mine")["best"])
    old = SetSpec("mine", path="mine.csv", label="quality", folder=str(folder))
    (folder / "mine.csv").write_text("a,quality\n1,x\n2,y\n")
    with pytest.raises(FileError, match="expected the file the study was read with"):
        old.rows("minmax")


@pytest.mark.parametrize("end", ["csv", "parquet", "npz", "libsvm"])
def test_files(tmp_path, end):
    X, y = rows()
    path = tmp_path / f"mine.{end}"
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    if end == "csv":
        frame.write_csv(path)
    elif end == "parquet":
        frame.write_parquet(path)
    elif end == "npz":
        np.savez(path, X=X, y=y)
    else:
        signs = np.where(y == "good", 2, 1)
        lines = (f"{s} 1:{a!r} 2:{b!r}" for s, (a, b) in zip(signs.tolist(), X.tolist(), strict=True))
        path.write_text("\n".join(lines))
    found, signs = reading.read_file(path)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(signs, np.where(y == "good", 1, -1))


@pytest.mark.parametrize(
    ("content", "options", "match"),
    [
        ("a,y\n1,u\n2,v\n3,w\n", {}, "expected labels of two values, or which is positive, got 3: u, v, w"),
        ("a,y\n1,u\n2,v\n", {"positive": "x"}, "expected the label 'x' and others, got u, v"),
        ("a,y\n1,u\n2,v\n", {"label": "z"}, "expected a column 'z' of labels, got a, y"),
        ("a,y\nq,u\n2,v\n", {}, "expected numbers as features, got 'q' in row 1, column 'a'"),
        ("a,b,y\n1,2,u\n2,nan,v\n", {}, "expected numbers as features, got 'nan' in row 2, column 'b'"),
        ("a,b,y\n1,2.5,u\n2,NaN,v\n", {}, "expected finite numbers, got nan in row 2, column 'b'"),
        ("a,y\n1,u\n,v\n", {}, "expected a value in every row, got none in row 2, column 'a'"),
        ("a,y\n", {}, "expected rows, got none below the names of the columns"),
        ("", {}, "damaged, or not such a file"),
    ],
)
def test_files_that_are_wrong(tmp_path, content, options, match):
    path = tmp_path / "mine.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=match):
        reading.read_file(path, **options)
    with pytest.raises(InputError, match=f"set mine: .*{match}"):
        SetSpec("mine", path=str(path), **options)


def test_several_labels_and_a_positive_one(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,y\n1,7\n2,3\n3,5\n")
    for positive in (5, "5"):
        assert reading.read_file(path, None, positive)[1].tolist() == [-1, -1, 1]


@pytest.mark.parametrize(
    ("before", "after", "match"),
    [
        ('path = "mine.csv", label', 'path = "none.csv", label', "set mine: path: expected a file, got none at .*none"),
        ("shift = 0.25", "path = 'x'", "set drawn: expected one of path, kind, table and instance"),
        (
            '"mine.csv", label = "quality" }',
            '"mine.csv", labels = "y" }',
            "set mine: expected path, label and positive",
        ),
        (
            "parts_of_mine:stream",
            "parts_of_mine:nothing",
            "set drawn: kind: expected parts_of_mine:nothing, but .*parts_of_mine.py has no nothing",
        ),
        (
            "shift = 0.25",
            "shfit = 0.25",
            r"set drawn: parts_of_mine:stream: cannot be called with these options .*unexpected .*'shfit'",
        ),
        (
            "parts_of_mine:stream",
            "parts_of_mine:Signs",
            r"set drawn: parts_of_mine:Signs: cannot be called with these options .*'shift'",
        ),
        ("n_levels = 3", "levels = 3", "study levels: experts: option: expected one of n_levels, got 'levels'"),
        (", thresholds = [0.0, 0.2]", "", "experts: thresholds: cannot be made"),
        ('"thresholds", thresholds', '"rings", thresholds', "experts: kind: expected one of hyperplanes, "),
        ("mine = {", "synthetic = {", "sets: expected a name that is none of the library's, got 'synthetic'"),
    ],
)
def test_what_is_wrong(folder, before, after, match):
    assert before in TOML
    (folder / "mine.toml").write_text(TOML.replace(before, after, 1))
    with pytest.raises(InputError, match=match):
        ours.read(folder / "mine.toml")


def test_a_stream_that_is_wrong_says_so(folder, tmp_path):
    (folder / "mine.toml").write_text(TOML.replace(':stream", shift = 0.25', ':wrong"'))
    session = run([ours.read(folder / "mine.toml")["levels"]], tmp_path, jobs=1)
    assert {record["failed"] for record in session.failures} == {
        "InputError: parts_of_mine:wrong: expected X and y, got ndarray"
    }


def test_an_object_that_no_other_process_finds():
    class Local(ab.UCBGT):
        pass

    with pytest.raises(InputError, match="expected a class or function at the top of its module"):
        LearnerSpec("local", Local)
    with pytest.raises(InputError, match="expected a name, an import path, a class or a function, got 3"):
        ExpertsSpec(3)


def test_changed_code_beside_is_played_anew(folder):
    def slack():
        return LearnerSpec("mine", "parts_of_mine:Slack", {}, str(folder))

    before = slack()
    (folder / "defined_elsewhere.py").write_text(ELSEWHERE + "    bolder = True\n")
    assert slack().key != before.key
    assert slack().make(ab.experts.hyperplanes(1, 1, 1), cost=0.1, loss="zero_one", seed=0, rounds=1).bolder
