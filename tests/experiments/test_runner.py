"""Running: the same results however it is run, interrupted or not; errors in words."""

import errno
import importlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import abstain as ab
from abstain._core import parts
from abstain.cli import app
from abstain.errors import FileError, InputError
from abstain.experiments import jobs, results, runner
from abstain.experiments.results import MACHINE
from abstain.experiments.runner import run
from abstain.paper import find

from .small import small

ROOT = Path(__file__).parents[2]


def same(a, b):
    assert_frame_equal(a.drop(MACHINE), b.drop(MACHINE), check_exact=True)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return run([small()], tmp_path_factory.mktemp("undisturbed"), jobs=1)


def test_a_run(undisturbed):
    session = undisturbed
    assert (session.n_run, session.n_kept, session.failures, session.missing) == (16, 0, [], {})
    assert pl.read_parquet(session.paths[0]).equals(session.curves)
    assert sorted(path.name for path in session.out.iterdir()) == ["jobs.jsonl", "results.parquet"]
    again = run([small()], session.out, jobs=1)
    assert (again.n_run, again.n_kept) == (0, 16)
    assert again.curves.equals(session.curves)


def test_two_workers(undisturbed, tmp_path):
    same(run([small()], tmp_path, jobs=2).curves, undisturbed.curves)


def test_studies_share_jobs(undisturbed, tmp_path):
    session = run([small(), small(name="same"), small(name="more", costs=(0.1, 0.2))], tmp_path, jobs=1)
    assert session.n_run == 16 + 8
    same(session.curves.filter(study="small"), undisturbed.curves)
    with pytest.raises(InputError, match="no name twice"):
        run([small(), small()], tmp_path, jobs=1)


def test_a_changed_study_is_run_anew(undisturbed, tmp_path):
    run([small()], tmp_path, jobs=1)
    assert run([small(rounds=150)], tmp_path, jobs=1).n_run == 16
    back = run([small()], tmp_path, jobs=1)
    assert back.n_run == 0
    same(back.curves, undisturbed.curves)


@pytest.mark.parametrize("torn", [b"{", b'{"key": "abc", "runs": [{"loss": [1.5', b"\xff\xfe"])
def test_a_torn_line_is_overwritten(undisturbed, tmp_path, torn):
    run([small(draws=2)], tmp_path, jobs=1)
    path = tmp_path / "jobs.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1] + torn)
    session = run([small(draws=2)], tmp_path, jobs=1)
    assert session.n_run == 1
    assert path.read_bytes().count(b"\n") == whole.count(b"\n") + 1  # and a note of what was asked
    assert run([small(draws=2)], tmp_path, jobs=1).n_run == 0
    same(
        session.curves.filter(draw=0).drop("best", "tracked"), undisturbed.curves.filter(draw=0).drop("best", "tracked")
    )


def test_a_log_that_is_none(tmp_path):
    path = tmp_path / "jobs.jsonl"
    for content in (b"hello", b"hello\n", b'{"format": "abstain-jobs", "version": 2}\n'):
        path.write_bytes(content)
        with pytest.raises(FileError, match="expected the journal of a study"):
            run([small()], tmp_path, jobs=1)
        assert path.read_bytes() == content
    path.write_bytes(results.HEADER + b"{}\n")
    with pytest.raises(FileError, match="line 2 is damaged"):
        run([small()], tmp_path, jobs=1)
    for content in (b"", results.HEADER[:5], results.HEADER):
        path.write_bytes(content)
        with results.Journal(tmp_path) as log:
            assert log.records == {}
        assert path.read_bytes() == results.HEADER


def test_two_runs_in_one_folder(tmp_path):
    with results.Journal(tmp_path), pytest.raises(FileError, match="another run is writing here"):
        run([small()], tmp_path, jobs=1)
    run([small(draws=1, expert_sets=1)], tmp_path, jobs=1)


def test_a_failing_job_does_not_take_the_others_with_it(undisturbed, tmp_path, monkeypatch):
    simulate = jobs.simulate
    bad = small().draw_jobs()[4]

    def failing(learner, rounds, **options):
        if learner.cost.value == bad.cost and learner.seed.entropy[3:5] == [bad.stage.expert_set, bad.draw]:
            raise RuntimeError("out of luck")
        return simulate(learner, rounds, **options)

    monkeypatch.setattr(jobs, "simulate", failing)
    session = run([small()], tmp_path, jobs=1)
    assert session.n_run == 15
    (failure,) = session.failures
    assert failure["what"] == str(bad) == "synthetic, cost 0.1, expert set 1, draw 1"
    assert failure["failed"] == "RuntimeError: out of luck (learner UCB-GT)"
    assert "in failing" in (tmp_path / "failures.txt").read_text()
    gone = {"cost": bad.cost, "expert_set": 1, "draw": 1}
    assert len(session.curves.filter(**gone)) == 0
    same(session.curves, undisturbed.curves.filter(~pl.all_horizontal(pl.col(k) == v for k, v in gone.items())))
    monkeypatch.undo()
    again = run([small()], tmp_path, jobs=1)
    assert (again.n_run, again.failures) == (1, [])
    assert not (tmp_path / "failures.txt").exists()
    same(again.curves, undisturbed.curves)


