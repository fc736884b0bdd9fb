"""A user's log, CSV or Parquet: read once, streamed, into a file of the needed columns; from there in slices."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FileError

if TYPE_CHECKING:
    import polars as pl

SLICE = 2**17
"""Rows in memory at a time."""
SAMPLE = 2_000
"""Rows looked at to find columns."""


class Log:
    """A file with a header or a schema. Every column of a CSV is text, so that what is wrong in it has a row."""

    def __init__(self, path: Path) -> None:
        self.path = path
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
        self._separator = _separator(start)
        with reading(path, self.is_parquet):
            self.schema = dict(self.scan().collect_schema())

    def scan(self) -> "pl.LazyFrame":
        """The whole log, to be read later."""
        import polars as pl

        if self.is_parquet:
            return pl.scan_parquet(self.path, glob=False)
        return pl.scan_csv(self.path, separator=self._separator, infer_schema=False, glob=False)

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return list(self.schema)

    def sample(self) -> "pl.DataFrame":
        """The first rows."""
        with reading(self.path, self.is_parquet):
            return self.scan().head(SAMPLE).collect()

    def slices(self, columns: Sequence[str], scratch: Path) -> "Slices":
        """The rows of some columns, which are written to ``scratch`` first: a CSV is read only once, and a Parquet file
        may have all rows in one group.
        """
        with reading(self.path, self.is_parquet):
            self.scan().select(list(dict.fromkeys(columns))).sink_parquet(
                scratch, row_group_size=SLICE, compression="lz4", statistics=False
            )
        return Slices(scratch)


class Slices:
    """The rows of a Parquet file, some at a time."""

    def __init__(self, path: Path) -> None:
        import polars as pl

        self.path = path
        self.rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())

    def __iter__(self) -> "Iterator[tuple[int, pl.DataFrame]]":
        """The number of the first row, from 0, and the rows."""
        import polars as pl

        for begin in range(0, self.rows, SLICE):
            yield begin, pl.scan_parquet(self.path, glob=False).slice(begin, SLICE).collect()


@contextmanager
def reading(path: Path, is_parquet: bool) -> Iterator[None]:
    """Say in a sentence what is wrong with a file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        why = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
        kind = "Parquet (is it cut off?)" if is_parquet else "CSV with a header"
        raise FileError(f"{path}: cannot be read as {kind}: {why}") from None


def _separator(start: bytes) -> str:
    """What most often stands between names in the first line."""
    line = start.lstrip(b"\xef\xbb\xbf").splitlines()[0]
    return max((",", ";", "\t", "|"), key=lambda mark: line.count(mark.encode()))
