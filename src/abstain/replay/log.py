"""Reading a log in slices, and its columns as numbers and times. Errors name the row and the column."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..errors import FileError, InputError, shown
from ..typing import Bools, Floats, Ints

if TYPE_CHECKING:
    import polars as pl

NEVER = np.iinfo(np.int64).max
"""The time of a label that never arrives."""
_SECOND = 1_000_000
MILLISECONDS = 1e11
"""Numbers from here on are milliseconds since 1970; as seconds they would be after the year 5000."""


def named(name: str) -> "pl.Expr":
    """The column of this name, which may look like a pattern, such as ``^.*$``."""
    import polars as pl

    return pl.col(f"^{re.escape(name)}$")


def refuse(column: "pl.Series", wrong: Bools, first_row: int, expected: str) -> NoReturn:
    """Raise an error for the first wrong row. Rows are counted from 1, without the header."""
    k = int(np.argmax(wrong))
    value = column[k]
    got = "nothing" if value is None else shown(value)
    raise InputError(f"row {first_row + k + 1:,}, column {column.name}: expected {expected}, got {got}{hint(value)}")


MISSING = ("", "NA", "na", "NaN", "nan", "NAN")
"""Texts that stand for a missing value."""
NOT_MISSING = ("n/a", "#n/a", "null", "none", "nil", "missing", "-", "?")
"""Texts that others write for one, in small letters."""


def hint(value: object) -> str:
    """What a text may have been meant for where a number is expected, and how to write it; "" if nothing is known.

    >>> hint("62%"), hint("0,9102")
    (' (is it per cent? Then say --percent)', ' (is it a decimal comma? Write 0.9102)')
    """
    text = value.strip() if isinstance(value, str) else ""
    if text.endswith("%"):
        return " (is it per cent? Then say --percent)"
    if re.fullmatch(r"[+-]?\d+,\d+", text):
        return f" (is it a decimal comma? Write {text.replace(',', '.')})"
    if text.lower() in NOT_MISSING:
        return " (is it missing? Empty cells, NA and NaN are)"
    return ""


def blank(column: "pl.Series") -> Bools:
    """Which values are missing: null, NaN or NA (also as text), or an empty text."""
    import polars as pl

    missing = column.is_null()
    if column.dtype == pl.String:
        missing = missing | column.str.strip_chars().is_in(MISSING).fill_null(True)
    elif column.dtype.is_float():
        missing = missing | column.is_nan().fill_null(True)
    return missing.to_numpy()


def numbers(column: "pl.Series", first_row: int) -> Floats:
    """Convert a column to numbers; a missing one is NaN."""
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
    """Raise an error for the first row that is not right."""
    if not right.all():
        refuse(column, ~right, first_row, expected)


NAIVE, AWARE, SECONDS, MILLIS = (
    "a time without a zone", "a time with a zone", "a time in seconds", "a time in milliseconds"
)  # fmt: skip


AS_THIS = "a time written as 2026-01-05 00:02"
YEAR_LAST = r"^\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4})"
"""Dates as 01/05/2026: some read 1 May, others January 5."""
EXCEL = 20_000.0, 80_000.0
"""Days since 1900, as Excel counts them: the years 1954 to 2119."""


def month_first(frames: "Iterable[pl.DataFrame]", columns: Sequence[str]) -> bool | None:
    """Whether the month comes first in dates that end with the year: a part above 12 is a day; None if none is.

    Nothing is read after the first frame whose dates tell, or that has no such dates.

    Raises:
        InputError: If some dates begin with the month and others with the day.
    """
    import polars as pl

    days = [0, 0]
    for frame in frames:
        for column in columns:
            if frame[column].dtype == pl.String:
                for k in (0, 1):
                    part = frame[column].str.extract(YEAR_LAST, k + 1).cast(pl.Int64)
                    days[k] = max(days[k], int(part.max() or 0))  # type: ignore[arg-type]
        if max(days) == 0 or max(days) > 12:
            break
    if min(days) > 12:
        raise InputError(
            f"column {' or '.join(columns)}: expected {AS_THIS}, got dates that begin with the day and others that "
            "begin with the month"
        )
    return None if max(days) <= 12 else days[1] > 12


class Times:
    """Reads columns of times as microseconds. All rows of a column, and all columns, have the same kind of time.

    The kinds are dates without a time zone, dates with one, and numbers; each column's numbers are either seconds or
    milliseconds since 1970.
    """

    def __init__(self, month_first: bool | None = None) -> None:
        """Begin without a kind; ``month_first`` tells how to read 01/05/2026 (None: such dates are refused)."""
        self._kinds: dict[str, str] = {}
        self._month_first = month_first

    def read(self, column: "pl.Series", first_row: int, *, may_miss: bool) -> Ints:
        """Convert dates, texts of dates, or numbers to microseconds; a missing one is `NEVER`, if ``may_miss``."""
        import polars as pl

        missing = blank(column)
        if missing.any() and not may_miss:
            refuse(column, missing, first_row, "a time")
        if missing.all():
            return np.full(len(column), NEVER)
        is_text = column.dtype == pl.String
        if is_text and column.filter(~pl.Series(missing)).head(1).cast(pl.Float64, strict=False)[0] is None:
            made = self._texts(column, missing, first_row)
        elif column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime):
            zone = column.dtype.time_zone if isinstance(column.dtype, pl.Datetime) else None
            self._keep(column, ~missing, first_row, NAIVE if zone is None else AWARE)
            made = column.cast(pl.Datetime("us", zone)).cast(pl.Int64)
        else:
            return self._numbers(column, missing, first_row)
        return np.where(missing, NEVER, made.fill_null(0).to_numpy())

    def _keep(self, column: "pl.Series", there: Bools, first_row: int, kind: str) -> None:
        """Raise an error for another kind of time than the rows before, or another column, have."""
        numeric = (SECONDS, MILLIS)
        for name, known in self._kinds.items():
            same = known == kind or (name != column.name and known in numeric and kind in numeric)
            if not same:
                where = "the rows above" if name == column.name else f"column {name}"
                refuse(column, there, first_row, f"{known}, as in {where}")
        self._kinds[column.name] = kind

    def _texts(self, column: "pl.Series", missing: Bools, first_row: int) -> "pl.Series":
        import polars as pl

        text = column.str.strip_chars()
        zoned = text.str.contains(r":\d\d(\.\d+)?\s*(Z|UTC|[+-]\d\d(:?\d\d)?)$").fill_null(False).to_numpy() & ~missing
        kind = AWARE if zoned[~missing][0] else NAIVE
        other = ~missing & (zoned != (kind == AWARE))
        if other.any():
            refuse(column, other, first_row, f"{kind}, as in the rows above")
        self._keep(column, ~missing, first_row, kind)
        unclear = text.str.contains(YEAR_LAST).fill_null(False).to_numpy() & ~missing
        if unclear.any():
            if self._month_first is None:
                why = "for no row tells whether the day or the month comes first"
                refuse(column, unclear, first_row, f"{AS_THIS}, {why}")
            if self._month_first:  # Polars takes the first for the day
                text = text.str.replace(YEAR_LAST, "${2}/${1}/${3}")
        try:
            times = text.str.to_datetime(time_unit="us", strict=False)
        except pl.exceptions.PolarsError:  # not even the first looks like a time
            times = pl.Series([None] * len(text), dtype=pl.Datetime("us"))
        wrong = times.is_null().to_numpy() & ~missing
        if wrong[~missing].all():
            refuse(column, ~missing, first_row, f"{AS_THIS}, or seconds as a number")
        if wrong.any():
            refuse(column, wrong, first_row, "a time as those before it")
        return times.cast(pl.Int64)

    def _numbers(self, column: "pl.Series", missing: Bools, first_row: int) -> Ints:
        import polars as pl

        seconds = numbers(column, first_row)
        there = seconds[~missing]
        if column.dtype == pl.String and not self._kinds and ((there >= EXCEL[0]) & (there < EXCEL[1])).all():
            whole = missing | (seconds == np.floor(seconds))
            check(column, whole, first_row, f"{AS_THIS} (are these Excel's days?), or seconds from 0 or 1970 on")
        check(column, np.isnan(seconds) | (np.abs(seconds) < 9e12), first_row, "a time in seconds or milliseconds")
        large = np.abs(np.nan_to_num(seconds)) >= MILLISECONDS
        kind = MILLIS if large[~missing][0] else SECONDS
        other = ~missing & (large != (kind == MILLIS))
        if other.any():
            refuse(column, other, first_row, f"{kind}, as in the rows above")
        self._keep(column, ~missing, first_row, kind)
        seconds = seconds / 1e3 if kind == MILLIS else seconds
        return np.where(missing, NEVER, np.round(np.nan_to_num(seconds) * _SECOND).astype(np.int64))


def is_date(sample: "pl.DataFrame", column: str | None) -> bool:
    """Whether a column of times holds dates; otherwise it holds seconds."""
    import polars as pl

    if column is None or sample[column].dtype.is_numeric():
        return False
    there = sample[column].drop_nulls().head(1)
    return there.dtype != pl.String or there.cast(pl.Float64, strict=False).null_count() > 0


SLICE = 2**17
"""Rows in memory at a time."""
SAMPLE = 2_000
"""Rows to find columns in."""
DECIMAL_COMMA = r"^\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*%?\s*$"
THOUSANDS = r"^\s*[+-]?[1-9]\d{0,2},\d{3}\s*%?\s*$"
"""A number with a decimal comma, and one whose comma may separate thousands."""
SAVE = "save it as CSV in UTF-8"


class Log:
    """A CSV file with a header, or a Parquet file. Columns of a CSV are read as text, so that errors can name a row."""

    def __init__(self, path: Path, *, shown: Path | None = None, typed: bool = True) -> None:
        """Open a log; ``shown`` is the file that it was made of, and without ``typed`` its columns are text."""
        self.path = path
        self.shown = path if shown is None else shown
        if path.exists() and not path.is_file():
            raise FileError(f"{path}: expected a file, got a folder, a pipe or the like")
        try:
            with path.open("rb") as stream:
                start = stream.read(2**16)
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None
        if not start.strip(b"\xef\xbb\xbf \r\n"):
            raise FileError(f"{path}: expected rows, got an empty file")
        self.is_parquet = start.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq")
        if not self.is_parquet and start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise FileError(f"{path}: expected CSV or Parquet, got a workbook or an archive: {SAVE}")
        if not self.is_parquet and (start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start[:1_000]):
            raise FileError(f"{path}: expected CSV in UTF-8, got UTF-16 or no text: {SAVE}")
        self.typed = typed and self.is_parquet
        self._separator = _separator(start)
        with reading(path, self.is_parquet):
            self.schema = dict(self.scan().collect_schema())
        if not self.is_parquet and "\ufffd" in "".join(self.schema):  # as Polars reads other bytes in names
            raise FileError(f"{path}: expected CSV in UTF-8, got names of columns in another encoding: {SAVE}")

    def scan(self) -> "pl.LazyFrame":
        """The whole log, not read yet."""
        import polars as pl

        if self.is_parquet:
            return pl.scan_parquet(self.path, glob=False)
        return pl.scan_csv(self.path, separator=self._separator, infer_schema=False, glob=False)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema)

    def repeated(self, used: Iterable[str]) -> list[str]:
        """Warnings: columns among those ``used`` that a CSV has more than once."""
        ends = (re.fullmatch(r"(.+)_duplicated_\d+", name) for name in self.columns)  # as Polars calls the others
        twice = set() if self.is_parquet else {end[1] for end in ends if end is not None}
        return [
            f"the log has several columns {name}: the first is used." for name in dict.fromkeys(used) if name in twice
        ]

    def sample(self) -> "pl.DataFrame":
        """The first rows, with decimal points."""
        frame = self._head()
        return frame.with_columns(_with_points(name) for name in self._commas(frame))

    def decimal_commas(self, numbers: Sequence[str]) -> list[str]:
        """Those among the columns of ``numbers`` that are written with decimal commas; then none may have a point.

        Where some have commas, 1.234 may be more than a thousand.
        """
        import polars as pl

        found = [name for name in self._commas(self._head()) if name in numbers]
        if found:
            wanted = list(dict.fromkeys(numbers))
            points = pl.any_horizontal(named(name).str.contains(".", literal=True) for name in wanted)
            with reading(self.path, self.is_parquet):
                wrong = self.scan().select(map(named, wanted)).with_row_index("\0").filter(points).head(1).collect()
            for name in wanted if len(wrong) else ():
                if "." in (wrong[name][0] or ""):
                    expected = f"a number without a point, for column {found[0]} has decimal commas"
                    refuse(wrong[name], np.ones(1, np.bool_), int(wrong["\0"][0]), expected)
        return found

    def _head(self) -> "pl.DataFrame":
        with reading(self.path, self.is_parquet):
            return self.scan().head(SAMPLE).collect()

    def _commas(self, frame: "pl.DataFrame") -> list[str]:
        """The columns with decimal commas, if the separator is not a comma, and no comma may be one of thousands."""
        if self.is_parquet or self._separator != ";":
            return []
        found = []
        for column in frame:
            there = column.filter(column.str.contains(",", literal=True).fill_null(False))
            unclear = column.str.contains(".", literal=True).any() or there.str.contains(THOUSANDS).all()
            if there.str.contains(DECIMAL_COMMA).all() and not unclear:
                found.append(column.name)
        return found

    def slices(self, columns: Sequence[str], scratch: Path, commas: Sequence[str] = ()) -> "Slices":
        """The rows of some columns, in slices; ``commas`` are those with decimal commas, which become points.

        They are written to ``scratch`` first, so that a CSV is read only once; a Parquet file may have all rows in one
        group.
        """
        with reading(self.path, self.is_parquet):
            wanted = [_with_points(name) if name in commas else named(name) for name in dict.fromkeys(columns)]
            self.scan().select(wanted).sink_parquet(scratch, row_group_size=SLICE, compression="lz4", statistics=False)
        return Slices(scratch)


class Slices:
    """The rows of a Parquet file, a slice at a time."""

    def __init__(self, path: Path) -> None:
        import polars as pl

        self.path = path
        self.rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())

    def __iter__(self) -> "Iterator[tuple[int, pl.DataFrame]]":
        """Yield the number of the first row, from 0, and the rows."""
        import polars as pl

        for begin in range(0, self.rows, SLICE):
            yield begin, pl.scan_parquet(self.path, glob=False).slice(begin, SLICE).collect()


@contextmanager
def reading(path: Path, is_parquet: bool) -> Iterator[None]:
    """Turn errors of Polars and the system into one sentence."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        why = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
        kind = "Parquet (is it cut off?)" if is_parquet else "CSV with a header"
        why += f"; {SAVE}" if "utf-8" in why.lower() else ""
        raise FileError(f"{path}: cannot be read as {kind}: {why}") from None


def _with_points(name: str) -> "pl.Expr":
    """A column whose numbers with decimal commas have points; other texts stay as they are, to be refused."""
    import polars as pl

    column = named(name)
    return (
        pl.when(column.str.contains(DECIMAL_COMMA)).then(column.str.replace(",", ".", literal=True)).otherwise(column)
    )


def _separator(start: bytes) -> str:
    """The most frequent separator in the first line."""
    line = start.lstrip(b"\xef\xbb\xbf").splitlines()[0]
    return max((",", ";", "\t", "|"), key=lambda mark: line.count(mark.encode()))
