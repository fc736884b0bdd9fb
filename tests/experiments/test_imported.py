"""Learners by import path: in this process, in workers, on Dask; known by their code."""

import sys
from importlib.util import spec_from_file_location

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import abstain as ab
from abstain import paper as ours
from abstain._core import parts
from abstain.errors import InputError
from abstain.experiments.results import MACHINE
from abstain.experiments.runner import run
from abstain.experiments.specs import LearnerSpec

CODE = '''
"""A learner that looks at x: it abstains on one side of the first feature, if an expert does."""

from typing import NamedTuple

import numpy as np

import abstain as ab
from helper_of_sides import FIRST


class State(NamedTuple):
    border: float
    rule_of: np.ndarray
    total: np.ndarray


@ab.extend.kernel
def choose(t, u, x, abstains, carry, s):
    for k in range(s.rule_of.size):
        if abstains[s.rule_of[k]] == (x[FIRST] > s.border):
            return k, 0.0 if abstains[s.rule_of[k]] else 1.0
    return 0, 0.0 if abstains[s.rule_of[0]] else 1.0


@ab.extend.kernel
def update(expert, abstains, losses, seen, cost, carry, s):
    s.total[0] += losses[0] if seen else cost


class Sides(ab.extend.KernelLearner):
    kernels = ab.extend.Kernels(choose, update)
    options, saved, fixed = ("border",), ("total",), ("rule_of",)

    def __init__(self, experts, *, cost, loss="zero_one", seed=None, border=0.0):
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.border = float(border)

    def new_state(self):
        return State(self.border, self.rule_of, np.zeros(1))


class NoLearner:
    pass


class Failing(Sides):
    def __init__(self, experts, **options):
        raise RuntimeError("not today")


class Several(Sides):
    def __init__(self, experts, **options):
        assert experts.n_experts > 1 and experts.n_predictors > 1 and experts.n_features > 1
        super().__init__(experts, **options)


class Many(Sides):
    def __init__(self, experts, **options):
        assert experts.n_experts > 11
        super().__init__(experts, **options)


class Greedy(Sides):
    def __init__(self, experts):
        pass


class Wanting(Sides):
    def __init__(self, experts, depth, **options):
        super().__init__(experts, **options)


class Stubborn(Sides):
    def __init__(self, experts, cost, **options):
        super().__init__(experts, cost=7, **options)
'''
TOML = """
[learners]
"sides" = { kind = "sides_of_x:Sides", border = 0.25 }
[studies.mine]
sets = ["synthetic"]
costs = [0.1, 0.3]
learners = ["sides", "UCB-GT", { label = "far", kind = "sides_of_x:Sides", border = 2 }]
experts = { kind = "hyperplanes", n_predictors = 3, n_rings = 4 }
rounds = 300
draws = 2
expert_sets = 2
checkpoints = 5
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with a study and its learner."""
    place = tmp_path / "study"
    place.mkdir()
    (place / "sides_of_x.py").write_text(CODE)
    (place / "helper_of_sides.py").write_text("FIRST = 0\n")
    (place / "mine.toml").write_text(TOML)
    yield place
    for name in ("sides_of_x", "helper_of_sides"):
        sys.modules.pop(name, None)
        parts._imported.pop(name, None)


def read(folder):
    return ours.read(folder / "mine.toml")["mine"]


@pytest.fixture
def alone(folder, tmp_path):
    session = run([read(folder)], tmp_path / "alone", jobs=1)
    assert session.failures == []
    return session.curves.drop(MACHINE)


