"""Studies of one's own that are odd: what is wrong is said in words, and the rest is shown."""

import re

import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.errors import InputError
from abstain.experiments import curves, jobs, study
from abstain.experiments.style import look
from abstain.experiments.tables import check_names
from abstain.paper import paper

from .frames import rows
from .small import LEARNERS, small

DEFAULTS = """
[defaults]
sets = ["synthetic"]
costs = [0.2]
experts = { kind = "hyperplanes", n_predictors = 2, n_rings = 2 }
learners = ["UCB-GT", "FS"]
rounds = 40
draws = 2
expert_sets = 1
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs the studies of a text, of which regret alone is drawn; gives its exit code and what it said."""
    monkeypatch.setattr(curves, "ALL_QUANTITIES", {"regret": curves.ALL_QUANTITIES["regret"]})
    monkeypatch.setenv("COLUMNS", "200")

    def run(text, before=DEFAULTS):
        (tmp_path / "mine.toml").write_text(before + text)
        given = ["reproduce", str(tmp_path / "mine.toml"), "--jobs", "1", "--out", str(tmp_path / "out")]
        result = CliRunner().invoke(app, given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


def page_in(folder):
    return (folder / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("studies", "named"),
    [
        ('[studies."a/b"]\n[studies.a-b]', "studies: expected a file name each, got one for 'a/b' and 'a-b'"),
        ('[studies."a/b"]\n[studies.A-B]', "studies: expected a file name each, got one for 'a/b' and 'A-B'"),
        (
            '[studies.a]\ntable = "b"\n[studies.b]\nkind = "logs"\nlogs = ["digits"]\nlearners = ["UCB-GT"]',
            "table: expected another name than that of a study of another kind, got 'b'",
        ),
        ('[studies.a]\ntable = "x y"\n[studies.X-Y]', "tables: expected a file name each, got one for 'x y' and 'X-Y'"),
    ],
)
def test_studies_with_the_same_files_are_refused_before_anything_is_played(command, tmp_path, studies, named):
    code, said = command(studies)
    assert code == 2
    assert named in said
    assert not (tmp_path / "out").exists()


def test_studies_may_share_a_table():
    shared = [small(name="a/b", table="both"), small(name="ab", table="both")]
    check_names(shared)


MINE = "a,b,y\n1,2,u\n2,1,v\n3,5,u\n"
NAMED = """
[sets]
"$^$" = { path = "mine.csv" }
[studies."$_$"]
title = "$_$"
sets = ["$^$"]
learners = ["FS", { label = "$^$ greedy", kind = "UCB" }]
"""


def test_names_are_no_mathematics(command, tmp_path):
    (tmp_path / "mine.csv").write_text(MINE)
    code, said = command(NAMED)
    assert code == 0, said
    assert len(list((tmp_path / "out" / "figures").iterdir())) == 3
    assert "Missing here" not in page_in(tmp_path)


def test_curves_that_cannot_be_drawn_are_said(command, tmp_path, monkeypatch):
    monkeypatch.setattr(curves, "plain", str)
    (tmp_path / "mine.csv").write_text(MINE)
    code, said = command(NAMED + "[studies.other]\n")
    assert code == 1
    assert "failed: Curves of $_$, average regret R_t / t, could not be drawn (ValueError: " in said
    assert {path.stem for path in (tmp_path / "out" / "figures").iterdir()} == {"other-regret"}
    assert "<li>Curves of $_$, average regret R_t / t, could not be drawn (ValueError: " in page_in(tmp_path)
    assert len(list((tmp_path / "out" / "tables").iterdir())) == 6


@pytest.mark.parametrize("label", ["$^$ greedy", "$5", "{x}", "a\\\\$b"])
def test_the_legend_has_every_learner(label):
    frame = pl.concat([rows("small", "synthetic", 0.1, learner, 0.1, t=(1, 10, 100)) for learner in ("FS", label)])
    with look():
        figure = curves.draw_panels(curves.study_grids(frame, small())["regret"])
        figure.draw_without_rendering()
    assert [text.get_text().replace(r"\$", "$") for text in figure.legends[0].get_texts()] == ["FS", label]


def test_studies_share_their_numbers_if_they_play_the_same_not_by_name(command, tmp_path):
    code, said = command(
        "[studies.main]\n[studies.regret]\nrounds = 50\n[studies.again]\n[studies.part]\nrounds = 50\n"
    )
    assert code == 0, said
    page = page_in(tmp_path)
    assert re.findall('aria-label="Final numbers of (.*?)"', page) == ["main", "regret"]
    curves, _, _ = page.partition('<section id="tables">')
    assert re.findall(r"<p>(.* plays the same games as .*)</p>", curves) == [
        "again plays the same games as main: see its curves.",
        "part plays the same games as regret: see its curves.",
    ]


@pytest.mark.long
def test_curves_of_a_study_with_a_role_stand_for_one_without(command, tmp_path):
    code, said = command('[studies.paper]\nrole = "theory"\nrounds = 20\n[studies.mine]\nrounds = 20\n')
    assert code == 0, said
    page = page_in(tmp_path)
    assert "mine plays the same games as paper: see its curves." in page
    assert "paper: average regret R_t / t" in page


def test_a_study_that_plays_all_of_another():
    whole, part, other = (small(name=name) for name in ("whole", "part", "other"))
    part, other = part.replace(sets=(), costs=(), settings=part.settings[:1]), other.replace(seed=5)
    assert study.repeated([part, whole, other, whole.replace(name="same")]) == {"part", "same"}
    assert study.repeated(list(paper().values())) == {"main", "abstention"}


def test_a_study_of_one_s_own_that_fails_is_not_the_paper_s(command, tmp_path, monkeypatch):
    def failing(*arguments, **options):
        raise RuntimeError("not today")

    monkeypatch.setattr(jobs, "simulate", failing)
    code, said = command("[studies.mine]\n")
    assert code == 1
    assert "RuntimeError: not today" in said
    assert "The experiments of Cortes" not in page_in(tmp_path)
    assert "Learners that may abstain, compared" in page_in(tmp_path)


def test_labels_apart_and_roles_are_known():
    assert small(learners=LEARNERS[:1]).apart == ("FS",)
    with pytest.raises(InputError, match="study small: apart: expected one of UCB-GT, EXP3-ABS, FS, got 'FZ'"):
        small(apart=("FZ",))
    with pytest.raises(InputError, match="study small: role: expected one of main, extreme, .*, got 'mian'"):
        small(role="mian")
