"""Own figures and claims: registered by a package, or by path in a TOML file."""

import re
import sys

import polars as pl
import pytest
from typer.testing import CliRunner

from abstain import paper
from abstain.cli import app
from abstain.errors import InputError
from abstain.experiments import Figure, curves, figures, of_packages, registry
from abstain.paper import figures as ours

KNOWN = figures.all_figures
OWN = '''
"""How many runs there are."""

from abstain.experiments import Figure, new_figure


def draw(count):
    figure = new_figure(3.0, 2.0)
    figure.subplots().bar([0], [count])
    return figure


FIGURE = Figure({number}, "Rows & <columns>", lambda results: len(results.curves) or None, {draw}, "{{}} rows.".format)
'''
TOML = """
[studies.mine]
role = "small"
sets = ["synthetic"]
costs = [0.2]
experts = { kind = "hyperplanes", n_predictors = 2, n_rings = 2 }
learners = ["FS"]
rounds = 20
draws = 1
expert_sets = 1
"""


@pytest.fixture
def add(tmp_path, monkeypatch):
    """Puts a module into the package of figures, for the time of a test."""
    folder, names = tmp_path / "more", []
    folder.mkdir()
    monkeypatch.setattr(ours, "__path__", [*ours.__path__, str(folder)])

    def module(name, text):
        names.append(name)
        (folder / f"{name}.py").write_text(text)

    yield module
    for name in names:
        sys.modules.pop(f"{ours.__name__}.{name}", None)
        if hasattr(ours, name):
            delattr(ours, name)


