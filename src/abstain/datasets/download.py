"""One file over HTTP: resumed after a cut, whole or not there under its name."""

import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ..errors import FileError
from .lines import Progress

TIMEOUT = 30.0
"""Seconds that a connection may stay silent."""
TRIES = 4
"""Connections in a row that may bring nothing new."""
PAUSE = 1.0
"""Seconds before the second try; twice as many before each further one."""
_LATER = {408, 429, 500, 502, 503, 504}


class _CutError(Exception):
    """The connection ended too early: worth another try."""


def download(url: str, target: Path, progress: Progress | None = None) -> None:
    """Bring ``url`` to ``target``.

    Bytes go to ``target.part``, which stays after a failure, so that the next call goes on there (HTTP Range, guarded
    by If-Range and the size: if the server's file has changed, all of it is brought again).
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
                    raise FileError(f"{url}: {error}; what came is kept: try again later to go on") from None
                time.sleep(PAUSE * 2 ** (tries - 1))
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(target)
    note.unlink(missing_ok=True)


@contextmanager
def _appending(part: Path) -> Iterator[IO[bytes]]:
    """The part, open at its end, for this process only."""
    try:
        import fcntl
    except ImportError:  # Windows: a second process gets in the way unnoticed until rows are counted
        fcntl = None  # type: ignore[assignment]
    with part.open("ab") as stream:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FileError(f"{part}: another process is just downloading it") from None
            except OSError:
                pass  # a file system without locks
        stream.seek(0, os.SEEK_END)
        yield stream


def _receive(url: str, stream: IO[bytes], note: Path, name: str, progress: Progress | None) -> None:
    """One request: all that is missing, or a `_CutError`."""
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
            if error.code == 416:  # no such range: the part is of another file
                _restart(stream)
                raise _CutError("the server's file has changed on the way") from None
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
            _append(stream, chunk)
            if progress is not None:
                progress(name, stream.tell(), size)
    if size is not None and stream.tell() < size:
        raise _CutError(f"the connection was cut after {stream.tell():,} of {size:,} bytes")


def _begin(url: str, response: Any, stream: IO[bytes], note: Path, known: dict[str, Any] | None) -> int | None:
    """Put the stream where the answer goes on; return the size of the whole, if the server tells."""
    if response.status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        size = int(match[2]) if match and match[2] != "*" else None
        if match and int(match[1]) == stream.tell() and known is not None and size == known["size"]:
            return size
        _restart(stream)
        raise _CutError("the server's file has changed on the way")
    if response.status != 200:
        raise FileError(f"{url}: the server answers {response.status} {response.reason}")
    _restart(stream)
    length = response.headers.get("Content-Length", "")
    size = int(length) if length.isdigit() else None
    tag = response.headers.get("ETag", "")
    if not tag or tag.startswith("W/"):  # a weak tag is no promise of equal bytes
        tag = response.headers.get("Last-Modified", "")
    try:
        note.write_text(json.dumps({"url": url, "size": size, "tag": tag}), encoding="utf-8")
    except OSError as error:
        raise _unwritable(note, error) from None
    return size


def _read_note(note: Path, url: str) -> dict[str, Any] | None:
    """What was said of the file when its part was begun."""
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        return known if known["url"] == url and known.keys() >= {"size", "tag"} else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _append(stream: IO[bytes], chunk: bytes) -> None:
    try:
        stream.write(chunk)
        stream.flush()
    except OSError as error:
        raise _unwritable(Path(stream.name), error) from None


def _restart(stream: IO[bytes]) -> None:
    stream.seek(0)
    stream.truncate()


def _unwritable(path: Path, error: OSError) -> FileError:
    return FileError(f"{path}: cannot be written ({error.strerror or error})")
