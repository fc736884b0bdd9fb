"""Prices by kind of mistake in rows without a label: what an answer may lose, and how far two answers may be apart."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..gate.prices import Price, Prices
from ..typing import Floats

if TYPE_CHECKING:
    from .classes import Classes

Each: TypeAlias = Floats | float
Ends: TypeAlias = tuple[Floats, Floats]
ANOTHER = -2.0
"""The number of a class that no answer and no kind of mistake names; no class has it."""


class Kinds:
    """Prices by kind of mistake, with classes as numbers. A label that is not there may be any class of the log.

    Args:
        by_kind: What each kind of mistake costs, by the number of the class said and that of the true one.
        other: What all other mistakes cost.
        unit: What a loss of 1 is.
        n_classes: How many classes the log has.

    >>> kinds = Kinds({(0.0, 1.0): Price(6.0, 0.0), (0.0, 2.0): Price(2.0, 0.0)}, Price(3.0, 0.0), 6.0, 3)
    >>> kinds.worst(np.array([0.0, 1.0, np.nan]))  # NaN is a review
    array([1. , 0.5, 0. ])
    >>> kinds.apart(np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    (array([-0.5,  0. ]), array([1., 0.]))
    """

    def __init__(self, by_kind: dict[tuple[float, float], Price], other: Price, unit: float, n_classes: int) -> None:
        self._by_kind, self._other, self._unit, self._n = by_kind, other, unit, n_classes
        self._named = sorted({number for kind in by_kind for number in kind})

    @classmethod
    def of(cls, prices: Prices, classes: "Classes", pair: tuple[Any, Any] | None) -> "Kinds":
        """Return prices with classes numbered as answers are: as whole numbers; if there are two, as -1 and +1."""
        import polars as pl

        by_kind = {}
        for kind, price in prices.by_kind.items():
            of_many = classes.numbers(pl.Series(kind, dtype=classes.dtype)).tolist()
            said, true = of_many if pair is None else (2.0 * pair.index(one) - 1.0 for one in kind)
            by_kind[said, true] = price
        return cls(by_kind, prices.other, prices.unit, len(classes.known))

    def _loss(self, said: Floats, true: Each, stake: Each) -> Floats:
        """What each answer loses if that is true; a review (NaN) loses nothing here."""
        price = np.broadcast_to(self._other.at(stake) / self._unit, said.shape)
        for kind, one in self._by_kind.items():
            price = np.where((said == kind[0]) & (true == kind[1]), one.at(stake) / self._unit, price)
        return np.where((said == true) | np.isnan(said), 0.0, price)

    def worst(self, said: Floats, stake: Each = 1.0) -> Floats:
        """The most that each answer may lose (n,)."""
        return self.apart(said, np.full(said.shape, np.nan), stake)[1]

    def apart(self, one: Floats, other: Floats, stake: Each = 1.0, own: Each = 1.0, others: Each = 1.0) -> Ends:
        """How much more one answer may lose than another, over all classes that may be true.

        Args:
            one: The numbers of answers; NaN for a review.
            other: Those of the other answers.
            stake: What is at stake.
            own: How often losses of ``one`` count ...
            others: ... and those of ``other``.

        Returns:
            The least and the largest difference (n,).
        """
        first, second = ~np.isnan(one), ~np.isnan(other)
        named = len(self._named) + (first & ~np.isin(one, self._named))
        named = named + (second & ~np.isin(other, self._named) & (one != other))
        said = np.where(first, one, other)
        truths: list[Each] = [
            *self._named,
            said,
            np.where(second, other, said),
            np.where(named < self._n, ANOTHER, said),
        ]
        least, most = np.full(one.shape, np.inf), np.full(one.shape, -np.inf)
        for true in truths:
            gap = own * self._loss(one, true, stake) - others * self._loss(other, true, stake)
            least, most = np.minimum(least, gap), np.maximum(most, gap)
        return least, most
