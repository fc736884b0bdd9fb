"""Where files are looked for: a folder given, the one in ``ABSTAIN_DATA``, the user's cache."""

import os
import sys
from pathlib import Path

from ..errors import FileError, InputError

VARIABLE = "ABSTAIN_DATA"


def cache() -> Path:
    """The folder that downloads go to; nothing is made here."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "abstain"
    try:
        home = Path.home()
    except RuntimeError:
        raise FileError("no home folder for the cache: set XDG_CACHE_HOME, or give data=") from None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "abstain"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "abstain" / "cache"
    return home / ".cache" / "abstain"


def as_folder(data: str | os.PathLike[str], *, there: bool = True) -> Path:
    """A path that is a folder, or, unless it has to be there, may become one."""
    if not isinstance(data, (str, os.PathLike)) or not os.fspath(data):
        raise InputError(f"data: expected the path of a folder, got {data!r}")
    folder = Path(data).expanduser()
    if not folder.is_dir() and (there or folder.exists()):
        raise InputError(f"data: expected a folder, got {folder}, which is {_what(folder)}")
    return folder


def searched(data: str | os.PathLike[str] | None = None) -> list[tuple[str, Path]]:
    """The folders in the order they are looked in, each with where it comes from."""
    found = [] if data is None else [("data", as_folder(data))]
    if variable := os.environ.get(VARIABLE):
        found.append((VARIABLE, Path(variable).expanduser()))
    return [*found, ("cache", cache())]


def find(name: str, data: str | os.PathLike[str] | None = None) -> Path | None:
    """The first file of the set: in a folder ``.npz`` comes before LIBSVM text and that before CSV."""
    for _, folder in searched(data):
        for candidate in candidates(name):
            try:
                if (folder / candidate).is_file():
                    return folder / candidate
            except OSError as error:
                raise FileError(f"{folder}: cannot be looked into ({error.strerror})") from None
    return None


def candidates(name: str) -> list[str]:
    """The file names a set may have."""
    texts = [name + kind + packed for kind in ("", ".txt", ".libsvm", ".csv") for packed in ("", ".bz2", ".xz")]
    return [f"{name}.npz", *texts]


def not_found(name: str, data: str | os.PathLike[str] | None = None) -> FileError:
    """What was tried and how to get it."""
    tried = ", ".join(
        f"{folder} ({origin}" + ("" if folder.is_dir() else f"; it is {_what(folder)}") + ")"
        for origin, folder in searched(data)
    )
    return FileError(
        f"{name}: no {name}.npz, LIBSVM text ({name}, {name}.txt, {name}.libsvm, also .bz2 and .xz) or {name}.csv in "
        f"{tried}. Get it by `abstain datasets get {name}` or ab.datasets.fetch({name!r}), or say by data= or "
        f"{VARIABLE} which folder holds it"
    )


def _what(folder: Path) -> str:
    return "a file" if folder.exists() else "not there"
