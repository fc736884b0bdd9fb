"""The tutorials: files are written, commands and code run in the order of the page, and print what the page shows."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(?:<!-- (\S+) -->\n)?```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run(command, wanted):
    """Run one line of a console, and compare what it prints."""
    program, *words = shlex.split(command)
    start = {"python": [sys.executable], "abstain": [sys.executable, "-m", "abstain"]}[program]
    done = subprocess.run([*start, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert not wanted or doctest.OutputChecker().check_output(wanted, done.stdout, FLAGS), done.stdout


@pytest.mark.parametrize("page", ["tutorial", "research"])
@pytest.mark.sample(1)
def test_a_tutorial_runs_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for file, language, text in BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")):
        if file:
            Path(file).write_text(text, encoding="utf-8")
        elif language == "console":
            joined = text.replace("\\\n", "")
            for command, wanted in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", joined, re.MULTILINE):
                run(command, wanted)
        elif language == "python":
            test = doctest.DocTestParser().get_doctest(text, names, page, f"{page}.md", 0)
            said = []
            doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append, clear_globs=False)
            names = test.globs
            assert not said, "".join(said)
