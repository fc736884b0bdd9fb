"""The graphs of the library, how to get one by name, how files describe one, and how to draw one."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.extras import need
from .._core.registry import as_plain, name_of
from .._core.validation import is_trusted, trusted
from ..errors import InputError, shown
from ..experts import ExpertSet
from ..typing import Bools
from .base import ABSTENTION, COMPLETE, ESTIMATED, RELATION, SELF_LOOPS, FeedbackGraph, Moment, as_edges, kinds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class SelfLoops(FeedbackGraph):
    """Only the chosen expert is updated: UCB."""

    kernel = SELF_LOOPS

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.asarray(np.arange(now.experts.n_experts) == expert)


class Complete(FeedbackGraph):
    """Every expert is updated in every round: full information, outside the protocol."""

    kernel = COMPLETE
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.ones(now.experts.n_experts, np.bool_)


class Subset(FeedbackGraph):
    """G^SUB (section 4.3): i -> j if j abstains wherever i does, so that choosing i never hides j's loss."""

    kernel = RELATION
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        rule_of = now.experts.rule_of
        return np.asarray(self.relation(now.experts)[rule_of[expert], rule_of])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools:
        if experts.rule_subset is None:
            raise InputError(
                "graph: 'subset' needs the subset relation between the rules, which is not known for these experts; "
                "give it as rule_subset= when you make them, define find_subset(), or use another graph"
            )
        return experts.rule_subset


class Fixed(FeedbackGraph):
    """Any graph, as a matrix (K, K); see `fixed`."""

    kernel = RELATION

    def __init__(self, edges: ArrayLike) -> None:
        self.edges = as_edges(edges)

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.array(self.edges[expert])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools:
        if len(self.edges) != experts.n_experts:
            raise InputError(f"matrix: expected {experts.n_experts} experts, got {len(self.edges)}")
        return self.edges

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.edges)} experts, {int(self.edges.sum())} edges)"


class Abstention(FeedbackGraph):
    """G^ABS_t (section 2), the instance's own: a predicting expert shows all losses, an abstaining one the cost.

    It depends on x_t, so estimates made with it are biased (section 4.1).
    """

    kernel = ABSTENTION
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        abstains = now.abstains[now.experts.rule_of]
        return abstains if abstains[expert] else np.ones_like(abstains)


class Estimated(FeedbackGraph):
    """UCB-GT's graph (section 4.4): j -> i if j has hardly ever abstained when i predicted.

    The edge exists iff ``phat_{j,i}^{t-1} <= gamma_{i,t-1}``, with ``phat`` the fraction of the rounds before t in
    which j abstained and i predicted and ``gamma_{i,t-1} = sqrt(2 beta Q_{i,t-1} log t) / ((K-1)(t-1))``.
    """

    kernel = ESTIMATED
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        if now.disagreements is None:
            raise InputError("now: the estimated graph needs the counts of disagreements, got none")
        rule_of, others = now.experts.rule_of, now.experts.n_experts - 1
        times = now.disagreements[rule_of[expert], rule_of]
        return np.asarray(others * times <= np.sqrt(2.0 * now.beta * now.updates * np.log(now.round)))


def self_loops() -> SelfLoops:
    """Return the graph in which only the chosen expert is updated."""
    return SelfLoops()


def complete() -> Complete:
    """Return the graph in which every expert is updated in every round; it needs all labels."""
    return Complete()


def subset() -> Subset:
    """Return the graph with an edge i -> j if j abstains wherever i does; the experts must know that relation."""
    return Subset()


def abstention() -> Abstention:
    """Return what the protocol shows: all losses if the choice predicts, else those of the abstaining experts."""
    return Abstention()


def estimated() -> Estimated:
    """Return UCB-GT's graph, estimated from the abstentions so far."""
    return Estimated()


def fixed(matrix: ArrayLike) -> Fixed:
    """Return a graph that never changes.

    Args:
        matrix: 1 or True at [i, j] if choosing expert i updates expert j (K, K).

    Returns:
        The graph.

    Raises:
        InputError: The matrix is not square, or has other entries than 0 and 1.
    """
    return Fixed(matrix)


_WORDS = {
    "subset": subset,
    "abstention": abstention,
    "self_loops": self_loops,
    "complete": complete,
    "estimated": estimated,
}


