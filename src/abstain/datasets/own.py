"""A set of one's own from a file: CSV, Parquet, ``.npz`` or LIBSVM."""

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import reading
from .reading import LABEL_NAMES

if TYPE_CHECKING:
    import polars as pl

_INDEX = re.compile(rb"(\d+):")


def read(
    path: Path, label: str | None = None, positive: str | float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X, not scaled, and y, -1 and +1, of all rows in their order.

    CSV and Parquet files have columns with names, of which ``label`` is that of the labels (unless given: label, class,
    target or y, else the last), and all others are features; a ``.npz`` file has the arrays X and ``label`` (y). What
    ends in none of these is LIBSVM. Of two labels the later in sorted order is +1, unless ``positive`` says otherwise.
    """
    name = path.name.lower().removesuffix(".bz2").removesuffix(".xz")
    if name.endswith((".csv", ".parquet")):
        X, labels = _split(_frame(path, name), label, path)
    elif name.endswith(".npz"):
        X, labels = _arrays(path, label or "y")
    else:
        pieces = list(reading.pieces(path))
        features = max((int(index) for piece in pieces for index in _INDEX.findall(piece)), default=0)
        X, labels = reading.read_libsvm(pieces, features, path)
    return _finite(X, len(labels), path), as_signs(labels, positive, path)


def _frame(path: Path, name: str) -> "pl.DataFrame":
    import polars as pl

    with reading.opened(path) as stream:
        content = stream.read()
    try:
        if name.endswith(".parquet"):
            return pl.read_parquet(io.BytesIO(content))
        return pl.read_csv(content, infer_schema_length=None)
    except Exception as error:  # whatever bytes that are no such file make the readers raise
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
    """The first such cell of a column, in words; the first row is 1."""
    return f"row {wrong.arg_true()[0] + 1}, column {wrong.name!r}"


def _refuse_words(column: "pl.Series", path: Path) -> None:
    import polars as pl

    got = f"{column.dtype} in column {column.name!r}"
    if column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        wrong = numbers.is_null() | ~numbers.is_finite()
        if wrong.any():
            got = f"{column.filter(wrong)[0]!r} in {_cell(wrong)}"
    raise FileError(f"{path}: expected numbers as features, got {got}")


def _arrays(path: Path, label: str) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if missing := {"X", label} - set(archive):
                raise FileError(f"{path}: expected the arrays X and {label}, got no {' and no '.join(sorted(missing))}")
            return archive["X"], archive[label]
    except FileError:
        raise
    except Exception as error:  # whatever bytes that are no such file make the readers raise
        raise FileError(f"{path}: cannot be read, or not a .npz file ({error})") from None


def _finite(X: NDArray[Any], rows: int, path: Path) -> NDArray[np.float64]:
    if X.ndim != 2 or len(X) != rows or X.size == 0 or X.dtype.kind not in "fiub":
        raise FileError(
            f"{path}: expected numbers (rows, d) and a label a row, got {X.dtype} {X.shape} and {rows} labels"
        )
    table = np.array(X, np.float64, order="C")
    if not np.isfinite(table).all():
        i, k = np.argwhere(~np.isfinite(table))[0]
        raise FileError(f"{path}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    return table


def as_signs(labels: NDArray[Any], positive: str | float | None, path: Path) -> NDArray[np.int8]:
    """+1 for the label ``positive``, or for the later of two in sorted order, -1 for the other or others.

    >>> as_signs(np.array(["good", "bad"]), None, Path("x")), as_signs(np.array(["good", "bad"]), "bad", Path("x"))
    (array([ 1, -1], dtype=int8), array([-1,  1], dtype=int8))
    """
    if labels.ndim != 1:
        raise FileError(f"{path}: expected one label a row, got shape {labels.shape}")
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
