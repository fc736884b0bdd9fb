"""It starts anywhere: read-only installations, no home, a cache that is damaged."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import abstain as ab
from abstain.errors import InputError

SOURCES = Path(ab.__file__).parents[1]
PLAY = """
import abstain as ab
X, y = ab.datasets.load("synthetic", n=50, seed=0)
learner = ab.Exp3Abs(ab.experts.hyperplanes(2, 2, 2, seed=0), cost=0.3, seed=0)
ab.simulate(learner, X, y)
decision = learner.decide(X[0])
print("played", learner.round)
"""
ADVISE = """
import numpy as np
import abstain as ab
print(ab.experts.hyperplanes(2, 2, 2, seed=0).advise(np.zeros((1, 2))).abstains.sum())
"""


def run(code, env, *before):
    """What a fresh process prints, errors and warnings included."""
    command = [*before, sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def can_unshare():
    """Whether this process may mount a file system of its own."""
    if shutil.which("unshare") is None:
        return False
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", "mount --bind /tmp /tmp"], capture_output=True, check=False
    )
    return done.returncode == 0


@pytest.mark.long
@pytest.mark.skipif(not can_unshare(), reason="mounting in a namespace of one's own is not allowed here")
def test_a_read_only_installation_without_a_home(tmp_path):
    """It works, with one warning that says what to do; nothing but that is compiled anew in the next process."""
    for name in ("home", "site"):
        (tmp_path / name).mkdir()
    shutil.copytree(SOURCES / "abstain", tmp_path / "site" / "abstain", ignore=shutil.ignore_patterns("__pycache__"))
    env = {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(tmp_path / "site"), "PATH": os.environ["PATH"]}
    mount = f'mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path} && exec "$@"'
    unshare = ["unshare", "--mount", "sh", "-c", mount, "sh"]
    code, shown = run(f"import abstain; print(abstain.__file__)\n{PLAY}", env, *unshare)
    assert code == 0, shown
    assert str(tmp_path / "site") in shown
    assert "played 51" in shown
    assert shown.count("NUMBA_CACHE_DIR") == 1
    assert "Traceback" not in shown
    cache = tmp_path.parent / f"{tmp_path.name}-cache"
    cache.mkdir()
    code, shown = run(PLAY, env | {"NUMBA_CACHE_DIR": str(cache)}, *unshare)
    assert (code, shown) == (0, "played 51\n")
    assert list(cache.rglob("*.nbi"))


@pytest.mark.long
@pytest.mark.parametrize("damaged", ["*.nbi", "*.nbc"])
def test_a_cache_that_is_of_no_use(damaged, tmp_path):
    """It is compiled all the same, and kept again."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(ADVISE, env) == (0, "1\n")
    before = {path: path.stat().st_size for path in tmp_path.rglob(damaged)}
    assert len(before) > 2
    for path in before:
        path.write_bytes(path.read_bytes()[:60])
    assert run(ADVISE, env) == (0, "1\n")
    assert all(path.stat().st_size > 60 for path in before)


@pytest.mark.long
def test_a_cache_that_is_no_folder(tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert run(ADVISE, os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")})[0] == 0


def test_importing_touches_no_disk_and_compiles_nothing(tmp_path):
    code = """
    from numba.core import event
    with event.install_recorder("numba:compile") as recorder:
        import abstain
    print(len(recorder.buffer))
    """
    assert run(code, os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}) == (0, "0\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_after_warming_up_nothing_is_compiled(tmp_path):
    """A process that uses a learner finds everything."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run("import abstain as ab; ab.warmup(['Exp3Abs'])", env) == (0, "")
    code = "from numba.core import event\nwith event.install_recorder('numba:compile') as recorder:\n"
    code += textwrap.indent(PLAY, "    ") + "\nprint(len(recorder.buffer))"
    assert run(code, env) == (0, "played 51\n0\n")


GATES = """
import pathlib, sys, tempfile
import abstain as ab
ab.warmup(["Gate"])

def compiled():
    modules = {name: vars(module) for name, module in sys.modules.items() if name.startswith("abstain.")}
    found = [(name, one) for name, kept in modules.items() for one in kept.values()]
    found = [(name, one) for name, one in found if isinstance(getattr(one, "overloads", None), dict)]
    return {(name, one.__name__, signature) for name, one in found for signature in one.overloads}

before = compiled()
for options in ({"start": ("a", 0.8)}, {"start": ("a", 0.8), "capacity": 0.2}, {"combine": True}):
    gate = ab.Gate(["a", "b"], cost=0.2, labels="both", seed=0, **options)
    gate.learn(gate.decide({"a": ("x", 0.9), "b": ("y", 0.7)}), "x")
    gate.review_price = 0.3
    with tempfile.TemporaryDirectory() as folder:
        gate.save(pathlib.Path(folder) / "gate")
        again = ab.load(pathlib.Path(folder) / "gate")
    again.learn(again.decide({"a": ("x", 0.9), "b": ("y", 0.7)}), "x")
print(len(before) > 5, sorted((module, name) for module, name, _ in compiled() - before))
"""


def test_after_warming_up_gates_that_start_as_today_or_come_from_a_file_compile_nothing():
    assert run(GATES, os.environ) == (0, "True []\n")


def test_warming_up_what_is_not_there():
    with pytest.raises(InputError, match="names: expected some of UCB"):
        ab.warmup(["UCBX"])


def test_no_private_method_of_a_learner_is_called_from_outside():
    """What is not for everybody is called in `engine` and `learners` only."""
    private = {name for kind in (ab.Learner, *_kinds(ab.Learner)) for name in vars(kind) if name.startswith("_")}
    private -= {name for name in private if name.startswith("__") or name in ("_abc_impl", "_fields", "_replace")}
    for path in SOURCES.joinpath("abstain").rglob("*.py"):
        layer = path.relative_to(SOURCES / "abstain").parts[0]
        if layer in ("engine", "learners"):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            for name in private:
                assert f"learner.{name}" not in line, f"{path}: {line}"


def _kinds(kind):
    for below in kind.__subclasses__():
        if below.__module__.startswith("abstain."):
            yield below
            yield from _kinds(below)


@pytest.mark.long
@pytest.mark.skipif(not can_unshare(), reason="mounting in a namespace of one's own is not allowed here")
def test_a_cache_that_was_filled_and_is_read_only(tmp_path):
    """As in a container: it is used, and nothing is compiled."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(PLAY, env) == (0, "played 51\n")
    mount = f'mount --bind {tmp_path} {tmp_path} && mount -o remount,bind,ro {tmp_path} && exec "$@"'
    code = "from numba.core import event\nwith event.install_recorder('numba:compile') as recorder:\n"
    code += textwrap.indent(PLAY, "    ") + "\nprint(len(recorder.buffer))"
    assert run(code, env, "unshare", "--mount", "sh", "-c", mount, "sh") == (0, "played 51\n0\n")
