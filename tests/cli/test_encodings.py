"""The command in every encoding, and text files that name theirs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from abstain.cli import app

ROOT = Path(__file__).parents[2]

STUDY = """
[studies.mine]
role = "main"
sets = ["synthetic"]
costs = [0.2]
learners = ["UCB-GT, β = 0.625", "FS"]
rounds = 50
draws = 2
[learners]
"UCB-GT, β = 0.625" = { kind = "UCBGT", beta = 0.625 }
"""

SMALL = {
    (): (["--version"], 0),
    ("datasets",): (["--data", "here, ünd ☃"], 0),
    ("datasets", "get"): (["☃"], 2),
    ("warmup",): (["☃"], 2),
    ("replay",): (["☃.csv", "--model", "☃=ä:sure", "--label", "ü", "--out", "öut ☃"], 0),
    ("demo",): (["--out", "☃.toml"], 2),  # no folder
    ("reproduce",): (["☃.toml", "--quick", "--jobs", "1", "--out", "öut ☃"], 0),
    ("compare",): (["☃", "öut"], 2),
    ("serve",): (["--store", "☃"], 2),
    ("gates",): (["--help"], 0),
    ("gates", "list"): (["--store", "sqlite:///☃.db"], 2),  # no such store
    ("gates", "inspect"): (["☃", "--store", "sqlite:///☃.db"], 2),
    ("gates", "export"): (["☃", "--out", "☃.csv", "--store", "sqlite:///☃.db"], 2),
    ("gates", "accept"): (["☃", "--store", "sqlite:///☃.db"], 2),
    ("keys",): (["--help"], 0),
    ("keys", "add"): (["--name", "☃", "--store", "sqlite:///☃.db"], 0),
    ("keys", "list"): (["--store", "sqlite:///☃.db"], 2),
    ("keys", "revoke"): (["☃", "--store", "sqlite:///☃.db"], 2),
    ("backup",): (["--out", "☃.db", "--store", "sqlite:///☃ ö.db"], 2),
}
"""For every command, options that make it do its work (or say why not) quickly, and the code it ends with."""

UNUSUAL = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii:strict"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "utf-8": {"PYTHONIOENCODING": "utf-8"},
}


def commands(command, path=()):
    """The path of the command and of all below it."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*path, name))


PATHS = list(commands(typer.main.get_command(app)))
LONG = [pytest.mark.long]
ENCODINGS = [pytest.param(one, marks=LONG * (one not in ("cp1252", "ascii"))) for one in UNUSUAL]


def test_no_command_is_forgotten():
    assert set(SMALL) == set(PATHS)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "☃.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "☃.csv").write_text("ü,ä,sure\n" + 60 * "☃,☃,0.9\né,☃,0.6\n", encoding="utf-8")
    (tmp_path / "here, ünd ☃").mkdir()
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def run(folder, encoding, *words):
    """The code the command ends with, and all it prints; it never ends by a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "abstain", *words],
        cwd=folder,
        env=os.environ | UNUSUAL[encoding],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
    )
    assert b"Traceback" not in done.stdout, done.stdout.decode(errors="replace")
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=LONG * (path == ("reproduce",)), id=" ".join(path)) for path in PATHS],
)
@pytest.mark.sample(2)
def test_every_command_prints_in_cp1252(folder, path):
    words, code = SMALL[path]
    assert run(folder, "cp1252", *path, *words)[0] == code


@pytest.mark.long
def test_every_help_and_wrong_option_prints_in_cp1252():
    code = (
        "import sys, abstain.cli\n"
        f"for path in {PATHS!r}:\n"
        "    for word, expected in (('--help', 0), ('--no-such-option-\u2603', 2)):\n"
        "        sys.argv = ['abstain', *path, word]\n"
        "        try:\n"
        "            abstain.cli.run()\n"
        "        except SystemExit as stop:\n"
        "            assert stop.code == expected, (path, word, stop.code)\n"
        "        else:\n"
        "            raise AssertionError(path)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | UNUSUAL["cp1252"], capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "C", "utf-8"])
def test_what_a_study_shows(folder, encoding):
    """What the encoding lacks is shown by something like it: a verdict still can be told from another."""
    words = ["☃.toml", "--jobs", "1", "--out", "öut ☃"]  # quick runs judge nothing
    if encoding == "C":  # names given on the command line are bytes there
        (folder / "☃.toml").rename(folder / "own.toml")
        words = ["own.toml", "--jobs", "1"]
    code, shown = run(folder, encoding, "reproduce", *words)
    assert code == 0, shown
    expected = ("UCB-GT, β = 0.625", "· not judged") if encoding == "utf-8" else ("UCB-GT, b = 0.625", ". not judged")
    assert all(text in shown.decode() for text in expected)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.sample(1)
def test_a_narrow_terminal(folder, encoding, monkeypatch):
    """Text is cut, with a sign that is in few encodings."""
    monkeypatch.setenv("COLUMNS", "20")
    assert run(folder, encoding, "datasets", "--help")[0] == 0
    assert run(folder, encoding, "datasets")[0] == 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="their file names are text")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_name_that_is_no_text(folder, encoding):
    code, shown = run(folder, encoding, "reproduce", os.fsdecode(b"\xff.toml"))
    assert (code, b"error:" in shown) == (2, True)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.sample(1)
def test_an_error_nobody_foresaw(folder, encoding):
    """Its traceback is printed as a whole, and it is that error's."""
    code = (
        "import abstain.datasets, abstain.cli\n"
        "def info(*args, **kwargs): raise RuntimeError('\\u2603 nobody foresaw')\n"
        "abstain.datasets.info = info\n"
        "import sys; sys.argv = ['abstain', 'datasets']\n"
        "abstain.cli.run()"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | UNUSUAL[encoding], capture_output=True)
    assert done.returncode == 1
    assert b"RuntimeError" in done.stderr
    assert b"nobody foresaw" in done.stderr
    assert b"UnicodeEncodeError" not in done.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_in_a_terminal(folder, path):
    """With colours, progress bars and what turns while one waits."""
    import pty

    words, expected = SMALL[path]
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "abstain", *path, *words],
        cwd=folder,
        env=os.environ | UNUSUAL["cp1252"] | {"TERM": "xterm-256color", "COLUMNS": "80"},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 10_000):
            shown += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(leader)
    assert process.wait(600) == expected, shown
    assert b"Traceback" not in shown
    assert path != ("reproduce",) or b"\x1b[" in shown  # it did take it for a terminal


def text_calls(tree):
    """The calls that open, read or write a file as text; archives and descriptors have no encoding."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        what, _, name = ast.unparse(call.func).rpartition(".")
        binary = what in ("os", "tarfile", "archive", "Image") or any("b'" in ast.unparse(value) for value in call.args)
        if name in ("read_text", "write_text") or (name == "open" and not binary):
            yield call


def test_text_files_name_their_encoding():
    paths = [path for folder in ("src", "benchmarks", "docs") for path in (ROOT / folder).rglob("*.py")]
    calls = [(path, call) for path in paths for call in text_calls(ast.parse(path.read_text(encoding="utf-8")))]
    assert calls
    for path, call in calls:
        assert "encoding" in {keyword.arg for keyword in call.keywords}, f"{path}:{call.lineno}: {ast.unparse(call)}"
