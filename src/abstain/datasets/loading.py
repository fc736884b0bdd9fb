"""Find and load data sets: from a folder, from ``ABSTAIN_DATA``, from the user's cache, or computed."""

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core.extras import is_there, need
from .._core.validation import MOST, as_count, as_seed
from ..errors import FileError, InputError, shown
from . import reading
from .known import known

VARIABLE = "ABSTAIN_DATA"


def cache() -> Path:
    """Return the folder for downloads; it need not exist."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "abstain"
    try:
        home = Path.home()
    except RuntimeError:
        raise FileError("there is no home folder for the cache: set XDG_CACHE_HOME, or give data=") from None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "abstain"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "abstain" / "cache"
    return home / ".cache" / "abstain"


def as_folder(data: str | os.PathLike[str], *, there: bool = True) -> Path:
    """Check a path that is a folder or, unless ``there``, may become one."""
    if not isinstance(data, (str, os.PathLike)) or not os.fspath(data):
        raise InputError(f"data: expected the path of a folder, got {shown(data)}")
    folder = _expanded(data)
    if not folder.is_dir() and (there or folder.exists()):
        raise InputError(f"data: expected a folder, got {folder}, which is {_what(folder)}")
    return folder


def searched(data: str | os.PathLike[str] | None = None) -> list[tuple[str, Path]]:
    """Return the folders to look in, in this order, each with its origin."""
    found = [] if data is None else [("data", as_folder(data))]
    if variable := os.environ.get(VARIABLE):
        found.append((VARIABLE, _expanded(variable)))
    with suppress(FileError):  # without a home folder there is no cache, but the other folders may do
        found.append(("cache", cache()))
    return found


def find(name: str, data: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first file of the set: in each folder ``.npz`` comes before LIBSVM text, and that before CSV."""
    for _, folder in searched(data):
        for candidate in candidates(name):
            try:
                if (folder / candidate).is_file():
                    return folder / candidate
            except OSError as error:
                raise FileError(f"{folder}: cannot be looked into ({error.strerror})") from None
    return None


def candidates(name: str) -> list[str]:
    """Return the file names that a set may have."""
    texts = [name + kind + packed for kind in ("", ".txt", ".libsvm", ".csv") for packed in ("", ".bz2", ".xz")]
    return [f"{name}.npz", *texts]


def not_found(name: str, data: str | os.PathLike[str] | None = None) -> FileError:
    """Return an error that says where a set was looked for and how to get it."""
    tried = ", ".join(
        f"{folder} ({origin}" + ("" if folder.is_dir() else f"; it is {_what(folder)}") + ")"
        for origin, folder in searched(data)
    )
    return FileError(
        f"{name}: no {name}.npz, LIBSVM text ({name}, {name}.txt, {name}.libsvm, also .bz2 and .xz) or {name}.csv in "
        f"{tried}. Get it by `abstain datasets get {name}` or ab.datasets.fetch({name!r}), or name its folder by data= "
        f"or {VARIABLE}"
    )


