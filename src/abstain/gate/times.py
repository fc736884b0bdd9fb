"""When cases come."""

from datetime import datetime
from typing import Any

from ..capacity import Capacity
from ..errors import InputError, shown


def as_time(time: Any, last: int | None, capacity: Capacity | None) -> int | None:
    """Microseconds, of a datetime or of seconds, not before the last case's; None where no time is needed or given."""
    if time is None:
        if capacity is not None and capacity.per_day is not None:
            raise InputError("time: expected one for every case, as the capacity is a number a day, got none")
        return None
    try:
        seconds = time.timestamp() if isinstance(time, datetime) else float(time)
        now = round(seconds * 1e6)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"time: expected a datetime or seconds, got {shown(time)}") from None
    if last is not None and now < last:
        raise InputError(f"time: expected one not before the last case's, got {shown(time)}")
    return now
