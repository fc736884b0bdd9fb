"""Inputs whose label leans to one side, for ContEXP3-ABS."""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError, shown
from ..tables import MOST, as_count, as_seed, as_share, as_table
from ..typing import Floats


@dataclass(frozen=True)
class Lipschitz:
    """Inputs in [-1, 1]^d whose label leans to one side by a Lipschitz function of them; see `lipschitz`."""

    dim: int
    cost: float

    def lean(self, X: Floats) -> Floats:
        """The difference of the probabilities of +1 and -1 (n,)."""
        table = as_table(X, self.dim)
        if np.abs(table).max() > 1.0:
            raise InputError(f"X: expected inputs in [-1, 1], got {shown(X)}")
        return self._lean(table)

    def _lean(self, X: Floats) -> Floats:
        return np.asarray(np.sin(3.0 * X).mean(axis=1))

    def expected(self, X: Floats) -> Floats:
        """The expected loss of predicting +1, predicting -1 and abstaining on each input (3, n)."""
        lean = self.lean(X)
        return np.stack([(1.0 - lean) / 2.0, (1.0 + lean) / 2.0, np.full(len(lean), self.cost)])

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Independent rounds: X (n, d) uniform, y (n,)."""
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        X = rng.uniform(-1.0, 1.0, (n, self.dim))
        return X, np.where(rng.random(n) < (1.0 + self._lean(X)) / 2.0, 1.0, -1.0)


def lipschitz(dim: int, cost: float = 0.3) -> Lipschitz:
    """A problem for ContEXP3-ABS: ``P[y = 1 | x] = (1 + mean_k sin(3 x_k)) / 2``, x uniform in [-1, 1]^d.

    >>> problem = lipschitz(2)
    >>> X, y = problem.draw(4, seed=0)
    >>> problem.expected(X).shape
    (3, 4)
    """
    return Lipschitz(as_count(dim, "dim", most=MOST), as_share(cost, "cost"))
