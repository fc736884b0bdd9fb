"""Figures as files."""

import matplotlib
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Circle

from abstain.errors import FileError
from abstain.experiments import Results, draw_panels, figures
from abstain.experiments.style import FULL, STYLES, look
from abstain.paper.figures import bias, graphs, losses, main, sets
from abstain.paper.figures.graphs import PALE

from .test_figures import SIX, curves, played, source

SOME = [
    ("main", "cod-rna", 0.2), ("main", "guide", 0.1), ("regret", "cifar", 0.1), ("regret", "cifar", 0.3),
    ("regret", "covtype", 0.2), ("extreme", "ijcnn", 0.9), ("confidence", "skin", 0.1), ("small", "guide", 0.3),
]  # fmt: skip


@pytest.mark.long
def test_files(tmp_path, monkeypatch):
    monkeypatch.setattr(bias, "ROUNDS", 1000)
    before = dict(matplotlib.rcParams)
    folder = tmp_path / "new" / "figures"
    games = {job.key: job.run(None) for job in (*bias.jobs([]), graphs.GAME)}
    drawn, failed, absent = figures.draw_all(Results(curves(SOME), records=games), folder)
    assert (failed, absent[:2]) == ([], [8, 10])
    assert [one.number for one in drawn if one.number <= 13] == [1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13]
    for one in drawn:
        svg, png, pdf = one.paths
        assert svg.name.startswith(f"figure-{one.number:02d}-")
        assert svg.read_bytes().startswith(b"<?xml")
        assert b"</svg>" in svg.read_bytes()
        assert png.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert pdf.read_bytes().startswith(b"%PDF")
        assert one.title
        assert one.caption.endswith(".")
    assert "Not shown" in next(one.caption for one in drawn if one.number == 13)
    assert {path for one in drawn for path in one.paths} == set(folder.iterdir())  # nothing temporary is left
    assert dict(matplotlib.rcParams) == before


@pytest.mark.long
def test_computed_figures_need_no_results(tmp_path):
    drawn = figures.draw_all(played(), tmp_path).drawn
    assert [one.number for one in drawn] == [1, 2, 6]


def test_panels_of_extreme_costs_have_their_own_scales():
    settings = [("extreme", "ijcnn", 0.001), ("extreme", "ijcnn", 0.9)]
    frame = curves(settings).with_columns(loss=pl.when(pl.col("cost") < 0.1).then("best").otherwise("loss"))
    with look():
        figure = draw_panels(sets.show_extreme(Results(frame)))
    low, high = figure.axes[:2]
    assert low.get_ylim()[1] < 0.5 * high.get_ylim()[1]
    with look():
        shared = draw_panels(sets.show_extreme(Results(frame))._replace(own_scales=False))
    assert shared.axes[0].get_ylim() == shared.axes[1].get_ylim()


def test_graphs_have_loops_and_the_colours_of_bars():
    shown = graphs.three_experts(played(graphs.GAME))
    with look():
        _, *drawn = graphs.draw_three_experts(shown).axes
    assert len(drawn) == 6
    for ax, region in zip(drawn, [*shown.experts.regions, None, None], strict=True):
        assert len(ax.get_lines()) == 3  # a loop each
        nodes = [patch for patch in ax.patches if isinstance(patch, Circle)]
        colours = dict(zip("ijk", (to_hex(node.get_facecolor()) for node in nodes), strict=True))
        if region is None:
            assert set(colours.values()) == {"#ffffff"}  # they are not of an input
        else:
            assert {name for name, colour in colours.items() if colour == PALE.lower()} == set(region.abstaining)


@pytest.mark.long
def test_the_same_picture_is_the_same_file(tmp_path):
    for folder in ("a", "b"):
        with matplotlib.rc_context({"font.size": 20.0 if folder == "b" else 8.0}):
            figures.draw_all(source(SOME), tmp_path / folder, [graphs.FEEDBACK, main.FIGURE])
    first, second = (sorted((tmp_path / folder).glob("*.svg")) for folder in ("a", "b"))
    assert len(first) == 2
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert b"<dc:date>" not in first[0].read_bytes()


def test_axes_have_labels_and_the_legend_all_learners():
    shown = sets.REGRET_FIRST.show(source(SOME))
    with look():
        figure = draw_panels(shown)
    axes = {ax.get_label(): ax for ax in figure.axes}
    assert set(axes) == {"cifar, c = 0.1", "cifar, c = 0.3", "covtype, c = 0.2"}  # holes stay empty
    assert [ax.get_ylabel() for ax in axes.values()] == ["cifar", "", "covtype"]
    assert [ax.get_title() for ax in axes.values()] == ["c = 0.1", "c = 0.3", "c = 0.2"]
    (legend,) = figure.legends
    assert tuple(text.get_text() for text in legend.get_texts()) == SIX
    for ax in axes.values():
        assert ax.get_xscale() == "log"
        assert not ax.get_legend()
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert tuple(lines) == SIX
        for label, line in lines.items():
            assert (to_hex(line.get_color()).upper(), line.get_marker()) == STYLES[label][:2]
            assert line.is_dashed() == (STYLES[label].dash != FULL)
        assert len(ax.collections) == 6  # a band each
    assert figure.get_supxlabel().startswith("round $t$ (log scale")
    assert figure.get_supylabel() == "average regret $R_t / t$ (symlog scale)"


def test_published_points_are_drawn():
    with look():
        figure = main.FIGURE.draw(main.main(source(SOME)))
    regret, fraction, edges = figure.axes[:3]
    assert regret.get_title() == "average regret $R_t / t$ (symlog)"
    assert fraction.get_title() == "fraction abstained"
    assert [len(ax.get_lines()) - 6 for ax in (regret, fraction, edges)] == [4, 4, 3]
    assert list(edges.get_lines()[6].get_ydata()) == [3.29, 3.16, 3.07, 3.07]
    assert [len(ax.get_lines()) for ax in figure.axes[3:]] == [6, 6, 6]
    assert figure.legends[0].get_texts()[-1].get_text() == "published"
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    assert regret.get_xlim()[0] < 10 < 9800 < regret.get_xlim()[1]
    for ax in (regret, fraction, edges):
        low, high = ax.get_ylim()
        assert all(low <= value <= high for line in ax.get_lines() for value in line.get_ydata())


@pytest.mark.parametrize("settings", [[("small", "guide", 0.1)], [("small", "skin", cost) for cost in sets.COSTS]])
def test_the_legend_fits(settings):
    with look():
        figure = draw_panels(sets.show_small(source(settings)))
        figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert 0.0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert all(ax.get_tightbbox().y1 <= box.y0 for ax in figure.axes)


@pytest.mark.long
def test_an_old_figure_stays_if_the_new_one_cannot_be_written(tmp_path, monkeypatch):
    ((svg, *_),) = [one.paths for one in figures.draw_all(source(SOME), tmp_path, [losses.EXAMPLE]).drawn]
    before = svg.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FileError, match=r"figure-06-example.svg: cannot be written \(No space left on device\)"):
        figures.draw_all(source(SOME), tmp_path, [losses.EXAMPLE])
    assert svg.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.long
def test_a_file_instead_of_a_folder(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(FileError, match="taken"):
        figures.draw_all(source(SOME), tmp_path / "taken", [losses.EXAMPLE])
