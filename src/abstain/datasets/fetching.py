"""`fetch`: a set's public original, brought, checked and kept as one ``.npz``."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError
from ..replacing import replacing
from . import folders, reading
from .known import KnownSet, known
from .lines import Progress


def fetch(name: str, *, data: str | os.PathLike[str] | None = None, progress: Progress | None = None) -> Path:
    """Download the public original of a set into the user's cache (or the folder ``data``); return the file's path.

    A file that is there already, and sound, is left as it is. After a cut, the next call goes on where the last one
    stopped. Rows, features and the number of +1 labels must be those of the registry; else nothing is kept.
    ``progress(step, done, total)`` is told the bytes so far; ``total`` is None while nobody knows it.

    Of "higgs" 100,000 of the 11,000,000 rows are kept, drawn without replacement with seed 0, in their order. "cifar"
    is the projection of the 12,000 horses and ships on their first 25 principal components.
    """
    from . import originals

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
            X, y = originals.read(paths, which, progress)
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
        reading.read(path, which)
    except FileError:
        return False
    return True


def _download(addresses: Sequence[str], folder: Path, progress: Progress | None) -> Path:
    """The file from the first address that has it."""
    from .download import download

    for url in addresses:
        if _place(url, folder).is_file():
            return _place(url, folder)  # whole, from a call that was stopped while it read
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
    """Remove what was downloaded of a set, and the folder if nothing else is in it."""
    for place in (_place(url, folder) for addresses in which.files for url in addresses):
        for end in ("", ".part", ".part.json"):
            place.with_name(place.name + end).unlink(missing_ok=True)
    with suppress(OSError):  # not empty: another set is on its way
        folder.rmdir()


def _store(target: Path, X: NDArray[np.float64], y: NDArray[np.int8]) -> None:
    """Write X and y, in one piece; whole numbers are kept as such, which is much smaller."""
    whole = (X.astype(kind) for kind in (np.uint8, np.int16, np.int32) if _fits(X, kind))
    with replacing(target) as stream:
        np.savez_compressed(stream, X=next(whole, X), y=y)


def _fits(X: NDArray[np.float64], kind: type[np.integer[Any]]) -> bool:
    limits = np.iinfo(kind)
    return bool(X.min() >= limits.min and X.max() <= limits.max and (X % 1.0 == 0.0).all())
