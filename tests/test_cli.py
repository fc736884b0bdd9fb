"""The command, and what importing the library costs."""

import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain import demonstration
from abstain.cli import app


def test_demo(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "new"), "--rounds", "500"])
    assert result.exit_code == 0, result.output
    for word in (
        "UCB-NT",
        "UCB-GT",
        "EXP3-ABS",
        "FS",
        "regret",
        "abstained",
        "edges",
        "4,000,000",
        "compiled",
        "demo.png",
    ):
        assert word in result.output
    assert (tmp_path / "new" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_says_what_is_wrong(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    result = CliRunner().invoke(app, ["demo", "--out", str(file)])
    assert result.exit_code == 1
    assert "expected a folder" in result.output
    assert CliRunner().invoke(app, ["demo", "--cost", "2"]).exit_code == 2


def test_what_the_figure_shows():
    X, y = ab.datasets.load("synthetic", n=100, seed=0)
    experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
    trace = ab.simulate(ab.UCBGT(experts, cost=0.2), X, y, checkpoints=[1, 10, 100])
    best = ab.best_in_hindsight(experts, X, y, cost=0.2)
    curve = demonstration.curve(trace, best)
    np.testing.assert_allclose(curve.regret, trace.regret(best)[[0, 9, 99]] / [1, 10, 100])
    np.testing.assert_allclose(curve.abstained[-1], trace.abstained.mean())
    np.testing.assert_array_equal(curve.edges, trace.edges)
    figure = demonstration.draw({"UCB-GT": curve}, trace.checkpoints)
    assert [panel.get_xscale() for panel in figure.axes] == ["log"] * 3
    assert all(panel.get_xlabel() and panel.get_title() for panel in figure.axes)


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
