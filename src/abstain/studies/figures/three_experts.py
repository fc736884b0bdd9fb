"""Figure 4: the graphs of three experts, the instance's own by region, the subset graph and UCB-GT's."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...learners import UCBGT
from ...simulate import simulate
from .figure import Figure
from .graph_drawing import draw_graph, draw_line, legend
from .graphs import Edges, Experts, named, on_a_line, pool_of
from .style import GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

NAMES = "ijk"
BORDERS = (0.0, 0.4, 0.5, 0.9, 1.0)
"""Of the regions A to D; x is uniform, so that B and D are seldom seen."""
PREDICTS = ((0.0, 0.5), (0.0, 0.4), (0.9, 1.0))
"""i on A and B, j on A, k on D; nobody on C."""
ROUNDS = (1, 500, 5_000)
"""The rounds whose graph is looked at; the second is drawn."""
COST = 0.2


class ThreeExperts(NamedTuple):
    """What figure 4 shows."""

    experts: Experts
    estimated: dict[int, Edges]
    """UCB-GT's graph, by round, without self-loops."""


def three_experts() -> ThreeExperts:
    """The regions and their graphs, and UCB-GT played on uniform inputs whose labels are all +1."""
    regions = [(name, BORDERS[k], BORDERS[k + 1]) for k, name in enumerate("ABCD")]
    X = np.random.default_rng(0).uniform(size=(max(ROUNDS), 1))
    learner, estimated = UCBGT(pool_of(PREDICTS), cost=COST), {}
    for t in ROUNDS:
        before = X[learner.round : t - 1]
        if len(before):
            simulate(learner, before, np.ones(len(before)))
        estimated[t] = named(NAMES, learner.graph.matrix(learner.moment(X[t - 1])))
    return ThreeExperts(on_a_line(NAMES, PREDICTS, regions), estimated)


def caption(shown: ThreeExperts) -> str:
    """How many edges the graphs have."""
    counts = ", ".join(f"{len(region.edges)} on {region.name}" for region in shown.experts.regions)
    kept = ", ".join(f"{i} → {j}" for i, j in sorted(shown.experts.subset))
    later = ", ".join(f"{len(edges)} in round {t:,}" for t, edges in shown.estimated.items())
    return (
        f"The instance's own graph changes with the region x falls in (edges besides self-loops: {counts}). The subset "
        f"graph, which is safe for all of them, keeps only {kept}. UCB-GT's graph, here for uniform x, begins complete "
        f"and loses an edge once the region where it misleads was seen too often, i → k that of D ({later}). Every "
        f"expert sees its own loss, hence the loops."
    )


def draw(shown: ThreeExperts) -> "Drawing":
    """The experts on the line; below, the graph of each region, and beside these G^SUB and UCB-GT's."""
    regions, names = shown.experts.regions, shown.experts.names
    n = len(regions)
    figure = new_figure(11.0, 4.2)
    places = figure.add_gridspec(2, n + 2, height_ratios=[1.0, 1.25])
    line = figure.add_subplot(places[0, :])
    draw_line(line, shown.experts)
    legend(line, any_input=True)
    line.set_xticks([0.0, *(region.end for region in regions)])
    for region in regions:
        line.axvline(region.end, color=GREY, linewidth=0.8, linestyle=":")
        line.text((region.start + region.end) / 2.0, -0.75, region.name, ha="center", fontweight="bold")
    drawn = ROUNDS[1]
    graphs: list[tuple[str, Edges, tuple[str, ...] | None]] = [
        *((f"$G^{{\\mathrm{{ABS}}}}$ on {one.name}", one.edges, one.abstaining) for one in regions),
        ("$G^{\\mathrm{SUB}}$, always", shown.experts.subset, None),
        (f"UCB-GT's, $t$ = {drawn:,}", shown.estimated[drawn], None),
    ]
    for column, (title, edges, abstaining) in enumerate(graphs):
        ax = figure.add_subplot(places[1, column])
        draw_graph(ax, names, edges, abstaining)
        ax.set_title(title)
    return figure


FIGURE = Figure(4, "Graphs of three experts", lambda _: three_experts(), draw, caption, "three-experts")
