"""Figures 1 and 4: feedback graphs of experts on a line."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import __version__, experts, graphs
from ...experiments import BLUE, GREY, Figure, Job, Record, Results, new_figure
from ...learners import UCBGT
from ...simulate import simulate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_POINTS = np.linspace(0.0, 1.0, 401)[:-1, np.newaxis] + 0.00125
"""The middles of small pieces of the line: none is on a border of a region."""
Edges: TypeAlias = frozenset[tuple[str, str]]


class Region(NamedTuple):
    """A piece or a point of the line, and its graph."""

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


def on_a_line(
    names: Sequence[str], predicts: Sequence[tuple[float, float]], regions: Sequence[tuple[str, float, float]]
) -> Experts:
    """Experts that predict inside an interval. What is shown comes from their advice and graphs."""
    pool = pool_of(predicts)
    abstains = pool.advise(_POINTS).abstains

    def edges(graph: graphs.FeedbackGraph, at: float) -> Edges:
        now = graphs.Moment(pool, 1, pool.advise([[at]]).abstains[0], np.zeros(pool.n_experts, np.int64), 2.5)
        return named(names, graph.matrix(now))

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


def pool_of(predicts: Sequence[tuple[float, float]]) -> experts.ExpertSet:
    """Experts that predict +1 inside an interval, with the subset relation of their rules."""
    pairs = [(_first, _inside(low, high)) for low, high in predicts]
    abstains = experts.from_functions(pairs).advise(_POINTS).abstains
    subset = ~(abstains[:, :, np.newaxis] & ~abstains[:, np.newaxis, :]).any(axis=0)
    return experts.from_functions(pairs, rule_subset=subset)


def named(names: Sequence[str], matrix: NDArray[np.bool_]) -> Edges:
    """The edges of a graph by the names of the experts, without self-loops."""
    return frozenset((names[i], names[j]) for i, j in np.argwhere(matrix) if i != j)


def _first(x: NDArray[np.float64]) -> float:
    return float(x[0])


def _inside(low: float, high: float) -> Callable[[NDArray[np.float64]], float]:
    return lambda x: min(float(x[0]) - low, high - float(x[0]))


def _intervals(where: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """The runs of true among the small pieces of the line, as intervals."""
    change = np.flatnonzero(np.diff(np.concatenate([[False], where, [False]]).astype(int)))
    return tuple((float(a) / len(where), float(b) / len(where)) for a, b in change.reshape(-1, 2))


PALE = "#D9D9D9"
SIZE, LOOP, OUT = 0.27, 0.21, 1.36
"""Radii of a node and its self-loop, and the distance of the loop from the centre; nodes have distance 1."""
OPENING = 50.0
"""Half the angle of the loop that its node hides, in degrees."""


def draw_line(ax: "Axes", shown: Experts) -> None:
    """One bar per expert: blue where it predicts, pale where it abstains."""
    for row, intervals in enumerate(shown.predicts):
        ax.barh(row, 1.0, height=0.5, color=PALE)
        for low, high in intervals:
            ax.barh(row, high - low, left=low, height=0.5, color=BLUE)
    ax.set(xlim=(0.0, 1.0), xlabel="input $x$", yticks=range(len(shown.names)), ylabel="expert")
    ax.set_yticklabels(shown.names)
    ax.set_ylim(len(shown.names) - 0.4, -1.1)
    ax.grid(visible=False)


def legend(ax: "Axes", any_input: bool = False) -> None:
    """What the colours of bars and nodes mean."""
    from matplotlib.patches import Patch

    handles = [Patch(color=BLUE, label="predicts"), Patch(color=PALE, label="abstains")]
    if any_input:
        handles.append(Patch(facecolor="white", edgecolor="black", label="either: the graph is for any $x$"))
    ax.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(handles), frameon=False)


def draw_graph(ax: "Axes", names: Sequence[str], edges: Edges, abstaining: Collection[str] | None) -> None:
    """The graph with its self-loops. Nodes are blue or pale as the bars are, or white for any input (None)."""
    from matplotlib.patches import Circle, FancyArrowPatch

    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(names)) / len(names)
    places = dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    for i, j in sorted(edges):
        both = (j, i) in edges
        if both and j < i:
            continue
        along = (places[j] - places[i]) / np.linalg.norm(places[j] - places[i])
        start, end = places[i] + 1.12 * SIZE * along, places[j] - 1.12 * SIZE * along
        head = "<|-|>" if both else "-|>"
        ax.add_patch(
            FancyArrowPatch(start, end, arrowstyle=head, color=GREY, mutation_scale=11, shrinkA=0, shrinkB=0, lw=1.3)
        )
    for angle, (name, place) in zip(np.degrees(angles), places.items(), strict=True):
        around = np.radians(np.linspace(angle + 180.0 + OPENING, angle + 540.0 - OPENING, 40))
        loop = OUT * place + LOOP * np.column_stack([np.cos(around), np.sin(around)])
        ax.plot(*loop[:-3].T, color=GREY, lw=1.3, zorder=1)
        ax.add_patch(
            FancyArrowPatch(loop[-5], loop[-1], arrowstyle="-|>", color=GREY, mutation_scale=9, shrinkA=0, shrinkB=0)
        )
        if abstaining is None:
            face, edge, text = "white", "black", "black"
        elif name in abstaining:
            face, edge, text = PALE, GREY, "black"
        else:
            face, edge, text = BLUE, BLUE, "white"
        ax.add_patch(Circle(place, SIZE, facecolor=face, edgecolor=edge, lw=1.2, zorder=2))
        ax.annotate(name, place, ha="center", va="center_baseline", color=text, zorder=3)
    reach = OUT + LOOP + 0.1
    low = min(-1.0 - SIZE, min(float(place[1]) for place in places.values()) * reach) if len(names) != 3 else -0.95
    ax.set(xlim=(-reach, reach), ylim=(low, reach), aspect="equal")
    ax.axis("off")


def feedback(x: float = 0.4) -> Experts:
    """Five experts on a line, and their graph on x."""
    names = [f"ξ{digit}" for digit in "₁₂₃₄₅"]
    return on_a_line(names, [(0.0, 0.6), (0.5, 1.0), (0.2, 0.8), (0.0, 0.3), (0.35, 0.9)], [("x", x, x)])


def caption_feedback(shown: Experts) -> str:
    """Which experts reveal which losses."""
    (region,), n = shown.regions, len(shown.names)
    return (
        f"On the input x = {region.start:g} the experts {' and '.join(region.abstaining)} abstain: following one of "
        f"them shows only the losses of those that abstain, following one of the {n - len(region.abstaining)} that "
        f"predict shows all {n} ({len(region.edges)} edges besides the self-loops)."
    )


def draw_feedback(shown: Experts) -> "Drawing":
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


FEEDBACK = Figure(1, "Feedback graph", lambda _: feedback(), draw_feedback, caption_feedback, "feedback")


NAMES = "ijk"
BORDERS = (0.0, 0.4, 0.5, 0.9, 1.0)
"""The borders of the regions A to D. Inputs are uniform, so B and D are rare."""
PREDICTS = ((0.0, 0.5), (0.0, 0.4), (0.9, 1.0))
"""i predicts on A and B, j on A, k on D, none on C."""
ROUNDS = (1, 500, 5_000)
"""The graph is kept in these rounds; the second is drawn."""
COST = 0.2


@dataclass(frozen=True)
class ThreeExpertsGame(Job):
    """UCB-GT on uniform inputs with labels +1."""

    rounds: tuple[int, ...] = ROUNDS
    version: str = __version__

    def __str__(self) -> str:
        return "UCB-GT with three experts, for figure 4"

    def run(self, data: str | None) -> Record:
        """Play it: the edges of UCB-GT's graph in each of the rounds, as pairs of names."""
        X = np.random.default_rng(0).uniform(size=(max(self.rounds), 1))
        learner, edges = UCBGT(pool_of(PREDICTS), cost=COST), []
        for t in self.rounds:
            before = X[learner.round : t - 1]
            if len(before):
                simulate(learner, before, np.ones(len(before)))
            edges.append(sorted(named(NAMES, learner.graph.matrix(learner.moment(X[t - 1])))))
        return {"edges": edges}


GAME = ThreeExpertsGame()


class ThreeExperts(NamedTuple):
    """What figure 4 shows."""

    experts: Experts
    estimated: dict[int, Edges]
    """UCB-GT's graph by round, without self-loops."""


def three_experts(results: Results) -> ThreeExperts | None:
    """The regions with their graphs, and UCB-GT's graph in three rounds of the game."""
    played = results.records.get(GAME.key)
    if played is None:
        return None
    regions = [(name, BORDERS[k], BORDERS[k + 1]) for k, name in enumerate("ABCD")]
    edges = (frozenset((i, j) for i, j in pairs) for pairs in played["edges"])
    return ThreeExperts(on_a_line(NAMES, PREDICTS, regions), dict(zip(ROUNDS, edges, strict=True)))


def caption_three_experts(shown: ThreeExperts) -> str:
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


def draw_three_experts(shown: ThreeExperts) -> "Drawing":
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


THREE_EXPERTS = Figure(
    4, "Graphs of three experts", three_experts, draw_three_experts, caption_three_experts, "three-experts",
    jobs=lambda studies: [GAME],
)  # fmt: skip