def test_sets_of_a_package_that_is_not_installed(tmp_path, monkeypatch):
    """They are missing, not failures: there is nothing wrong with them."""
    from abstain.datasets import loading

    monkeypatch.setattr(loading, "is_there", lambda name: False)
    monkeypatch.setattr(importlib, "import_module", lambda name: __import__("no_such_package"))
    loading._whole.cache_clear()
    session = run([small(sets=("digits",), draws=1, expert_sets=1)], tmp_path, jobs=1)
    assert (session.failures, list(session.missing)) == ([], ["digits"])
    assert "abstain[sklearn]" in session.missing["digits"]


def test_data_that_is_missing_or_damaged(tmp_path, monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = tmp_path / "data"
    data.mkdir()
    (data / "skin.npz").write_bytes(b"no such file")
    study = small(sets=("synthetic", "guide", "skin"), draws=1, expert_sets=1)
    session = run([study], tmp_path / "out", data=data, jobs=1)
    assert (session.n_run, session.n_missing) == (4, 4)
    assert list(session.missing) == ["guide"]
    assert "abstain datasets get guide" in session.missing["guide"]
    assert len(session.failures) == 4
    assert "skin.npz" in session.failures[0]["failed"]
    random = np.random.default_rng(0)
    for name, n_features in (("guide", 4), ("skin", 3)):
        X = random.normal(size=(50, n_features))
        np.savez(data / f"{name}.npz", X=X, y=np.where(random.random(50) < 0.5, 1, -1))
    again = run([study], tmp_path / "out", data=data, jobs=1)
    assert (again.n_run, again.n_kept, again.missing, again.failures) == (8, 4, {}, [])
    (data / "guide.npz").rename(tmp_path / "guide.npz")
    assert run([study], tmp_path / "out", data=data, jobs=1).curves.equals(again.curves)  # nothing is needed of it
    np.savez(data / "guide.npz", X=X[:, [0, 1, 2, 0]], y=np.where(X[:, 0] > 0, 1, -1))
    with pytest.raises(FileError, match="another file of guide"):
        run([study], tmp_path / "out", data=data, jobs=1)
    (tmp_path / "guide.npz").replace(data / "guide.npz")
    assert run([study], tmp_path / "out", data=data, jobs=1).curves.equals(again.curves)
    with pytest.raises(InputError, match="data: expected a folder"):
        run([study], tmp_path / "out", data=tmp_path / "nowhere", jobs=1)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_disk_that_is_full_or_read_only(tmp_path, monkeypatch, number, undisturbed):
    write = results.Journal._write
    lines = []

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def write(self, line):
            lines.append(line)
            if len(lines) > 5:
                self.stream.write(line[: len(line) // 2])
                raise OSError(number, os.strerror(number))
            return self.stream.write(line)

    def full(self, line):
        stream, self._stream = self._stream, Full(self._stream)
        try:
            write(self, line)
        finally:
            self._stream = stream

    monkeypatch.setattr(results.Journal, "_write", full)
    with pytest.raises(FileError, match=f"jobs.jsonl: cannot be written .*{os.strerror(number)}"):
        run([small()], tmp_path, jobs=1)
    monkeypatch.undo()
    session = run([small()], tmp_path, jobs=1)
    assert session.n_kept == 3  # a header, a note, three jobs, half a job
    same(session.curves, undisturbed.curves)


def test_the_results_cannot_be_written(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="results.parquet: cannot be written"):
        run([small()], tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["jobs.jsonl"]


def script(out, jobs):
    return textwrap.dedent(f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(ROOT)!r})
        from tests.experiments.small import small
        from abstain.experiments.runner import run
        if __name__ == "__main__":
            run([small(rounds=20_000, draws=20)], Path({str(out)!r}), jobs={jobs})
    """)


def start(out, jobs):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(ab.__file__).parents[1]), str(ROOT)])}
    return subprocess.Popen([sys.executable, "-c", script(out, jobs)], env=environment, start_new_session=True)


def wait_for_lines(path, n, process):
    deadline = time.monotonic() + 300
    while not path.exists() or path.read_bytes().count(b"\n") < n:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_and_started_again(tmp_path, jobs):
    study = small(rounds=20_000, draws=20)
    process = start(tmp_path / "killed", jobs)
    wait_for_lines(tmp_path / "killed" / "jobs.jsonl", 6, process)
    process.kill()
    process.wait()
    again = run([study], tmp_path / "killed", jobs=1)
    assert again.n_kept >= 4
    assert again.n_run > 0
    same(again.curves, run([study], tmp_path / "whole", jobs=1).curves)


@pytest.mark.long
def test_interrupted(tmp_path):
    out = tmp_path / "out"
    toml = tmp_path / "mine.toml"
    toml.write_text("[studies.mine]\nsets=['synthetic']\ncosts=[0.1]\nlearners=['FS']\nrounds=50_000\ndraws=400")
    environment = os.environ | {"PYTHONPATH": str(Path(ab.__file__).parents[1])}
    command = [sys.executable, "-m", "abstain", "reproduce", str(toml), "--out", str(out), "--jobs", "2"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a child of one that ignores it would, too
    try:
        process = subprocess.Popen(
            command, env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    wait_for_lines(out / "jobs.jsonl", 5, process)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Interrupted" in output
    assert "Traceback" not in errors
    with results.Journal(out) as journal:
        assert len(journal.records) >= 3


def command(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


MINE = """
[studies.mine]
sets = ["synthetic", "guide"]
costs = [0.1]
rounds = 100
experts = { kind = "hyperplanes", n_predictors = 3, n_rings = 4 }
learners = ["UCB-GT", "FS"]
draws = 3
expert_sets = 2
"""


@pytest.mark.long
def test_the_command(tmp_path, monkeypatch):
    monkeypatch.delenv("ABSTAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    result = command(path, "--out", tmp_path / "out", "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "missing: guide" in result.output
    assert "8 jobs run, 0 kept from before, 8 without data, 0 failed" in result.output
    assert len(pl.read_parquet(tmp_path / "out" / "results.parquet")) > 0
    quick = command(path, "--quick", "--out", tmp_path / "out", "--jobs", 1)
    assert "1 jobs run, 2 kept from before" in quick.output  # the draws are the same, the best of two another


def test_the_command_fails_in_words(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CONNECT_SECONDS", 0.5)
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    (tmp_path / "file").write_text("")
    for arguments, words in (
        (["nothing"], "study: expected one of main"),
        ([tmp_path / "no.toml"], "cannot be read"),
        ([path, "--out", tmp_path / "file"], "cannot be written"),
        ([path, "--out", tmp_path / "file" / "deeper"], "cannot be written"),
        ([path, "--data", tmp_path / "nowhere"], "data: expected a folder"),
        ([path, "--out", tmp_path / "out", "--dask", "tcp://127.0.0.1:1"], "dask: expected the address of a scheduler"),
        ([path, "--out", tmp_path / "out", "--dask", "here"], "such as tcp://host:8786, got 'here'"),
    ):
        result = command(*arguments, "--jobs", 1)
        assert result.exit_code == 2, result.output
        assert words in " ".join(result.output.split())
        assert "Traceback" not in result.output
    assert command("--jobs", 0).exit_code == 2

    def failing(*arguments, **options):
        raise RuntimeError("out of [luck]")

    monkeypatch.setattr(jobs, "simulate", failing)
    result = command(path, "--out", tmp_path / "failed", "--jobs", 1)
    assert result.exit_code == 1  # the command worked, a job did not
    assert (
        "failed: synthetic, cost 0.1, expert set 0, draw 0 (and 5 more): RuntimeError: out of [luck]" in result.output
    )


COINS = re.search(
    r"<!-- coins.py -->\n```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text("utf-8"), re.DOTALL
)


def test_a_kind_of_study_from_outside_in_two_processes(tmp_path):
    (tmp_path / "coins.py").write_text(COINS.group(1))
    (tmp_path / "mine.toml").write_text("[studies.fair]\nkind = 'coins:Coins'\ntosses = 4\n")
    (study,) = find(tmp_path / "mine.toml")
    session = run([study], tmp_path / "out", jobs=2)
    assert (session.failures, session.n_run, len(session.frames["coins"])) == ([], 4, 4)
    assert run([study], tmp_path / "out", jobs=2).n_run == 0
    (tmp_path / "coins.py").write_text(COINS.group(1).replace("< 0.5", "< 0.4"))
    (study,) = find(tmp_path / "mine.toml")
    assert run([study], tmp_path / "out", jobs=1).n_run == 4  # other code, other jobs
    sys.modules.pop("coins")
    parts._imported.pop("coins")
