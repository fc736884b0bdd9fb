"""Where files are looked for: a folder given, the one in ``ABSTAIN_DATA``, the user's cache."""

import importlib
import importlib.util
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core.validation import MOST, as_count, as_seed
from ..errors import FileError, InputError
from . import reading
from .known import known

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
    folder = _expanded(data)
    if not folder.is_dir() and (there or folder.exists()):
        raise InputError(f"data: expected a folder, got {folder}, which is {_what(folder)}")
    return folder


def searched(data: str | os.PathLike[str] | None = None) -> list[tuple[str, Path]]:
    """The folders in the order they are looked in, each with where it comes from."""
    found = [] if data is None else [("data", as_folder(data))]
    if variable := os.environ.get(VARIABLE):
        found.append((VARIABLE, _expanded(variable)))
    with suppress(FileError):  # nobody's home: there is no cache, but the other folders may do
        found.append(("cache", cache()))
    return found


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


def _expanded(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # ~nobody
        return Path(path)


def _what(folder: Path) -> str:
    return "a file" if folder.exists() else "not there"


def as_scale(scale: str | None) -> str | None:
    """The name of a scaling that exists."""
    if scale is None or scale in ("maxabs", "minmax"):
        return scale
    raise InputError(f"scale: expected 'maxabs', 'minmax' or None, got {scale!r}")


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


def installed() -> bool:
    """Whether scikit-learn is there; it is not imported to see."""
    return importlib.util.find_spec("sklearn") is not None


def read(name: str) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """X and y, not scaled: "breast-cancer" (+1 is malignant) or "digits" (+1 is 5 or more)."""
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise InputError(f"{name}: needs scikit-learn: pip install 'abstain[sklearn]'") from None
    if name == "digits":
        X, digit = datasets.load_digits(return_X_y=True)
        positive = digit >= 5
    else:
        X, benign = datasets.load_breast_cancer(return_X_y=True)
        positive = benign == 0
    return np.array(X, np.float64, order="C"), np.where(positive, 1, -1).astype(np.int8)


def synthetic(n: int, seed: int | np.random.SeedSequence | None = None) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Points uniform in [-1, 1]^2, labelled by the side of the diagonal x1 + x2 = 0 they are on."""
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
    """All rows, scaled. Kept, as studies ask for the same set many times; ``state`` tells a file from a changed one."""
    X, y = read(name) if path is None else reading.read_table(path, known(name))
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
        found = which.kind if installed() else None
    else:
        path = find(name, data)
        found = None if path is None else str(path)
    return Info(name, which.rows, which.features, which.meaning, which.source, found, which.citation)
