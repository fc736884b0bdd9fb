"""Download public originals: resumed after interruptions, checked against the registry, and stored as ``.npz``.

The downloader is our own because pooch does not resume interrupted downloads, and HIGGS has gigabytes.
"""

import http.client
import io
import json
import os
import pickle
import re
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeAlias
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from .._core.files import lock, replacing, writing
from ..errors import FileError, InputError
from . import loading, reading
from .known import KnownSet, as_signs, known
from .reading import Progress

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as lost."""
TRIES = 4
"""The number of connections in a row that may bring nothing new."""
PAUSE = 1.0
"""Seconds before the second try; they double before each further one."""
_LATER = {408, 429, 500, 502, 503, 504}


class _CutError(Exception):
    """The connection ended too early; another try may help."""


def download(url: str, target: Path, progress: Progress | None = None) -> None:
    """Download ``url`` to ``target``.

    Bytes go to ``target.part``, which stays after a failure, so that the next call resumes there (HTTP Range, guarded
    by If-Range and the size: if the server's file has changed, the download starts again).
    """
    part = target.with_name(f"{target.name}.part")
    note = target.with_name(f"{target.name}.part.json")
    with _appending(part) as stream:
        most, tries = stream.tell(), 0
        while True:
            try:
                _receive(url, stream, note, target.name, progress)
                break
            except _CutError as error:
                tries = 1 if stream.tell() > most else tries + 1
                most = max(most, stream.tell())
                if tries >= TRIES:
                    raise FileError(f"{url}: {error}; what arrived is kept: try again later to resume") from None
                time.sleep(PAUSE * 2 ** (tries - 1))
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(target)
    note.unlink(missing_ok=True)


@contextmanager
def _appending(part: Path) -> Iterator[IO[bytes]]:
    """Open the partial file at its end, locked for this process."""
    with part.open("ab") as stream:
        # On Windows two processes at once are only noticed when rows are counted.
        lock(stream, f"{part}: another process is downloading it")
        stream.seek(0, os.SEEK_END)
        yield stream


def _receive(url: str, stream: IO[bytes], note: Path, name: str, progress: Progress | None) -> None:
    """Request all that is missing; raise `_CutError` if less arrives."""
    have, known = stream.tell(), _read_note(note, url)
    headers = {"User-Agent": "abstain"}
    if have > 0 and known is not None:
        if have == known["size"]:
            return
        headers["Range"] = f"bytes={have}-"
        if known["tag"]:
            headers["If-Range"] = known["tag"]
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416:  # no such range: the partial file is of another file
                _restart(stream)
                raise _CutError("the server's file has changed meanwhile") from None
            if error.code in _LATER:
                raise _CutError(f"the server answers {error.code} {error.reason}") from None
            raise FileError(f"{url}: the server answers {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
        reason = getattr(error, "reason", error)
        why = f"cannot be reached ({str(reason) or repr(reason)})"
        raise (_CutError(why) if have > 0 else FileError(f"{url}: {why}")) from None
    with response:
        size = _begin(url, response, stream, note, known)
        while True:
            try:
                chunk = response.read1(1 << 18)
            except (OSError, http.client.HTTPException) as error:
                raise _CutError(f"the connection was cut after {stream.tell():,} bytes ({error!r})") from None
            if not chunk:
                break
            with writing(stream.name):
                stream.write(chunk)
                stream.flush()
            if progress is not None:
                progress(name, stream.tell(), size)
    if size is not None and stream.tell() < size:
        raise _CutError(f"the connection was cut after {stream.tell():,} of {size:,} bytes")


def _begin(url: str, response: Any, stream: IO[bytes], note: Path, known: dict[str, Any] | None) -> int | None:
    """Move the stream to where the response starts; return the total size if the server sends it."""
    if response.status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        size = int(match[2]) if match and match[2] != "*" else None
        if match and int(match[1]) == stream.tell() and known is not None and size == known["size"]:
            return size
        _restart(stream)
        raise _CutError("the server's file has changed meanwhile")
    if response.status != 200:
        raise FileError(f"{url}: the server answers {response.status} {response.reason}")
    _restart(stream)
    length = response.headers.get("Content-Length", "")
    size = int(length) if length.isdigit() else None
    tag = response.headers.get("ETag", "")
    if not tag or tag.startswith("W/"):  # a weak tag does not promise equal bytes
        tag = response.headers.get("Last-Modified", "")
    with writing(note):
        note.write_text(json.dumps({"url": url, "size": size, "tag": tag}), encoding="utf-8")
    return size


def _read_note(note: Path, url: str) -> dict[str, Any] | None:
    """Return what the server said about the file when the partial file was started."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        return known if known["url"] == url and known.keys() >= {"size", "tag"} else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _restart(stream: IO[bytes]) -> None:
    stream.seek(0)
    stream.truncate()


def fetch(name: str, *, data: str | os.PathLike[str] | None = None, progress: Progress | None = None) -> Path:
    """Download the public original of a set.

    A file that is already there, and sound, is left alone. After an interruption the next call resumes. The number of
    rows, features and +1 labels must be those of the registry; otherwise nothing is kept.

    Of "higgs" 100,000 of the 11,000,000 rows are kept, drawn without replacement with seed 0, in their order. "cifar"
    is the projection of the 12,000 horses and ships onto their first 25 principal components.

    Args:
        name: The name of the set, one of `names`.
        data: The folder to store it in; None means the user's cache.
        progress: Called as ``progress(step, done, total)`` with the bytes so far; ``total`` is None while it is not
            known.

    Returns:
        The path of the file.

    Raises:
        InputError: There is no set of that name, or it needs no file.
        FileError: The download failed, the file is not the expected one, or it cannot be written.
    """
    which = known(name)
    if not which.files:
        raise InputError(f"name: expected a set with a public file, got {name!r}, which needs none ({which.source})")
    folder = loading.cache() if data is None else loading.as_folder(data, there=False)
    target = folder / f"{name}.npz"
    try:
        if target.is_file() and _is_sound(target, which):
            return target
        downloads = folder / "downloads"
        downloads.mkdir(parents=True, exist_ok=True)
        paths = [_download(addresses, downloads, progress) for addresses in which.files]
        try:
            X, y = read_original(paths, which, progress)
        except FileError as error:
            _remove(which, downloads)
            raise FileError(f"{error}; the download has been removed") from None
        _store(target, X, y)
        _remove(which, downloads)
    except OSError as error:
        raise FileError(f"{error.filename or folder}: cannot be written ({error.strerror or error})") from None
    return target


def _is_sound(path: Path, which: KnownSet) -> bool:
    try:
        reading.read_table(path, which)
    except FileError:
        return False
    return True


def _download(addresses: Sequence[str], folder: Path, progress: Progress | None) -> Path:
    """Download a file from the first address that has it."""
    for url in addresses:
        if _place(url, folder).is_file():
            return _place(url, folder)  # complete, from a call that was stopped while reading
    failures = []
    for url in addresses:
        try:
            download(url, _place(url, folder), progress)
            return _place(url, folder)
        except FileError as error:
            failures.append(str(error))
    raise FileError("; ".join(failures))


def _place(url: str, folder: Path) -> Path:
    return folder / Path(unquote(urlsplit(url).path)).name


def _remove(which: KnownSet, folder: Path) -> None:
    """Remove the downloads of a set, and the folder if it is then empty."""
    for place in (_place(url, folder) for addresses in which.files for url in addresses):
        for end in ("", ".part", ".part.json"):
            place.with_name(place.name + end).unlink(missing_ok=True)
    with suppress(OSError):  # not empty: another set is being downloaded
        folder.rmdir()


def _store(target: Path, X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
    """Write X and y atomically; whole numbers are stored as integers, which is much smaller."""
    whole = (X.astype(kind) for kind in (np.uint8, np.int16, np.int32) if _fits(X, kind))
    with replacing(target) as stream:
        np.savez_compressed(stream, X=next(whole, X), y=y)


def _fits(X: NDArray[np.float64], kind: type[np.integer[Any]]) -> bool:
    limits = np.iinfo(kind)
    return bool(X.min() >= limits.min and X.max() <= limits.max and (X % 1.0 == 0.0).all())


HORSE, SHIP = 7, 8
BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
_LARGEST = 256 << 20


def read_cifar(
    path: Path, components: int, progress: Progress | None = None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the images' first principal components and their labels: training images first, each part in order."""
    try:
        pixels, labels = _images(path, progress)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise FileError(f"{path}: damaged or cut short ({error})") from None
    if len(pixels) == 0 or pixels.shape[1] < components:
        raise FileError(f"{path}: expected images of horses and ships, got {pixels.shape}")
    return principal(pixels, components), labels


def _images(path: Path, progress: Progress | None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the pixels and labels of all horses and ships."""
    found: dict[str, tuple[NDArray[np.uint8], NDArray[np.int64]]] = {}
    with path.open("rb") as raw, tarfile.open(fileobj=raw, mode="r:gz") as archive:
        for member in archive:
            name = member.name.rpartition("/")[2]
            if name not in BATCHES or not member.isfile():
                continue
            stream = archive.extractfile(member)
            if stream is None or member.size > _LARGEST:
                raise FileError(f"{path}: expected batches of images, got {member.name} of {member.size:,} bytes")
            found[name] = _batch(stream.read(), f"{path}, {name}")
            if progress is not None:
                progress(f"reading {path.name}", raw.tell(), path.stat().st_size)
    if missing := [name for name in BATCHES if name not in found]:
        raise FileError(f"{path}: expected CIFAR-10's six batches, got no {', '.join(missing)}")
    parts = [found[name] for name in BATCHES]
    if len({pixels.shape[1] for pixels, _ in parts}) != 1:
        raise FileError(f"{path}: expected images of one size")
    return np.concatenate([pixels for pixels, _ in parts]), np.concatenate([labels for _, labels in parts])


def _batch(content: bytes, where: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    try:
        batch = _Unpickler(io.BytesIO(content), encoding="bytes").load()
        pixels, labels = batch[b"data"], np.asarray(batch[b"labels"], np.int64)
    except Exception as error:  # whatever a damaged pickle makes the reader raise
        raise FileError(f"{where}: damaged, or not a batch of images ({error})") from None
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.ndim != 2:
        raise FileError(f"{where}: expected pixels as a table of bytes")
    if labels.shape != (len(pixels),):
        raise FileError(f"{where}: expected one label per image, got {labels.shape} for {len(pixels)}")
    wanted = (labels == HORSE) | (labels == SHIP)
    return pixels[wanted], labels[wanted]


class _Unpickler(pickle.Unpickler):
    """Unpickles plain values and NumPy arrays; no other name is looked up, so that no code in a pickle runs."""

    def find_class(self, module: str, name: str) -> Any:
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            return np.empty(0).__reduce__()[0]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


def principal(pixels: NDArray[np.uint8], components: int) -> NDArray[np.float64]:
    """Project the centred rows onto the eigenvectors of their covariance with the largest eigenvalues, largest first.

    The sign of an eigenvector is arbitrary: its entry of largest absolute value is made positive.
    """
    mean, width = pixels.mean(axis=0), pixels.shape[1]
    covariance = np.zeros((width, width))
    for part in range(0, len(pixels), 2000):
        rows = pixels[part : part + 2000] - mean
        covariance += rows.T @ rows
    _, vectors = np.linalg.eigh(covariance)
    vectors = vectors[:, : -components - 1 : -1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(components)])
    return np.concatenate([(pixels[k : k + 2000] - mean) @ vectors for k in range(0, len(pixels), 2000)])


Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[Any], NDArray[np.intp] | slice]
"""The features of the rows kept, the labels of all rows, and which rows are kept."""


def read_original(
    paths: Sequence[Path], which: KnownSet, progress: Progress | None
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Read X and y; the number of rows, features and +1 labels must be those of the registry."""
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
    """Read all files one after the other; of a sampled set only the sample's features are kept in memory."""
    sample = np.arange(which.rows)
    if which.sample is not None:
        sample = np.sort(np.random.default_rng(0).choice(which.rows, which.sample, replace=False))
    tables, labels, done = [np.empty((0, which.features))], [np.empty(0)], 0
    for path in paths:
        for X, y in reading.blocks(reading.pieces(path, progress), which.features, path):
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
    return *reading.read_arff(text, which.features, path), slice(None)


def _read_cifar(paths: Sequence[Path], which: KnownSet, progress: Progress | None) -> Parts:
    return *read_cifar(paths[0], which.features, progress), slice(None)


READERS: dict[str, Callable[[Sequence[Path], KnownSet, Progress | None], Parts]] = {
    "libsvm": _read_libsvm,
    "arff": _read_arff,
    "cifar": _read_cifar,
}
