"""The site: what is executed elsewhere is shown as it was written, and nothing is missing."""

import ast
import importlib.util
import inspect
import pkgutil
import re
import shlex
import textwrap
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest

import abstain as ab

ROOT = Path(__file__).parents[2]


def hook(name):
    """Import a module of docs/hooks, which extends Sphinx; skip the test without Sphinx."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Base:
    """A base.

    Args:
        experts: Whom to choose from.
        cost: Of abstaining:
            a number.
    """


class Extended(Base):
    """More.

    Args:
        cost: Another.
        beta: A width.

    >>> 1 + 1
    2
    """


def test_parameters_are_inherited():
    parameters = hook("parameters")
    assert parameters.described("No section.") == {}
    base = parameters.described("A base.\n\nArgs:\n    experts: Whom.\n    cost: Of abstaining:\n        a number.\n")
    assert base == {"experts": "Whom.", "cost": "Of abstaining: a number."}
    assert parameters.described("It has\nArgs: none") == {}
    Base.__module__ = Extended.__module__ = "abstain.made_up"
    expected = {"experts": "Whom to choose from.", "cost": "Another.", "beta": "A width."}
    assert parameters.inherited(Extended) == expected


def test_parameters_stand_before_the_examples():
    text = "More.\n\nArgs:\n    beta: A width.\n\n>>> 1 + 1\n2"
    shown = hook("parameters").tabled(text, ["cost", "beta", "other"], {"beta": "A width."}, {"cost": "float"})
    assert shown == "More.\n\n:param cost: \n:type cost: float\n:param beta: A width.\n\n>>> 1 + 1\n2\n"


def test_types_are_those_written():
    def function(cost: "ab.costs.CostLike", n: int | None = None, free=3):
        """Nothing."""

    assert hook("parameters").annotated(function) == {"cost": "ab.CostLike", "n": "int | None"}


def test_kernels_that_are_defaults_have_names():
    signature = "(choose, note=CPUDispatcher(<function note_nothing>), seed=None)"
    shown, _ = hook("parameters").named(None, "class", "abstain.Kernels", ab.extend.Kernels, None, signature, None)
    assert shown == "(choose, note=note_nothing, seed=None)"


def test_a_formula_is_a_picture_with_its_words():
    picture = hook("formulas").picture("x_t \\leq 1")
    assert picture.startswith('<svg role="img" aria-label="x_t \\leq 1"')
    assert "M" in picture
    with pytest.raises(ValueError, match="Unknown symbol"):  # the build fails, not the page
        hook("formulas").picture("\\nonsense")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ucb_nt_bound(gaps,", "ucb_<wbr>nt_<wbr>bound(<wbr>gaps,"),
        ("memory=&quot;adaptive&quot;", "memory=<wbr>&quot;adaptive&quot;"),
        ("0.93", "0.93"),
        ("costs.py", "costs.py"),
        ("--review-price", '<span class="whole">--review</span>-price'),
        ("src/abstain/__init__.py", "src/<wbr>abstain/<wbr>__init__.py"),
        ("T^((d+1)/(d+2))", "T^((d+1)/(d+2))"),
    ],
)
def test_code_is_broken_between_its_words(code, expected):
    page = '<span class="pre">a_line</span> <code class="literal"><span class="pre">{}</span></code>'
    assert hook("breaks").breakable(page.format(code)) == page.format(expected)


def test_the_name_of_a_class_breaks_in_its_title():
    broken = hook("breaks").breakable('<h1>abstain.adapters.sklearn.GateClassifier<a href="#">#</a></h1>')
    assert broken.startswith("<h1>abstain.<wbr>adapters.<wbr>sklearn.<wbr>GateClassifier<a")
    assert hook("breaks").breakable("<h1>Replay a log<") == "<h1>Replay a log<"


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/service/*.md")]), ids=lambda page: page.stem
)
def test_every_column_of_a_table_has_a_name(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    heads = [line for line, below in pairwise(lines) if line.startswith("|") and below.startswith("| ---")]
    assert not [head for head in heads if re.search(r"\|\s*\|", head)]


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/service/*.md")]), ids=lambda page: page.stem
)
def test_decimals_have_a_zero_before_the_point(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"(?<![\w.\]])\.\d+", text) == []


def test_the_reference_says_once_what_learners_share():
    """What comes from a class that has its own place is not repeated: the names of all classes below it are listed."""
    pages = (ROOT / "docs" / "reference").rglob("*.md")
    page = "".join(path.read_text(encoding="utf-8") for path in pages)
    left_out = re.findall(r":: abstain\.(\S+)\n   :inherited-members: (.*)", page)
    shared = {name: set(names.split(", ")) for name, names in left_out}
    assert shared["extend.KernelLearner"] == {"Learner"}
    assert shared["learners.exp3.weighted.WeightedLearner"] == {"KernelLearner", "Learner"}


def test_every_learner_describes_its_parameters():
    parameters = hook("parameters")
    for kind in (ab.DoublyRobust, ab.Exp3Abs, ab.UCB, ab.UCBNT, ab.UCBGT, ab.FullSupervision, ab.ContExp3Abs, ab.Gate):
        wanted = set(parameters.annotated(kind.__init__))
        assert wanted
        assert wanted <= set(parameters.inherited(kind)), kind


@pytest.mark.parametrize(
    ("page", "loads"),
    [
        ('<script src="https://cdn.example/x.js">', True),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', True),
        ("@font-face { src: url(https://fonts.example/x.woff) }", True),
        ('<img src="_images/x.png">', False),
        ('<a href="https://arxiv.org">a link that one may follow</a>', False),
        ('<link rel="canonical" href="https://abstain.example/">', False),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(page, loads):
    assert bool(hook("offline").loaded_from_elsewhere(page)) == loads


def test_the_menu_has_every_page():
    source = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert re.search(rf"""["<]{re.escape(page.stem)}[">]""", source), page.name
    for page in (ROOT / "docs" / "reference").rglob("*.md"):
        assert f'"{page.stem}"' in source or f"reference/{page.stem}" in source, page.name


def test_the_reference_has_every_public_name():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").rglob("*.md"))
    modules = {"datasets", "experts", "extend", "graphs", "instances", "losses", "theory"}
    for name in ab.__all__:
        if name not in modules and name != "AbstainError":
            assert re.search(rf":: abstain\.{name}$", pages, re.MULTILINE), name


DESCRIBED = (
    "best_in_hindsight", "best_pair", "datasets", "experts", "graphs", "instances", "load", "losses", "prepare",
    "simulate", "theory", "warmup",
)  # fmt: skip


def public_callables():
    """Yield name, function or class, and the classes that may describe its parameters."""
    for top in DESCRIBED:
        part = getattr(ab, top)
        for name in getattr(part, "__all__", [""]):
            one = getattr(part, name) if name else part
            if inspect.isclass(one):
                yield f"{top}.{name}", one, one.__mro__
                for method, function in vars(one).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
                        bases = [vars(base)[method] for base in one.__mro__ if method in vars(base)]
                        yield f"{top}.{name}.{method}", function, bases
            elif inspect.isfunction(one):
                yield f"{top}.{name}", one, [one]


def described(thing):
    """Return the parameters under ``Args:``, and the fields with a docstring below them."""
    section = re.search(r"^Args:\n((?: {4}.*\n?|\n)+)", inspect.getdoc(thing) or "", re.MULTILINE)
    names = set(re.findall(r"^    (\w+):", section[1], re.MULTILINE)) if section else set()
    if inspect.isclass(thing) and thing.__module__.startswith("abstain"):
        body = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0].body
        names |= {
            field.target.id
            for field, text in pairwise(body)
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        }
    return names


def test_every_public_parameter_has_a_sentence():
    for name, thing, sources in public_callables():
        wanted = {one for one in inspect.signature(thing).parameters if one != "self" and not one.startswith("_")}
        missing = wanted - set().union(*map(described, sources))
        assert not missing, f"{name}: no sentence for {', '.join(sorted(missing))}"


def test_every_name_of_the_reference_exists():
    """A function is a function, a class a class, a module a module."""
    kinds = {"function": inspect.isfunction, "class": inspect.isclass, "module": inspect.ismodule}
    for path in (ROOT / "docs" / "reference").rglob("*.md"):
        for kind, name in re.findall(r"^\.\. auto(\w+):: (\S+)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            module, _, last = name.rpartition(".")
            found = getattr(pkgutil.resolve_name(module), last)  # a function may have the name of its module
            assert kinds[kind](found), f"{path.name}: {name} is no {kind}"


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == ab.__version__
    assert re.search(r"version = \{(.*)\}", readme)[1] == ab.__version__


def anchors(page):
    """Return the anchors that a forge gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", title.lower()) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {title.replace(" ", "-") for title in words}


