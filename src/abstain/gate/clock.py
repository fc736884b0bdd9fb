"""The times of cases, for capacities per day and ages."""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from .._core.validation import is_number
from ..errors import InputError, shown

SECONDS, NAIVE, AWARE = "seconds", "datetimes without a time zone", "datetimes with a time zone"
KINDS = (SECONDS, NAIVE, AWARE)
LAST = 253_402_300_800
"""Seconds from 1970 to the year 10000. Milliseconds since 1970 are above it."""


class Clock(NamedTuple):
    """The time of the last case.

    The first time fixes the kind: seconds (from any origin), datetimes without a time zone (read as UTC, so that no
    clock change makes them go back), or datetimes with one. Other kinds are refused from then on.
    """

    last: int | None = None
    """Microseconds."""
    kind: str | None = None
    """One of `KINDS`."""

    def at(self, time: Any, why: str | None) -> "Clock":
        """Return the clock after a case at ``time``.

        Args:
            time: A datetime, seconds, or None.
            why: Why a case must have a time; None if it need not.

        Raises:
            InputError: If a needed time is missing, or if a time is of another kind, out of range, or before the last.
        """
        if time is None:
            if why is not None:
                raise InputError(f"time: expected one for every case, because {why}, got None")
            return self
        kind, now = _read(time)
        if self.kind not in (None, kind):
            raise InputError(f"time: expected {self.kind}, like the times before, got {shown(time)}")
        if self.last is not None and now < self.last:
            raise InputError(
                f"time: expected one not before the last case's ({self._shown()}), got {shown(time)}; if the last one "
                "was wrong, set gate.last_time = None"
            )
        return Clock(now, kind)

    def passed(self, before: "Clock") -> int:
        """Return the microseconds since an earlier state of this clock; 0 if either has no time."""
        return 0 if self.last is None or before.last is None else self.last - before.last

    @property
    def written(self) -> str | float | None:
        """The last time as JSON keeps it: a date and time as text, or seconds."""
        if self.last is None or self.kind in (None, SECONDS):
            return None if self.last is None else self.last / 1e6
        text = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self.last)).isoformat(" ")
        return text if self.kind == AWARE else text.removesuffix("+00:00")

    def _shown(self) -> str:
        assert self.last is not None
        if self.kind == SECONDS or self.kind is None:
            return f"{self.last / 1e6:.15g} s"
        return datetime.fromtimestamp(self.last / 1e6, UTC).isoformat(" ").removesuffix("+00:00")

    @classmethod
    def from_file(cls, last: Any, kind: Any) -> "Clock":
        """Return the clock that a file describes; raise a `ValueError` if that cannot be one."""
        if last is not None and (type(last) is not int or abs(last) >= LAST * 10**6):
            raise InputError(f"last_time: expected microseconds, got {shown(last)}")
        if kind is not None and (kind not in KINDS or last is None):
            raise InputError(f"time_kind: expected one of {', '.join(KINDS)}, got {shown(kind)}")
        return cls(last, kind)


def _read(time: Any) -> tuple[str, int]:
    """Return the kind of a time, and its microseconds."""
    if isinstance(time, datetime):
        try:
            aware = time.utcoffset() is not None
            seconds = time.timestamp() if aware else time.replace(tzinfo=UTC).timestamp()
            return (AWARE if aware else NAIVE), round(seconds * 1e6)
        except (ValueError, OverflowError):  # pandas' NaT
            raise InputError(f"time: expected a datetime or seconds, got {shown(time)}") from None
    if not is_number(time) or not abs(float(time)) < LAST:
        raise InputError(
            f"time: expected a datetime, or seconds before the year 10000, got {shown(time)}"
            + ("; are these milliseconds?" if is_number(time) and abs(float(time)) >= LAST else "")
        )
    return SECONDS, round(float(time) * 1e6)
