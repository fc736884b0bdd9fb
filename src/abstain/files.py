"""One file of named arrays and a JSON header: versioned, checked, written in one piece, never pickled."""

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import FileError
from .replacing import replacing

FORMAT = "abstain-learner"
VERSION = 2


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a learner's file, in one piece."""
    with replacing(path) as stream, zipfile.ZipFile(stream, "w") as archive:
        text = json.dumps({"format": FORMAT, "version": VERSION, **header}, indent=1, default=_as_plain)
        archive.writestr(_entry("header.json"), text)
        for name, array in arrays.items():
            with archive.open(_entry(f"{name}.npy"), "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)


def _as_plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of a file, or a `FileError` that says what is wrong with it."""
    data = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            broken = archive.testzip()
            if broken is not None:
                raise FileError(f"{path}: damaged: {broken} does not match its checksum")
            header = json.loads(archive.read("header.json"))
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise FileError(f"{path}: expected a saved learner, got another kind of file")
            if header["version"] > VERSION:
                raise FileError(f"{path}: version {header['version']} is newer than this library reads ({VERSION})")
            arrays = {}
            for name in archive.namelist():
                if name.endswith(".npy"):
                    with archive.open(name) as part:
                        arrays[name.removesuffix(".npy")] = np.lib.format.read_array(part, allow_pickle=False)
    except FileError:
        raise
    except Exception as error:  # whatever bytes that are no such file make the readers raise
        raise FileError(f"{path}: damaged, or not a saved learner ({error})") from None
    return header, arrays
