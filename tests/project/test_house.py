"""What is said of the package outside of it: versions, targets, workflows."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ..lowest import lowest

ROOT = Path(__file__).parents[2]


def test_the_lowest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = lowest(ROOT / "pyproject.toml")
    assert [one.partition("=")[0] for one in found[:3]] == ["numpy", "numba", "scipy"]
    assert len(found) == len(project["dependencies"]) + 5 + 3 + 3
    assert all(re.fullmatch(r"[a-z0-9-]+==\d+(\.\d+)+", one) for one in found)
    typer = next(one for one in found if one.startswith("typer=="))
    assert tuple(map(int, typer.removeprefix("typer==").split("."))) >= (0, 12, 4)


def test_what_cannot_be_read_is_said(tmp_path):
    (tmp_path / "p.toml").write_text('[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\n')
    with pytest.raises((ValueError, KeyError)):
        lowest(tmp_path / "p.toml")


def test_python_versions():
    """Those of the metadata are those of the workflow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert named == re.findall(r"3\.\d+", matrix[1]) == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == ">=3.11"


def test_the_workflow_calls_targets_that_are_there():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = {word for step in steps for word in step.split() if step.startswith("make ") and "=" not in word} - {
        "make"
    }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert called <= targets
    in_ci = set(re.findall(r"test[a-z-]*|lint|docs|demo", (ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    assert in_ci <= called | {"tests"}


@pytest.mark.skipif(sys.platform == "win32", reason="its make may be another one")
def test_programs_lie_elsewhere_on_windows():
    for system, folder in (("Windows_NT", ".venv/Scripts"), ("", ".venv/bin")):
        command = ["make", "--dry-run", "--always-make", "bench", f"OS={system}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert f"{folder}/python -m benchmarks" in done.stdout
