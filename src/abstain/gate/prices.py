"""What reviews and mistakes cost. Inside, everything is relative to the most expensive mistake, the unit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import as_number
from ..errors import InputError, shown
from ..typing import Floats
from .answers import NUMBER, Plain, Task

SAME = 1e-12
"""Ratios of prices that differ by no more are the same, but for rounding."""
OTHER = "other"
CAP = 100.0
"""With stakes, losses count in full up to so many times the price of a review, unless the largest stake is less."""


def _price(value: Any, name: str, least: float = 0.0) -> float:
    expected = "a price of 0 or more" if least == 0.0 else "a price above 0"
    return as_number(value, name, expected, lambda p: (p > 0.0 if least > 0.0 else p >= 0.0) and p < math.inf)


@dataclass(frozen=True)
class PerStake:
    """A price of mistakes that is proportional to what is at stake in the case.

    Raises:
        InputError: If the factor is not a number above 0.

    >>> PerStake(1.0)
    PerStake(times=1.0)
    """

    times: float = 1.0
    """A mistake costs so many times the stake."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", _price(self.times, "PerStake", 1.0))


class Price(NamedTuple):
    """The price of a kind of mistake: a part that is fixed, and one for each unit of stake."""

    fixed: float
    per_stake: float

    def at(self, stake: Any) -> Any:
        """Return the price at a stake, or at many."""
        return self.fixed + self.per_stake * stake


