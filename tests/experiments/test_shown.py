"""Any study is shown: its curves, its tables, its metadata; and two folders are compared."""

import json
import re
from io import StringIO
from types import SimpleNamespace

import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

import abstain as ab
from abstain import paper as ours
from abstain._core import terminal
from abstain.cli import app
from abstain.experiments import results, runner
from abstain.experiments.compare import _of_values
from abstain.experiments.curves import ALL_QUANTITIES, caption, draw_studies, study_grids
from abstain.experiments.runner import run
from abstain.experiments.specs import LearnerSpec
from abstain.experiments.study import ROLES
from abstain.paper.growth import GrowthStudy

from .frames import rows
from .small import small

KNOWN = set(ALL_QUANTITIES) - {"pseudo"}
"""What is drawn where the expected losses of experts are not known."""
OWN = '''
import numpy as np

import abstain as ab


class First(ab.Learner):
    """Follows the first expert."""

    def choose(self, advice, cost):
        return ab.extend.Choice(0, 0.0 if advice.abstains[0, self.experts.rule_of[0]] else 1.0, np.zeros(0))

    def absorb(self, decision, losses):
        pass

    def arrays(self):
        return {}

    def set_arrays(self, arrays):
        pass
'''
TOML = """
[sets]
mine = { path = "mine.csv" }
[learners]
first = { kind = "first_of_all:First" }
[studies.mine]
title = "Mine & <yours>"
sets = ["mine"]
costs = [0.2, 0.4]
experts = { kind = "thresholds", thresholds = [0.0, 0.3] }
learners = ["UCB-GT", "first"]
rounds = 80
draws = 3
expert_sets = 1
"""


def study_frame(**settings):
    return pl.concat(
        [
            rows("small", "synthetic", cost, learner, regret + 0.01 * draw, draw=draw, t=(1, 10, 100), **settings)
            for cost in (0.1, 0.3)
            for learner, regret in (("UCB-GT", 0.2), ("FS", 0.1))
            for draw in (0, 1, 2)
        ]
    )


def test_bands_are_over_draws_where_there_is_one_expert_set():
    study = small(learners=(LearnerSpec("UCB-GT", "UCBGT"), LearnerSpec("FS", "FullSupervision")), expert_sets=1)
    shown = study_grids(study_frame(), study)
    assert set(shown) == KNOWN
    grid = shown["regret"]
    assert (grid.rows, grid.columns) == (("synthetic",), ("c = 0.1", "c = 0.3"))
    line = grid.panels[0].curves[0]
    assert line.learner == "UCB-GT"
    assert line.mean[-1] == pytest.approx(0.21)
    assert line.sd[-1] == pytest.approx(0.01)
    assert [end[-1] for end in grid.panels[0].band(line)] == pytest.approx([0.202, 0.218])  # of 0.2, 0.21 and 0.22
    text = caption(study, "regret", grid)
    assert "bands reach from the 10 % to the 90 % quantile over 3 draws of the data; K = 12." in text
    assert study_grids(study_frame().clear(), study) == {}


def test_bands_are_over_expert_sets_where_there_are_several():
    frame = pl.concat([study_frame(expert_set=k) for k in range(2)])
    text = caption(small(), "loss", study_grids(frame, small())["loss"])
    assert "bands one standard deviation over 2 expert sets, each the mean of 3 draws of the data; K = 12." in text


def test_few_edges_are_counted_in_ones():
    study = small(expert_sets=1)
    few, many = (study_grids(study_frame(edges=edges), study)["edges"] for edges in (120, 3_000_000))
    assert few.label == "edges of the graph"
    assert few.panels[0].curves[0].mean[-1] == pytest.approx(120)
    assert many.label.endswith("(millions)")
    assert many.panels[0].curves[0].mean[-1] == pytest.approx(3.0)


@pytest.mark.long
def test_settings_that_are_no_product_follow_each_other(tmp_path):
    settings = (("synthetic", 0.1), ("synthetic", 0.3), ("guide", 0.3), ("eye", 0.1))
    study = small(sets=(), costs=(), settings=settings)
    frame = pl.concat([rows("small", *pair, "FS", 0.1, t=(1, 10, 100)) for pair in settings])
    grid = study_grids(frame, study)["regret"]
    assert [panel.title for panel in grid.panels] == [f"{name}, c = {cost:g}" for name, cost in settings]
    assert len(grid.rows) == 2
    drawn, _ = draw_studies(frame, [study, small(name="same", sets=(), costs=(), settings=settings)], tmp_path)
    assert [one.study for one in drawn] == ["small"] * len(KNOWN)  # the other plays the same
    assert {path.name for one in drawn for path in one.paths} == {
        f"small-{quantity}.{kind}" for quantity in KNOWN for kind in ("svg", "png", "pdf")
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    place = tmp_path / "study"
    place.mkdir()
    (place / "first_of_all.py").write_text(OWN)
    (place / "mine.toml").write_text(TOML)
    X, y = ab.datasets.load("synthetic", n=60, seed=0)
    pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y}).write_csv(place / "mine.csv")
    return place


def reproduce(folder, out, *more):
    given = ["reproduce", str(folder / "mine.toml"), "--jobs", "1", "--out", str(out), *more]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.long
