"""Feedback graphs: self-loops, complete, subset, the instance's own, estimated, any fixed one, and your own.

>>> get("subset")
Subset()
"""

from typing import Any

from numpy.typing import ArrayLike

from ..errors import InputError
from .base import FeedbackGraph, Moment
from .drawing import draw
from .fixed import Complete, Fixed, SelfLoops, Subset
from .moving import Abstention, Estimated


def self_loops() -> SelfLoops:
    """Only the chosen expert is updated."""
    return SelfLoops()


def complete() -> Complete:
    """Everybody is updated in every round; needs all labels."""
    return Complete()


def subset() -> Subset:
    """Edges i -> j where j abstains wherever i does."""
    return Subset()


def abstention() -> Abstention:
    """What the protocol shows: all losses if the choice predicts, else those of the abstaining experts."""
    return Abstention()


def estimated() -> Estimated:
    """UCB-GT's graph, estimated from the abstentions so far."""
    return Estimated()


def fixed(matrix: ArrayLike) -> Fixed:
    """The graph with an edge i -> j where ``matrix[i, j]`` is true (K, K)."""
    return Fixed(matrix)


_WORDS = {
    "subset": subset,
    "abstention": abstention,
    "self_loops": self_loops,
    "complete": complete,
    "estimated": estimated,
}


def get(graph: "str | FeedbackGraph") -> FeedbackGraph:
    """The graph of that name, or the graph itself."""
    if isinstance(graph, FeedbackGraph):
        return graph
    if isinstance(graph, str) and graph in _WORDS:
        return _WORDS[graph]()
    raise InputError(f"graph: expected a FeedbackGraph or one of {', '.join(_WORDS)}, got {graph!r}")


def spec(graph: FeedbackGraph) -> Any:
    return graph.parameters()


_COMPILED = (SelfLoops, Complete, Subset, Abstention, Estimated, Fixed)


def kernel_of(graph: FeedbackGraph) -> int:
    """Which compiled graph this is; a user's own is none, also if it is made from a built-in one."""
    return graph.kernel if type(graph) in _COMPILED else FeedbackGraph.kernel


def from_parameters(parameters: dict[str, Any]) -> FeedbackGraph:
    """The graph that `FeedbackGraph.parameters` described."""
    return fixed(parameters["edges"]) if parameters["graph"] == "fixed" else get(parameters["graph"])


__all__ = [
    "FeedbackGraph",
    "Moment",
    "abstention",
    "complete",
    "draw",
    "estimated",
    "fixed",
    "from_parameters",
    "get",
    "kernel_of",
    "self_loops",
    "subset",
]
