"""Studies as data: the paper's file, a user's, and what is wrong with some."""

import subprocess
import sys

import numpy as np
import pytest

from abstain import paper as ours
from abstain.errors import FileError, InputError
from abstain.experiments import registry
from abstain.experiments.jobs import shown_rounds
from abstain.experiments.specs import ExpertsSpec, LearnerSpec
from abstain.experiments.study import LearnerStudy
from abstain.paper.logs.study import LogStudy

from .small import small

HELP = """
from typer.testing import CliRunner
from abstain.cli import app
assert CliRunner().invoke(app, ["--help"]).exit_code == 0
"""
FOUR = ("UCB", "UCB-NT", "UCB-GT", "FS")


def test_the_paper():
    studies = ours.paper()
    assert [study.figure for study in studies.values()][:8] == ["5", "7-8", "9-10", "11", "12", "12", "13", "3"]
    main, regret = studies["main"], studies["regret"]
    assert main.settings == (("cod-rna", 0.2), ("guide", 0.1))
    assert len(regret.settings) == 30
    assert regret.costs == (0.1, 0.2, 0.3)
    assert regret.settings == studies["abstention"].settings
    assert (regret.rounds, regret.draws, regret.expert_sets) == (10_000, 5, 5)
    assert [learner.label for learner in regret.learners] == [
        "UCB", "UCB-NT", "UCB-GT", "UCB-GT, β = 0.625", "EXP3-ABS", "FS",
    ]  # fmt: skip
    assert regret.learners[3].options == {"beta": 0.625}
    assert regret.experts.make(8, 0).n_experts == 2_000
    assert len(studies["extreme"].settings) == 8
    assert len(studies["confidence"].settings) == 15
    assert studies["confidence-minmax"].scale == "minmax"
    assert studies["small"].experts.make(3, 0).n_experts == 500
    assert studies["small"].rounds == 5_000
    assert (studies["bias"].rounds, studies["bias"].draws, studies["bias"].expert_sets) == (100_000, 40, 1)
    readings = {name: study for name, study in studies.items() if name.startswith("readings-")}
    assert len(readings) == 5
    for study in readings.values():
        assert len(study.settings) == 30
        assert (study.draws, study.expert_sets) == (2, 2)
        assert tuple(learner.label for learner in study.learners) == FOUR
    assert readings["readings-21"].experts.make(2, 0).n_experts == 2_100
    assert all(learner.options["ties"] == "random" for learner in readings["readings-ties"].learners)


def names(studies):
    return [study.name for study in studies]


def test_find():
    assert names(ours.find("confidence")) == ["confidence", "confidence-minmax"]
    readings = [name for name in ours.paper() if name.startswith("readings-")]
    assert names(ours.find("readings")) == ["regret", *readings]
    everything = names(ours.find("all"))
    assert "main" in everything
    assert set(everything) == set(ours.paper()) - set(readings)
    with pytest.raises(
        InputError, match="one of main, .*readings, beyond, successors, moving, logs, tuning, all.*'nothing'"
    ):
        ours.find("nothing")


def test_one_study_is_made_without_the_others():
    ours.paper.cache_clear()
    ours.shipped.cache_clear()
    ours.find("main")
    made = [name for file in ours.shipped() for name in file._made]
    assert made == ["main"]


def test_beyond_the_paper():
    beyond = ours.find("beyond")
    assert [study.name for study in beyond] == ["beyond-rings", "beyond-confidence", "beyond-minmax"]
    for study in beyond:
        assert len(study.settings) == 30
        assert study.draws * study.expert_sets == 25
        assert (study.rounds, study.seed) == (10_000, 1_000)
    assert sum(len(study.settings) for study in beyond if study.table == "beyond") == 60
    assert [study.scale for study in beyond] == ["maxabs", "maxabs", "minmax"]
    moving = ours.find("moving")
    streams = [study for study in moving if study.table == "moving"]
    assert [study.rounds for study in streams] == [10_000, 100_000, 1_000_000]
    assert len({study.settings for study in streams}) == 1
    labels = [study for study in moving if study.table == "moving-labels"]
    assert [study.rounds for study in labels] == [10_000, 100_000]
    assert len({study.rounds for study in [study.quick() for study in streams]}) == 3  # regret grows in quick runs, too
    hidden = [study for study in moving if study.table == "moving-hidden"]
    assert [study.rounds for study in hidden] == [10_000, 100_000, 1_000_000]
    assert len({study.settings for study in hidden}) == 1
    for study in (*beyond, *moving):
        assert study.seed >= 1_000
        labels = [learner.label for learner in study.learners]
        if study in hidden:
            assert {"EXP3-ABS", "DR", "DR, recommended"} <= set(labels)
            continue
        assert ("EXP3-ABS, fixed share" in labels) == (study in moving)
        assert [x for x in labels if x != "EXP3-ABS, fixed share"] == [one.label for one in beyond[0].learners]