def get(graph: str | FeedbackGraph) -> FeedbackGraph:
    """Return a graph by its name.

    Args:
        graph: "subset", "abstention", "self_loops", "complete", "estimated", or a graph, which is returned as it is.

    Returns:
        The graph.

    Raises:
        InputError: There is no graph of that name.
    """
    if isinstance(graph, FeedbackGraph):
        return graph
    if isinstance(graph, str) and graph in _WORDS:
        return _WORDS[graph]()
    raise InputError(f"graph: expected a FeedbackGraph or one of {', '.join(_WORDS)}, got {shown(graph)}")


_COMPILED = ("out_neighbours", "observe", "n_edges", "matrix", "relation")
"""The methods that compiled graphs replace."""


def kernel_of(graph: FeedbackGraph) -> int:
    """Return which compiled graph this is.

    Args:
        graph: The graph of a learner.

    Returns:
        Its number in `graphs.base`; `GIVEN` if a user wrote the graph, or redefined a method that is compiled.
    """
    compiled = all(is_trusted(getattr(get(graph), name)) for name in _COMPILED)
    return graph.kernel if compiled else FeedbackGraph.kernel


def spec(graph: FeedbackGraph) -> dict[str, Any] | None:
    """Describe a graph so that `from_parameters` makes it again.

    Args:
        graph: The graph to describe.

    Returns:
        The name of its class as "kind", and its parameters, arrays or plain values; None if the graph must be given to
        `abstain.load` again.
    """
    parameters = get(graph).parameters()
    if parameters is None or "kind" in parameters:
        return None
    return {"kind": name_of(type(graph)), **_plain(parameters)}


def from_parameters(parameters: Mapping[str, Any]) -> FeedbackGraph:
    """Make the graph that `spec` described. Lists become tuples.

    Args:
        parameters: What `spec` returned; the module of its class must have been imported.

    Returns:
        The graph.

    Raises:
        UnknownKindError: No module imported so far defines the class.
        InputError: The graph cannot be made from these parameters.
    """
    if not isinstance(parameters, Mapping) or "kind" not in parameters:
        raise InputError(f"graph: expected what graphs.spec returned, got {shown(parameters)}")
    return kinds.make(parameters["kind"], _plain({k: v for k, v in parameters.items() if k != "kind"}))


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a file holds them: arrays or plain values."""
    return {name: one if isinstance(one, np.ndarray) else as_plain(one) for name, one in parameters.items()}


MOST_DRAWN = 200
"""More experts than this make no picture, and take minutes."""


def draw(matrix: ArrayLike, labels: Sequence[str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw a graph on a circle: an arrow for each edge, a thick box around experts with a self-loop.

    Edges in both directions are drawn as one line with two heads. This needs Matplotlib.

    Args:
        matrix: The edges (K, K), for at most 200 experts.
        labels: The name of each expert; None means their numbers, counted from 1.
        ax: The axes to draw on; None means new ones.

    Returns:
        The axes.

    Raises:
        InputError: The matrix is not a graph, has too many experts, the labels do not fit, or Matplotlib is missing.
    """
    plt = need("matplotlib.pyplot", "graphs.draw", "studies")
    edges = as_edges(matrix)
    n = len(edges)
    if n > MOST_DRAWN:
        raise InputError(f"matrix: expected at most {MOST_DRAWN} experts to draw, got {n}")
    names = [str(k + 1) for k in range(n)] if labels is None else labels
    if not isinstance(names, Sequence) or len(names) != n or not all(isinstance(name, str) for name in names):
        raise InputError(f"labels: expected {n} strings, got {shown(labels)}")
    if ax is None:
        _, ax = plt.subplots(figsize=(4.0, 4.0), layout="constrained")
    angle = np.pi / 2.0 - 2.0 * np.pi * np.arange(n) / n
    places = np.column_stack([np.cos(angle), np.sin(angle)]) if n > 1 else np.zeros((1, 2))
    around = 14.0 + 3.0 * max(map(len, names))  # points: arrows end outside the boxes
    for i in range(n):
        for j in range(n):
            if i == j or not edges[i, j] or (edges[j, i] and j < i):
                continue
            ax.annotate(
                "",
                places[j],
                places[i],
                arrowprops={
                    "arrowstyle": "<|-|>" if edges[j, i] else "-|>",
                    "color": "0.35",
                    "shrinkA": around,
                    "shrinkB": around,
                    "mutation_scale": 14,
                },
            )
    for place, name, loop in zip(places, names, edges.diagonal(), strict=True):
        box = {"boxstyle": "round,pad=0.6,rounding_size=1", "facecolor": "white", "edgecolor": "#0072B2"}
        ax.annotate(name, place, ha="center", va="center", bbox={**box, "linewidth": 2.5 if loop else 0.8})
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.4, 1.4), aspect="equal")
    ax.axis("off")
    return ax
