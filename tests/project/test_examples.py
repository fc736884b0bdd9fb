"""The scripts of the gallery, and the README's picture: each runs, and draws."""

import os
import re
import runpy
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def apart(tmp_path, monkeypatch):
    """Pictures are drawn without a screen, and nothing is left behind: scripts run in a copy of their folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path / "examples")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    previous = mpl.get_backend()
    mpl.use("Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
    mpl.use(previous)


def drawn(script):
    """The number of lines in each panel of what a script draws."""
    import matplotlib.pyplot as plt

    shown, numbers = [], []

    def show():
        plt.gcf().canvas.draw()
        shown.extend(len(axes.lines) for axes in plt.gcf().axes)
        numbers.extend(label.get_text() for axes in plt.gcf().axes for label in axes.get_xticklabels())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "show", show)
        made = runpy.run_path(script)
    assert [number for number in numbers if re.search(r"\d{4}", number)] == [], "1,000 rather than 1000"
    return shown, made


def test_bias_problem(capsys):
    lines, made = drawn("plot_1_bias_problem.py")
    assert lines == [made["RUNS"]] * 3
    out = capsys.readouterr().out
    trapped = [int(line.split(": ")[1].split()[0]) for line in out.splitlines() if "stay with red" in line]
    assert trapped[0] > made["RUNS"] / 2
    assert trapped[1:] == [0, 0]


def test_regret_is_below_theory():
    lines, made = drawn("plot_2_regret_and_theory.py")
    assert lines == [4, 4]
    for (_, rate), runs in made["regret"].items():
        bound = made["ab"].theory.exp3_abs_bound(made["ROUNDS"], made["experts"].n_experts, made["COST"], rate)
        assert 0 < runs[:, -1].mean() < bound


@pytest.mark.long
def test_own_learner():
    lines, made = drawn("plot_3_own_learner.py")
    assert lines == [4]
    assert set(made["results"]["learner"]) == {"UCB-GT", "FS", "greedy, 0.1", "greedy, 0.01"}


def test_late_labels():
    lines, made = drawn("plot_4_late_labels.py")
    assert lines == [4, 4]
    for name in made["KINDS"]:
        final = [made["regret"][name, delay][-1] for delay in made["DELAYS"]]
        assert final == sorted(final)


def test_confidence_thresholds():
    lines, made = drawn("plot_5_confidence_thresholds.py")
    assert lines == [2, 2]
    best = min(map(min, made["fixed"].values()))
    assert best <= made["price"].mean() < made["REVIEW"]


@pytest.mark.long
def test_the_picture_of_the_readme(tmp_path):
    shutil.copy(ROOT / "docs" / "pictures" / "demo.py", tmp_path)
    runpy.run_path(str(tmp_path / "demo.py"))
    assert "<svg" in (tmp_path / "demo.svg").read_text(encoding="utf-8")
