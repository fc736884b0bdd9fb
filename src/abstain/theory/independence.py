"""Bounds for UCB-NT by sets of experts that do not update each other."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..typing import Bools, Floats
from .arguments import MOST_EXACT, as_graph, as_stochastic, in_graph, unlikely
from .coverings import first_fit


def independence_number(matrix: ArrayLike) -> int:
    """The size of the largest set of experts none of which updates another; for small K.

    >>> independence_number([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    2
    """
    edges = as_graph(matrix)
    if len(edges) > MOST_EXACT:
        raise InputError(f"matrix: expected at most {MOST_EXACT} experts, got {len(edges)}")
    return round(_heaviest(edges | edges.T, [1.0] * len(edges), list(range(len(edges)))))


def independence_bound(deltas: ArrayLike, matrix: ArrayLike, T: int, beta: float = 2.5) -> float:
    """A bound on UCB-NT's regret by independent sets of experts; ``matrix`` holds edges of every round.

    Experts are put into layers by their gap, ``2^-(k+1) < Delta <= 2^-k``. A layer costs at most the largest sum, over
    sets of its experts no two of which update each other, of ``16 beta log T / Delta + 2 Delta``; all else ``K beta /
    (beta - 2)``, as in theorem 3. The argument is in the documentation; the idea is Lykouris, Tardos and Wali's (2020).

    The sum is exact in parts of a layer of up to `MOST_EXACT` experts that are linked with each other. In larger parts
    it is bounded by a covering: no set has more than one expert of those who all update each other.

    >>> round(independence_bound([0.0, 0.5, 0.5], np.ones((3, 3)), 1000))
    569
    >>> round(independence_bound([0.0] + [0.5] * 2000, np.ones((2001, 2001)), 1000) - 5 * 2001)
    554
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    edges = in_graph(gaps, matrix)
    positive = gaps > 0.0
    costs = np.zeros(len(gaps))
    costs[positive] = 16.0 * beta * log_rounds / gaps[positive] + 2.0 * gaps[positive]
    part, power = np.frexp(gaps)  # gap = part * 2^power, part in [1/2, 1)
    layer = np.where(part == 0.5, 1 - power, -power)
    total = unlikely(len(gaps), beta)
    for k in np.unique(layer[positive]):
        of_layer = np.flatnonzero(positive & (layer == k))
        linked = (edges & edges.T)[np.ix_(of_layer, of_layer)]
        total += sum(_at_most(linked, costs[of_layer], one) for one in _parts(linked))
    return float(total)


def _parts(linked: Bools) -> Iterator[list[int]]:
    """The experts that are linked with each other, over others or not."""
    new = np.ones(len(linked), np.bool_)
    while new.any():
        found = edge = np.arange(len(linked)) == np.argmax(new)
        while edge.any():
            edge = linked[edge].any(axis=0) & ~found
            found = found | edge
        new &= ~found
        yield np.flatnonzero(found).tolist()


def _at_most(linked: Bools, weights: Floats, among: list[int]) -> float:
    """The largest total weight of experts among these no two of which are linked; no less, if they are many."""
    if len(among) <= MOST_EXACT:
        return _heaviest(linked, weights.tolist(), among)
    heavy_first = sorted(range(len(among)), key=lambda one: -weights[among[one]])
    groups = first_fit(linked[np.ix_(among, among)], heavy_first)
    return float(sum(weights[among[group[0]]] for group in groups))


def _heaviest(linked: Bools, weights: Sequence[float], among: list[int]) -> float:
    """The largest total weight of experts among these no two of which are linked: with the first, or without."""
    if not among:
        return 0.0
    first, rest = among[0], among[1:]
    apart = [other for other in rest if not linked[first, other]]
    most = weights[first] + _heaviest(linked, weights, apart)
    return most if len(apart) == len(rest) else max(most, _heaviest(linked, weights, rest))
