"""Sets of one's own as part of a study: a file, a table, or a function that draws a stream."""

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .._core.validation import as_table
from ..datasets import own
from ..datasets.loading import rescale
from ..errors import AbstainError, FileError, InputError
from ..losses import get as loss_named
from ..typing import Array, Floats
from . import imported, problems, seeds
from .ingredients import Keyed, as_options

MOST_KEPT = 4
_kept: dict[tuple[str, str], tuple[Floats, Array]] = {}
"""Whole sets by their keys and scales."""


@dataclass(frozen=True)
class SetSpec(Keyed):
    """A set by one's own name: of these, one is given.

    ``path`` is a file (see `abstain.datasets.own.read`), looked for in ``folder`` first, with the column ``label`` and
    what is ``positive`` in it. ``kind`` is a function, or its import path ``module:function``, with ``options``:
    ``f(n, seed, **options)`` returns the n rounds of a draw, X (n, d) and y (n,), labels -1 and +1. ``table`` is X and
    y themselves. Rows of files and tables are drawn at random and scaled as those of the library's sets are; streams
    come as they are.
    """

    name: str
    path: str | None = None
    label: str | None = None
    positive: str | float | None = None
    kind: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    table: tuple[Any, Any] | None = field(default=None, repr=False, compare=False)
    folder: str | None = field(default=None, compare=False)
    code: str = field(default="", init=False)
    """What tells the file, the table or the function's code from another version of it."""
    file: str = field(default="", init=False, compare=False)
    """Where the file is."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or problems.is_known(self.name):
            raise InputError(f"sets: expected a name that is none of the library's, got {self.name!r}")
        try:
            if (self.path is not None) + (self.kind is not None) + (self.table is not None) != 1:
                raise InputError("expected one of path, kind and table")
            if self.kind is None and self.options:
                raise InputError(f"expected path, label and positive, or kind, got {', '.join(self.options)}")
            if self.kind is not None:
                self._check_stream()
            elif self.table is not None:
                self._check_table()
            else:
                self._check_file()
        except AbstainError as error:
            raise InputError(f"set {self.name}: {error}") from None

    def _check_stream(self) -> None:
        if not isinstance(self.kind, str):
            path, folder = imported.path_of(self.kind)
            object.__setattr__(self, "kind", path)
            object.__setattr__(self, "folder", self.folder or folder)
        object.__setattr__(self, "options", as_options(self.options, "options"))
        found = imported.take(self.kind, self.folder)
        if not callable(found.value):
            raise InputError(f"kind: expected {self.kind} to be a function, got {found.value!r}")
        object.__setattr__(self, "code", found.code)

    def _check_table(self) -> None:
        assert self.table is not None
        X, y = as_table(self.table[0], None), np.asarray(self.table[1])
        signs = own.as_signs(y, self.positive, Path("y"))
        if len(X) != len(signs):
            raise InputError(f"table: expected a label a row, got {len(signs)} for {len(X)} rows")
        object.__setattr__(self, "table", (X, signs))
        object.__setattr__(self, "code", hashlib.sha256(X.tobytes() + signs.tobytes()).hexdigest()[:24])

    def _check_file(self) -> None:
        if not isinstance(self.path, str):
            raise InputError(f"path: expected the path of a file, got {self.path!r}")
        places = [Path(self.path)] if self.folder is None else [Path(self.folder, self.path), Path(self.path)]
        here = next((place for place in places if place.is_file()), None)
        if here is None:
            raise InputError(f"path: expected a file, got none at {' or '.join(map(str, places))}")
        object.__setattr__(self, "file", str(here.absolute()))
        object.__setattr__(self, "code", _digest(self.file))
        self.rows("none")

    def _content(self) -> list[Any]:
        """Where a file or the code lies makes no difference."""
        return [self.name, self.label, self.positive, self.kind, self.options, self.code]

    @property
    def is_scaled(self) -> bool:
        """Whether scaling means something to it."""
        return self.kind is None

    def rows(self, scale: str) -> tuple[Floats, Array]:
        """All rows of a file or table, scaled; kept, as jobs ask for the same set many times."""
        kept = _kept.get((self.key, scale))
        if kept is None:
            X, y = self._whole()
            rescale(X, None if scale == "none" else scale)
            kept = _kept[self.key, scale] = X, y
            while len(_kept) > MOST_KEPT:
                _kept.pop(next(iter(_kept)), None)
        return kept

    def _whole(self) -> tuple[Floats, Array]:
        if self.table is not None:
            return np.array(self.table[0]), self.table[1]
        if _digest(self.file) != self.code:
            raise FileError(f"{self.file}: expected the file the study was read with, got another version of it")
        return own.read(Path(self.file), self.label, self.positive)

    def draw(self, n: int, seed: np.random.SeedSequence, scale: str) -> tuple[Floats, Array]:
        """The rounds of a draw: rows in random order, without replacement if there are as many, or a stream's."""
        if self.kind is not None:
            return self._stream(n, seed)
        X, y = self.rows(scale)
        drawn = np.random.default_rng(seed).choice(len(X), n, replace=n > len(X))
        return X[drawn], y[drawn]

    def _stream(self, n: int, seed: np.random.SeedSequence) -> tuple[Floats, Array]:
        given = imported.call(self.kind, self.folder, self.code)(n, seeds.as_number(seed), **self.options)
        if not isinstance(given, tuple) or len(given) != 2:
            raise InputError(f"{self.kind}: expected X and y, got {type(given).__name__}")
        X, y = as_table(given[0], None), loss_named("zero_one").labels(given[1])
        if len(X) != n or len(y) != n:
            raise InputError(f"{self.kind}: expected {n} rows and labels, got {len(X)} and {len(y)}")
        return X, y


def _digest(path: str) -> str:
    """Of a whole file; read again only if it was changed."""
    try:
        status = Path(path).stat()
        return _of_file(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from None


@lru_cache(maxsize=32)
def _of_file(path: str, size: int, changed: int) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:24]
