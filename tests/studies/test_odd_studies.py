"""Studies of one's own that are odd: what is wrong is said in words, and the rest is shown."""

import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.studies import outputs
from abstain.studies.figures import curves
from abstain.studies.tables import names

from .small import small

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
    monkeypatch.setattr(curves, "SHOWN", {"regret": curves.SHOWN["regret"]})
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
        ('[studies.a]\ntable = "x y"\n[studies.X-Y]', "tables: expected a file name each, got one for 'x y' and 'X-Y'"),
    ],
)
def test_studies_with_the_same_files_are_refused_before_anything_is_played(command, tmp_path, studies, named):
    code, said = command(studies)
    assert code == 1
    assert named in said
    assert not (tmp_path / "out").exists()


def test_studies_may_share_a_table():
    shared = [small(name="a/b", table="both"), small(name="ab", table="both")]
    outputs.check_apart(names(shared), "tables")
