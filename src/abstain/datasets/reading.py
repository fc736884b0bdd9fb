"""Read files: LIBSVM text, CSV, ARFF, Parquet and ``.npz``, plain or packed, of known sets and of users.

LIBSVM text is parsed here and not by scikit-learn: errors name the line, nan, inf and ``1_0`` are refused, and the 11
million rows of HIGGS are read in pieces.
"""

import bz2
import io
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core.extras import need
from ..errors import FileError
from .known import KnownSet, as_signs

if TYPE_CHECKING:
    import polars as pl

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called now and then with the step, how much of it is done, and the total (None while it is not known)."""
Table: TypeAlias = tuple[NDArray[np.float64], NDArray[Any]]
"""Features (n, d) and labels (n,)."""

PIECE = 4 << 20
LONGEST_LINE = 64 << 20
LABEL_NAMES = ("label", "class", "target", "y")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked if its name ends in .bz2 or .xz; errors while it is read name the file."""
    kinds: dict[str, Callable[..., IO[bytes]]] = {".bz2": bz2.open, ".xz": lzma.open}
    unpack = kinds.get(path.suffix, open)
    try:
        with unpack(path, "rb") as stream:
            yield stream
    except (OSError, EOFError, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{path}: cannot be read ({error.strerror})") from None
        raise FileError(f"{path}: damaged or cut short ({error})") from None


def pieces(path: Path, progress: Progress | None = None) -> Iterator[bytes]:
    """Yield whole lines, a few megabytes at a time, each ending in a newline."""
    with opened(path) as stream:
        size = path.stat().st_size
        rest = b""
        while piece := stream.read(PIECE):
            head, newline, tail = piece.rpartition(b"\n")
            if newline:
                yield rest + head + newline
                rest = tail
            else:
                rest += piece
            if len(rest) > LONGEST_LINE:
                raise FileError(f"{path}: expected lines of text, got a line of more than {LONGEST_LINE >> 20} MiB")
            if progress is not None:
                progress(f"reading {path.name}", _position(stream), size)
        if rest:
            yield rest + b"\n"
        if progress is not None:
            progress(f"reading {path.name}", size, size)


def _position(stream: IO[bytes]) -> int:
    """Return how far the file itself, packed or not, has been read."""
    return os.lseek(stream.fileno(), 0, os.SEEK_CUR)


def read_csv(text: bytes, features: int, path: Path) -> Table:
    """Read a CSV file of a known set: X (n, features) and the labels, numbers or words.

    The first line is a header if one of its fields is a label's name or none is a number. The label is the column
    called label, class, target or y in any case (looked for in this order), else the last one.
    """
    if b"\0" in text:
        raise FileError(f"{path}: expected text in UTF-8, got bytes that are zero")
    text = text.removeprefix(b"\xef\xbb\xbf")
    first = text.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace")
    fields = [field.strip().strip("\"'").lower() for field in first.split(",")]
    has_header = any(name in fields for name in LABEL_NAMES) or not any(map(_is_number, fields))
    if len(fields) != features + 1:
        raise FileError(
            f"{path}: expected {features} features and a label, separated by commas, got {len(fields)} columns"
        )
    label = next((fields.index(name) for name in LABEL_NAMES if name in fields), features) if has_header else features
    return read_rows(text, label, features, path, has_header=has_header)


def read_arff(text: bytes, features: int, path: Path) -> Table:
    """Read the rows after ``@data``; the label is the last column."""
    lines = text.split(b"\n")
    start = next((i for i, line in enumerate(lines) if line.strip().lower() == b"@data"), None)
    if start is None:
        raise FileError(f"{path}: expected an ARFF file, got no line @data")
    rows = [b"" if line.lstrip().startswith(b"%") else line for line in lines[start + 1 :]]
    return read_rows(b"\n".join(rows), features, features, path, first_line=start + 2)


def read_rows(
    text: bytes, label: int, features: int, path: Path, *, has_header: bool = False, first_line: int = 1
) -> Table:
    """Read rows of ``features`` numbers and, in column ``label``, a label."""
    pl = need("polars", str(path), "cli")
    numbered = [(number, line) for number, line in enumerate(text.split(b"\n"), first_line) if line.strip()]
    numbers, lines = [number for number, _ in numbered][has_header:], [line for _, line in numbered][has_header:]
    if not lines:
        raise FileError(f"{path}: expected rows of data, got none")
    for number, line in zip(numbers, lines, strict=True):
        if line.count(b",") != features:
            raise FileError(f"{path}, line {number}: expected {features + 1} columns, got {line.count(b',') + 1}")
    try:
        frame = pl.read_csv(b"\n".join(lines), has_header=False, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise FileError(f"{path}: damaged, or not comma-separated text ({error})") from None
    if frame.shape != (len(lines), features + 1):
        raise FileError(f"{path}: expected {len(lines)} rows of {features + 1} columns, got {frame.shape}")
    frame = frame.with_columns(pl.all().str.strip_chars().fill_null(""))
    labels = frame.to_series(label)
    if (labels == "").any():
        row = int((labels == "").arg_max() or 0)
        raise FileError(f"{path}, line {numbers[row]}: expected a label, got nothing")
    table = frame.drop(labels.name)
    X = table.select(pl.all().cast(pl.Float64, strict=False))
    bad = np.argwhere(X.select(pl.all().is_null()).to_numpy())
    if len(bad):
        i, k = (int(place) for place in bad[0])
        raise FileError(f"{path}, line {numbers[i]}: expected numbers and a label, got {table[i, k]!r}")
    as_numbers = labels.cast(pl.Float64, strict=False)
    y = labels.to_numpy().astype(str) if as_numbers.null_count() else as_numbers.to_numpy()
    return np.ascontiguousarray(X.to_numpy()), y


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_SPACES = b" \t\r\n\v\f"
_COLON = bytes.maketrans(b":", b" ")
_COMMENT = re.compile(rb"#[^\n]*")
_KIND = np.zeros(256, np.uint8)  # 0: part of a token, 1: white space, 2: colon
_KIND[list(_SPACES)] = 1
_KIND[ord(":")] = 2


def read_libsvm(pieces: Iterable[bytes], features: int, path: Path) -> Table:
    """Read X (n, features) and the labels as they are written, from pieces of whole lines of ``path``."""
    tables, labels = [np.empty((0, features))], [np.empty(0)]
    for X, y in blocks(pieces, features, path):
        tables.append(X)
        labels.append(y)
    return np.concatenate(tables), np.concatenate(labels)


def blocks(pieces: Iterable[bytes], features: int, path: Path) -> Iterator[Table]:
    """Yield what `read_libsvm` reads, piece by piece."""
    line = 1
    for piece in pieces:
        n_lines = piece.count(b"\n")
        text = _COMMENT.sub(b"", piece) if b"#" in piece else piece
        block = _parse(text, features)
        if block is None:
            raise FileError(f"{path}, line {_first_bad(text, features, line)}")
        line += n_lines
        yield block


def _parse(text: bytes, features: int) -> Table | None:
    """Parse the rows of a piece, all tokens at once; return None if anything is wrong."""
    kinds = _KIND[np.frombuffer(text, np.uint8)]
    last = np.flatnonzero((kinds[:-1] == 0) & (kinds[1:] != 0))  # the last byte of each token
    if len(last) == 0:
        return np.empty((0, features)), np.empty(0)
    before_colon = kinds[last + 1] == 2
    newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    line = np.searchsorted(newlines, last)  # of each token
    is_first = np.append(True, line[1:] != line[:-1])
    starts = np.flatnonzero(is_first)
    place = np.arange(len(last)) - starts[np.cumsum(is_first) - 1]  # of a token in its line
    is_index = place % 2 == 1
    if not np.array_equal(before_colon, is_index) or np.count_nonzero(kinds == 2) != np.count_nonzero(is_index):
        return None
    if b"_" in text:  # Python's numbers may contain it
        return None
    try:
        numbers = np.array(text.translate(_COLON).split(), np.float64)
    except ValueError:
        return None
    row = np.cumsum(is_first)[is_index] - 1
    index, value = numbers[is_index], numbers[(place > 0) & ~is_index]
    if len(index) != len(value) or not np.isfinite(numbers).all():
        return None
    in_row = row[1:] == row[:-1]
    if len(index) and (
        index.min() < 1 or index.max() > features or (index % 1).any() or (np.diff(index)[in_row] <= 0).any()
    ):
        return None
    X = np.zeros((len(starts), features))
    X[row, index.astype(np.intp) - 1] = value
    return X, numbers[is_first]


def _first_bad(text: bytes, features: int, first_line: int) -> str:
    """Return the number of the first wrong line, and what is wrong with it."""
    for number, line in enumerate(text.split(b"\n"), first_line):
        tokens = line.split()
        last = 0
        for k, token in enumerate(tokens):
            shown = repr(token[:40].decode("utf-8", "backslashreplace"))
            if k == 0:
                if not _is_token(token):
                    return f"{number}: expected a label (a number), got {shown}"
                continue
            index, _, value = token.partition(b":")
            if not index.isdigit() or not _is_token(value):
                return f"{number}: expected index:value (finite numbers), got {shown}"
            if not 1 <= int(index) <= features:
                return f"{number}: expected features 1 to {features}, got {shown}"
            if int(index) <= last:
                return f"{number}: expected ascending features, got {shown} after feature {last}"
            last = int(index)
    return f"{first_line} or later: expected label index:value ..."


def _is_token(token: bytes) -> bool:
    try:
        return b"_" not in token and bool(np.isfinite(float(token)))
    except ValueError:
        return False


def read_table(path: Path, known: KnownSet) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Read X, not scaled, and y of a known set from a ``.npz``, CSV or LIBSVM file: all rows in their order."""
    name = path.name.removesuffix(".bz2").removesuffix(".xz")
    if name.endswith(".npz"):
        X, labels = _read_npz(path, "y")
    elif name.endswith(".csv"):
        with opened(path) as stream:
            text = stream.read()
        X, labels = read_csv(text, known.features, path)
    else:
        X, labels = read_libsvm(pieces(path), known.features, path)
    return checked(X, labels, known, path)


def checked(
    X: NDArray[Any], labels: NDArray[Any], known: KnownSet, path: Path
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Check X and the labels of a known set; return floats and signs."""
    if X.ndim != 2 or labels.ndim != 1 or len(X) != len(labels):
        raise FileError(f"{path}: expected X (rows, {known.features}) and y (rows,), got {X.shape} and {labels.shape}")
    if len(X) == 0:
        raise FileError(f"{path}: expected rows of data, got none")
    if X.shape[1] != known.features:
        raise FileError(f"{path}: expected {known.features} features, got {X.shape[1]}")
    if X.dtype.kind not in "fiub" or labels.dtype.kind not in "fiubU":
        raise FileError(f"{path}: expected numbers, got X of {X.dtype} and y of {labels.dtype}")
    table = _finite(X, path)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise FileError(f"{path}: expected labels of two values, got {labels[row]} in row {row}")
    return table, as_signs(labels, known, path)


def _finite(X: NDArray[Any], path: Path) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # of longer floats: infinities are found below
        table = np.ascontiguousarray(X, np.float64)
    finite = np.isfinite(table)
    if not finite.all():
        i, k = np.argwhere(~finite)[0]
        raise FileError(f"{path}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    return table


def _read_npz(path: Path, label: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the arrays X and ``label``; nothing is unpickled."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if missing := {"X", label} - set(archive):
                raise FileError(f"{path}: expected the arrays X and {label}, got no {' and no '.join(sorted(missing))}")
            return archive["X"], archive[label]
    except FileError:
        raise
    except PermissionError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    except Exception as error:  # whatever NumPy raises for bytes that are no such file
        raise FileError(f"{path}: damaged, or not a .npz file ({error})") from None


_INDEX = re.compile(rb"(\d+):")


def read_file(
    path: Path, label: str | None = None, positive: str | float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Read your own data: a CSV, Parquet, ``.npz`` or LIBSVM file, whichever the name ends in (else LIBSVM).

    Args:
        path: The file; CSV and LIBSVM files may be packed as .bz2 or .xz.
        label: The column of the labels of a CSV or Parquet file, or the array of a ``.npz`` file; all other columns
            are features. None means a column called label, class, target or y, else the last one; the array y.
        positive: The label that becomes +1; all others become -1. None means the later one of two in sorted order.

    Returns:
        The features X (n, d), not scaled, and the labels y (n,), -1 and +1, of all rows in their order.

    Raises:
        FileError: The file is damaged, or a value is not a finite number, or the labels do not fit.
        InputError: A CSV or Parquet file needs Polars, which is not installed.
    """
    name = path.name.lower().removesuffix(".bz2").removesuffix(".xz")
    if name.endswith((".csv", ".parquet")):
        X, labels = _split(_frame(path, name), label, path)
    elif name.endswith(".npz"):
        X, labels = _read_npz(path, label or "y")
    else:
        text = list(pieces(path))
        features = max((int(index) for piece in text for index in _INDEX.findall(piece)), default=0)
        X, labels = read_libsvm(text, features, path)
    rows = len(labels)
    if X.ndim != 2 or len(X) != rows or X.size == 0 or X.dtype.kind not in "fiub":
        raise FileError(
            f"{path}: expected numbers (rows, d) and one label per row, got {X.dtype} {X.shape} and {rows} labels"
        )
    return np.array(_finite(X, path)), two_classes(labels, positive, path)


def _frame(path: Path, name: str) -> Any:
    """Read a CSV or Parquet file as a frame of Polars."""
    polars = need("polars", str(path), "cli")
    with opened(path) as stream:
        content = stream.read()
    try:
        if name.endswith(".parquet"):
            return polars.read_parquet(io.BytesIO(content))
        return polars.read_csv(content, infer_schema_length=None)
    except Exception as error:  # whatever Polars raises for bytes that are no such file
        raise FileError(f"{path}: damaged, or not such a file ({error})") from None


def _split(frame: "pl.DataFrame", label: str | None, path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    names = {name.strip().lower(): name for name in reversed(frame.columns)}
    if label is None:
        label = next((names[name] for name in LABEL_NAMES if name in names), frame.columns[-1] if names else "")
    if label not in frame.columns:
        raise FileError(f"{path}: expected a column {label!r} of labels, got {', '.join(frame.columns)}")
    if frame.is_empty():
        raise FileError(f"{path}: expected rows, got none below the names of the columns")
    for name in frame.columns:
        if frame[name].null_count():
            raise FileError(f"{path}: expected a value in every row, got none in {_cell(frame[name].is_null())}")
    features = frame.drop(label)
    for column in features:
        if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
            _refuse_words(column, path)
        elif column.dtype.is_float() and not column.is_finite().all():
            wrong = ~column.is_finite()
            raise FileError(f"{path}: expected finite numbers, got {column.filter(wrong)[0]} in {_cell(wrong)}")
    return features.to_numpy(), frame[label].to_numpy()


def _cell(wrong: "pl.Series") -> str:
    """Name the first such cell of a column; rows count from 1."""
    return f"row {wrong.arg_true()[0] + 1}, column {wrong.name!r}"


def _refuse_words(column: "pl.Series", path: Path) -> None:
    polars = need("polars", str(path), "cli")
    got = f"{column.dtype} in column {column.name!r}"
    if column.dtype == polars.String:
        numbers = column.cast(polars.Float64, strict=False)
        wrong = numbers.is_null() | ~numbers.is_finite()
        if wrong.any():
            got = f"{column.filter(wrong)[0]!r} in {_cell(wrong)}"
    raise FileError(f"{path}: expected numbers as features, got {got}")


def two_classes(labels: NDArray[Any], positive: str | float | None, path: Path) -> NDArray[np.int8]:
    """Return +1 for the label ``positive``, or for the later of two in sorted order, and -1 for the others.

    >>> two_classes(np.array(["good", "bad"]), None, Path("x"))
    array([ 1, -1], dtype=int8)
    """
    if labels.ndim != 1:
        raise FileError(f"{path}: expected one label per row, got shape {labels.shape}")
    plain = labels.astype(str) if labels.dtype.kind == "O" else labels
    values = np.unique(plain)
    shown = ", ".join(map(str, values[:5].tolist())) + (", ..." if len(values) > 5 else "")
    if positive is None:
        if len(values) != 2:
            raise FileError(f"{path}: expected labels of two values, or which is positive, got {len(values)}: {shown}")
        return np.where(plain == values[1], 1, -1).astype(np.int8)
    chosen = plain.astype(str) == positive if isinstance(positive, str) else plain == positive
    if not np.any(chosen) or np.all(chosen):
        raise FileError(f"{path}: expected the label {positive!r} and others, got {shown}")
    return np.where(chosen, 1, -1).astype(np.int8)
