"""Feedback graphs: self-loops, complete, subset, the instance's own, estimated, any fixed one, and your own.

>>> get("subset")
Subset()
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.registry import as_plain, name_of
from .._core.validation import is_trusted
from ..errors import InputError, shown
from .base import FeedbackGraph, Moment, kinds
from .builtin import Abstention, Complete, Estimated, Fixed, SelfLoops, Subset, draw


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
    raise InputError(f"graph: expected a FeedbackGraph or one of {', '.join(_WORDS)}, got {shown(graph)}")


_COMPILED = ("out_neighbours", "observe", "n_edges", "matrix", "relation")
"""What is compiled, for the graphs of the library."""


def kernel_of(graph: FeedbackGraph) -> int:
    """Which compiled graph this is; none if it is a user's own, or defines anew what is compiled."""
    compiled = all(is_trusted(getattr(get(graph), name)) for name in _COMPILED)
    return graph.kernel if compiled else FeedbackGraph.kernel


def spec(graph: FeedbackGraph) -> dict[str, Any] | None:
    """What makes this graph again by `from_parameters`: the name of its class and its parameters, arrays or plain; None
    if it is to be given again.

    >>> spec(subset())
    {'kind': 'abstain.graphs.builtin:Subset'}
    """
    parameters = get(graph).parameters()
    if parameters is None or "kind" in parameters:
        return None
    return {"kind": name_of(type(graph)), **_plain(parameters)}


def from_parameters(parameters: Mapping[str, Any]) -> FeedbackGraph:
    """The graph that `spec` described; its class must have been imported. Lists become tuples.

    The first files say ``{"graph": "subset"}`` or ``{"graph": "fixed", "edges": ...}``.
    """
    if not isinstance(parameters, Mapping):
        raise InputError(f"graph: expected what graphs.spec returned, got {shown(parameters)}")
    if "kind" not in parameters:
        word = parameters.get("graph", "")
        return fixed(parameters.get("edges", ())) if isinstance(word, str) and word == "fixed" else get(word)
    return kinds.make(parameters["kind"], _plain({k: v for k, v in parameters.items() if k != "kind"}))


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a file holds them: arrays, or plain."""
    return {name: one if isinstance(one, np.ndarray) else as_plain(one) for name, one in parameters.items()}


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
    "spec",
    "subset",
]
