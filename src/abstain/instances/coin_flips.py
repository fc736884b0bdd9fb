"""A lower bound to play against for the class of Lipschitz functions: labels at random, no two inputs close."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..tables import MOST, as_count, as_floats, as_number, as_seed
from ..typing import Floats


@dataclass(frozen=True)
class RandomLabels:
    """Inputs on a grid in [-1, 1]^d, each once, with random labels; see `random_labels`."""

    dim: int
    gamma: float
    lipschitz: float
    cost: float

    def side(self, n: int) -> int:
        """The least s with s^d at least n: how many points a side of the grid has."""
        n = as_count(n, "n", least=0, most=MOST)
        side = max(1, int(n ** (1.0 / self.dim)) - 1)  # by rounding it may be one more
        while side**self.dim < n:
            side += 1
        return side

    def draw(self, n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[Floats, Floats]:
        """Rounds: X (n, d), no two alike, y (n,)."""
        n, rng = as_count(n, "n", least=0, most=MOST // self.dim), np.random.default_rng(as_seed(seed))
        side = self.side(n)
        points = rng.choice(side**self.dim, n, replace=False)
        places = points[:, np.newaxis] // side ** np.arange(self.dim) % side
        return (2.0 * places + 1.0) / side - 1.0, rng.choice([-1.0, 1.0], n)

    def best(self, y: ArrayLike) -> Floats:
        """What a function of the class answers on each input (n,), knowing all labels: always r = 1, and ``h = y a``.

        Inputs are ``2 / s`` apart, so that values ``a = min(1, L / s)`` and -a are those of an L-Lipschitz function.
        """
        labels = as_floats(y, "y")
        if labels.ndim != 1 or not (np.abs(labels) == 1.0).all():
            raise InputError(f"y: expected labels -1 and 1, one a round, got {shown(y)}")
        return labels * min(1.0, self.lipschitz / self.side(len(labels)))

    def best_loss(self, n: int) -> float:
        """What that function loses in n rounds, by the ramp loss: ``(gamma - a) / (2 gamma)`` in each."""
        n = as_count(n, "n", least=0, most=MOST)
        return n / 2.0 - self.least(n)

    def least(self, n: int) -> float:
        """The expected regret of any learner is at least this after n rounds: ``min(a, gamma) / (2 gamma) n``.

        Whatever it does, it loses 1/2 a round or more; the function above loses less.
        """
        height = min(1.0, self.lipschitz / self.side(n), self.gamma)
        return n * height / (2.0 * self.gamma)


def random_labels(dim: int, gamma: float = 0.25, lipschitz: float = 1.0, cost: float = 0.5) -> RandomLabels:
    """The lower bound ``T^((d-1)/d)`` for Lipschitz functions (after Hazan and Megiddo 2007), as a problem.

    Labels are random, so that predicting loses 1/2 on average; abstaining costs no less (``cost``). No input comes
    twice, and none is close to another: some L-Lipschitz function h leans towards every label, by ``L / s`` with ``s =
    T^(1/d)`` points a side, and so loses less than 1/2 by ``L / (2 gamma s)`` in every round (ramp loss): in all
    ``L / (2 gamma) T^((d-1)/d)``. This holds for every learner, also with all labels shown; theorem 2 has
    ``T^((d+1)/(d+2))``.

    >>> problem = random_labels(2)
    >>> X, y = problem.draw(100, seed=0)
    >>> problem.side(100), problem.least(100), problem.best_loss(100)
    (10, 20.0, 30.0)
    """
    return RandomLabels(
        as_count(dim, "dim", most=20),
        as_number(gamma, "gamma", "a number in [1e-6, 1]", lambda one: 1e-6 <= one <= 1.0),
        as_number(lipschitz, "lipschitz", "a number in [1e-6, 1e6]", lambda one: 1e-6 <= one <= 1e6),
        as_number(cost, "cost", "a number in [1/2, 1]", lambda one: 0.5 <= one <= 1.0),
    )
