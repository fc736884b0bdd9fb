"""Theorem 4: UCB-GT, whose graph is estimated."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arguments import as_size, as_stochastic, unlikely
from .theorem_3 import by_covering


def ucb_gt_bound(
    deltas: ArrayLike,
    covering: Sequence[Sequence[int]] | str,
    T: int,
    beta: float = 2.5,
    *,
    graph: ArrayLike | None = None,
) -> float:
    """Theorem 4 with all its terms: UCB-GT's expected regret is at most ``sum_C max Delta max s + K beta / (beta -
    2)``, and at most ``T max Delta``.

    ``s`` is how often an expert has to be updated until ``3 sqrt(2 beta log T / s) + (K - 1) / s = Delta``; it is at
    most ``18 beta log T / Delta^2 + 2 (K - 1) / Delta``. The paper's O() has neither of these: its proof bounds the
    optimistic step's error by ``C S`` for "some constant C", but what it shows is ``S + (K - 1) / Q``, and this K - 1
    counts for every set. So what is hidden is of the order ``(K - 1) sum_C max Delta / min Delta``: K^2, not K, for
    every expert by itself.

    ``covering`` and ``graph`` are as in `ucb_nt_bound`; UCB-GT's graphs always hold G^SUB, so that coverings of that
    one can be given before the game. The last term for beta of 2 and less is the same, too.

    >>> round(ucb_gt_bound([0.0, 0.5, 0.5], "best", 10_000, graph=np.ones((3, 3))))
    848
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    widths, others = 9.0 * 2.0 * beta * log_rounds, len(gaps) - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = (np.sqrt(widths) + np.sqrt(widths + 4.0 * gaps * others)) / 2.0 / gaps
        looks = np.where(gaps > 0.0, roots * roots, np.inf)
    return by_covering(gaps, looks, covering, graph, as_size(T, "T"), unlikely(len(gaps), beta))
