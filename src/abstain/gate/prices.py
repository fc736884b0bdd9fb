"""What reviews and mistakes cost. Inside, everything is relative to the dearest mistake, the unit."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._core.validation import as_number
from ..errors import InputError, shown
from ..typing import Floats
from .answers import NUMBER, Plain, Task

OTHER = "other"


def _price(value: Any, name: str, least: float = 0.0) -> float:
    expected = "a price of 0 or more" if least == 0.0 else "a price above 0"
    return as_number(value, name, expected, lambda p: (p > 0.0 if least > 0.0 else p >= 0.0) and p < math.inf)


class Prices:
    """The price of a review; and of a mistake: one for all, by kind (what was said, what was true), or by stake.

    >>> prices = Prices(Task("classes", None, 1.0), 1.0, {("spam", "ham"): 9, "other": 1}, None)
    >>> prices.unit, prices.of("spam", "ham"), round(prices.of("ham", "spam"), 3), prices.of("ham", "ham")
    (9.0, 1.0, 0.111, 0.0)
    """

    def __init__(self, task: Task, review: float, mistake: Any, max_stake: float | None) -> None:
        self.task = task
        self.by_kind: dict[tuple[Plain, Plain], float] = {}
        if isinstance(mistake, Mapping):
            self.other = self._read_kinds(mistake)
        else:
            self.other = _price(mistake, "mistake", 1.0)
        self.max_stake = None if max_stake is None else _price(max_stake, "max_stake", 1.0)
        self.dearest = max([self.other, *self.by_kind.values()])
        if self.dearest <= 0.0:
            raise InputError("mistake: expected a price above 0, got none")
        self.unit = self.dearest * (1.0 if self.max_stake is None else self.max_stake)
        """What a loss of 1 is, in the user's money."""
        self.review = self.check_review(review)

    def _read_kinds(self, mistake: Mapping[Any, Any]) -> float:
        if self.task.kind == NUMBER:
            raise InputError("mistake: expected one price for numbers, got prices by kind")
        for kind, price in mistake.items():
            if kind == OTHER:
                continue
            if not isinstance(kind, tuple) or len(kind) != 2 or kind[0] == kind[1]:
                raise InputError(f"mistake: expected pairs (what was said, what was true), got {shown(kind)}")
            said, true = self.task.label(kind[0]), self.task.label(kind[1])
            self.by_kind[said, true] = _price(price, f"mistake[{kind!r}]")
        if OTHER in mistake:
            return _price(mistake[OTHER], f'mistake["{OTHER}"]')
        if self.task.two and len(self.by_kind) == 2:  # there are no others
            return max(self.by_kind.values())
        raise InputError(f'mistake: expected a price for "{OTHER}" kinds of mistakes, too, got {shown(mistake)}')

    def check_review(self, review: Any) -> float:
        """The price of a review; one above that of the dearest mistake is surely an error."""
        price = _price(review, "review")
        if price > self.unit:
            raise InputError(
                f"review: expected at most {self.unit:g}, the price of the dearest mistake, got {price:g}: "
                "then every case should be answered"
            )
        return price

    @property
    def cost(self) -> float:
        """Of a review, relative to the unit."""
        return self.review / self.unit

    @property
    def plain(self) -> bool:
        """Whether a loss is 0 or 1."""
        return not self.by_kind and self.max_stake is None and self.task.kind != NUMBER

    def of(self, said: Plain, true: Plain, stake: float = 1.0) -> float:
        """The loss of an answer, in [0, 1]; ``stake`` is relative to the most."""
        if self.task.kind == NUMBER:
            return stake * min(1.0, abs(float(said) - float(true)) / self.task.max_error)
        if said == true:
            return 0.0
        return stake * self.by_kind.get((said, true), self.other) / self.dearest

    @property
    def of_signs(self) -> tuple[float, float] | None:
        """With two classes, the loss of wrongly saying the second, and of wrongly saying the first."""
        if not self.task.two:
            return None
        assert self.task.classes is not None
        negative, positive = self.task.classes
        return self.of(positive, negative), self.of(negative, positive)

    def as_stake(self, stake: Any) -> float:
        """What is at stake in a case, relative to the most."""
        if self.max_stake is None:
            if stake is not None:
                raise InputError("stake: expected none, as the gate was made without max_stake, got one")
            return 1.0
        most = self.max_stake
        return as_number(stake, "stake", f"a number above 0, at most {most:g}", lambda s: 0.0 < s <= most) / most

    def kept(self) -> dict[str, Any]:
        """What a file says."""
        kinds = [[said, true, price] for (said, true), price in self.by_kind.items()]
        return {"review": self.review, "other": self.other, "kinds": kinds, "max_stake": self.max_stake}


def weighed(confidence: Floats, stake: Any) -> Floats:
    """What thresholds are compared with: one minus the doubt times the stake; at the most stake, the confidence."""
    return np.asarray(confidence + (1.0 - stake) * (1.0 - confidence))


def threshold_at(level: Floats, stake: Any) -> Floats:
    """The confidence that exceeds a threshold at a stake: the other way round; -1 where every confidence does.

    >>> threshold_at(np.array([0.9, 0.2, 1.0]), 0.5)
    array([ 0.8, -1. ,  1. ])
    """
    at = level - (1.0 / stake - 1.0) * (1.0 - level)
    return np.asarray(np.where(at < 0.0, -1.0, at))
