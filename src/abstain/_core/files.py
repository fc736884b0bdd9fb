"""Writing files and folders in one piece, and the format of saved learners.

What is there stays until the new version is whole. A killed writer leaves a temporary file or folder, which the next
writer removes.
"""

import hashlib
import json
import math
import os
import re
import secrets
import shutil
import stat
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError, InputError
from .signals import held_back

if sys.platform != "win32":
    import fcntl

MOMENT = 60.0
"""Windows: seconds between closing a file and renaming it, and far more than that ever takes."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to a temporary file in the same folder that gets the name at the end.

    An existing file's mode stays; a link stays a link, and what it leads to is replaced. A writer locks its temporary
    file, so that the next one can tell what a killed one has left, and removes that.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = None
    start = f".abstain-{hashlib.blake2b(os.fsencode(target.name), digest_size=4).hexdigest()}-"
    _remove_leftovers(target.parent, start)
    temporary, stream = _create(target.parent, start, 0o666 if mode is None else 0o600)
    try:
        with stream:
            yield stream
            stream.flush()
            if mode is not None and sys.platform != "win32":
                os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
            if sys.platform != "win32":
                temporary.replace(target)  # while it is locked
        if sys.platform == "win32":
            temporary.replace(target)  # only now: an open file cannot be renamed
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync(target.parent)


@contextmanager
def replacing_folder(path: str | os.PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """A folder for results and one for scratch; at the end the results are moved to ``path``.

    Both lie in a temporary folder beside ``path``, so on the same disk. Files that ``path`` already has are replaced,
    each in one piece; others stay. After an error or Ctrl-C nothing is left, parent folders made for it included.

    Raises:
        FileError: If the folder cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_dir():
        raise FileError(f"{target}: expected a folder, got a file")
    made = [folder for folder in (target.parent, *target.parent.parents) if not folder.exists()]
    start = ".abstain-folder-"
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target.parent, start)
        place, lock = _create_folder(target.parent, start)
    try:
        results, scratch = place / "results", place / "scratch"
        results.mkdir()
        scratch.mkdir()
        yield results, scratch
        with held_back(), writing(target):
            _move(results, target)
            made = []
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if lock is not None:
            os.close(lock)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _move(results: Path, target: Path) -> None:
    """Give the folder its name, or its files their places in the folder that is there."""
    if not target.exists():
        results.rename(target)
        return
    found = sorted(results.iterdir())
    for path in found:
        if (target / path.name).is_dir():
            raise FileError(f"{target / path.name}: expected a file to be replaced, got a folder")
    for path in found:
        path.replace(target / path.name)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the operating system (a full disk, say) into a `FileError` that names ``path``."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be written ({error.strerror or error})") from error


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a whole file in one piece, and return its path; raise a `FileError` if that fails."""
    with writing(path), replacing(path) as stream:
        stream.write(content)
    return Path(path)


def file_name(name: str) -> str:
    """A name as that of a file: a study may be called anything, its files stay in their folder.

    >>> file_name("../mine, late")
    '..-mine-late'
    """
    return re.sub(r"[^\w.-]+", "-", name)


def check_apart(names: Iterable[str], what: str) -> None:
    """Raise an error if two names lead to the same files, on a disk for which capitals make no difference, too.

    >>> check_apart(["a/b", "A-b"], "studies")
    Traceback (most recent call last):
    abstain.errors.InputError: studies: expected a file name each, got one for 'a/b' and 'A-b'; rename one
    """
    seen: dict[str, str] = {}
    for name in dict.fromkeys(names):
        first = seen.setdefault(file_name(name).casefold(), name)
        if first != name:
            raise InputError(f"{what}: expected a file name each, got one for {first!r} and {name!r}; rename one")


def make_folder(path: Path) -> Path:
    """The folder, made if it is not there."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


def lock(stream: IO[bytes], otherwise: str) -> None:
    """Lock an open file for as long as it is open; if another process has, raise a `FileError` with these words.

    On Windows, and on file systems without locks, nothing keeps two processes apart.
    """
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(otherwise) from None
    except OSError:
        pass


def _create(folder: Path, start: str, mode: int) -> tuple[Path, BinaryIO]:
    """A new file, locked. Another writer may take it for a leftover before it is: then one more."""
    while True:
        temporary = folder / f"{start}{secrets.token_hex(8)}"
        stream = open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115 (the caller does)
        if _is_locked(temporary, stream.fileno()):
            return temporary, stream
        stream.close()


def _create_folder(folder: Path, start: str) -> tuple[Path, int | None]:
    """A new folder and its locked descriptor; Windows has none for folders."""
    while True:
        temporary = folder / f"{start}{secrets.token_hex(8)}"
        temporary.mkdir()
        if sys.platform == "win32":
            return temporary, None
        descriptor = os.open(temporary, os.O_RDONLY)
        if _is_locked(temporary, descriptor):
            return temporary, descriptor
        os.close(descriptor)