def test_it_is_played_as_the_public_functions_play_it(folder, alone):
    from abstain.experiments import seeds

    study = read(folder)
    assert str(folder) not in sys.path
    kind = parts.take("sides_of_x:Sides", str(folder)).value
    X, y = ab.datasets.load("synthetic", n=300, seed=seeds.of_data(study.seed, "synthetic", 1, 1))
    experts = ab.experts.hyperplanes(2, 3, 4, seed=seeds.of_experts(study.seed, "synthetic", 1))
    for label, learner in (
        ("sides", kind(experts, cost=0.3, border=0.25)),
        ("far", kind(experts, cost=0.3, border=2.0)),
        ("UCB-GT", ab.UCBGT(experts, cost=0.3)),
    ):
        trace = ab.simulate(learner, X, y)
        row = alone.filter(cost=0.3, expert_set=1, draw=1, learner=label, t=300).row(0, named=True)
        assert (row["loss"], row["abstained"]) == (np.cumsum(trace.loss)[-1], trace.abstained.sum())
    assert alone.filter(t=300).group_by("learner").agg(pl.col("abstained").sum())["abstained"].n_unique() == 3


@pytest.mark.long
def test_two_workers(folder, alone, tmp_path):
    session = run([read(folder)], tmp_path / "two", jobs=2)
    assert session.failures == []
    assert_frame_equal(session.curves.drop(MACHINE), alone, check_exact=True)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
