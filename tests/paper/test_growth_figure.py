"""Figure 14: values and bounds are those of the results and the theorems."""

import numpy as np
import polars as pl
import pytest

from abstain import theory
from abstain.experiments import Results, look
from abstain.paper import paper
from abstain.paper.claims import adversarial
from abstain.paper.figures import growth
from abstain.paper.growth import Row

from ..experiments.frames import empty, rows

LONG = (1, 1_000, 30_000, 100_000, 300_000)


def results(frames=None):
    parts = [
        rows("theory", "regions-2", 0.5, name, [50.0 * np.log(t + 1) / t for t in LONG], t=LONG)
        for name in ("UCB", "UCB-NT")
    ]
    parts += [rows("adversarial-streams", "switching", 0.1, "EXP3-ABS", [0.5 / t**0.5 for t in LONG], t=LONG)]
    for K in (4, 16, 64):
        parts += [rows("adversarial-experts", f"leading-{K}", 0.5, adversarial.OURS, 0.01)]
        parts += [rows("adversarial-experts", f"leading-{K}", 0.5, adversarial.BANDIT, 0.01 * K**0.5)]
    return Results(pl.concat(parts), paper().values(), frames=frames)


def test_what_it_shows():
    found = [Row("three", None, d, n, 0, 2.0 * n**0.6) for d in (1, 2) for n in (1_000, 10_000)]
    frame = pl.DataFrame(found, schema=Row._fields, orient="row")
    stochastic, streams, experts, cover = growth.plots(results({"growth": frame}))
    assert stochastic.title == "theorems 3 and 4: regions-2"
    ours = next(line for line in stochastic.lines if line.label == "UCB-NT")
    np.testing.assert_allclose(ours.y[-1], 50.0 * np.log(300_001))
    assert ours.x[0] == 1_000
    bound = 2 * 20 * np.log(300_000) / 0.2 + 5 * 10
    np.testing.assert_allclose(ours.bound[-1], bound)
    assert np.isnan(ours.bound[0])  # above T max Delta
    assert ours.slope[-1] == pytest.approx(ours.y[-1])
    assert ours.slope[0] / ours.slope[-1] == pytest.approx(np.log(1_000) / np.log(300_000))
    (line,) = streams.lines
    assert line.bound[-1] == pytest.approx(theory.exp3_abs_bound(300_000, 21, 0.1, "adaptive"), rel=0.5)
    first, second = experts.lines
    assert (first.x, first.label) == ((4.0, 16.0, 64.0), adversarial.OURS)
    np.testing.assert_allclose(second.bound[1], theory.exp3_bound(10_000, 16))
    np.testing.assert_allclose([one.y for one in cover.lines], [[2.0 * n**0.6 for n in (1_000, 10_000)]] * 2)
    assert cover.lines[1].slope[1] / cover.lines[1].slope[0] == pytest.approx(10**0.75)
    text = growth.caption((stochastic, streams, experts, cover))
    assert f"UCB-NT {50 * np.log(300_001) / bound:.2f}" in text
    assert text.endswith("dotted as T^((d+1)/(d+2)).")
    with look():
        figure = growth.draw((stochastic, streams, experts, cover))
    assert [ax.get_yscale() for ax in figure.axes] == ["log"] * 4
    assert figure.axes[2].get_xticks().tolist() == [4.0, 16.0, 64.0]


def test_without_results():
    assert growth.plots(Results(empty(), paper().values())) is None
    some = growth.plots(results())
    assert len(some) == 3
    with look():
        assert len([ax for ax in growth.draw(some).axes if ax.axison]) == 3
