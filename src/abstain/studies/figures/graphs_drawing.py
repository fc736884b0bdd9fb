"""How figures 1 and 4 are drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import graphs
from .graphs import Edges, Experts
from .style import BLUE, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALE = "#D9D9D9"


def draw_feedback(shown: Experts) -> "Figure":
    """The experts on the line with x, and the graph there."""
    (region,) = shown.regions
    figure = new_figure(9.0, 3.9)
    line, graph = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _draw_line(line, shown)
    line.axvline(region.start, color="black", linestyle="--", linewidth=1.2)
    line.annotate(f"$x_t$ = {region.start:g}", (region.start, -1.0), (4, 0), textcoords="offset points", va="top")
    line.set_ylim(len(shown.names) - 0.4, -1.1)
    _draw_graph(graph, shown.names, region.edges, region.abstaining)
    graph.set_title("$G^{\\mathrm{ABS}}_t$ at this $x_t$")
    return figure


def draw_three_experts(shown: Experts) -> "Figure":
    """The experts on the line; below each region its graph, and G^SUB beside them."""
    figure = new_figure(9.0, 4.2)
    n = len(shown.regions)
    places = figure.add_gridspec(2, n + 1, height_ratios=[1.0, 1.2])
    line = figure.add_subplot(places[0, :n])
    _draw_line(line, shown)
    line.set_xticks([0.0, *(region.end for region in shown.regions)])
    for region in shown.regions:
        line.axvline(region.end, color=GREY, linewidth=0.8, linestyle=":")
        line.text((region.start + region.end) / 2.0, -0.75, region.name, ha="center", fontweight="bold")
    line.set_ylim(len(shown.names) - 0.4, -1.1)
    for column, region in enumerate(shown.regions):
        ax = figure.add_subplot(places[1, column])
        _draw_graph(ax, shown.names, region.edges, region.abstaining)
        ax.set_title(f"$G^{{\\mathrm{{ABS}}}}$ on {region.name}")
    ax = figure.add_subplot(places[1, n])
    _draw_graph(ax, shown.names, shown.subset, ())
    ax.set_title("$G^{\\mathrm{SUB}}$, always")
    return figure


def _draw_line(ax: "Axes", shown: Experts) -> None:
    """A bar an expert: blue where it predicts, pale where it abstains."""
    from matplotlib.patches import Patch

    for row, intervals in enumerate(shown.predicts):
        ax.barh(row, 1.0, height=0.5, color=PALE)
        for low, high in intervals:
            ax.barh(row, high - low, left=low, height=0.5, color=BLUE)
    ax.legend(
        handles=[Patch(color=BLUE, label="predicts"), Patch(color=PALE, label="abstains")],
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False,
    )  # fmt: skip
    ax.set(xlim=(0.0, 1.0), xlabel="input $x$", yticks=range(len(shown.names)), ylabel="expert")
    ax.set_yticklabels(shown.names)
    ax.grid(visible=False)


def _draw_graph(ax: "Axes", names: Sequence[str], edges: Edges, abstaining: Sequence[str]) -> None:
    """The graph with its self-loops; abstaining experts are pale, as their bars."""
    matrix = [[i == j or (i, j) in edges for j in names] for i in names]
    graphs.draw(matrix, [name.center(3) for name in names], ax)
    ax.set(xlim=(-1.25, 1.25), ylim=(-0.85 if len(names) == 3 else -1.15, 1.3))
    for text in ax.texts:
        box = text.get_bbox_patch()
        if text.get_text().strip() in abstaining and box is not None:
            box.set(facecolor=PALE, edgecolor=GREY)