def test_dask(folder, alone, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        session = run([read(folder)], tmp_path / "dask", dask=cluster.scheduler_address)
        assert session.failures == []
        assert_frame_equal(session.curves.drop(MACHINE), alone, check_exact=True)
        # The worker lives on, but not the code it has imported.
        (folder / "sides_of_x.py").write_text(CODE.replace("return 0, 0.0 if", "return 1, 0.0 if"))
        (folder / "mine.toml").write_text(TOML.replace("border = 0.25", "border = 0.1"))
        changed = run([read(folder)], tmp_path / "dask", dask=cluster.scheduler_address)
        assert changed.failures == []
    again = run([read(folder)], tmp_path / "again", jobs=1)
    assert_frame_equal(changed.curves.drop(MACHINE), again.curves.drop(MACHINE), check_exact=True)


def test_what_a_key_depends_on(folder, tmp_path):
    def spec_of(kind="sides_of_x:Sides", options=None, place=folder):
        return LearnerSpec("mine", kind, options or {}, str(place))

    before = spec_of()
    other = tmp_path / "moved"
    folder.rename(other)
    assert spec_of(place=other).key == before.key  # not on where it lies
    assert spec_of(options={"border": 1.0}, place=other).key != before.key
    code = CODE + "\n\nclass Others(Sides):\n    pass\n"
    (other / "sides_of_x.py").write_text(code)
    after, others = spec_of(place=other), spec_of("sides_of_x:Others", place=other)
    assert len({before.key, after.key, others.key}) == 3
    # What was read before is not played with the code of today.
    experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
    object.__setattr__(before, "folder", str(other))
    with pytest.raises(InputError, match="expected the code the study was read with"):
        before.make(experts, cost=0.1, loss="zero_one", seed=0, rounds=1)
    assert type(after.make(experts, cost=0.1, loss="zero_one", seed=0, rounds=1)).__name__ == "Sides"


@pytest.mark.long
def test_changed_code_is_run_anew(folder, tmp_path):
    out = tmp_path / "out"
    first = run([read(folder)], out, jobs=1)
    assert run([read(folder)], out, jobs=1).n_run == 0
    (folder / "sides_of_x.py").write_text(CODE.replace("> s.border", "< s.border"))  # of the same size
    second = run([read(folder)], out, jobs=1)
    assert second.n_run == 8
    assert second.n_kept == 4  # the comparators
    own, paper = (pl.col("learner") == "sides"), (pl.col("learner") == "UCB-GT")
    assert not first.curves.filter(own)["loss"].equals(second.curves.filter(own)["loss"])
    assert first.curves.filter(paper)["loss"].equals(second.curves.filter(paper)["loss"])


def test_the_one_beside_the_file_comes_first(folder, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "sides_of_x.py").write_text("class Sides: pass\n")
    (elsewhere / "far_from_study.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(elsewhere))
    assert parts.take("sides_of_x:Sides", str(folder)).value.__name__ == "Sides"
    assert parts.take("far_from_study:Sides", str(folder)).value.__module__ == "far_from_study"
    package = folder / "package_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "deep.py").write_text(CODE)
    before = parts.take("package_of_mine.deep:Sides", str(folder))
    (package / "other.py").write_text("x = 1\n")
    assert parts.take("package_of_mine.deep:Sides", str(folder)).code != before.code


def test_what_may_be_wrong_waits_until_it_is_played(folder, tmp_path):
    kinds = ("Several", "Many", "Failing")
    learners = ", ".join(f'{{ label = "{kind}", kind = "sides_of_x:{kind}" }}' for kind in kinds)
    (folder / "mine.toml").write_text(TOML.replace('learners = ["sides", "UCB-GT", ', f"learners = [{learners}, "))
    session = run([read(folder)], tmp_path / "out", jobs=1)
    assert {record["failed"] for record in session.failures} == {"RuntimeError: not today (learner Failing)"}
    without = (folder / "mine.toml").read_text().replace("sides_of_x:Failing", "sides_of_x:Many")
    (folder / "mine.toml").write_text(without)
    assert run([read(folder)], tmp_path / "other", jobs=1).failures == []


@pytest.mark.parametrize(
    ("kind", "match"),
    [
        ("sides_of_x:NoLearner", "mine: kind: expected NoLearner of .* to be a learner"),
        ("sides_of_x:Nobody", "mine: kind: expected sides_of_x:Nobody, but .*sides_of_x.py has no Nobody"),
        ("leaving_module:X", "expected leaving_module to be importable, got SystemExit: 3"),
        ("sides_of_x:Greedy", r"cannot be made \(TypeError: got an unexpected keyword argument 'cost'\)"),
        ("sides_of_x:Wanting", r"cannot be made \(TypeError: missing a required .*'depth'\)"),
        ("sides_of_x:Stubborn", r"mine: cost: expected values in \[0, 1\], got 7"),
        ("no_such_module_at_all:X", "expected a module no_such_module_at_all in .*study or on Python's path, got none"),
        ("broken_module:X", "expected broken_module to be importable, got ZeroDivisionError"),
        ("__main__:X", "expected X in a module"),
        ("sides of x:Sides", "expected an import path such as module:Class"),
        ("abstain.learners:Learner", "to be a learner"),
        ("sides_of_x:Sides, options", "expected an import path"),
        ("shadowed:Sides", "give it another name"),
    ],
)
def test_what_is_wrong(folder, kind, match, monkeypatch):
    (folder / "broken_module.py").write_text("1 / 0\n")
    (folder / "leaving_module.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "shadowed.py").write_text(CODE)
    monkeypatch.setitem(sys.modules, "shadowed", pl)
    with pytest.raises(InputError, match=match):
        LearnerSpec("mine", kind, {}, str(folder))
    (folder / "mine.toml").write_text(TOML.replace("border = 2", "edge = 2"))
    with pytest.raises(InputError, match="mine.toml: study mine: far: option: expected one of border, got 'edge'"):
        read(folder)


def test_a_package_that_only_a_finder_knows(folder, tmp_path, monkeypatch):
    """As after ``pip install -e``: the package lies on no path."""
    place = tmp_path / "elsewhere" / "own_package_of_sides"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("")
    (place / "learner.py").write_text(CODE.replace("from helper_of_sides import FIRST", "FIRST = 0"))

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == place.name:
                return spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
            return None

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    try:
        spec = LearnerSpec("mine", f"{place.name}.learner:Sides", {"border": 0.25}, str(folder))
        assert spec.code == parts.digest({place.name: place / "__init__.py"})
        assert parts.take(spec.kind, None).file == str(place / "learner.py")
    finally:
        for name in (place.name, f"{place.name}.learner"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["sys", "no_such_module_anywhere"])
def test_no_file_to_read(name):
    with pytest.raises(InputError, match=f"expected a module {name} on Python's path, got none"):
        parts.take(f"{name}:Class", None)
