"""What is to be kept of the public originals, held to what is known of them."""

import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from . import cifar, commas, libsvm, lines, reading
from .known import KnownSet
from .labels import as_signs
from .lines import Progress

Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[Any], NDArray[np.intp] | slice]
"""The features of the rows kept, the labels of all rows, and which rows are kept."""


def read(
    paths: Sequence[Path], which: KnownSet, progress: Progress | None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X and y, if rows, features and the number of +1 labels are those of the registry."""
    X, labels, kept = READERS[which.kind](paths, which, progress)
    if len(labels) != which.rows:
        raise FileError(f"{paths[-1]}: expected {which.rows:,} rows, got {len(labels):,}")
    y = as_signs(labels, which, paths[-1])
    if which.positives is not None and np.count_nonzero(y == 1) != which.positives:
        raise FileError(
            f"{paths[-1]}: expected {which.positives:,} rows labelled +1 ({which.meaning}), got "
            f"{np.count_nonzero(y == 1):,}"
        )
    return reading.checked(X, y[kept], which, paths[-1])


def _read_libsvm(paths: Sequence[Path], which: KnownSet, progress: Progress | None) -> Parts:
    """All files, one after the other; of a set to be sampled only the sample's features are ever in memory."""
    sample = np.arange(which.rows)
    if which.sample is not None:
        sample = np.sort(np.random.default_rng(0).choice(which.rows, which.sample, replace=False))
    tables, labels, done = [np.empty((0, which.features))], [np.empty(0)], 0
    for path in paths:
        for X, y in libsvm.blocks(lines.pieces(path, progress), which.features, path):
            first, last = np.searchsorted(sample, (done, done + len(X)))
            tables.append(X[sample[first:last] - done])
            labels.append(y)
            done += len(X)
    return np.concatenate(tables), np.concatenate(labels), sample


def _read_arff(paths: Sequence[Path], which: KnownSet, progress: Progress | None) -> Parts:
    (path,) = paths
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                inside = next((name for name in archive.namelist() if name.lower().endswith(".arff")), None)
                if inside is None:
                    raise FileError(f"{path}: expected an .arff file in the archive, got {archive.namelist()}")
                text = archive.read(inside)
        else:
            text = path.read_bytes()
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise FileError(f"{path}: damaged or cut short ({error})") from None
    return *commas.read_arff(text, which.features, path), slice(None)


def _read_cifar(paths: Sequence[Path], which: KnownSet, progress: Progress | None) -> Parts:
    return *cifar.read(paths[0], which.features, progress), slice(None)


READERS: dict[str, Callable[[Sequence[Path], KnownSet, Progress | None], Parts]] = {
    "libsvm": _read_libsvm,
    "arff": _read_arff,
    "cifar": _read_cifar,
}
