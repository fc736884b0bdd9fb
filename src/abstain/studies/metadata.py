"""The file of results: curves, and in its metadata what they are results of."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import __version__
from ..errors import FileError
from . import outputs
from .described import described
from .growth import Row
from .spec import AnyStudy

if TYPE_CHECKING:
    import polars as pl

NAME = "results.parquet"
KEY = "abstain"
"""Of the metadata; JSON is under it."""


class Results(NamedTuple):
    """What a file of results holds."""

    curves: "pl.DataFrame"
    about: Mapping[str, Any]
    """``version`` of the library; ``studies``, all their fields (seeds, learners and their options among them);
    ``growth``, runs of ContEXP3-ABS (`growth.Row`). Empty for files of earlier versions."""


def write(path: Path, curves: "pl.DataFrame", studies: Sequence[AnyStudy], grown: Sequence[Row]) -> None:
    """Write a file of results."""
    about = {"version": __version__, "studies": [described(study) for study in studies], "growth": grown}
    stream = io.BytesIO()
    curves.write_parquet(stream, metadata={KEY: json.dumps(about)})
    outputs.write(path, stream.getvalue())


def read(path: Path) -> Results:
    """Read the file, or that of a folder."""
    import polars as pl

    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        raise FileError(f"{file}: expected results of a study, got no such file")
    try:
        about = json.loads(pl.read_parquet_metadata(file).get(KEY, "{}"))
        return Results(pl.read_parquet(file), about)
    except OSError as error:
        raise FileError(f"{file}: cannot be read ({error.strerror or error})") from None
    except Exception as error:  # whatever bytes that are no such file make the readers raise
        raise FileError(f"{file}: expected results of a study ({error})") from None
