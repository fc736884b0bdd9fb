"""The folder of results: written beside its place, and put there when it is whole."""

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...errors import FileError
from ...interrupts import held_back

if sys.platform != "win32":
    import fcntl

_START = ".abstain-replay-"
RESULTS, SCRATCH = "results", "scratch"


@contextmanager
def made_beside(out: Path) -> Iterator[tuple[Path, Path]]:
    """A folder for results and one for scratch. At the end the results are moved to ``out``; after an error, or Ctrl-C,
    nothing is left, the folders that had to be made for it included.

    Files that ``out`` already has are replaced, each in one piece; others stay. What a killed replay left is removed
    by the next.
    """
    out = Path(os.path.realpath(out))
    if out.exists() and not out.is_dir():
        raise FileError(f"{out}: expected a folder, got a file")
    made = [folder for folder in (out.parent, *out.parent.parents) if not folder.exists()]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(out.parent)
        place = out.parent / f"{_START}{secrets.token_hex(8)}"
        place.mkdir()
    except OSError as error:
        raise FileError(f"{out}: cannot be written ({error.strerror or error})") from None
    try:
        lock = _locked(place)
        try:
            for name in (RESULTS, SCRATCH):
                (place / name).mkdir()
            yield place / RESULTS, place / SCRATCH
            with held_back():
                _put(place / RESULTS, out)
                made = []
        finally:
            os.close(lock)
    finally:
        shutil.rmtree(place, ignore_errors=True)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def _put(results: Path, out: Path) -> None:
    try:
        if not out.exists():
            results.rename(out)
            return
        found = sorted(results.iterdir())
        for path in found:
            if (out / path.name).is_dir():
                raise FileError(f"{out / path.name}: expected a file to be replaced, got a folder")
        for path in found:
            path.replace(out / path.name)
    except OSError as error:
        raise FileError(f"{out}: cannot be written ({error.strerror or error})") from None


def _locked(place: Path) -> int:
    """Lock a folder for as long as its writer lives."""
    descriptor = os.open(place / "lock", os.O_RDWR | os.O_CREAT)
    if sys.platform != "win32":
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _remove_leftovers(folder: Path) -> None:
    if sys.platform == "win32":  # nothing tells the living from the dead
        return
    for place in folder.glob(f"{_START}*"):
        with suppress(OSError), (place / "lock").open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
            shutil.rmtree(place, ignore_errors=True)
