"""Columns of a slice as numbers and times; what is none has a row and a column."""

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ...errors import InputError, shown
from ...typing import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

NEVER = np.iinfo(np.int64).max
"""The time of what does not come."""
_SECOND = 1_000_000


def refuse(column: "pl.Series", wrong: Bools, first_row: int, expected: str) -> NoReturn:
    """Say what was expected in the first row that is wrong. Rows are counted from 1, as people do, without a header."""
    k = int(np.argmax(wrong))
    value = column[k]
    got = "nothing" if value is None else shown(value)
    if isinstance(value, str) and value.rstrip().endswith("%"):
        got += " (write per cent as 0.62)"
    raise InputError(f"row {first_row + k + 1:,}, column {column.name}: expected {expected}, got {got}")


def blank(column: "pl.Series") -> Bools:
    """Where nothing is: null, NaN (also as text), or an empty text."""
    import polars as pl

    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | column.str.to_lowercase().is_in(["", "nan"]).fill_null(True)
    elif column.dtype.is_float():
        missing = missing | column.is_nan().fill_null(True)
    return missing.to_numpy()


def numbers(column: "pl.Series", first_row: int) -> Floats:
    """Numbers, NaN where nothing is."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise InputError(f"column {column.name}: expected numbers, got {column.dtype}")
    cast = column.cast(pl.Float64, strict=False)
    if column.dtype == pl.String:
        wrong = cast.is_null().to_numpy() & ~blank(column)
        if wrong.any():
            cast = column.str.strip_chars().cast(pl.Float64, strict=False)
            wrong = cast.is_null().to_numpy() & ~blank(column)
        if wrong.any():
            refuse(column, wrong, first_row, "a number")
    return np.array(cast.fill_null(float("nan")).to_numpy())


def check(column: "pl.Series", right: Bools, first_row: int, expected: str) -> None:
    """Refuse the first row that is not right."""
    if not right.all():
        refuse(column, ~right, first_row, expected)


def microseconds(column: "pl.Series", first_row: int, *, may_miss: bool) -> Ints:
    """Times: dates, or texts of them, or numbers, which are seconds. `NEVER` where there is none, if that may be."""
    import polars as pl

    missing = blank(column)
    if missing.any() and not may_miss:
        refuse(column, missing, first_row, "a time")
    if missing.all():
        return np.full(len(column), NEVER)
    if (
        column.dtype == pl.String
        and column.filter(~pl.Series(missing)).head(1).cast(pl.Float64, strict=False)[0] is None
    ):
        try:
            times = column.str.strip_chars().str.to_datetime(time_unit="us", strict=False)
        except pl.exceptions.PolarsError:  # not even the first looks like a time
            refuse(column, ~missing, first_row, "a time as 2026-01-31 12:00:00, or seconds as a number")
        wrong = times.is_null().to_numpy() & ~missing
        if wrong.any():
            refuse(column, wrong, first_row, "a time as those before it")
        made = times.cast(pl.Int64)
    elif column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
        made = column.cast(pl.Datetime("us")).cast(pl.Int64)
    else:
        seconds = numbers(column, first_row)
        check(column, np.isnan(seconds) | (np.abs(seconds) < 9e12), first_row, "a time in seconds")
        return np.where(missing, NEVER, np.round(np.nan_to_num(seconds) * _SECOND).astype(np.int64))
    return np.where(missing, NEVER, made.fill_null(0).to_numpy())


def is_date(sample: "pl.DataFrame", column: str | None) -> bool:
    """Whether a column of times has dates; if not, it has seconds."""
    import polars as pl

    if column is None or sample[column].dtype.is_numeric():
        return False
    there = sample[column].drop_nulls().head(1)
    return there.dtype != pl.String or there.cast(pl.Float64, strict=False).null_count() > 0
