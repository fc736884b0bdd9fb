"""`load` and `info`."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import FileError
from ..tables import MOST, as_count, as_seed
from . import folders, reading, shipped
from .known import known
from .scaling import as_scale, rescale
from .synthetic import synthetic

Arrays: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int8]]


def load(
    name: str,
    *,
    scale: str | None = "maxabs",
    data: str | os.PathLike[str] | None = None,
    n: int | None = None,
    seed: int | np.random.SeedSequence | None = None,
) -> Arrays:
    """The data set of that name: X (n, d), features in [-1, 1], and y (n,), labels -1 and +1.

    Files are looked for in the folder ``data``, then in the one that the environment variable ``ABSTAIN_DATA`` names,
    then in the user's cache; see `fetch`. "synthetic" is drawn anew (10,000 rows unless ``n`` says otherwise) and is
    not scaled; "breast-cancer" and "digits" need scikit-learn.

    Args:
        name: Of the set, as `abstain datasets` lists them.
        scale: "maxabs" (each feature divided by its largest absolute value), "minmax" (each feature mapped onto
            [-1, 1]) or None (as in the file); it is always that of the whole set.
        data: The folder to look in first.
        n: How many rows are drawn at random, without replacement if the set has as many, else with. None: all rows in
            the order of the source, in arrays that are kept for the next call and cannot be written to.
        seed: Of the draw.

    >>> X, y = load("synthetic", n=3, seed=0)
    >>> X.shape, y
    ((3, 2), array([-1, -1,  1], dtype=int8))
    """
    which, scale, seed = known(name), as_scale(scale), as_seed(seed)
    rows = None if n is None else as_count(n, "n", most=MOST)
    if which.kind == "computed":
        return synthetic(10_000 if rows is None else rows, seed)
    if which.kind == "scikit-learn":
        X, y = _whole(name, None, (), scale)
    else:
        path = folders.find(name, data)
        if path is None:
            raise folders.not_found(name, data)
        try:
            status = path.stat()
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror})") from None
        X, y = _whole(name, path.absolute(), (status.st_mtime_ns, status.st_size), scale)
    if rows is None:
        return X, y
    drawn = np.random.default_rng(seed).choice(len(X), rows, replace=rows > len(X))
    return X[drawn], y[drawn]


@lru_cache(maxsize=4)
def _whole(name: str, path: Path | None, state: tuple[int, ...], scale: str | None) -> Arrays:
    """All rows, scaled. Kept, as studies ask for the same set many times; ``state`` tells a file from a changed one."""
    X, y = shipped.read(name) if path is None else reading.read(path, known(name))
    rescale(X, scale)
    X.flags.writeable = y.flags.writeable = False
    return X, y


@dataclass(frozen=True)
class Info:
    """What is known of a data set."""

    name: str
    rows: int
    """Rows of the public original; the file here may hold fewer."""
    features: int
    positive: str
    """What the label +1 means."""
    source: str
    found: str | None
    """The file that `load` would read; "computed" or "scikit-learn" for sets that need none; None: not here."""
    citation: str


def info(name: str, *, data: str | os.PathLike[str] | None = None) -> Info:
    """What is known of a set, and whether it is here; nothing is read.

    >>> info("cod-rna").rows, info("synthetic").found
    (59535, 'computed')
    """
    which = known(name)
    found: str | None
    if which.kind == "computed":
        found = which.kind
    elif which.kind == "scikit-learn":
        found = which.kind if shipped.installed() else None
    else:
        path = folders.find(name, data)
        found = None if path is None else str(path)
    return Info(name, which.rows, which.features, which.meaning, which.source, found, which.citation)
