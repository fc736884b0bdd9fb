"""LIBSVM's text format: a line is ``label index:value index:value ...``, indices from 1, ascending; zeros left out."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError

_SPACES = b" \t\r\n\v\f"
_COLON = bytes.maketrans(b":", b" ")
_COMMENT = re.compile(rb"#[^\n]*")
_KIND = np.zeros(256, np.uint8)  # 0: part of a token, 1: white space, 2: colon
_KIND[list(_SPACES)] = 1
_KIND[ord(":")] = 2


def read(pieces: Iterable[bytes], features: int, path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """X (n, features) and the labels as they are written, from pieces of whole lines of ``path``."""
    tables, labels = [np.empty((0, features))], [np.empty(0)]
    for X, y in blocks(pieces, features, path):
        tables.append(X)
        labels.append(y)
    return np.concatenate(tables), np.concatenate(labels)


def blocks(
    pieces: Iterable[bytes], features: int, path: Path
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """`read`, piece by piece."""
    line = 1
    for piece in pieces:
        n_lines = piece.count(b"\n")
        text = _COMMENT.sub(b"", piece) if b"#" in piece else piece
        block = _parse(text, features)
        if block is None:
            raise FileError(f"{path}, line {_first_bad(text, features, line)}")
        line += n_lines
        yield block


def _parse(text: bytes, features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The rows of a piece, all tokens at once; None if anything is wrong with any of them."""
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
    if b"_" in text:  # Python's numbers may have it
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
    """The number of the first line that is wrong, and what is wrong with it."""
    for number, line in enumerate(text.split(b"\n"), first_line):
        tokens = line.split()
        last = 0
        for k, token in enumerate(tokens):
            shown = repr(token[:40].decode("utf-8", "backslashreplace"))
            if k == 0:
                if not _is_number(token):
                    return f"{number}: expected a label (a number), got {shown}"
                continue
            index, _, value = token.partition(b":")
            if not index.isdigit() or not _is_number(value):
                return f"{number}: expected index:value (finite numbers), got {shown}"
            if not 1 <= int(index) <= features:
                return f"{number}: expected features 1 to {features}, got {shown}"
            if int(index) <= last:
                return f"{number}: expected ascending features, got {shown} after feature {last}"
            last = int(index)
    return f"{first_line} or later: expected label index:value ..."


def _is_number(token: bytes) -> bool:
    try:
        return b"_" not in token and bool(np.isfinite(float(token)))
    except ValueError:
        return False
