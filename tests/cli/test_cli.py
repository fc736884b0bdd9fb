"""The command, and what importing the library costs."""

import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import abstain as ab
from abstain.cli import app


@pytest.mark.long
def test_reproduce_without_data(tmp_path, monkeypatch):
    """What `make demo` runs on a machine without files: other sets instead, the numbers, the claims, the report."""
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    out = tmp_path / "new"
    result = CliRunner().invoke(app, ["reproduce", "main", "--quick", "--out", str(out), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    for word in ("instead", "breast-cancer", "EXP3-ABS", "FS", "Claims", "not judged (quick)", "report.html"):
        assert word in result.output
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "played on synthetic, breast-cancer, digits instead" in page
    assert (out / "figures" / "figure-05-main.png").read_bytes().startswith(b"\x89PNG")


def test_reproduce_says_what_is_wrong(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    result = CliRunner().invoke(app, ["reproduce", "main", "--quick", "--out", str(file)])
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    result = CliRunner().invoke(app, ["reproduce", "nothing", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "expected one of main, regret" in result.output


def commands(command, *words):
    """The words that call each command and group."""
    yield words
    for name, one in getattr(command, "commands", {}).items():
        yield from commands(one, *words, name)


def test_every_command_shows_an_example_in_its_help():
    for words in commands(typer.main.get_command(app)):
        name = " ".join(("abstain", *words))
        text = " ".join(CliRunner().invoke(app, [*words, "--help"]).output.split())
        assert "Example" in text, name
        if words:  # of this command itself
            assert name in text[text.index("Example") :].partition("╭")[0], name


def test_help_breaks_no_line_within_a_paragraph():
    """Help keeps the line breaks of a docstring: those of a paragraph would come on top of the terminal's."""

    def helps(command):
        yield command.name, command.help
        for one in getattr(command, "commands", {}).values():
            yield from helps(one)

    for name, text in helps(typer.main.get_command(app)):
        _, *rest = text.replace("\f", "").strip().split("\n\n")
        assert [part for part in rest if "\n" in part.strip()] == [], name


def test_help_is_in_groups():
    def panels(commands):
        found = {one.name: getattr(one, "rich_help_panel", None) for one in commands}
        without = [name for name, panel in found.items() if not isinstance(panel, str)]  # Typer has a placeholder, too
        assert without == [], f"give these a rich_help_panel: {without}"
        return set(found.values())

    main = typer.main.get_command(app)
    assert len(panels(main.commands.values())) > 2
    options = [one for one in main.commands["replay"].params if one.name not in ("log", "truth", "out")]
    assert len(panels(options)) > 4


IMPORT = """
import sys
from numba.core import event
compiled = []
class Listener(event.Listener):
    def on_start(self, event): compiled.append(event.data["dispatcher"])
    def on_end(self, event): pass
event.register("numba:compile", Listener())
import abstain
assert not compiled, compiled
heavy = {"polars", "matplotlib", "pandas", "sklearn", "typer", "rich", "river"} & set(sys.modules)
assert not heavy, heavy
"""


def test_importing_compiles_nothing_and_loads_nothing_heavy(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", IMPORT], check=True, env=environment, timeout=120)


@pytest.mark.parametrize("name", ab.__all__)
def test_public_names(name):
    assert getattr(ab, name).__doc__
