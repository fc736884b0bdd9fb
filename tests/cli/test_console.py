"""What all commands share: missing extras, control characters, a full standard output, one line for an error."""

import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from abstain._core import extras, terminal
from abstain.cli import app
from abstain.cli.console import failed

from ..replay.logs import small_log

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e"
BLOCKED = """
import importlib.abc, runpy, sys
names = set(sys.argv.pop(1).split(","))
class Block(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
import abstain
assert not names & {name.partition(".")[0] for name in sys.modules}, names & set(sys.modules)
if sys.argv[1:]:
    runpy.run_module("abstain", run_name="__main__", alter_sys=True)
"""
ALL = {name for names in extras.PACKAGES.values() for name in names} | {"pandas", "threadpoolctl"}


def without(packages, *words, cwd=None):
    """Run the library, and the command if there are words, where these packages are not installed."""
    command = [sys.executable, "-c", BLOCKED, ",".join(packages), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=cwd)


def test_the_library_needs_no_extra():
    done = without(ALL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("packages", "words", "line"),
    [
        (["typer"], ["--version"], "the command abstain needs typer: pip install 'abstain[cli]'"),
        (["polars", "plotly"], ["replay", "x"], "the command abstain needs polars, plotly: pip install 'abstain[cli]'"),
        (["joblib"], ["reproduce"], "abstain reproduce needs joblib: pip install 'abstain[studies]'"),
        (["matplotlib"], ["compare", "a", "b"], "abstain compare needs matplotlib: pip install 'abstain[studies]'"),
        (["sklearn"], ["demo"], "abstain demo needs sklearn: pip install 'abstain[sklearn]'"),
    ],
)
@pytest.mark.sample(2)
def test_a_command_names_its_extra(tmp_path, packages, words, line):
    done = without(packages, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")
    assert list(tmp_path.iterdir()) == []


def test_experiments_name_their_extra():
    code = "import sys; sys.modules['pydantic'] = None\nimport abstain.experiments"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    words = "MissingExtraError: abstain.experiments needs pydantic: pip install 'abstain[studies]'"
    assert done.stderr.splitlines()[-1].endswith(words)


def test_the_demo_makes_its_log_without_the_packages_of_studies(tmp_path):
    code = (
        "import sys\nsys.modules.update(dict.fromkeys(('matplotlib', 'joblib', 'pydantic')))\n"
        "from abstain.replay import demo"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_names_between_colons_are_not_pictures():
    """A model may be called a:b, and a column may be named so in a command to copy."""
    stream = io.StringIO()
    console = terminal.console(file=stream, width=80)
    terminal.say(console, "--model a:b=a:b:sure")
    console.print("x:b:y", markup=False)
    assert stream.getvalue() == "--model a:b=a:b:sure\nx:b:y\n"


def is_plain(text):
    return not set(text) & set("\x1b\x07\x9b\u202e\x00")


def test_no_control_characters_reach_the_terminal(tmp_path, monkeypatch):
    """From names of files, columns, models, classes and units, in tables, notes and errors."""
    monkeypatch.setattr("abstain.replay.report.page.write", lambda replay, path: None)
    frame = small_log(200, classes=("a", f"b{ESCAPES}", "c"))
    frame = frame.rename({name: f"{name.replace('gbm', f'gbm{ESCAPES}')}" for name in frame.columns})
    path = tmp_path / f"log{ESCAPES}.csv"
    frame.with_columns(pl.lit(1).alias(f"unused{ESCAPES}")).write_csv(path)
    out = str(tmp_path / f"out{ESCAPES}")
    result = CliRunner().invoke(app, ["replay", str(path), "--unit", f"EUR{ESCAPES}", "--out", out])
    assert result.exit_code == 0, result.output
    assert "gbm?]0;owned??[31m" in result.output
    assert is_plain(result.output)
    for words in (
        ["replay", str(path), "--label", f"no{ESCAPES}", "--out", out],
        ["replay", str(path) + "x"],
        ["replay", str(path), "--task", ESCAPES],
        ["datasets", "--data", str(tmp_path / f"none{ESCAPES}")],
        ["datasets", "get", f"nothing{ESCAPES}"],
        ["warmup", f"nothing{ESCAPES}"],
        ["compare", str(tmp_path / f"a{ESCAPES}"), str(tmp_path / "b")],
        ["reproduce", f"nothing{ESCAPES}"],
    ):
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 2, (words, result.output)
        assert is_plain(result.output), words
        assert result.stdout == "", words
        assert result.stderr.startswith("error: "), words
        assert result.stderr.count("\n") == 1, words


def test_styles_stay():
    """A terminal gets Rich's own colours; what is printed has none."""
    console = terminal.console(force_terminal=True, color_system="standard", width=80)
    with console.capture() as capture:
        terminal.say(console, f"one\n{ESCAPES}", style="bold red")
    assert capture.get() == "\x1b[1;31mone ?]0;owned??[31m?2J?\x1b[0m\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has /dev/full")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["datasets"], ["replay", "log.csv"]], ids=" ".join)
@pytest.mark.sample(2)
def test_a_full_standard_output(tmp_path, words):
    small_log(200).write_csv(tmp_path / "log.csv")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "abstain", *words], stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr == "error: standard output: cannot be written (No space left on device)\n"


@pytest.mark.parametrize("terminal_there", [True, False])
def test_an_error_is_wrapped_between_words_in_a_terminal(monkeypatch, terminal_there):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal_there

    text = (
        "--model: found no pair of columns such as gbm and gbm_confidence; name them by --model NAME=ANSWER:CONFIDENCE"
    )
    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    failed(text)
    lines = stream.getvalue().splitlines()
    assert " ".join(lines) == f"error: {text}"
    assert (len(lines) > 1) == terminal_there
    assert not terminal_there or max(map(len, lines)) <= 40
