"""A set from one file, checked: what is wrong is said with the file's name."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import commas, libsvm, lines
from .known import KnownSet
from .labels import as_signs


def read(path: Path, known: KnownSet) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X and y of a ``.npz``, CSV or LIBSVM file, not scaled, all rows in their order."""
    name = path.name.removesuffix(".bz2").removesuffix(".xz")
    if name.endswith(".npz"):
        X, labels = _read_npz(path)
    elif name.endswith(".csv"):
        with lines.opened(path) as stream:
            text = stream.read()
        X, labels = commas.read(text, known.features, path)
    else:
        X, labels = libsvm.read(lines.pieces(path), known.features, path)
    return checked(X, labels, known, path)


def checked(
    X: NDArray[Any], labels: NDArray[Any], known: KnownSet, path: Path
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X as floats and labels as signs, or a `FileError`."""
    if X.ndim != 2 or labels.ndim != 1 or len(X) != len(labels):
        raise FileError(f"{path}: expected X (rows, {known.features}) and y (rows,), got {X.shape} and {labels.shape}")
    if len(X) == 0:
        raise FileError(f"{path}: expected rows of data, got none")
    if X.shape[1] != known.features:
        raise FileError(f"{path}: expected {known.features} features, got {X.shape[1]}")
    if X.dtype.kind not in "fiub" or labels.dtype.kind not in "fiubU":
        raise FileError(f"{path}: expected numbers, got X of {X.dtype} and y of {labels.dtype}")
    with np.errstate(over="ignore"):  # of longer floats: infinities are found below
        table = np.ascontiguousarray(X, np.float64)
    finite = np.isfinite(table)
    if not finite.all():
        i, k = np.argwhere(~finite)[0]
        raise FileError(f"{path}: expected finite numbers, got {table[i, k]} in row {i}, column {k}")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise FileError(f"{path}: expected labels of two values, got {labels[row]} in row {row}")
    return table, as_signs(labels, known, path)


def _read_npz(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if missing := {"X", "y"} - set(archive):
                raise FileError(f"{path}: expected the arrays X and y, got no {' and no '.join(sorted(missing))}")
            return archive["X"], archive["y"]
    except FileError:
        raise
    except PermissionError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    except Exception as error:  # whatever bytes that are no such file make the readers raise
        raise FileError(f"{path}: damaged, or not a .npz file ({error})") from None