class Prices:
    """The price of a review, and of a mistake: one for all, or by kind (what was said, what was true), each fixed or
    proportional to the stake.

    Prices never change; `changed` makes others.

    >>> prices = Prices(Task("classes", None, 1.0), 1.0, {("spam", "ham"): 9, "other": 1}, None)
    >>> prices.unit, prices.of("spam", "ham"), round(prices.of("ham", "spam"), 3), prices.of("ham", "ham")
    (9.0, 1.0, 0.111, 0.0)
    >>> kinds = {("ok", "fraud"): PerStake(1.0), ("fraud", "ok"): 5.0, "other": 5.0}
    >>> prices = Prices(Task("classes", ["ok", "fraud"], 1.0), 2.0, kinds, None)
    >>> prices.unit, prices.of("ok", "fraud", 50.0), prices.of("ok", "fraud", 1e6), prices.of("fraud", "ok", 50.0)
    (200.0, 0.25, 1.0, 0.025)
    """

    def __init__(
        self,
        task: Task,
        review: Any,
        mistake: Any,
        max_stake: float | None,
        name: str = "review_price",
        unit: float | None = None,
    ) -> None:
        """Check the prices; ``name`` is that of the argument ``review`` in messages, ``unit`` is worked out if None."""
        self.task = task
        self.max_stake = None if max_stake is None else _price(max_stake, "max_stake", 1.0)
        given = mistake.values() if isinstance(mistake, Mapping) else [mistake]
        self.staked = self.max_stake is not None or any(isinstance(price, PerStake) for price in given)
        """Whether mistakes cost what is at stake."""
        self.short = self.staked and not any(isinstance(price, PerStake) for price in given)
        """Whether all prices are meant for each unit of stake, as max_stake was given and nothing else said."""
        self.by_kind: dict[tuple[Plain, Plain], Price] = {}
        if isinstance(mistake, Mapping):
            self.other = self._read_kinds(mistake)
            self.mistake: Any = {(task.label(k[0]), task.label(k[1])): v for k, v in mistake.items() if k != OTHER}
            self.mistake |= {OTHER: mistake[OTHER]} if OTHER in mistake else {}
        else:
            self.mistake = mistake if isinstance(mistake, PerStake) else _price(mistake, "mistake_price", 1.0)
            self.other = self._as_price(mistake, "mistake_price", 1.0)
        kinds = [self.other, *self.by_kind.values()]
        if max(map(sum, kinds)) <= 0.0:
            raise InputError(f"mistake_price: expected a price above 0, got {shown(mistake)}")
        self.dearest = dearest = max(price.at(1.0 if self.max_stake is None else self.max_stake) for price in kinds)
        """The price of the most expensive mistake, at the largest stake or, if that is not known, at a stake of 1."""
        largest = math.inf if self.staked and self.max_stake is None else dearest
        self.review = _price(review, name)
        if self.review > largest:
            raise InputError(
                f"{name}: expected at most {largest:g}, the price of the most expensive mistake, got "
                f"{self.review:g}: then every case should be answered"
            )
        if unit is None:
            unit = min(largest, CAP * self.review if self.review > 0.0 else dearest) if self.staked else dearest
        self.unit = unit
        """What a loss of 1 is, in the user's money. Losses above it count as 1 in what is learnt."""
        if self.review > self.unit:
            raise InputError(
                f"{name}: expected at most {self.unit:g}, from where on losses of this gate count in part, got "
                f"{self.review:g}; make another gate"
            )
        self.cost = self.review / self.unit
        """The price of a review relative to the unit."""
        self.plain = not self.by_kind and not self.staked and task.kind != NUMBER
        """Whether every loss is 0 or 1."""

    def _as_price(self, value: Any, name: str, least: float = 0.0) -> Price:
        if isinstance(value, PerStake):
            return Price(0.0, value.times)
        price = _price(value, name, least)
        return Price(0.0, price) if self.short else Price(price, 0.0)

    def _read_kinds(self, mistake: Mapping[Any, Any]) -> Price:
        if self.task.kind == NUMBER:
            raise InputError(f"mistake_price: expected one price for numbers, got {shown(mistake)}")
        for kind, price in mistake.items():
            if kind == OTHER:
                continue
            if not isinstance(kind, tuple) or len(kind) != 2 or kind[0] == kind[1]:
                raise InputError(f"mistake_price: expected pairs (what was said, what was true), got {shown(kind)}")
            said, true = self.task.label(kind[0]), self.task.label(kind[1])
            self.by_kind[said, true] = self._as_price(price, f"mistake_price[{kind!r}]")
        if OTHER in mistake:
            return self._as_price(mistake[OTHER], f'mistake_price["{OTHER}"]')
        if self.task.two and len(self.by_kind) == 2:  # there are no others
            return max(self.by_kind.values())
        raise InputError(f'mistake_price: expected a price for "{OTHER}" kinds of mistakes, too, got {shown(mistake)}')

    def changed(self, **changes: Any) -> "tuple[Prices, bool]":
        """Return the same prices with some others (``review``, ``mistake``, ``max_stake``), and whether losses stay the
        same, relative to the unit: if not, what was learnt of them does not hold for the new prices.
        """
        given = {"review": self.review, "mistake": self.mistake, "max_stake": self.max_stake, **changes}
        if "max_stake" in changes and not (self.staked and (self.short <= (changes["max_stake"] is not None))):
            expected = "a number above 0" if self.staked else "none, because mistakes do not cost what is at stake"
            raise InputError(f"max_stake: expected {expected}, got {shown(changes['max_stake'])}")
        unit = self.unit if "mistake" not in changes and self.staked else None
        new = Prices(self.task, given["review"], given["mistake"], given["max_stake"], unit=unit)
        if new.staked != self.staked:
            expected = "prices that go by the stake" if self.staked else "prices that do not go by the stake"
            raise InputError(f"mistake_price: expected {expected}, as before, got {shown(given['mistake'])}")
        kinds = self.by_kind.keys() | new.by_kind.keys()
        pairs = [(new.by_kind.get(k, new.other), self.by_kind.get(k, self.other)) for k in kinds]
        if not (self.task.two and len(kinds) == 2):
            pairs.append((new.other, self.other))
        parts = [(a, b) for pair in pairs for a, b in zip(*pair, strict=True) if a > 0.0 or b > 0.0]
        ratios = [a / b if b > 0.0 else math.inf for a, b in parts] or [1.0]
        ratio = max(ratios)
        if not 0.0 < ratio < math.inf or ratio > min(ratios) * (1.0 + SAME):
            return new, False
        if self.staked:
            new = Prices(self.task, given["review"], given["mistake"], given["max_stake"], unit=self.unit * ratio)
        return new, True

    def full(self, said: Plain, true: Plain, stake: float = 1.0) -> float:
        """Return the loss of an answer relative to the unit, in full: with stakes it may be above 1."""
        if self.task.kind == NUMBER:
            part = min(1.0, abs(float(said) - float(true)) / self.task.max_error)
            return float(self.other.at(stake) / self.unit * part)
        return 0.0 if said == true else float(self.by_kind.get((said, true), self.other).at(stake) / self.unit)

    def of(self, said: Plain, true: Plain, stake: float = 1.0) -> float:
        """Return the loss of an answer as it is learnt, in [0, 1]."""
        return min(1.0, self.full(said, true, stake))

    def risk(self, said: Plain | None, stake: float) -> float:
        """Return what a mistake would lose, in full: with stakes, that of the most expensive kind; else 1. Without an
        answer (None), it is that of other kinds.
        """
        if not self.staked:
            return 1.0
        kinds = [price for kind, price in self.by_kind.items() if kind[0] == said]
        if not (self.task.two and kinds):
            kinds.append(self.other)
        return float(max(price.at(stake) for price in kinds) / self.unit)

    def between(self, answers: Sequence[Plain], size: int, stake: float = 1.0) -> Floats:
        """Return what each of several answers loses if each of them is true, or (last) none is (size, size + 1)."""
        table = np.zeros((size, size + 1))
        for i, said in enumerate(answers):
            table[i, : len(answers)] = [self.full(said, true, stake) for true in answers]
            table[i, -1] = self.other.at(stake) / self.unit
        return table

    @property
    def of_signs(self) -> tuple[float, float] | None:
        """With two classes, the loss of wrongly saying the second, and of wrongly saying the first; with stakes, signs
        are as large as the loss themselves.
        """
        if not self.task.two:
            return None
        if self.staked:
            return 1.0, 1.0
        assert self.task.classes is not None
        negative, positive = self.task.classes
        return self.of(positive, negative), self.of(negative, positive)

    def as_stake(self, stake: Any) -> float:
        """Return what is at stake in a case; 1 for a gate without stakes."""
        if not self.staked:
            if stake is not None:
                raise InputError(
                    f"stake: expected none, because the gate was made without max_stake or PerStake, got {shown(stake)}"
                )
            return 1.0
        most = math.inf if self.max_stake is None else self.max_stake
        expected = "a number from 0 on" if self.max_stake is None else f"a number from 0 to {most:g}"
        return as_number(stake, "stake", expected, lambda s: 0.0 <= s <= most and s < math.inf)

    def to_file(self) -> dict[str, Any]:
        """Return the prices as plain values."""

        def plain(price: Any) -> Any:
            return {"per_stake": price.times} if isinstance(price, PerStake) else price

        mistake: Any = self.mistake
        if isinstance(mistake, dict):
            kinds = [[*kind, plain(price)] for kind, price in mistake.items() if kind != OTHER]
            mistake = {"kinds": kinds, OTHER: plain(mistake.get(OTHER))}
        return {"review": self.review, "mistake": plain(mistake), "max_stake": self.max_stake, "unit": self.unit}

    @classmethod
    def from_file(cls, task: Task, kept: Any) -> "Prices":
        """Return what `to_file` described; raise a `ValueError` if that cannot be prices."""

        def price(plain: Any) -> Any:
            return PerStake(plain["per_stake"]) if isinstance(plain, dict) else plain

        mistake: Any = kept["mistake"]
        if isinstance(mistake, dict) and "kinds" in mistake:
            kinds: dict[Any, Any] = {(said, true): price(one) for said, true, one in mistake["kinds"]}
            mistake = kinds if mistake[OTHER] is None else {**kinds, OTHER: price(mistake[OTHER])}
        else:
            mistake = price(mistake)
        unit = _price(kept["unit"], "unit", 1.0)
        made = cls(task, kept["review"], mistake, kept["max_stake"], unit=unit)
        if not made.staked and unit != made.dearest:
            raise InputError(f"unit: expected {made.dearest:g}, the price of the most expensive mistake, got {unit:g}")
        return made


def weighed(confidence: Floats, risk: Any) -> Floats:
    """Return what thresholds are compared with: one minus doubt times risk, at least 0."""
    return np.asarray(np.maximum(0.0, 1.0 - risk * (1.0 - confidence)))


def threshold_at(threshold: Floats, risk: Any) -> Floats:
    """Return the confidence that exceeds a threshold at a risk, the inverse of `weighed`; -1 if every one does.

    >>> threshold_at(np.array([0.9, 0.2, 1.0]), 0.5)
    array([ 0.8, -1. ,  1. ])
    """
    at = 1.0 - (1.0 - threshold) / np.maximum(risk, 1e-300)
    return np.asarray(np.where(at < 0.0, -1.0, at))
