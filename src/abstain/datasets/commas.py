"""Comma-separated text: CSV, and the data of an ARFF file."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError

LABEL_NAMES = ("label", "class", "target", "y")


def read(text: bytes, features: int, path: Path) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """X (n, features) and the labels, numbers or words.

    The first line is a header if one of its fields is a label's name or none is a number. The label is the column
    called label, class, target or y, whatever the case (looked for in this order), else the last one.
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


def read_arff(text: bytes, features: int, path: Path) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The rows after ``@data``; the label is the last column."""
    lines = text.split(b"\n")
    start = next((i for i, line in enumerate(lines) if line.strip().lower() == b"@data"), None)
    if start is None:
        raise FileError(f"{path}: expected an ARFF file, got no line @data")
    rows = [b"" if line.lstrip().startswith(b"%") else line for line in lines[start + 1 :]]
    return read_rows(b"\n".join(rows), features, features, path, first_line=start + 2)


def read_rows(
    text: bytes, label: int, features: int, path: Path, *, has_header: bool = False, first_line: int = 1
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Rows of ``features`` numbers and, in column ``label``, a label."""
    import polars as pl

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