def _is_locked(path: Path, descriptor: int) -> bool:
    """Lock a new file or folder for as long as its writer lives; False if another writer removed it meanwhile."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is ever taken for a leftover
        return True
    return path.exists()


def _remove_leftovers(folder: Path, start: str) -> None:
    """Remove what writers left that are dead. What cannot be removed stays: it is only in the way."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(start):
                with suppress(OSError):
                    _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    if sys.platform == "win32":  # an open file cannot be removed; nothing tells whose folder is still in use
        if path.is_file() and time.time() - path.stat().st_mtime > MOMENT:
            path.unlink()
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Fails while its writer lives, and where a network file system has no locks for folders.
        fcntl.flock(descriptor, (fcntl.LOCK_EX if path.is_dir() else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    """Have the new name on the disk, too, where the system can be asked for that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


FORMAT = "abstain"
VERSION = 1
_HEADER = "header.json"
MOST_HEADER = 1 << 24
"""Bytes of a header. Parsed, it takes some twenty times as much."""
MOST_COMPRESSED = 1 << 28
"""Bytes that the compressed parts of a file may hold together. What is beyond is stored as it is, so that a reader
never needs more memory than this and the size of the file."""


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file of a learner or a gate, in one piece: a header of plain values, and arrays of numbers by name.

    Raises a `FileError` if the header is too large to be read again. After an `OSError` an old file is as it was.
    """
    text = json.dumps({"format": FORMAT, "version": VERSION, **header}, indent=1, default=_as_plain).encode()
    if len(text) > MOST_HEADER:
        raise FileError(f"{path}: expected a header of at most {MOST_HEADER} bytes, got {len(text)}")
    with replacing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(_entry(_HEADER, zipfile.ZIP_DEFLATED), text)
        compressed = len(text)
        for name, array in arrays.items():
            size = array.nbytes + (1 << 16)  # that of its own header is less
            whole = compressed + size > MOST_COMPRESSED
            compressed += 0 if whole else size
            entry = _entry(f"{name}.npy", zipfile.ZIP_STORED if whole else zipfile.ZIP_DEFLATED)
            with archive.open(entry, "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)


def _as_plain(value: Any) -> Any:
    """Convert NumPy's numbers to Python's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON")


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = compression
    return entry


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays that `write` wrote. Nothing larger than the file can hold is ever allocated.

    Raises a `FileError` if the file is damaged, of another kind, or of a newer version.
    """
    with Path(path).open("rb") as stream:
        try:
            with zipfile.ZipFile(stream) as archive:
                parts = _parts(archive, os.fstat(stream.fileno()).st_size)
                header = json.loads(_bytes(archive, parts.pop(_HEADER), MOST_HEADER))
                if not isinstance(header, dict) or header.get("format") != FORMAT:
                    raise FileError(f"{path}: expected a saved learner or gate, got another kind of file")
                version = header["version"]
                if type(version) is not int or version < 1:
                    raise ValueError(f"the version is {version!r:.100}")
                if version > VERSION:
                    raise FileError(f"{path}: version {version} is newer than this library reads ({VERSION})")
                return header, {name.removesuffix(".npy"): _array(archive, one) for name, one in parts.items()}
        except (FileError, OSError):
            raise
        except Exception as error:  # whatever bytes that are no such file make the readers raise
            raise FileError(f"{path}: damaged, or not a saved learner or gate ({error!r:.300})") from None


def _parts(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of an archive by name, if together they are no larger than `write` makes them."""
    entries = archive.infolist()
    parts = {entry.filename: entry for entry in entries}
    if len(parts) < len(entries):
        raise ValueError("a part is there twice")
    for entry in entries:
        if entry.filename != _HEADER and not entry.filename.endswith(".npy"):
            raise ValueError(f"{entry.filename!r:.100} is no part of such a file")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{entry.filename} is compressed by method {entry.compress_type}")
    stored = sum(entry.file_size for entry in entries if entry.compress_type == zipfile.ZIP_STORED)
    compressed = sum(entry.file_size for entry in entries if entry.compress_type != zipfile.ZIP_STORED)
    if stored > size:
        raise ValueError(f"its parts have {stored} bytes, the file {size}")
    if compressed > MOST_COMPRESSED:
        raise ValueError(f"its compressed parts hold {compressed} bytes, not {MOST_COMPRESSED} at most")
    return parts


def _bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """Read a whole entry, which must match its checksum."""
    if entry.file_size > most:
        raise ValueError(f"{entry.filename} has {entry.file_size} bytes, not {most} at most")
    return archive.read(entry)


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array; its header must agree with the size of the entry before room is made for it."""
    with archive.open(entry) as part:
        version = np.lib.format.read_magic(part)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, in_columns, dtype = read_header[version](part)
        count = math.prod(shape)
        fits = dtype.itemsize * count == entry.file_size - part.tell()
        if not fits or dtype.hasobject or (in_columns and len(shape) > 1):
            raise ValueError(f"{entry.filename} says that it is {dtype} {shape}")
        data = bytearray(dtype.itemsize * count)
        view, done = memoryview(data), 0
        while done < len(data):
            some = part.read(min(_CHUNK, len(data) - done))
            if not some:
                raise ValueError(f"{entry.filename} ends after {done} bytes")
            view[done : done + len(some)] = some
            done += len(some)
        if part.read(1):  # at the end the checksum is compared
            raise ValueError(f"{entry.filename} goes on after {done} bytes")
    return np.frombuffer(data, dtype).reshape(shape)


_CHUNK = 1 << 20
