"""The rows logs are made of: inputs, labels, and what kind of answer they ask for."""

import importlib
from typing import Any, NamedTuple

import numpy as np

from ... import datasets
from ...errors import FileError, InputError
from ...typing import Array, Floats
from ..sources import MissingDataError

BINARY, CLASSES, NUMBERS = "binary", "classes", "numbers"
FILES = {"elevation": "covtype", "diabetes": "digits"}
"""The set that is here if, and only if, this source is; others are sets themselves."""
_SCALES = {"elevation": 500.0, "diabetes": 300.0}
"""The error that counts as a whole mistake."""


class Rows(NamedTuple):
    """X (n, d) and y (n,) in the order of the source."""

    X: Floats
    y: Array
    task: str


def read(source: str, data: str | None) -> Rows:
    """The rows of a source: a set of two classes; "digits", ten classes; "diabetes" and "elevation", numbers.

    Elevation, in metres, is the first column of covtype, told from the others.
    """
    if source in ("digits", "diabetes"):
        X, y = getattr(_sklearn("datasets"), f"load_{source}")(return_X_y=True)
        return Rows(X, y, CLASSES) if source == "digits" else Rows(X, y / _SCALES[source], NUMBERS)
    try:
        X, y = datasets.load(FILES.get(source, source), scale=None, data=data)
    except (FileError, InputError) as error:
        if datasets.info(FILES.get(source, source), data=data).found is None:
            raise MissingDataError(FILES.get(source, source), str(error)) from None
        raise
    if source == "elevation":
        return Rows(np.ascontiguousarray(X[:, 1:]), X[:, 0] / _SCALES[source], NUMBERS)
    return Rows(X, y, BINARY)


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise InputError("logs: need scikit-learn: pip install 'abstain[sklearn]'") from None
