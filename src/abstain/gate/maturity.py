"""The age at which cases are learnt: so many cases, or a span of time."""

import re
from collections import deque
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from .._core.validation import as_count
from ..errors import InputError, shown
from ..typing import Array, Ints

UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_SPAN = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})s?\s*")
LONGEST = 10**6 * 86_400 * 36_525
"""A century, in microseconds."""


class Maturity(NamedTuple):
    """The age at which a case is learnt: one of the two."""

    cases: int | None = None
    """So many cases were decided after it."""
    span: int | None = None
    """So many microseconds have passed."""

    @property
    def given(self) -> int | timedelta:
        """The age as a user gives it."""
        return timedelta(microseconds=self.span) if self.span is not None else self.cases or 0


def as_maturity(value: Any, name: str = "maturity") -> Maturity | None:
    """Check an age.

    Args:
        value: A number of cases, a timedelta, a text such as "14 days", or None.
        name: The argument's name, for messages.

    Returns:
        The age; None if there is none.

    Raises:
        InputError: If it is something else, or not above 0.

    >>> as_maturity("36 hours").given
    datetime.timedelta(days=1, seconds=43200)
    """
    if value is None:
        return None
    expected = f'{name}: expected a number of cases, or a span of time such as "14 days"'
    if isinstance(value, str):
        found = _SPAN.fullmatch(value.lower())
        if value.strip().isdigit():
            value = int(value)
        elif found is None:
            raise InputError(f"{expected} (in {', '.join(unit + 's' for unit in UNITS)}), got {shown(value)}")
        else:
            value = timedelta(seconds=float(found[1]) * UNITS[found[2]])
    if isinstance(value, timedelta):
        span = round(value / timedelta(microseconds=1))
        if not 0 < span <= LONGEST:
            raise InputError(f"{expected}, above 0 and up to a century, got {shown(value)}")
        return Maturity(span=span)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{expected}, got {shown(value)}")
    return Maturity(cases=as_count(value, name))


class Ages:
    """The times of the cases that are not old enough yet, where the age is a span of time.

    Args:
        maturity: The age at which cases are learnt.
    """

    def __init__(self, maturity: Maturity) -> None:
        self.maturity = maturity
        self._times: deque[int] = deque()
        self._undated = 0
        """How many cases of an earlier clock are not old enough: their age counts from the next case on."""

    def add(self, times: Iterable[int]) -> None:
        """Add the times of the next cases, in microseconds; those that are old enough after them are dropped."""
        known, span = self._times, self.maturity.span
        if span is None:
            return
        for time in times:
            known.extend([time] * self._undated)
            self._undated = 0
            known.append(time)
        while known and known[0] <= known[-1] - span:
            known.popleft()

    def restart(self) -> None:
        """Start with another clock."""
        self._undated += len(self._times)
        self._times.clear()

    def last_ripe(self, now: int) -> int:
        """Return the last case that is old enough after ``now`` cases; 0 if none is."""
        young = self.maturity.cases if self.maturity.span is None else len(self._times) + self._undated
        return max(0, now - (young or 0))

    def copy(self) -> "Ages":
        """Copy it."""
        other = Ages(self.maturity)
        other._times, other._undated = self._times.copy(), self._undated
        return other

    def to_file(self) -> tuple[list[int | None], Array]:
        """Describe it as plain values and an array."""
        return [*self.maturity, self._undated], np.array(self._times, np.int64)

    @classmethod
    def from_file(cls, values: Any, times: Ints, now: int, ripe: int | None) -> "Ages":
        """Read what `to_file` wrote; raise a `ValueError` if it cannot be that of a gate after ``now`` cases."""
        cases, span, undated = values
        maturity = as_maturity(cases if span is None else timedelta(microseconds=span))
        if maturity is None or tuple(maturity) != (cases, span) or type(undated) is not int or undated < 0:
            raise InputError(f"maturity: expected a number of cases or a span of time, got {shown(values)}")
        if times.dtype != np.int64 or times.ndim != 1 or (np.diff(times) < 0).any():
            raise InputError(f"maturity: expected times in order, got {shown(times)}")
        ages = cls(maturity)
        ages._times, ages._undated = deque(times.tolist()), undated
        if ripe != ages.last_ripe(now) or len(times) + undated > now:
            raise InputError(f"maturity: expected case {ages.last_ripe(now)} to be the last old enough, got {ripe}")
        return ages
