"""What reviews and mistakes cost. Inside, everything is relative to the most expensive mistake, the unit."""

import math
from collections.abc import Mapping, Sequence
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
    """The price of a review, and of a mistake: one for all, by kind (what was said, what was true), or by stake.

    Prices never change; `repriced` makes others.

    >>> prices = Prices(Task("classes", None, 1.0), 1.0, {("spam", "ham"): 9, "other": 1}, None)
    >>> prices.unit, prices.of("spam", "ham"), round(prices.of("ham", "spam"), 3), prices.of("ham", "ham")
    (9.0, 1.0, 0.111, 0.0)
    """

    def __init__(
        self, task: Task, review: Any, mistake: Any, max_stake: float | None, name: str = "review_price"
    ) -> None:
        """Check the prices; ``name`` is that of the argument ``review`` in messages."""
        self.task = task
        self.by_kind: dict[tuple[Plain, Plain], float] = {}
        if isinstance(mistake, Mapping):
            self.other = self._read_kinds(mistake)
            others = {OTHER: self.other} if OTHER in mistake else {}
            self.mistake: float | dict[Any, float] = {**self.by_kind, **others}
        else:
            self.mistake = self.other = _price(mistake, "mistake_price", 1.0)
        self.max_stake = None if max_stake is None else _price(max_stake, "max_stake", 1.0)
        self.dearest = max([self.other, *self.by_kind.values()])
        if self.dearest <= 0.0:
            raise InputError(f"mistake_price: expected a price above 0, got {shown(mistake)}")
        self.unit = self.dearest * (1.0 if self.max_stake is None else self.max_stake)
        """What a loss of 1 is, in the user's money."""
        self.review = _price(review, name)
        if self.review > self.unit:
            raise InputError(
                f"{name}: expected at most {self.unit:g}, the price of the most expensive mistake, got "
                f"{self.review:g}: then every case should be answered"
            )
        self.cost = self.review / self.unit
        """The price of a review relative to the unit."""
        self.plain = not self.by_kind and self.max_stake is None and task.kind != NUMBER
        """Whether every loss is 0 or 1."""

    def _read_kinds(self, mistake: Mapping[Any, Any]) -> float:
        if self.task.kind == NUMBER:
            raise InputError(f"mistake_price: expected one price for numbers, got {shown(mistake)}")
        for kind, price in mistake.items():
            if kind == OTHER:
                continue
            if not isinstance(kind, tuple) or len(kind) != 2 or kind[0] == kind[1]:
                raise InputError(f"mistake_price: expected pairs (what was said, what was true), got {shown(kind)}")
            said, true = self.task.label(kind[0]), self.task.label(kind[1])
            self.by_kind[said, true] = _price(price, f"mistake_price[{kind!r}]")
        if OTHER in mistake:
            return _price(mistake[OTHER], f'mistake_price["{OTHER}"]')
        if self.task.two and len(self.by_kind) == 2:  # there are no others
            return max(self.by_kind.values())
        raise InputError(f'mistake_price: expected a price for "{OTHER}" kinds of mistakes, too, got {shown(mistake)}')

    def repriced(self, review: Any) -> "Prices":
        """Return the same prices with another one of a review."""
        return Prices(self.task, review, self.mistake, self.max_stake)

    def of(self, said: Plain, true: Plain, stake: float = 1.0) -> float:
        """Return the loss of an answer, in [0, 1]; ``stake`` is relative to ``max_stake``."""
        if self.task.kind == NUMBER:
            return stake * min(1.0, abs(float(said) - float(true)) / self.task.max_error)
        if said == true:
            return 0.0
        return stake * self.by_kind.get((said, true), self.other) / self.dearest

    def between(self, answers: Sequence[Plain], size: int) -> Floats:
        """Return what each of several answers loses if each of them is true, or (last) none is (size, size + 1)."""
        table = np.zeros((size, size + 1))
        for i, said in enumerate(answers):
            table[i, : len(answers)] = [self.of(said, true) for true in answers]
            table[i, -1] = self.other / self.dearest
        return table

    @property
    def of_signs(self) -> tuple[float, float] | None:
        """With two classes, the loss of wrongly saying the second, and of wrongly saying the first."""
        if not self.task.two:
            return None
        assert self.task.classes is not None
        negative, positive = self.task.classes
        return self.of(positive, negative), self.of(negative, positive)

    def as_stake(self, stake: Any) -> float:
        """Return what is at stake in a case, relative to ``max_stake``; 1 for a gate without stakes."""
        if self.max_stake is None:
            if stake is not None:
                raise InputError(
                    f"stake: expected none, because the gate was made without max_stake, got {shown(stake)}"
                )
            return 1.0
        most = self.max_stake
        return as_number(stake, "stake", f"a number above 0, at most {most:g}", lambda s: 0.0 < s <= most) / most

    def to_file(self) -> dict[str, Any]:
        """Return the prices as plain values."""
        mistake: Any = self.mistake
        if isinstance(mistake, dict):
            kinds = [[said, true, price] for (said, true), price in self.by_kind.items()]
            mistake = {"kinds": kinds, OTHER: mistake.get(OTHER)}
        return {"review": self.review, "mistake": mistake, "max_stake": self.max_stake}

    @classmethod
    def from_file(cls, task: Task, kept: Any) -> "Prices":
        """Return what `to_file` described; raise a `ValueError` if that cannot be prices."""
        mistake: Any = kept["mistake"]
        if isinstance(mistake, dict):
            kinds: dict[Any, Any] = {(said, true): price for said, true, price in mistake["kinds"]}
            mistake = kinds if mistake[OTHER] is None else {**kinds, OTHER: mistake[OTHER]}
        return cls(task, kept["review"], mistake, kept["max_stake"])


def weighed(confidence: Floats, stake: Any) -> Floats:
    """Return what thresholds are compared with: one minus doubt times stake; at ``max_stake``, the confidence."""
    return np.asarray(confidence + (1.0 - stake) * (1.0 - confidence))


def threshold_at(threshold: Floats, stake: Any) -> Floats:
    """Return the confidence that exceeds a threshold at a stake, the inverse of `weighed`; -1 if every one does.

    >>> threshold_at(np.array([0.9, 0.2, 1.0]), 0.5)
    array([ 0.8, -1. ,  1. ])
    """
    at = threshold - (1.0 / stake - 1.0) * (1.0 - threshold)
    return np.asarray(np.where(at < 0.0, -1.0, at))
