"""The folder results go to: what cannot be written there is said in words."""

import re
from collections.abc import Iterable
from pathlib import Path

from .._core.files import write_bytes, writing
from ..errors import InputError


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


def write(path: Path, content: bytes) -> Path:
    """Write a file: it is there as a whole, or as it was before."""
    write_bytes(path, content)
    return path
