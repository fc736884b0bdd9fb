"""What happens on the way. All of it begins after the first tenth, on which a threshold is tuned."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...typing import Array, Floats, Ints
from ..ingredients import Keyed
from .models import Answers
from .rows import BINARY

TENTH = 0.1
LAST = 0.9
"""Slow changes go on from the first tenth to here."""


@dataclass(frozen=True)
class Still(Keyed):
    """Nothing: rows in random order. Other kinds change one of the steps in which a log is made."""

    moves: ClassVar[bool] = False

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        """The rows the models are fitted on, and those of the rounds: again and again where there are too few."""
        order = rng.permutation(len(X))
        return order[:fit], enough(rng, order[fit:], n)

    def views(self, n_features: int) -> tuple[Ints, Ints, Ints]:
        """The columns each model sees."""
        return (np.arange(n_features),) * 3

    def inputs(self, rng: np.random.Generator, X: Floats) -> Floats:
        """What the models are shown in the rounds."""
        return X

    def answers(self, rng: np.random.Generator, said: Answers, task: str) -> Answers:
        """What they are heard to say."""
        return said

    def labels(self, rng: np.random.Generator, y: Array, task: str) -> Array:
        """What turns out to be true."""
        return y


@dataclass(frozen=True)
class Recorded(Still):
    """The rows in the order they were recorded; the models are fitted on the first ones."""

    moves: ClassVar[bool] = True

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        return np.arange(fit), np.arange(fit, min(len(X), fit + n))


@dataclass(frozen=True)
class Population(Still):
    """Models fitted where a column is below its median slowly meet rows from above it."""

    column: int
    moves: ClassVar[bool] = True

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        order = rng.permutation(len(X))
        low = X[order, self.column] <= np.median(X[:, self.column])
        below, above = order[low], order[~low]
        new = rng.random(n) < slowly(n)
        rows = np.empty(n, np.int64)
        rows[new] = enough(rng, above, int(new.sum()))
        rows[~new] = enough(rng, below[fit:], int((~new).sum()))
        return below[:fit], rows


@dataclass(frozen=True)
class Noise(Still):
    """Labels that slowly become random, at last in so large a share of the rounds."""

    share: float
    moves: ClassVar[bool] = True

    def labels(self, rng: np.random.Generator, y: Array, task: str) -> Array:
        hit = rng.random(len(y)) < self.share * slowly(len(y))
        return np.where(hit, rng.permutation(y), y)


@dataclass(frozen=True)
class Switch(Still):
    """Half way the even columns break (they come from other rows, as after a wrong join); the second model lives on all
    columns, the others on the odd ones only.
    """

    moves: ClassVar[bool] = True

    def views(self, n_features: int) -> tuple[Ints, Ints, Ints]:
        odd = np.arange(1, n_features, 2)
        return odd, np.arange(n_features), odd

    def inputs(self, rng: np.random.Generator, X: Floats) -> Floats:
        broken, half = X.copy(), len(X) // 2
        broken[half:, ::2] = X[half + rng.permutation(len(X) - half), ::2]
        return broken


@dataclass(frozen=True)
class Outage(Still):
    """From 45 to 55 % of the time the second model answers at random and is certain of it."""

    moves: ClassVar[bool] = True

    def answers(self, rng: np.random.Generator, said: Answers, task: str) -> Answers:
        predictions, confidence, n = said.predictions.copy(), said.confidence.copy(), len(said.confidence)
        out = slice(9 * n // 20, 11 * n // 20)
        size = out.stop - out.start
        # One of the classes, or a number the model said on some other input.
        predictions[out, 1] = rng.choice([-1, 1] if task == BINARY else said.predictions[:, 1], size)
        confidence[out, 1] = 1.0 - 0.01 * rng.random(size)
        return Answers(predictions, confidence)


def slowly(n: int) -> Floats:
    """From 0 up to the end of the first tenth to 1 at nine tenths (n,)."""
    return np.clip((np.arange(n) / n - TENTH) / (LAST - TENTH), 0.0, 1.0)


def enough(rng: np.random.Generator, rows: Ints, n: int) -> Ints:
    """The first n of these rows; drawn with replacement where there are fewer."""
    return rows[:n] if n <= len(rows) else rng.choice(rows, n)
