"""The simple example of what abstaining is good for (figure 6, appendix A), solved by trying all pairs."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import experts
from ..regret import best_in_hindsight


class ExampleLosses(NamedTuple):
    """Expected losses at a cost, of classifiers sign(x - theta) with theta at any border of the pieces."""

    border: NDArray[np.float64]
    alone: NDArray[np.float64]
    """Without abstaining, by theta (n,)."""
    paired: NDArray[np.float64]
    """With the rule "abstain up to rho", by theta and rho (n, n)."""


def losses(eta: float, cost: float, pieces: int) -> ExampleLosses:
    """X is uniform on [0, 1]; up to eta both labels are equally likely, beyond it all are +1.

    They are exact: each piece of the line stands in the table with both its labels.
    """
    border = np.arange(pieces + 1) / pieces
    x = np.repeat((border[:-1] + border[1:]) / 2.0, 2)
    y = np.where((x < eta) & (np.arange(len(x)) % 2 == 1), -1, 1)
    never, n = np.ones((len(x), 1)), len(border)
    pairs = experts.from_columns(n, n + 1)
    table = np.hstack([x[:, np.newaxis] - border, x[:, np.newaxis] - border, never])
    total = best_in_hindsight(pairs, table, y, cost=cost).total.reshape(n, n + 1) / len(x)
    return ExampleLosses(border, total[:, -1], total[:, :-1])
