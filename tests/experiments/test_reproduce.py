"""The whole command on small files: what is said of the data, of other readings, of what lay in the folder before."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.errors import FileError, InputError
from abstain.experiments import curves
from abstain.experiments.report import data_files
from abstain.experiments.runner import run
from abstain.experiments.specs import ExpertsSpec, LearnerSpec
from abstain.experiments.study import LearnerStudy
from abstain.paper import find, paper

from .small import small


@pytest.fixture
def guide(tmp_path, monkeypatch):
    """A folder with a file of 100 rows, one of whose features never changes."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 2] = 7.0
    np.savez(folder / "guide.npz", X=X, y=np.where(X[:, 0] > 0, 1, -1))
    return folder


def test_rows(guide):
    study = small(sets=("synthetic", "guide", "eye"), rounds=150)
    (found,) = data_files([study, small(name="short", sets=("guide",), rounds=20)], guide)
    assert (found.dataset, found.rows, found.features) == ("guide", 100, 4)
    assert found.file.startswith("guide.npz, ")
    assert found.notes == (
        "100 rows, fewer than the 150 rounds: drawn with replacement",
        "1 of 4 features is constant",
    )
    (enough,) = data_files([small(sets=("guide",), rounds=100)], guide)
    assert enough.notes == ("1 of 4 features is constant",)


TOML = """
[defaults]
experts = { kind = "hyperplanes", n_predictors = 2, n_rings = 3 }
rounds = 150
draws = 2
expert_sets = 1
learners = ["UCB", "UCB-NT", "UCB-GT", "FS"]
[studies.regret]
role = "main"
sets = ["guide", "synthetic"]
costs = [0.2]
[studies.readings-balls]
title = "Nested [balls]"
role = "reading"
sets = ["guide", "synthetic"]
costs = [0.2]
experts = { kind = "hyperplanes", n_predictors = 2, n_rings = 3, regions = "balls" }
"""


@pytest.mark.long
def test_the_command(guide, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "own.toml").write_text(TOML)
    figures = tmp_path / "out" / "figures"
    figures.mkdir(parents=True)
    (figures / "figure-13-small.png").write_bytes(b"of another command")
    (figures / "mine.png").write_bytes(b"of somebody")
    out = str(tmp_path / "out")
    result = CliRunner().invoke(
        app, ["reproduce", str(tmp_path / "own.toml"), "--data", str(guide), "--out", out, "--jobs", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "drawn with replacement" in result.output
    assert "Nested [balls]" in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for words in ("drawn with replacement", "1 of 4 features is constant", "kept from earlier runs", "Nested [balls]"):
        assert words in page
    assert "quick run" not in page
    assert not (figures / "figure-13-small.png").exists()
    assert (figures / "mine.png").exists()
    curves = pl.read_parquet(tmp_path / "out" / "results.parquet")
    assert set(curves["study"]) == {"regret", "readings-balls"}
    assert "Final numbers, readings-balls" in result.output
    files = sorted(path.name for path in (tmp_path / "out" / "tables").iterdir())
    assert files == [
        "readings-balls.csv",
        "readings-balls.md",
        "readings-balls.tex",
        "regret.csv",
        "regret.md",
        "regret.tex",
    ]
    assert "<code>readings-balls</code>" in page


def test_all_is_the_paper_s():
    names = {study.name for study in find("all")}
    assert names == {name for name in paper() if not name.startswith("readings-")}
    assert {study.name.partition("-")[0] for study in find("moving")} == {"moving"}


@pytest.mark.long
def test_moving_without_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    # Curves are drawn in the tests of figures.
    monkeypatch.setattr(curves, "rendered", lambda figure: {"svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>'})
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["reproduce", "moving", "--quick", "--out", str(out), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "skin is not here, so moving-labels-10k is played on late-clean-synthetic" in said
    assert "to get it: abstain datasets get skin" in said
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "The paper's claims" not in said
    assert 'id="claims"' not in page
    assert 'id="tables"' in page
    for name in ("moving", "moving-labels"):
        assert "## How regret grows with T" in (out / "tables" / f"{name}.md").read_text(encoding="utf-8")
    numbers = pl.read_csv(out / "tables" / "moving.csv")
    assert sorted(set(numbers["rounds"])) == [2_000, 4_000, 8_000]
    still = numbers.filter(pl.col("dataset").is_in(["bias-problem", "proposition-1"]))
    assert (still["tracking"] == still["regret"]).all()
    assert (numbers.filter(pl.col("dataset") == "flipping")["tracking"] > 0.0).all()


@pytest.mark.long
def test_quick_runs_have_a_folder_of_their_own(guide, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(TOML)
    result = CliRunner().invoke(app, ["reproduce", "own.toml", "--quick", "--data", str(guide), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert "This is a quick run" in (tmp_path / "out" / "quick" / "report.html").read_text(encoding="utf-8")


def test_studies_made_with_numpy(tmp_path):
    study = small(
        rounds=np.int64(50),
        seed=np.int64(3),
        costs=(np.float64(0.2),),
        learners=(LearnerSpec("wide", "UCBGT", {"beta": np.float64(5.0)}),),
        experts=ExpertsSpec("axis_planes", {"n_predictors": 2, "thresholds": np.linspace(0, 0.25, 3)}),
    )
    assert run([study], tmp_path, jobs=1).failures == []
    for wrong in (
        {"learners": ("FS",)},
        {"experts": "hyperplanes"},
    ):
        with pytest.raises(InputError, match="expected"):
            small(**wrong)
    for options in ({"graph": object()}, ["beta"]):
        with pytest.raises(InputError, match="x: options: expected"):
            LearnerSpec("x", "UCBNT", options)


def test_a_record_without_its_fields(tmp_path):
    run([small()], tmp_path, jobs=1)
    log = tmp_path / "jobs.jsonl"
    for field in ('"runs"', '"data"'):
        text = log.read_text()
        log.write_text(text.replace(field, '"ruins"', 1))
        with pytest.raises(FileError, match="is damaged"):
            run([small()], tmp_path, jobs=1)
        log.write_text(text)


def test_a_study_of_another_kind_is_no_study():
    with pytest.raises(InputError, match="study: name: expected a text"):
        LearnerStudy("")
