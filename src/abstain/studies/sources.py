"""Whether results come from the same data: a file may be replaced by another between two runs in one folder."""

import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import datasets
from ..errors import FileError
from .problems import INSTANCES
from .spoilt import source

END_BYTES = 1 << 20


class MissingDataError(Exception):
    """A data set that is not here."""

    def __init__(self, dataset: str, why: str) -> None:
        super().__init__(why)
        self.dataset = dataset


def fingerprint(dataset: str, data: str | None) -> str | None:
    """What tells a data file from another: its size and a checksum of its two ends. None if the set is not here."""
    found = "computed" if dataset in INSTANCES else datasets.info(source(dataset), data=data).found
    if found is None or found in ("computed", "scikit-learn"):
        return found
    status = Path(found).stat()
    return _of_file(found, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=32)
def _of_file(path: str, size: int, changed: int) -> str:
    with Path(path).open("rb") as stream:
        checksum = zlib.crc32(stream.read(END_BYTES))
        stream.seek(max(0, size - END_BYTES))
        checksum = zlib.crc32(stream.read(), checksum)
    return f"{size} bytes, {checksum:08x}"


def check_same(known: Iterable[tuple[str, Mapping[str, Any]]], data: str | None, folder: Path) -> None:
    """Raise an error if records (each with its data set) are of other data than what is here, or of several."""
    seen: dict[str, str] = {}
    for dataset, record in known:
        if dataset not in seen:
            seen[dataset] = fingerprint(dataset, data) or record["data"]
        if record["data"] != seen[dataset]:
            raise FileError(
                f"{folder}: the results there are of another file of {dataset} ({record['data']}) than the one here "
                f"({seen[dataset]}); use another folder for these"
            )