def test_a_study_of_one_s_own(folder, tmp_path):
    said = reproduce(folder, tmp_path / "out")
    assert "first is written in Python: the slow one" in said
    assert "Paired differences, mine" in said
    assert "claims" not in said
    out = tmp_path / "out"
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert {f"mine-{what}.{kind}" for what in KNOWN for kind in ("svg", "png", "pdf")} <= names
    assert {"mine.md", "mine.tex", "mine.csv"} <= names
    assert not any(name.startswith("figure-") for name in names)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)">', page)[:2] == ["curves", "tables"]
    assert "not judged" not in page
    assert "Mine &amp; &lt;yours&gt;" in page
    assert page.count("<figure>") == len(KNOWN)
    assert page.count("over 3 draws of the data; K = 4.") == len(KNOWN)  # two columns, two thresholds
    tex = (out / "tables" / "mine.tex").read_text(encoding="utf-8")
    assert r"Mine \& <yours>" in tex
    assert tex.count(r" \\") == 1 + 2
    assert {len(line.split(" & ")) for line in tex.splitlines() if line.endswith(r"\\")} == {4}


@pytest.mark.long
def test_metadata(folder, tmp_path):
    reproduce(folder, tmp_path / "out")
    found = results.read_all(tmp_path / "out")["results"]
    assert found.version == ab.__version__
    (study,) = found.studies
    assert (study["seed"], study["rounds"], study["own"][0]["path"]) == (2018, 80, "mine.csv")
    assert study["learners"][0]["all_options"]["beta"] == 2.5  # though nobody gave it
    assert str(tmp_path) not in json.dumps(found.studies)


def test_growth_is_kept_with_the_results(tmp_path):
    session = run([GrowthStudy("growth", dims=(1,), rounds=(50, 100), runs=2)], tmp_path, jobs=1)
    found = results.read_all(tmp_path)
    assert {kind: len(one.frame) for kind, one in found.items()} == {"growth": 4, "results": 0}
    assert found["growth"].frame.equals(session.frames["growth"])


def compare(*folders):
    result = CliRunner().invoke(app, ["compare", *map(str, folders)])
    return result.exit_code, result.output


@pytest.mark.long
def test_compare(folder, tmp_path):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    reproduce(folder, first)
    reproduce(folder, second)
    assert compare(first, second) == (0, "The same: nothing differs but what depends on the machine.\n")
    text = TOML.replace('"UCB-GT", ', '{ label = "UCB-GT", kind = "UCBGT", beta = 0.75 }, "FS", ')
    (folder / "mine.toml").write_text(text)
    reproduce(folder, third)
    code, said = compare(first, third / "results.parquet")
    assert code == 1
    lines = said.splitlines()
    assert "study mine: learners.UCB-GT.all_options.beta: 2.5, then 0.75" in lines
    assert any(re.fullmatch(r"results: \d+ rows only in the second \(learner FS\)", line) for line in lines)
    other = r"mine: dataset mine, cost 0.2, learner UCB-GT: loss by up to .* \(in \d+ rows\)"
    assert any(re.fullmatch(other, line) for line in lines)
    assert not any("learner first: " in line for line in lines)  # it does the same
    code, said = compare(first, tmp_path / "none")
    assert (code, "got no such file" in said) == (2, True)


def test_a_changed_file_of_several_with_the_same_column_of_labels(folder, tmp_path):
    text = TOML.replace("[learners]", 'other = { path = "other.csv", label = "y" }\n[learners]')
    text = text.replace('"mine.csv" }', '"mine.csv", label = "y" }').replace(
        'sets = ["mine"]', 'sets = ["mine", "other"]'
    )
    (folder / "mine.toml").write_text(text)
    lines = (folder / "mine.csv").read_text().splitlines()
    (folder / "other.csv").write_text("\n".join(lines))
    before = ours.read(folder / "mine.toml")["mine"].described()
    (folder / "mine.csv").write_text("\n".join(lines[:-1]))
    after = ours.read(folder / "mine.toml")["mine"].described()
    (said,) = _of_values("", before, after)
    assert re.fullmatch("own.mine.code: '[0-9a-f]{24}', then '[0-9a-f]{24}'", said)


def test_lines_without_a_terminal(monkeypatch, tmp_path):
    monkeypatch.setattr(terminal, "EVERY", 0.0)
    stream = StringIO()
    run([small()], tmp_path, jobs=1, console=Console(file=stream, width=120))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "0 of 16 jobs"
    assert lines[1] == "1 of 16 jobs"
    assert len(lines) == 16
    again = StringIO()
    run([small()], tmp_path, jobs=1, console=Console(file=again, width=120))
    assert again.getvalue() == ""


def test_the_time_left_is_told_once_enough_is_done_and_without_compiling(monkeypatch):
    """A minute for the first four, which come together, then ten seconds each."""
    jobs = {str(k): SimpleNamespace(weight=2.0, slow=()) for k in range(200)}
    moments = 4 * [60.0] + [60.0 + 10.0 * k for k in range(1, 197)]
    clock = SimpleNamespace(now=0.0)
    clock.monotonic = lambda: clock.now
    for module in (runner, terminal):
        monkeypatch.setattr(module, "time", clock)
    stream = StringIO()
    with runner.progress(jobs, jobs, Console(file=stream, width=120)) as advance:
        for job, clock.now in zip(jobs.values(), moments, strict=True):
            advance(job)
    lines = stream.getvalue().splitlines()
    assert lines[:3] == ["0 of 200 jobs", "1 of 200 jobs", "5 of 200 jobs"]
    assert next(line for line in lines if "left" in line) == "10 of 200 jobs, about 1,900 s left"
    assert lines[-1] == "199 of 200 jobs, about 10 s left"


def test_roles_of_the_paper_s_studies():
    paper, *others = ours.shipped()
    assert {paper.role(name) for name in paper} == set(ROLES)
    assert {file.role(name) for file in others for name in file} == {""}
