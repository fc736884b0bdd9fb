"""Text from plain and compressed files, in pieces of whole lines."""

import bz2
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from ..errors import FileError

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Told now and then: the step, how much of it is done, and of how much (None where nobody knows)."""

PIECE = 4 << 20
LONGEST_LINE = 64 << 20


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The file's bytes, unpacked if its name ends in .bz2 or .xz; whatever fails says which file."""
    kinds: dict[str, Callable[..., IO[bytes]]] = {".bz2": bz2.open, ".xz": lzma.open}
    unpack = kinds.get(path.suffix, open)
    try:
        with unpack(path, "rb") as stream:
            yield stream
    except (OSError, EOFError, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise FileError(f"{path}: cannot be read ({error.strerror})") from None
        raise FileError(f"{path}: damaged or cut short ({error})") from None


def pieces(path: Path, progress: Progress | None = None) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time, each ending in a newline."""
    with opened(path) as stream:
        size = path.stat().st_size
        rest = b""
        while piece := stream.read(PIECE):
            head, newline, tail = piece.rpartition(b"\n")
            if newline:
                yield rest + head + newline
                rest = tail
            else:
                rest += piece
            if len(rest) > LONGEST_LINE:
                raise FileError(f"{path}: expected lines of text, got a line of more than {LONGEST_LINE >> 20} MiB")
            if progress is not None:
                progress(f"reading {path.name}", _position(stream), size)
        if rest:
            yield rest + b"\n"
        if progress is not None:
            progress(f"reading {path.name}", size, size)


def _position(stream: IO[bytes]) -> int:
    """How far the file itself, packed or not, has been read."""
    return os.lseek(stream.fileno(), 0, os.SEEK_CUR)
