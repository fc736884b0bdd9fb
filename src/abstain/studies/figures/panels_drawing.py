"""How a grid of panels is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .panels import START, Grid, Panel
from .style import band, legend, new_figure, plain, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINEAR = 0.01
"""Regret below this is drawn on a linear scale, above on a logarithmic one."""
_TICKS = (-0.3, -0.1, -0.03, -0.01, 0.0, 0.01, 0.03, 0.1, 0.3, 1.0)


def draw(shown: Grid) -> "Figure":
    """One axis a panel, t on a log scale; panels of a row that show the same share their scale."""
    n_rows, n_columns = len(shown.rows), len(shown.columns)
    width = 9.0 if n_columns <= 4 else 12.0
    figure = new_figure(max(5.0, width * min(1.0, (n_columns + 0.6) / 3)), 0.9 + n_rows * (2.5 if n_rows < 3 else 1.8))
    places = figure.add_gridspec(n_rows, n_columns)
    axes: dict[tuple[int, int], Axes] = {}
    scales: dict[tuple[int, int | str], Axes] = {}
    sharing: dict[tuple[int, int | str], list[Panel]] = {}
    titles: dict[tuple[int, int], str] = {}
    for panel in shown.panels:
        row, column = shown.rows.index(panel.row), shown.columns.index(panel.column)
        scale = (row, column if shown.own_scales else panel.quantity)
        ax = figure.add_subplot(places[row, column], sharey=scales.get(scale))
        ax.tick_params(labelleft=scale not in scales)
        scales.setdefault(scale, ax)
        sharing.setdefault(scale, []).append(panel)
        axes[row, column] = ax
        if panel.title:
            titles[row, column] = plain(panel.title)
        ax.set_label(panel.title or f"{panel.row}, {panel.column}")
        _draw_lines(ax, panel)
    for scale, ax in scales.items():
        _fit(ax, sharing[scale])
    rounds = [t for panel in shown.panels for line in panel.lines for t in line.t]
    rounds += [t for panel in shown.panels for marks in panel.published for t in marks.t]
    for (row, column), ax in axes.items():
        ax.set_xlim(min(rounds) / 1.25, max(rounds) * 1.25)  # the same for all: only the lowest has numbers
        if not titles and column == min(c for r, c in axes if r == row):
            ax.set_ylabel(plain(shown.rows[row]), fontweight="bold")
        if titles or row == min(r for r, c in axes if c == column):
            ax.set_title(titles.get((row, column), shown.columns[column]))
        ax.tick_params(labelbottom=row == max(r for r, c in axes if c == column))
    figure.supxlabel(f"round $t$ (log scale, from {START} on)", fontsize=10)
    if shown.label:
        figure.supylabel(shown.label, fontsize=10)
    legend(figure, shown.learners, any(panel.published for panel in shown.panels))
    return figure


def _draw_lines(ax: "Axes", panel: Panel) -> None:
    """Mean, band and markers of each learner, and the published points as open markers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    look = styles(line.learner for line in panel.lines)
    for k, line in enumerate(panel.lines):
        every = max(1, len(line.t) // 6)
        markers = range(k * every // 6, len(line.t), every)  # not one on top of the other
        band(ax, line.t, line.mean, panel.band(line), look[line.learner], line.learner, markers)
    for marks in panel.published:
        style = styles([marks.learner])[marks.learner]
        ax.plot(
            marks.t, marks.value, color=style.colour, marker=style.marker, linestyle="", fillstyle="none",
            markersize=9, markeredgewidth=1.5, zorder=5, clip_on=False,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    if panel.quantity == "regret":  # a scale on which all learners can be told apart, and 0 is there
        ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
        ax.yaxis.set_major_locator(FixedLocator(_TICKS))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())


def _fit(ax: "Axes", panels: Sequence[Panel]) -> None:
    """Limits by the lines and marks: bands that reach far below 0 in the first rounds are cut."""
    lines = [line for panel in panels for line in panel.lines]
    values = [value for line in lines for value in line.mean]
    values += [value for panel in panels for marks in panel.published for value in marks.value]
    high = max(value for panel in panels for line in panel.lines for value in panel.band(line)[1])
    top = max(high, *values)
    low = min(-0.2 * LINEAR, 1.1 * min(values)) if panels[0].quantity == "regret" else -0.03 * top
    ax.set_ylim(low, (1.25 if panels[0].quantity == "regret" else 1.06) * top)
