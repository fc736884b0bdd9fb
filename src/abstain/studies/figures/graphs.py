"""Figures 1 and 4: feedback graphs of experts on a line, computed from where their rules abstain."""

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


def _on_a_line(
    names: Sequence[str], predicts: Sequence[tuple[float, float]], regions: Sequence[tuple[str, float, float]]
) -> Experts:
    """Experts that predict inside an interval; what is shown is read back from their advice and graphs."""
    rules = [_inside(low, high) for low, high in predicts]
    pairs = [(_first, rule) for rule in rules]
    abstains = experts.from_functions(pairs).advise(_POINTS).abstains
    subset = ~(abstains[:, :, np.newaxis] & ~abstains[:, np.newaxis, :]).any(axis=0)
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
