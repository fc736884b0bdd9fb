"""``abstain datasets``."""

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain.cli import app
from abstain.datasets import known as known_sets


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def run(*words):
    return CliRunner().invoke(app, ["datasets", *map(str, words)])


def test_listing(tmp_path, user):
    np.savez(tmp_path / "guide.npz", X=np.eye(4), y=[0, 1, 1, 1])
    result = run("--data", tmp_path)
    assert result.exit_code == 0, result.output
    lines = {line.split()[1]: line for line in result.output.splitlines() if line.startswith("│")}
    assert set(lines) >= set(ab.datasets.names)
    assert str(tmp_path / "guide.npz") in lines["guide"]
    assert "computed" in lines["synthetic"]
    assert "11,000,000" in lines["higgs"]
    assert "not here" in lines["higgs"]
    assert "abstain datasets get higgs phishing" in result.output
    assert str(user) in result.output
    assert "not here" in run().output


def test_a_folder_that_is_not_there(tmp_path):
    result = run("--data", tmp_path / "none")
    assert result.exit_code == 2
    assert "error: data: expected a folder" in result.output


def test_get(site, tmp_path, monkeypatch, user):
    site.files["/a"] = b"1 1:2\n0 2:1\n"
    known = dataclasses.replace(known_sets.SETS["guide"], files=((f"{site.url}/a",),), rows=2, positives=1)
    monkeypatch.setitem(known_sets.SETS, "guide", known)
    monkeypatch.setitem(known_sets.SETS, "skin", dataclasses.replace(known, name="skin", files=((f"{site.url}/b",),)))
    result = run("get", "skin", "guide", "guide", "synthetic", "nothing[/]")
    assert result.exit_code == 2
    assert "404" in result.output
    assert f"guide: {user / 'guide.npz'}" in result.output
    assert "got 'synthetic', which needs none" in result.output
    assert "got 'nothing[/]'" in result.output
    assert len(site.requests) == 2
    for words in (["get", "guide", "--data", tmp_path / "x"], ["--data", tmp_path / "y", "get", "guide"]):
        assert run(*words).exit_code == 0
    assert (tmp_path / "x" / "guide.npz").is_file()
    assert (tmp_path / "y" / "guide.npz").is_file()


def test_stopped(monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(ab.datasets, "fetch", stop)
    result = run("get", "guide")
    assert result.exit_code == 130
    assert "goes on" in result.output


def test_help():
    assert "--data" in run("--help").output
    assert "NAME" in run("get", "--help").output
    assert run("get").exit_code == 2
