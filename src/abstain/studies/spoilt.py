"""Data sets whose labels are spoilt for a time, by the names ``HOW-SET``, such as ``late-clean-skin``."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import datasets
from ..typing import Array, Ints


class Spoiler(NamedTuple):
    """When labels are spoilt, and how."""

    regime: Callable[[Ints, int], Ints]
    """Of rounds, counted from 0, out of n: 1 where they are spoilt, else 0."""
    random: bool
    """Whether they are then drawn at random, or else inverted."""


SPOILERS = {
    "late-clean": Spoiler(lambda t, n: (5 * t < n).astype(np.int64), True),
    "flips": Spoiler(lambda t, n: 5 * t // n % 2, False),
    "trap-300": Spoiler(lambda t, n: (t < 300).astype(np.int64), False),
    "trap-1000": Spoiler(lambda t, n: (t < 1000).astype(np.int64), False),
}
"""Random in the first fifth of the game; inverted in its second and fourth fifth, or in its first rounds."""


def split(dataset: str) -> tuple[str | None, str]:
    """How a set is spoilt (None: it is not), and the name of what it is made of.

    >>> split("late-clean-skin"), split("skin")
    (('late-clean', 'skin'), (None, 'skin'))
    """
    for how in SPOILERS:
        if dataset.startswith(f"{how}-") and dataset.removeprefix(f"{how}-") in datasets.names:
            return how, dataset.removeprefix(f"{how}-")
    return None, dataset


def source(dataset: str) -> str:
    """The data set whose rows are played."""
    return split(dataset)[1]


def spoil(dataset: str, y: Array, seed: np.random.SeedSequence) -> tuple[Array, Ints]:
    """The labels as they are played, and the regime of each round."""
    how, _ = split(dataset)
    if how is None:
        return y, np.zeros(len(y), np.int64)
    regime = SPOILERS[how].regime(np.arange(len(y)), len(y))
    other = np.random.default_rng(seed).choice(np.array([-1, 1], y.dtype), len(y)) if SPOILERS[how].random else -y
    return np.where(regime == 1, other, y), regime
