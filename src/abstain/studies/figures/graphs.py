"""Feedback graphs of experts on a line (figures 1 and 4), computed from where their rules abstain."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ... import experts, graphs

_POINTS = np.linspace(0.0, 1.0, 401)[:-1, np.newaxis] + 0.00125
"""The line, as the middles of small pieces: none on a border of a region."""
Edges: TypeAlias = frozenset[tuple[str, str]]


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


def on_a_line(
    names: Sequence[str], predicts: Sequence[tuple[float, float]], regions: Sequence[tuple[str, float, float]]
) -> Experts:
    """Experts that predict inside an interval; what is shown is read back from their advice and graphs."""
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
    """Experts that predict inside an interval, and say +1 there; which of them abstain where others do is found out."""
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
