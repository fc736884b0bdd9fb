"""Theorem 3: UCB-NT on graphs that depend on the past alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..typing import Floats
from .arguments import as_size, as_stochastic, in_graph, unlikely
from .cheapest import cheapest_covering, price
from .coverings import as_covering


def ucb_nt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Theorem 3: UCB-NT's expected regret is at most ``sum_C max Delta / min Delta^2 8 beta log T + K beta / (beta -
    2)``, and at most ``T max Delta``, which it never says more than.

    ``covering`` must be admissible for the graph of every round; for UCB it is every expert by itself. "best" is the
    theorem's minimum over the coverings of ``graph`` (K, K), the edges that all rounds share (`best_covering`: exact up
    to `MOST_EXACT` experts with a gap). Experts with Delta = 0 leave their sets first: following them costs nothing.

    For beta from 2 down to (not including) 1/2 the last term is ``K 2 beta / (2 beta - 1)``, by Hoeffding's inequality
    for losses in [0, 1]; the documentation has the proof.

    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], [[0, 1, 2]], 1000))
    291
    >>> graph = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]
    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], "best", 1000, beta=0.625, graph=graph))
    84
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        looks = 8.0 * beta * log_rounds / gaps / gaps
    return by_covering(gaps, looks, covering, graph, as_size(T, "T"), unlikely(len(gaps), beta))


def by_covering(
    gaps: Floats, looks: Floats, covering: object, graph: ArrayLike | None, rounds: float, rest: float
) -> float:
    """``sum_C max gap * max looks + rest`` for a covering, or the best one of the graph; at most ``T max gap``."""
    edges = None if graph is None else in_graph(gaps, graph)
    if isinstance(covering, str):
        if covering != "best" or edges is None:
            missing = " without a graph" if covering == "best" else ""
            raise InputError(f"covering: expected sets, or 'best' and a graph, got {shown(covering)}{missing}")
        groups = cheapest_covering(gaps, looks, edges & edges.T)
    else:
        groups = as_covering(covering, len(gaps))
        if edges is not None and not all(edges[np.ix_(group, group)].all() for group in groups):
            raise InputError(f"covering: expected sets in which everybody updates everybody, got {shown(covering)}")
    return min(rounds * float(gaps.max()), price(groups, gaps, looks) + rest)