@pytest.mark.parametrize(
    "page",
    sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]),
    ids=lambda page: page.name,
)
def test_every_relative_link_leads_somewhere(page):
    """On a forge, where no build checks them; only the gallery exists after a build alone."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link) or path.startswith("gallery/"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def commands(page):
    """Yield the commands in the blocks of a page, without what the shell does around them."""
    blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for block in (text for kind, text in blocks if kind in ("", "sh", "console")):
        for line in block.replace("\\\n", " ").splitlines():
            alone = line.removeprefix("$ ").rpartition("&& ")[2].rstrip("& ")
            if alone.startswith("abstain "):
                yield shlex.split(alone, comments=True)


def test_every_command_of_every_page_is_known():
    import typer

    from abstain.cli import app
    from benchmarks.__main__ import SECTIONS

    found = 0
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md"]
    for words in (words for page in pages for words in commands(page)):
        command, rest = typer.main.get_command(app), words[1:]
        while rest and rest[0] in getattr(command, "commands", ()):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context("abstain", rest)
        found += 1
    assert found > 30
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for module in re.findall(r"python -m benchmarks\.(\w+)", text):
            assert (ROOT / "benchmarks" / f"{module}.py").exists(), f"{page.name}: {module}"
        for section in re.findall(r"python -m benchmarks (\w+)", text):
            assert section in {*SECTIONS, "before"}, f"{page.name}: {section}"


def test_production_says_what_errors_say():
    page = (ROOT / "docs" / "production.md").read_text(encoding="utf-8").partition("| the error says |")[2]
    source = (ROOT / "src" / "abstain" / "engine" / "decision.py").read_text(encoding="utf-8")
    said = re.findall(r"^\| [^|]+ \| ([^-|]+) \|$", page.partition("\n\n")[0], re.MULTILINE)
    assert len(said) == 7
    for phrase in re.split(r"; once the learner was loaded again: |\.\.\.|\(or predicted\)|\n", "\n".join(said)):
        assert phrase.removeprefix("it ").strip(" ,") in source, phrase


def test_pages_of_the_service_have_its_limits():
    server = pytest.importorskip("abstain.service.server")
    from abstain.service import bodies, commits, front, service

    limits = {
        "promises": [f"{front.BODY_LIMIT >> 20} MiB", f"{front.DEPTH_LIMIT} levels", f"| {bodies.MOST_ROWS:,} |",
                     f"{bodies.MOST_CONTEXT >> 10} KiB"],
        "operations": [f"{server.CONNECTION_LIMIT:,} connections", f"within {server.HEAD_SECONDS:g} seconds",
                       f"{server.GRACE_SECONDS} seconds to end, snapshots {service.STOP_SECONDS:g} more"],
        "sizing": [f"(up to {commits.MOST_AT_ONCE} events)"],
    }  # fmt: skip
    for name, words in limits.items():
        text = " ".join((ROOT / "docs" / "service" / f"{name}.md").read_text(encoding="utf-8").split())
        assert [one for one in words if one not in text] == [], name
    statuses = (ROOT / "docs" / "service" / "index.md").read_text(encoding="utf-8").partition("| status |")[2]
    assert set(re.findall(r"^\| (\w+) \|", statuses.partition("\n\n")[0], re.MULTILINE)) == set(get_args(bodies.Status))


def test_the_page_about_replay_has_every_option():
    import typer

    from abstain.cli import app

    known = {name for one in typer.main.get_command(app).commands["replay"].params for name in one.opts}
    named = set(re.findall(r"--[a-z][a-z-]+", (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")))
    assert named == {name for name in known if name.startswith("--")}


def test_examples_are_the_galleries_five():
    scripts = sorted(path.name for path in (ROOT / "examples").glob("plot_*.py"))
    assert len(scripts) == 5
    study = tomllib.loads((ROOT / "examples" / "own" / "mine.toml").read_text(encoding="utf-8"))
    assert "greedy:EpsilonGreedy" in {learner["kind"] for learner in study["learners"].values()}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_a_page_is_whole_and_says_price_per_case(page):
    """No two versions side by side; and one word, in the report as on the pages, for what a case costs on average."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"^(<{7}|>{7}) ", text, re.MULTILINE)
    assert not re.search(r"\bcosts? per case", text, re.IGNORECASE)
