"""Figure 1: the feedback graph of five experts on an input on which two of them abstain."""

from typing import TYPE_CHECKING

from .figure import Figure
from .graph_drawing import draw_graph, draw_line, legend
from .graphs import Experts, on_a_line
from .style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def feedback(x: float = 0.4) -> Experts:
    """Five experts on a line, and their graph on x."""
    names = [f"ξ{digit}" for digit in "₁₂₃₄₅"]
    return on_a_line(names, [(0.0, 0.6), (0.5, 1.0), (0.2, 0.8), (0.0, 0.3), (0.35, 0.9)], [("x", x, x)])


def caption(shown: Experts) -> str:
    """Who shows whose loss."""
    (region,), n = shown.regions, len(shown.names)
    return (
        f"On the input x = {region.start:g} the experts {' and '.join(region.abstaining)} abstain: following one of "
        f"them shows only the losses of those that abstain, following one of the {n - len(region.abstaining)} that "
        f"predict shows all {n} ({len(region.edges)} edges besides the self-loops)."
    )


def draw(shown: Experts) -> "Drawing":
    """The experts on the line with x, and the graph there."""
    (region,) = shown.regions
    figure = new_figure(9.0, 4.2)
    line, graph = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    draw_line(line, shown)
    legend(line)
    line.axvline(region.start, color="black", linestyle="--", linewidth=1.2)
    line.annotate(f"$x_t$ = {region.start:g}", (region.start, -1.0), (4, 0), textcoords="offset points", va="top")
    draw_graph(graph, shown.names, region.edges, region.abstaining)
    graph.set_title("$G^{\\mathrm{ABS}}_t$ at this $x_t$")
    return figure


FIGURE = Figure(1, "Feedback graph", lambda _: feedback(), draw, caption, "feedback")