def _expanded(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # ~ of an unknown user
        return Path(path)


def _what(folder: Path) -> str:
    return "a file" if folder.exists() else "not there"


def as_scale(scale: str | None) -> str | None:
    """Check the name of a scaling."""
    if scale is None or scale in ("maxabs", "minmax"):
        return scale
    raise InputError(f"scale: expected 'maxabs', 'minmax' or None, got {shown(scale)}")


def rescale(X: NDArray[np.float64], scale: str | None) -> None:
    """Scale the columns of X in place.

    "maxabs": ``x / max|x|``, which leaves zeros (and columns of zeros) where they are; "minmax": ``2 (x - min) /
    (max - min) - 1``, and 0 for a column that is constant.
    """
    if scale == "maxabs":
        peak = np.maximum(X.max(axis=0), -X.min(axis=0))
        X /= np.where(peak > 0.0, peak, 1.0)
    elif scale == "minmax":
        low, high = X.min(axis=0), X.max(axis=0)
        half = high / 2.0 - low / 2.0  # of large numbers the difference itself may overflow
        X /= 2.0
        X -= low / 2.0
        X /= np.where(half > 0.0, half, 1.0)
        X *= 2.0
        X -= 1.0
        X[:, half <= 0.0] = 0.0


def read(name: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return X, not scaled, and y of "breast-cancer" (+1 is malignant) or "digits" (+1 is 5 or more)."""
    datasets = need("sklearn.datasets", name, "sklearn")
    if name == "digits":
        X, digit = datasets.load_digits(return_X_y=True)
        positive = digit >= 5
    else:
        X, benign = datasets.load_breast_cancer(return_X_y=True)
        positive = benign == 0
    return np.array(X, np.float64, order="C"), np.where(positive, 1, -1).astype(np.int8)


def synthetic(n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Draw points uniformly in [-1, 1]^2; the label is the side of the diagonal x1 + x2 = 0 that they are on."""
    X = np.random.default_rng(as_seed(seed)).uniform(-1.0, 1.0, (as_count(n, "n", most=MOST), 2))
    return X, np.where(X.sum(axis=1) > 0.0, 1, -1).astype(np.int8)


Arrays: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int8]]


def load(
    name: str,
    *,
    scale: str | None = "maxabs",
    data: str | os.PathLike[str] | None = None,
    n: int | None = None,
    seed: int | np.random.SeedSequence | None = None,
) -> Arrays:
    """Load a data set.

    Files are looked for in the folder ``data``, then in the one that the environment variable ``ABSTAIN_DATA`` names,
    then in the user's cache; see `fetch`. "synthetic" is drawn anew and is not scaled; "breast-cancer" and "digits"
    need scikit-learn.

    Args:
        name: The name of the set, one of `names`.
        scale: "maxabs" (each feature divided by its largest absolute value), "minmax" (each feature mapped onto
            [-1, 1]) or None (as in the file). The scale is always that of the whole set.
        data: The folder to look in first.
        n: The number of rows to draw at random: without replacement if the set has that many, else with replacement.
            None means all rows in the order of the source ("synthetic": 10,000), in arrays that are kept for the next
            call and cannot be written to.
        seed: The seed of the draw.

    Returns:
        The features X (n, d), in [-1, 1] if scaled, and the labels y (n,), -1 and +1.

    Raises:
        InputError: There is no set of that name, or another argument is wrong, or scikit-learn is missing.
        FileError: There is no file of the set, or it is damaged.

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
        path = find(name, data)
        if path is None:
            raise not_found(name, data)
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
    """Return all rows, scaled. They are kept because studies load the same set many times; ``state`` changes with the
    file.
    """
    X, y = read(name) if path is None else reading.read_table(path, known(name))
    rescale(X, scale)
    X.flags.writeable = y.flags.writeable = False
    return X, y


@dataclass(frozen=True)
class Info:
    """What is known about a data set."""

    name: str
    """The name that `load` takes."""
    rows: int
    """The number of rows of the public original; your file may have fewer."""
    features: int
    """The number of features."""
    positive: str
    """What the label +1 means."""
    source: str
    """Who publishes the set."""
    found: str | None
    """The file that `load` would read; "computed" or "scikit-learn" for sets that need none; None if it is missing."""
    citation: str
    """The publication to cite."""


def info(name: str, *, data: str | os.PathLike[str] | None = None) -> Info:
    """Describe a data set and say whether it is here; no file is read.

    Args:
        name: The name of the set, one of `names`.
        data: The folder to look in first.

    Returns:
        The description.

    Raises:
        InputError: There is no set of that name, or ``data`` is no folder.

    >>> info("cod-rna").rows, info("synthetic").found
    (59535, 'computed')
    """
    which = known(name)
    found: str | None
    if which.kind == "computed":
        found = which.kind
    elif which.kind == "scikit-learn":
        found = which.kind if is_there("sklearn") else None
    else:
        path = find(name, data)
        found = None if path is None else str(path)
    return Info(name, which.rows, which.features, which.meaning, which.source, found, which.citation)