@pytest.mark.long
def test_a_figure_takes_one_file(add, tmp_path):
    add("own_rows", OWN.format(number=99, draw="draw"))
    (tmp_path / "mine.toml").write_text(TOML)
    out = tmp_path / "out"
    given = ["reproduce", str(tmp_path / "mine.toml"), "--jobs", "1", "--out", str(out)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert (out / "figures" / "figure-99-rows-columns-.png").is_file()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Figure 99. Rows &amp; &lt;columns&gt;" in page
    assert f"{len(pl.read_parquet(out / 'results.parquet'))} rows." in page
    assert re.search(r"Figures without results in this run: 5, 7, [\d, ]*13\D", page)


def test_a_package_that_cannot_be_loaded_is_reported(monkeypatch, tmp_path):
    (tmp_path / "half_a_figure.py").write_text(OWN.format(number=99, draw="None"))
    monkeypatch.syspath_prepend(tmp_path)
    before = [one.number for one in figures.all_figures()]
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(registry.FIGURES, "theirs", "half_a_figure")
    registry.register(registry.FIGURES, "none", "no_such_module:FIGURES")
    assert [one.number for one in figures.all_figures()] == before
    assert registry.broken(registry.FIGURES, Figure) == [
        "abstain.figures: theirs (half_a_figure) cannot be loaded "
        "(InputError: figure 99: draw: expected a function, got None).",
        "abstain.figures: none (no_such_module:FIGURES) cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_module').",
    ]


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package with entry points, for the time of a test."""
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def package(name, text, group, entries):
        (tmp_path / f"{name}.py").write_text(text)
        modules.append(name)
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{group}]", *(f"{entry} = {target}" for entry, target in entries.items())]
        (info / "entry_points.txt").write_text("\n".join(lines))

    yield package
    for name in modules:
        sys.modules.pop(name, None)


STUDIES = """
from abstain.experiments import LearnerStudy
from abstain.paper import paper


class Mine(LearnerStudy):
    pass


def as_list():
    return ["mine"]


def theirs():
    return {"theirs": paper()["small"], "theirs-not": 3}
"""


def test_studies_of_packages_that_cannot_be_used_stop_no_other(install):
    install("my_studies", STUDIES, registry.STUDIES, {"good": "my_studies:theirs", "mine": "my_studies:Mine"})
    others = {"list": "my_studies:as_list", "bad": "no_such_package", "growth": "my_studies:Mine"}
    install("exits", "raise SystemExit(3)", registry.STUDIES, others | {"exits": "exits"})
    assert [study.name for study in paper.find("main")] == ["main"]
    wrong = {sentence.partition(" (")[0]: sentence for sentence in of_packages()[1]}
    assert wrong == {
        "abstain.studies: list": "abstain.studies: list (my_studies:as_list) cannot be loaded "
        "(InputError: expected a mapping of studies by name, got ['mine']).",
        "abstain.studies: bad": "abstain.studies: bad (no_such_package) cannot be loaded "
        "(ModuleNotFoundError: No module named 'no_such_package').",
        "abstain.studies: growth": "abstain.studies: growth (my_studies:Mine): "
        "the name is taken (abstain.paper.growth:GrowthStudy).",
        "abstain.studies: exits": "abstain.studies: exits (exits) cannot be loaded (SystemExit: 3).",
    }
    with pytest.raises(InputError, match=r"theirs, all, .*got 'bad'; .*No module named 'no_such_package'"):
        paper.find("bad")
    with pytest.raises(InputError, match="study theirs: expected a Study, got 3"):
        paper.find("theirs")


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("bad", "study mine: kind: abstain.studies: bad (no_such_package) cannot be loaded (ModuleNotFoundError:"),
        ("both", "study mine: kind: expected a name that one package uses, got 'both' of my_studies:Mine, other:Mine"),
        ("good", "study mine: kind: expected growth, logs, "),
    ],
)
def test_a_kind_that_cannot_be_loaded_or_has_two_meanings_is_an_input_error(install, tmp_path, kind, why):
    mine = {"good": "my_studies:theirs", "both": "my_studies:Mine", "bad": "no_such_package"}
    install("my_studies", STUDIES, registry.STUDIES, mine)
    install("other", STUDIES, registry.STUDIES, {"both": "other:Mine"})
    result = reproduce(tmp_path, f'kind = "{kind}"')
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())


def test_a_run_lists_studies_that_cannot_be_loaded(install, tmp_path, monkeypatch):
    monkeypatch.setattr(curves, "ALL_QUANTITIES", {"regret": curves.ALL_QUANTITIES["regret"]})
    install("empty", "", registry.STUDIES, {"bad": "no_such_package"})
    result = reproduce(tmp_path, 'claims = ["my_claims:MINE"]', my_claims=CLAIM)
    assert result.exit_code == 0, result.output
    sentence = "abstain.studies: bad (no_such_package) cannot be loaded"
    assert f"failed: {sentence}" in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<li>{sentence}" in page.partition("Missing here")[2]


def test_packages_may_use_the_same_name_for_their_figures(install):
    install("rows_1", OWN.format(number=201, draw="draw"), registry.FIGURES, {"mine": "rows_1"})
    install("rows_2", OWN.format(number=202, draw="draw"), registry.FIGURES, {"mine": "rows_2"})
    install("rows_3", OWN.format(number=203, draw="draw"), registry.FIGURES, {"paper": "rows_3"})
    assert {201, 202, 203} <= {one.number for one in figures.all_figures()}
    assert registry.broken(registry.FIGURES, Figure) == []


CLAIM = """
from abstain.experiments import Claim, Finding

MINE = Claim(1, "FS is played.", "By <looking>.", lambda results: Finding("holds", f"In {results.names}."))
"""


def reproduce(tmp_path, keys, **modules):
    for name, text in modules.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "mine.toml").write_text(TOML.replace('role = "small"', keys))
    given = ["reproduce", str(tmp_path / "mine.toml"), "--jobs", "1", "--out", str(tmp_path / "out")]
    return CliRunner().invoke(app, given)


def test_own_claims_and_figures_by_path(tmp_path, monkeypatch):
    """They are judged and drawn without a role, and without the paper's."""
    monkeypatch.setattr(curves, "ALL_QUANTITIES", {"regret": curves.ALL_QUANTITIES["regret"]})
    keys = 'claims = ["my_claims:MINE"]\nfigures = ["my_figures:FIGURE"]'
    result = reproduce(tmp_path, keys, my_claims=CLAIM, my_figures=OWN.format(number=1, draw="draw"))
    assert result.exit_code == 0, result.output
    assert "● holds" in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "FS is played." in page
    assert "By &lt;looking&gt;." in page
    assert "Figure 1. Rows &amp; &lt;columns&gt;" in page
    assert "1 holds<" in page.replace("</span>", "<")
    assert "Cortes" not in page
    names = sorted(path.stem for path in (tmp_path / "out" / "figures").glob("*.png"))
    assert names == ["figure-01-rows-columns-", "mine-regret"]


def test_own_claims_of_an_installed_package_by_path(tmp_path, monkeypatch):
    """The module lies in a package on Python's path, and no other claim is judged."""
    package = tmp_path / "site" / "package_of_claims"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "claims.py").write_text(CLAIM)
    monkeypatch.syspath_prepend(package.parent)
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "mine.toml").write_text(TOML.replace('role = "small"', 'claims = ["package_of_claims.claims:MINE"]'))
    (study,) = paper.find(folder / "mine.toml")
    assert [claim.text for claim in study.claims] == ["FS is played."]
    assert study.role == ""


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("3", "InputError: judge: expected a Finding, got 3"),
        ('Finding("holds", "So.", studies=3)', "TypeError: &#39;int&#39; object is not iterable"),
    ],
)
def test_a_judge_that_fails_is_told_like_a_figure_that_fails(tmp_path, monkeypatch, judge, why):
    monkeypatch.setattr(curves, "ALL_QUANTITIES", {"regret": curves.ALL_QUANTITIES["regret"]})
    text = re.sub(r"results: Finding.*", f"results: {judge})", CLAIM)
    result = reproduce(tmp_path, 'claims = ["my_claims:MINE"]', my_claims=text)
    assert result.exit_code == 1
    assert f"failed: Claim 1 could not be judged ({why.replace('&#39;', chr(39))})." in result.output
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<li>Claim 1 could not be judged ({why}).</li>" in page.partition("Missing here")[2]