def test_a_user_s_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        """
        [learners]
        "wide" = { kind = "UCBGT", beta = 5 }
        [studies.mine]
        sets = ["synthetic"]
        costs = [0.05]
        learners = ["wide", "FS", { label = "own", kind = "UCBNT", graph = "abstention" }]
        rounds = 100
        """,
        encoding="utf-8",
    )
    study = ours.read(path)["mine"]
    assert study.settings == (("synthetic", 0.05),)
    assert study.draws == 5  # the paper's, where the file says nothing
    assert [learner.kind for learner in study.learners] == ["UCBGT", "FullSupervision", "UCBNT"]
    assert study.learners[2].options == {"graph": "abstention"}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[studies.a]\nsets = ['moon']", "study a: set: expected one of .*got 'moon'"),
        ("[studies.a]\ncosts = [1.5]", r"cost: expected a number in \[0, 1\], got 1.5"),
        ("[studies.a]\ncosts = ['x']", "study a: costs: expected a number, got 'x'"),
        ("[studies.a]\ncosts = []", "expected sets and costs"),
        ("[studies.a]\nsets = 'guide'", "sets: expected a list"),
        ("[studies.a]\nrounds = 0", "rounds: expected a whole number, at least 1, got 0"),
        ("[studies.a]\nrounds = 'many'", "study a: rounds: expected a whole number, at least 1, got 'many'"),
        ("[defaults]\ncheckpoints = 1\n[studies.a]", "defaults: checkpoints: expected a whole number, at least 2"),
        ("[studies.a]\ndraws = 1.5", "draws: expected a whole number"),
        ("[studies.a]\ndraws = true", "draws: expected a whole number, at least 1, got True"),
        ("[studies.a]\ntitle = 5", "study a: title: expected a text, got 5"),
        ("[studies.a]\nseed = '5'", "study a: seed: expected a whole number that is not negative, got '5'"),
        ("[studies.a]\nseed = -1", "seed: expected"),
        ("[studies.a]\nscale = 'max'", "scale: expected one of maxabs, minmax, none, got 'max'"),
        ("[studies.a]\nround = 5", "study a: expected some of title, .*got round"),
        ("[defaults]\nround = 5\n[studies.a]", "defaults: expected some of title, .*got round"),
        ("[studies.a]\nkind = 'grows'", "study a: kind: expected growth, logs, module:Class or none, got 'grows'"),
        ("[studies.a]\nkind = ['logs']", r"study a: kind: expected growth, logs, module:Class or none, got \['logs'\]"),
        ("[studies.a]\nkind = 'growth'\nlearners = ['UCB']", "study a: expected some of title, .*dims.*, got learners"),
        ("[studies.a]\nkind = 'growth'\ndims = 1", "study a: dims: expected a list, got 1"),
        ("[studies.a]\nkind = 'growth'\ndims = [0]", "study a: dims: expected a whole number, at least 1, got 0"),
        ("[studies.a]\nkind = 'growth'\ncost = 'x'", "study a: cost: expected a number, got 'x'"),
        ("[studies.a]\nkind = 'logs'\ndelays = [0.5]", "study a: delays: expected a whole number, at least 0, got 0.5"),
        ("[studies.a]\nkind = 'logs'\nsets = []", "study a: expected some of title, .*logs.*, got sets"),
        ("[studies.a]\nkind = 'logs'\ngoals = [{learner='UCB'}]", "study a: goals: feedback: expected a value"),
        ("[studies.a]\nkind = 'logs'\ngoals = [{when=1}]", "goals: expected some of learner, .*moving, got when"),
        ("[studies.a]\nlearners = ['nobody']", "learner: expected one of UCB; .*got 'nobody'"),
        ("[studies.a]\nlearners = ['DoublyRobust']", r'in \[learners\]: DoublyRobust = \{ kind = "DoublyRobust" \}'),
        ("[studies.a]\nlearners = ['nobody']", "got 'nobody'$"),
        ("[studies.a]\nlearners = ['FS', 'FS']", "no label twice"),
        ("[studies.a]\nlearners = []", "at least one"),
        ("[studies.a]\nlearners = [{label='x'}]", "study a: learners: kind: expected a value, got none"),
        ("[studies.a]\nlearners = [{label=1, kind='UCB'}]", "study a: learners: label: expected a text, got 1"),
        ("[studies.a]\nlearners = [1]", "study a: learners: expected a table, got 1"),
        ("[studies.a]\nlearners = 'FS'", "study a: learners: expected a list, got 'FS'"),
        ("[learners]\nx = 5\n[studies.a]", "learner x: expected a table, got 5"),
        ("[learners]\nx = {beta=1}\n[studies.a]", "learner x: kind: expected a value, got none"),
        ("[sets]\nx = 'x.csv'\n[studies.a]", "set x: expected a table, got 'x.csv'"),
        ("[sets]\nx = {path=5}\n[studies.a]", "set x: path: expected a text, got 5"),
        ("[studies.a]\nexperts = 'hyperplanes'", "study a: experts: expected a table, got 'hyperplanes'"),
        ("[studies.a]\nexperts = {kind=5}", "study a: experts: kind: expected a text, got 5"),
        ("[studies.a]\nlearners = [{label='x', kind='Learner'}]", "x: kind: expected one of UCB, .*got 'Learner'"),
        ("[studies.a]\nlearners = [{label='x', kind='UCB', gamma=1}]", "option: expected one of beta, ties, got"),
        ("[studies.a]\nlearners = [{label='x', kind='UCB', beta=-1}]", "x: beta: expected"),
        ("[studies.a]\nexperts = {kind='trees'}", "experts: kind: expected one of hyperplanes"),
        ("[studies.a]\nexperts = {kind='hyperplanes', seed=1}", "experts: option: expected one of"),
        ("[studies.a]\nexperts = {kind='hyperplanes', n_rings=0}", "experts: n_rings: expected"),
        ("[studies.a]\nexperts = {kind='instance'}", "higgs needs experts of kind hyperplanes, axis_planes or another"),
        ("[studies.a]\nsettings = [['bias-problem', 0.9]]", "bias-problem needs experts of kind instance"),
        ("[studies.a]\nsettings = [['guide']]", "pairs of a set and a cost"),
        ("[studies.a]\nsets = ['guide']\nsettings = [['guide', 0.1]]", "got both"),
        ("[studies]", "expected a table"),
        ("[study.a]", "expected some of defaults, learners, sets, studies, got study"),
        ("studies = 3", "studies: expected a table, got 3"),
        ("[studies]\na = 3", "study a: expected a table, got 3"),
        ("defaults = 3", "defaults: expected a table, got 3"),
        ("[studies.a", "expected TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong(tmp_path, text, match):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises((InputError, FileError), match=match) as caught:
        ours.read(path)
    assert str(path) in str(caught.value)


def test_all_that_is_wrong_is_said_at_once(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[studies.a]\nrounds = 'many'\nround = 5\n[studies.b]\nsets = 'guide'\nsettings = [['guide']]")
    with pytest.raises(InputError) as caught:
        ours.read(path)
    first, *others = str(caught.value).split("; ")
    assert first == f"{path}: study a: rounds: expected a whole number, at least 1, got 'many'"
    assert [other.partition(":")[0] for other in others] == ["study a", "study b", "study b"]
    assert others[2] == "study b: settings: expected pairs of a set and a cost, got ['guide']"


def test_all_shipped_studies_can_be_made():
    for file in ours.shipped():
        assert list(file.make_all()) == list(file)


def test_a_kind_of_study_from_outside(tmp_path):
    (tmp_path / "my_kind.py").write_text(
        "from abstain.experiments.study import LearnerStudy\n\n\n"
        "class Longer(LearnerStudy):\n    factor: int = 2\n\n"
        "    def quick(self):\n        return self.replace(rounds=self.rounds * self.factor)\n"
    )
    path = tmp_path / "mine.toml"
    path.write_text("[studies.a]\nkind = 'my_kind:Longer'\nfactor = 3\nrounds = 20\nsets = ['synthetic']\n")
    study = ours.read(path)["a"]
    assert (type(study).__name__, study.quick().rounds, study.costs) == ("Longer", 60, (0.1, 0.2, 0.3))
    path.write_text("[studies.a]\nkind = 'my_kind:LearnerStudies'\n")
    with pytest.raises(InputError, match="study a: kind: expected my_kind:LearnerStudies, but .* has no"):
        ours.read(path)


CATALOGUE = """
from pathlib import Path

from abstain import paper


def studies():
    return paper.read(Path(__file__).with_name("theirs.toml"))
"""


def test_studies_of_an_installed_package(tmp_path, monkeypatch):
    """As an entry point of the group abstain.studies: a function that gives studies by name."""
    (tmp_path / "their_package.py").write_text(CATALOGUE)
    (tmp_path / "theirs.toml").write_text("[studies.theirs-a]\nsets = ['synthetic']\n[studies.theirs-b]\nrounds = 30\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(registry.STUDIES, "theirs", "their_package:studies")
    ours.shipped.cache_clear()
    try:
        assert [(study.name, study.rounds) for study in ours.find("theirs")] == [("theirs-a", 10_000), ("theirs-b", 30)]
    finally:
        ours.shipped.cache_clear()


def test_what_the_file_makes_is_checked_in_python_too():
    for values, match in (
        ({"rounds": "many"}, "study small: rounds: expected a whole number, at least 1, got 'many'"),
        ({"checkpoints": 1}, "checkpoints: expected a whole number, at least 2, got 1"),
        ({"title": 5}, "title: expected a text, got 5"),
        ({"sets": "guide"}, "sets: expected a list, got 'guide'"),
        ({"settings": [("guide",)]}, r"settings: expected pairs of a set and a cost, got \('guide',\)"),
        ({"instead": [3]}, "instead: expected pairs of a set and a cost, got 3"),
        ({"learners": ("UCB",)}, "learners: expected LearnerSpecs, got 'UCB'"),
    ):
        with pytest.raises(InputError, match=match):
            small(**values)
    with pytest.raises(InputError, match="study a: goals: expected Goals, got {'learner': 'x'}"):
        LogStudy("a", learners=(LearnerSpec("x", "UCB"),), goals=({"learner": "x"},))


@pytest.mark.parametrize("first", ["import abstain", HELP])
def test_pydantic_is_imported_only_to_read_a_file(first):
    then = "from abstain.paper import paper; paper(); assert 'pydantic' in sys.modules"
    script = f"import sys\n{first}\nassert not {{'pydantic', 'jinja2'}} & set(sys.modules), 'too early'\n{then}"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_no_such_file(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        ours.read(tmp_path / "no.toml")


def test_quick():
    quick = ours.paper()["regret"].quick()
    assert (quick.rounds, quick.draws, quick.expert_sets) == (2_000, 2, 1)
    assert quick.settings == ours.paper()["regret"].settings
    assert small(draws=1).quick().draws == 1
    assert small().quick().rounds == 200


def test_studies_in_python():
    study = LearnerStudy("a", settings=[["synthetic", 0.2], ("synthetic", 0.1)], learners=[LearnerSpec("x", "UCB")])
    assert study.costs == (0.2, 0.1)
    assert study.sets == ("synthetic",)
    with pytest.raises(InputError, match="study: name: expected a text, got ''"):
        LearnerStudy("", sets=("synthetic",))


def test_a_tuned_rate_is_tuned_to_the_rounds():
    experts = ExpertsSpec("hyperplanes", {"n_predictors": 2, "n_rings": 2}).make(2, 0)
    tuned = LearnerSpec("x", "Exp3Abs", {"eta": "tuned"})
    assert tuned.make(experts, cost=0.1, loss="zero_one", seed=0, rounds=77).horizon == 77
    given = LearnerSpec("x", "Exp3Abs", {"eta": "tuned", "horizon": 5})
    assert given.make(experts, cost=0.1, loss="zero_one", seed=0, rounds=77).horizon == 5


@pytest.mark.parametrize("rounds", [1, 2, 150, 2_000, 10_000, 100_000])
def test_shown_rounds(rounds):
    shown = shown_rounds(rounds, 60)
    assert shown[0] == 1
    assert shown[-1] == rounds
    assert (np.diff(shown) > 0).all()
    assert {t for t in (200, 1_000, 5_000, 9_800) if t <= rounds} <= set(shown.tolist())
    assert len(shown) <= 64
