"""How many cases may go to review: a share of them, or a number per day."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from ._core.validation import as_count, as_number, as_share, is_number
from .errors import InputError, shown

PLACES = 10**9
"""Shares are rounded down to nine decimals, so that tokens are whole numbers of a small unit."""
DAY = 86_400 * 10**6
"""The microseconds of a day."""
MOST_BURST = 10**7
"""The largest bucket, so that its units fit into 64 bits."""
MOST_A_DAY = 10**9
FILLED_AFTER = 1_000
"""The number of cases that fill the bucket, unless `burst` is given."""


@dataclass(frozen=True)
class Capacity:
    """A limit on reviews: of any n cases in a row at most ``share n + burst`` go to review; by time, at most what
    ``per_day`` earned in that time plus ``burst``.

    A bucket holds at most ``burst`` tokens and starts full. Every case earns ``share`` of a token (every day
    ``per_day`` tokens), and a review takes one; while there is less than one, every case is answered. Before that
    happens, the price of a review rises: by ``step`` with every review, and it falls by ``step`` times what was earned.
    It is above 0 unless the bucket is full, and at most ``step * burst``.

    Give either ``share`` or ``per_day``.

    Raises:
        InputError: Both or neither of ``share`` and ``per_day`` are given, or a value is out of range.

    >>> Capacity(share=0.08)
    Capacity(share=0.08, per_day=None, burst=80, step=0.0125)
    >>> Capacity(per_day=500, burst=50).units
    (500, 86400000000)
    """

    share: float | None = None
    """The share of the cases that may go to review, from 0 to 1."""
    per_day: float | None = None
    """The number of reviews per day, a whole one; the last column of x is then the time since the previous case, in
    microseconds."""
    burst: int | None = None
    """The tokens that a full bucket holds; None means what 1,000 cases, or one day, earn."""
    step: float | None = None
    """What a review adds to the price; None means ``1 / burst``, so that the price reaches 1, the cost of a mistake,
    just when the bucket is empty."""

    def __post_init__(self) -> None:
        if (self.share is None) == (self.per_day is None):
            raise InputError(
                f"capacity: expected either a share or a number per_day, got {shown(self.share)} and "
                f"{shown(self.per_day)}"
            )
        if self.share is not None:
            share = as_share(self.share, "share")
            object.__setattr__(self, "share", share)
            burst = max(1, round(FILLED_AFTER * share))
        else:
            given: Any = self.per_day
            per_day = as_count(
                int(given) if isinstance(given, float) and given.is_integer() else given, "per_day", least=0
            )
            if per_day > MOST_A_DAY:
                raise InputError(f"per_day: expected at most {MOST_A_DAY}, got {per_day}")
            object.__setattr__(self, "per_day", per_day)
            burst = min(MOST_BURST, max(1, per_day))
        if self.burst is not None:
            burst = as_count(self.burst, "burst", least=1)
            if burst > MOST_BURST:
                raise InputError(f"burst: expected at most {MOST_BURST}, got {burst}")
        object.__setattr__(self, "burst", burst)
        step = 1.0 / burst if self.step is None else as_share(self.step, "step")
        object.__setattr__(self, "step", step)

    @property
    def units(self) -> tuple[int, int]:
        """The tokens, in whole units, that a case (by time: a microsecond) earns and that a review takes."""
        if self.share is None:
            return int(self.per_day or 0), DAY
        exact = Fraction(int(Fraction(repr(self.share)) * PLACES), PLACES)
        return exact.numerator, exact.denominator


CapacityLike: TypeAlias = "float | Capacity | dict[str, Any] | None"


def as_capacity(capacity: CapacityLike) -> Capacity | None:
    """Return a capacity for what users give.

    Args:
        capacity: A share in [0, 1], a `Capacity`, a dictionary of its arguments, or None.

    Returns:
        The capacity, or None if there is no limit.

    Raises:
        InputError: It is none of these.

    >>> as_capacity(0.08) == Capacity(share=0.08)
    True
    """
    if capacity is None or isinstance(capacity, Capacity):
        return capacity
    if is_number(capacity):
        share = as_number(capacity, "capacity", "a share in [0, 1]", lambda share: 0.0 <= share <= 1.0)
        return Capacity(share=share)
    if isinstance(capacity, dict) and capacity.keys() <= {"share", "per_day", "burst", "step"}:
        return Capacity(**capacity)
    raise InputError(f"capacity: expected None, a share in [0, 1] or a Capacity, got {shown(capacity)}")