def test_a_caption_that_is_no_text_is_refused(tmp_path):
    wrong = Figure(99, "Three", lambda results: 3, lambda shown: None, lambda shown: shown)
    pictures = figures.draw_all(None, tmp_path, [wrong])
    assert pictures.failed == ["Figure 99 could not be drawn (InputError: caption: expected a text, got 3)."]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('claims = "my_claims:MINE"', 'claims: expected a list of paths "module:NAME", got'),
        ('figures = ["my_claims:MINE"]', "figures: expected a Figure in my_claims:MINE, got none"),
        ('claims = ["my_claims:YOURS"]', "study mine: claims: expected my_claims:YOURS, but"),
        ('claims = ["no_claims:MINE"]', "study mine: claims: expected a module no_claims in"),
        ('figures = ["my:FIGURES:2"]', "study mine: figures: expected an import path such as module:Class, got"),
        ('role = "small"\nclaims = ["my_claims:MINE"]', "claims: expected another number than 1: it is taken"),
    ],
)
def test_wrong_paths_stop_before_anything_is_played(tmp_path, keys, why):
    result = reproduce(tmp_path, keys, my_claims=CLAIM)
    assert result.exit_code == 2
    assert why in " ".join(result.output.split())
    assert not (tmp_path / "out" / "results.parquet").exists()


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("len(results.curves) or None", "1 / 0", "ZeroDivisionError: division by zero"),
        ('"{} rows.".format', "lambda shown: shown.none", "AttributeError: &#39;int&#39; object"),
        pytest.param(
            "return figure",
            "return [figure]",
            "InputError: draw: expected a figure of Matplotlib, got [&lt;Figure",
            marks=pytest.mark.long,
        ),
        pytest.param("return figure", "raise OSError('no font')", "OSError: no font", marks=pytest.mark.long),
        ("return figure", "figure.suptitle('$^$')\n    return figure", "ValueError: "),
    ],
)
@pytest.mark.sample(1)
@pytest.mark.long
def test_a_figure_that_fails_takes_nothing_with_it(add, tmp_path, monkeypatch, before, after, why):
    text = OWN.format(number=99, draw="draw")
    assert before in text
    add("own_rows", text.replace(before, after))
    monkeypatch.setattr(figures, "all_figures", lambda: [one for one in KNOWN() if one.number in (6, 99)])
    monkeypatch.setattr(curves, "ALL_QUANTITIES", {"regret": curves.ALL_QUANTITIES["regret"]})
    (tmp_path / "mine.toml").write_text(TOML)
    out = tmp_path / "out"
    given = ["reproduce", str(tmp_path / "mine.toml"), "--jobs", "1", "--out", str(out)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 1
    assert "failed: Figure 99 could not be drawn (" in result.output
    assert (out / "tables" / "mine.csv").is_file()
    assert sorted(path.stem for path in (out / "figures").glob("*.png")) == ["figure-06-example", "mine-regret"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"<li>Figure 99 could not be drawn ({why}" in page
    assert 'id="figure-6"' in page
    assert "Figures without results" not in page


def test_a_number_is_given_once(add):
    add("own_rows", OWN.format(number=7, draw="draw"))
    assert [one.title for one in figures.all_figures() if one.number == 7] != []
    (sentence,) = registry.broken(registry.FIGURES, Figure)
    assert sentence.startswith("abstain.figures: paper: number 7 is taken")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"number": 0}, "number"),
        ({"title": " "}, "figure 3: title: expected a text, got ' '"),
        ({"show": "x"}, "figure 3: show: expected a function, got 'x'"),
        ({"caption": None}, "figure 3: caption: expected a function, got None"),
        ({"name": 3}, "figure 3: name: expected a text, got 3"),
    ],
)
def test_what_is_not_whole_is_refused(changes, why):
    whole = {"number": 3, "title": "Three", "show": len, "draw": len, "caption": str}
    assert Figure(**whole).name == "three"
    with pytest.raises(InputError, match=why):
        Figure(**(whole | changes))
