"""Figures 1 and 4: feedback graphs of experts on a line, computed from where their rules abstain."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import experts, graphs
from .style import BLUE, GREY, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = np.linspace(0.0, 1.0, 401)[:-1, np.newaxis] + 0.00125
"""The line, as the middles of small pieces: none on a border of a region."""
Edges = frozenset[tuple[str, str]]


class Region(NamedTuple):
    """A piece of the line, or a point of it, and its graph."""

    name: str
    start: float
    end: float
    abstaining: tuple[str, ...]
    edges: Edges
    """G^ABS there, without self-loops, as pairs of names."""


class Experts(NamedTuple):
    """Experts on [0, 1]: where they predict, and their graphs."""

    names: tuple[str, ...]
    predicts: tuple[tuple[tuple[float, float], ...], ...]
    """The intervals on which each expert predicts, found from its rule."""
    regions: tuple[Region, ...]
    subset: Edges
    """G^SUB, without self-loops."""


def _on_a_line(
    names: Sequence[str], predicts: Sequence[tuple[float, float]], regions: Sequence[tuple[str, float, float]]
) -> Experts:
    """Experts that predict inside an interval; what is shown is read back from their advice and graphs."""
    rules = [_inside(low, high) for low, high in predicts]
    pairs = [(_first, rule) for rule in rules]
    abstains = experts.from_functions(pairs).advise(_POINTS).abstains
    subset = np.array([[not (abstains[:, i] & ~abstains[:, j]).any() for j in range(len(rules))] for i in range(len(rules))])
    pool = experts.from_functions(pairs, rule_subset=subset)

    def edges(graph: graphs.FeedbackGraph, at: float) -> Edges:
        now = graphs.Moment(pool, 1, pool.advise([[at]]).abstains[0], np.zeros(pool.n_experts, np.int64), 2.5)
        return frozenset((names[i], names[j]) for i, j in np.argwhere(graph.matrix(now)) if i != j)

    def silent(at: float) -> tuple[str, ...]:
        rule_abstains = pool.advise([[at]]).abstains[0][pool.rule_of]
        return tuple(name for name, quiet in zip(names, rule_abstains, strict=True) if quiet)

    middles = [(start + end) / 2.0 for _, start, end in regions]
    return Experts(
        tuple(names),
        tuple(_intervals(~abstains[:, rule]) for rule in pool.rule_of),
        tuple(
            Region(name, start, end, silent(middle), edges(graphs.abstention(), middle))
            for (name, start, end), middle in zip(regions, middles, strict=True)
        ),
        edges(graphs.subset(), middles[0]),
    )


def _first(x: NDArray[np.float64]) -> float:
    return float(x[0])


def _inside(low: float, high: float) -> Callable[[NDArray[np.float64]], float]:
    return lambda x: min(float(x[0]) - low, high - float(x[0]))


def _intervals(where: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """The runs of true among the small pieces of the line, as intervals."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return tuple((float(a) / len(where), float(b) / len(where)) for a, b in change.reshape(-1, 2))


def feedback(x: float = 0.4) -> Experts:
    """Figure 1: five experts and an input on which two of them abstain."""
    names = [f"ξ{digit}" for digit in "₁₂₃₄₅"]
    return _on_a_line(names, [(0.0, 0.6), (0.5, 1.0), (0.2, 0.8), (0.0, 0.3), (0.35, 0.9)], [("x", x, x)])


def three_experts() -> Experts:
    """Figure 4: i predicts on A and B, j on A, k on D; nobody on C."""
    quarters = [(name, k / 4.0, (k + 1) / 4.0) for k, name in enumerate("ABCD")]
    return _on_a_line("ijk", [(0.0, 0.5), (0.0, 0.25), (0.75, 1.0)], quarters)


