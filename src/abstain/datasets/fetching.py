"""`fetch`: a set's public original, brought, checked and kept as one ``.npz``."""

import os
import uuid
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError
from . import cifar, folders, libsvm, reading, streams, table
from .download import download
from .labels import as_signs
from .registry import Known, known
from .streams import Progress

Rows: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int8]]
Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[Any], NDArray[np.intp] | slice]
"""The features of the rows kept, the labels of all rows, and which rows are kept."""


def fetch(name: str, *, data: str | os.PathLike[str] | None = None, progress: Progress | None = None) -> Path:
    """Download the public original of a set into the user's cache (or the folder ``data``); return the file's path.

    A file that is there already, and sound, is left as it is. After a cut, the next call goes on where the last one
    stopped. Rows, features and the number of +1 labels must be those of the registry; else nothing is kept.
    ``progress(step, done, total)`` is told the bytes so far; ``total`` is None while nobody knows it.

    Of "higgs" 100,000 of the 11,000,000 rows are kept, drawn without replacement with seed 0, in their order. "cifar"
    is the projection of the 12,000 horses and ships on their first 25 principal components.
    """
    which = known(name)
    if not which.files:
        raise InputError(f"name: expected a set with a public file, got {name!r}, which needs none ({which.source})")
    folder = folders.cache() if data is None else folders.as_folder(data, there=False)
    target = folder / f"{name}.npz"
    try:
        if target.is_file() and _is_sound(target, which):
            return target
        downloads = folder / "downloads"
        downloads.mkdir(parents=True, exist_ok=True)
        paths = [_download(addresses, downloads, progress) for addresses in which.files]
        try:
            X, y = _read(paths, which, progress)
        except FileError as error:
            for path in paths:
                path.unlink(missing_ok=True)
            raise FileError(f"{error}; the download has been removed") from None
        _store(target, X, y)
        for path in paths:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # not empty: another set is on its way
            downloads.rmdir()
    except OSError as error:
        raise FileError(f"{error.filename or folder}: cannot be written ({error.strerror or error})") from None
    return target


def _is_sound(path: Path, which: Known) -> bool:
    try:
        reading.read(path, which)
    except FileError:
        return False
    return True


def _download(addresses: Sequence[str], folder: Path, progress: Progress | None) -> Path:
    """The file from the first address that has it."""
    paths = [folder / Path(unquote(urlsplit(url).path)).name for url in addresses]
    for path in paths:
        if path.is_file():
            return path  # whole, from a call that was stopped while it read
    failures = []
    for url, path in zip(addresses, paths, strict=True):
        try:
            download(url, path, progress)
            return path
        except FileError as error:
            failures.append(str(error))
    raise FileError("; ".join(failures))


def _read(paths: Sequence[Path], which: Known, progress: Progress | None) -> Rows:
    """What is to be kept of the files, held to what is known of the set."""
    X, labels, kept = _READERS[which.kind](paths, which, progress)
    if len(labels) != which.rows:
        raise FileError(f"{paths[-1]}: expected {which.rows:,} rows, got {len(labels):,}")
    y = as_signs(labels, which, paths[-1])
    if which.positives is not None and np.count_nonzero(y == 1) != which.positives:
        raise FileError(
            f"{paths[-1]}: expected {which.positives:,} rows labelled +1 ({which.meaning}), got "
            f"{np.count_nonzero(y == 1):,}"
        )
    return reading.checked(X, y[kept], which, paths[-1])


def _read_libsvm(paths: Sequence[Path], which: Known, progress: Progress | None) -> Parts:
    """All files, one after the other; of a set to be sampled only the sample's features are ever in memory."""
    sample = np.arange(which.rows)
    if which.sample is not None:
        sample = np.sort(np.random.default_rng(0).choice(which.rows, which.sample, replace=False))
    tables, labels, done = [np.empty((0, which.features))], [np.empty(0)], 0
    for path in paths:
        for X, y in libsvm.blocks(streams.pieces(path, progress), which.features, path):
            first, last = np.searchsorted(sample, (done, done + len(X)))
            tables.append(X[sample[first:last] - done])
            labels.append(y)
            done += len(X)
    return np.concatenate(tables), np.concatenate(labels), sample


def _read_arff(paths: Sequence[Path], which: Known, progress: Progress | None) -> Parts:
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
    return *table.read_arff(text, which.features, path), slice(None)


def _read_cifar(paths: Sequence[Path], which: Known, progress: Progress | None) -> Parts:
    return *cifar.read(paths[0], which.features, progress), slice(None)


_READERS: dict[str, Callable[[Sequence[Path], Known, Progress | None], Parts]] = {
    "libsvm": _read_libsvm,
    "arff": _read_arff,
    "cifar": _read_cifar,
}


def _store(target: Path, X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
    """Write X and y under a temporary name, then rename; whole numbers are kept as such, which is much smaller."""
    whole = (X.astype(kind) for kind in (np.uint8, np.int16, np.int32) if _fits(X, kind))
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as stream:
            np.savez_compressed(stream, X=next(whole, X), y=y)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _fits(X: NDArray[np.float64], kind: type[np.integer[Any]]) -> bool:
    limits = np.iinfo(kind)
    return bool(X.min() >= limits.min and X.max() <= limits.max and (X % 1.0 == 0.0).all())