def describe_feedback(shown: Experts) -> str:
    """Figure 1 in a sentence."""
    (region,), n = shown.regions, len(shown.names)
    return (
        f"On the input x = {region.start:g} the experts {' and '.join(region.abstaining)} abstain: following one of "
        f"them shows only the losses of those that abstain, following one of the {n - len(region.abstaining)} that "
        f"predict shows all {n} ({len(region.edges)} edges besides the self-loops)."
    )


def describe_three_experts(shown: Experts) -> str:
    """Figure 4 in a sentence."""
    counts = ", ".join(f"{len(region.edges)} on {region.name}" for region in shown.regions)
    kept = ", ".join(f"{i} → {j}" for i, j in sorted(shown.subset))
    return (
        f"The instance's own graph changes with the region x falls in (edges besides self-loops: {counts}), while the "
        f"subset graph, which is safe for all of them, keeps only {kept}."
    )


def draw_feedback(shown: Experts) -> "Figure":
    """The experts on the line with x, and the graph there."""
    (region,) = shown.regions
    figure = new_figure(9.0, 3.9)
    line, graph = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    _draw_line(line, shown)
    line.axvline(region.start, color="black", linestyle="--", linewidth=1.2)
    line.annotate(f"$x_t$ = {region.start:g}", (region.start, 1.0), (4, -2), "data", textcoords="offset points", va="top")
    line.set_ylim(len(shown.names) - 0.4, -1.1)
    line.texts[-1].xy = (region.start, -1.1)
    _draw_graph(graph, shown.names, region.edges, region.abstaining)
    graph.set_title("$G^{ABS}_t$ at this $x_t$")
    return figure


def draw_three_experts(shown: Experts) -> "Figure":
    """The experts on the line; below each region its graph, and G^SUB beside them."""
    figure = new_figure(9.0, 4.3)
    n = len(shown.regions)
    places = figure.add_gridspec(2, n + 1, height_ratios=[1.0, 1.15])
    line = figure.add_subplot(places[0, :n])
    _draw_line(line, shown)
    for region in shown.regions:
        line.axvline(region.end, color=GREY, linewidth=0.8, linestyle=":")
        line.text((region.start + region.end) / 2.0, -0.75, region.name, ha="center", fontweight="bold")
    line.set_ylim(len(shown.names) - 0.4, -1.1)
    for column, region in enumerate(shown.regions):
        ax = figure.add_subplot(places[1, column])
        _draw_graph(ax, shown.names, region.edges, region.abstaining)
        ax.set_title(f"$G^{{ABS}}$ on {region.name}")
    ax = figure.add_subplot(places[1, n])
    _draw_graph(ax, shown.names, shown.subset, ())
    ax.set_title("$G^{SUB}$, always")
    return figure


def _draw_line(ax: "Axes", shown: Experts) -> None:
    """A bar an expert: full where it predicts, pale and hatched where it abstains."""
    for row, intervals in enumerate(shown.predicts):
        ax.barh(row, 1.0, height=0.5, color="white", edgecolor="#AAAAAA", hatch="////", linewidth=0.6)
        for low, high in intervals:
            ax.barh(row, high - low, left=low, height=0.5, color=BLUE)
    from matplotlib.patches import Patch

    ax.legend(
        handles=[Patch(color=BLUE, label="predicts"), Patch(facecolor="white", edgecolor="#AAAAAA", hatch="////", label="abstains")],
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False,
    )  # fmt: skip
    ax.set(xlim=(0.0, 1.0), xlabel="input $x$", yticks=range(len(shown.names)), ylabel="expert")
    ax.set_yticklabels(shown.names)
    ax.grid(visible=False)


def _draw_graph(ax: "Axes", names: Sequence[str], edges: Edges, abstaining: Sequence[str]) -> None:
    """The graph with its self-loops; abstaining experts in grey."""
    matrix = [[i == j or (i, j) in edges for j in names] for i in names]
    graphs.draw(matrix, names, ax)
    for text in ax.texts:
        box = text.get_bbox_patch()
        if text.get_text() in abstaining and box is not None:
            box.set(facecolor="#DDDDDD", hatch="////", edgecolor=GREY)
