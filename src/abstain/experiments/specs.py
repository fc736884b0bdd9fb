"""What studies are made of, known by their content: learners, and what they share with experts and sets."""

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import experts, learners
from .._core.validation import as_table
from ..datasets import reading
from ..datasets.loading import rescale
from ..engine.play import PlayingRounds
from ..errors import AbstainError, FileError, InputError
from ..experts import ExpertSet
from ..experts.base import kinds
from ..learners import Learner
from ..losses import get as loss_named
from ..typing import Array, Floats
from . import parts, seeds, sets


@cache
def learner_kinds() -> dict[str, type[Learner]]:
    """The library's learners by the names of their classes; ContEXP3-ABS has no experts (see `growth`)."""
    kinds = {name: getattr(learners, name) for name in learners.__all__}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type)
        and issubclass(kind, Learner)
        and not inspect.isabstract(kind)
        and kind is not learners.ContExp3Abs
    }


def one_of(value: Any, known: Any, name: str) -> None:
    """Raise an error unless the value is one of the known words."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}: expected one of {', '.join(known)}, got {value!r}")


class Keyed:
    """Something known by its content."""

    sort: ClassVar[str] = ""
    """What keys call it, where logs were written with another name than that of the class."""

    @cached_property
    def key(self) -> str:
        """A hash of its kind and fields: equal for equal content, in every process."""
        content = json.dumps([self.sort or type(self).__name__, *map(_as_key, self._content())], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]

    def _content(self) -> list[Any]:
        return [getattr(self, one.name) for one in fields(self)]  # type: ignore[arg-type]


def _as_key(value: Any) -> Any:
    """Parts that have a key stand by it: it is made once, however many wholes they are part of."""
    if isinstance(value, tuple):
        return [_as_key(part) for part in value]
    return value.key if isinstance(value, Keyed) else value


def as_options(options: Any, name: str) -> dict[str, Any]:
    """Options as plain values, which have a key in every process."""
    if not isinstance(options, dict):
        raise InputError(f"{name}: expected options by name, got {options!r}")
    plain = {
        key: value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value for key, value in options.items()
    }
    try:
        json.dumps(plain)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected numbers, words and lists as options, got {options!r}") from None
    return plain


def _as_said(options: dict[str, Any]) -> dict[str, Any]:
    """Options as plain values, or else in words."""
    plain = {}
    for name, value in options.items():
        try:
            plain[name] = as_options({name: value}, name)[name]
        except InputError:
            plain[name] = repr(value)
    return plain


@dataclass(frozen=True)
class LearnerSpec(Keyed):
    """A learner: the label its lines have, its class, its options.

    The class is one of the library's by its name, or any other by its import path, ``module:Class``, whose module is
    looked for in ``folder`` first, or the class itself, which must lie in a module.
    """

    label: str
    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    folder: str | None = field(default=None, compare=False)
    code: str = field(default="", init=False)
    """What tells the code of a class with an import path from another version of it."""
    supervised: bool = field(default=False, init=False, compare=False)
    """Whether it is shown the label of every round."""
    in_python: bool = field(default=False, init=False, compare=False)
    """Whether it is played round by round, which takes much longer than compiled code does."""
    all_options: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The options, those that were not given among them, as far as they are plain values."""

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise InputError(f"label: expected a text, got {self.label!r}")
        object.__setattr__(self, "options", as_options(self.options, self.label))
        try:
            self._name()
            if self.own:
                object.__setattr__(self, "code", parts.find(self.kind, self.folder).code)
            else:
                one_of(self.kind, learner_kinds(), "kind")
            for option in self.options:
                one_of(option, self._class().options, "option")
            self._try()
        except AbstainError as error:
            raise InputError(f"{self.label}: {error}") from None

    def _name(self) -> None:
        """A class by its name."""
        if isinstance(self.kind, str):
            return
        ours = next((name for name, kind in learner_kinds().items() if kind is self.kind), None)
        path, folder = (ours, None) if ours is not None else parts.path_of(self.kind)
        object.__setattr__(self, "kind", path)
        object.__setattr__(self, "folder", self.folder or folder)

    @property
    def own(self) -> bool:
        """Whether it is not one of the library's."""
        return parts.is_path(self.kind)

    def _content(self) -> list[Any]:
        """Where the code lies makes no difference."""
        return [self.label, self.kind, self.options, *([self.code] if self.own else [])]

    def _class(self) -> type[Learner]:
        if not self.own:
            return learner_kinds()[self.kind]
        kind: type[Learner] = parts.call(self.kind, self.folder, self.code)
        return kind

    def _try(self) -> None:
        """Make it once, so that what is wrong is said before anything is played.

        Of somebody's learner that may be the experts it is tried with: what does not come from the library waits until
        it is played with its own.
        """
        pairs = experts.hyperplanes(2, 2, 2, seed=0)
        try:
            made = self.make(pairs, cost=0.5, loss="zero_one", seed=0, rounds=1)
            object.__setattr__(self, "supervised", bool(made.supervised))
            object.__setattr__(self, "in_python", isinstance(made.playing(0), PlayingRounds))
            object.__setattr__(self, "all_options", _as_said({name: getattr(made, name) for name in made.options}))
        except AbstainError:
            raise
        except Exception as error:  # whatever somebody's constructor does
            why = f"{type(error).__name__}: {error}"
            if self.own:
                why = self._refused(pairs)
            if why:
                raise InputError(f"{self.kind}: cannot be made ({why})") from None

    def _refused(self, pairs: ExpertSet) -> str:
        """Why its constructor does not take what every learner is given; nothing if it does."""
        try:
            inspect.signature(self._class()).bind(pairs, cost=0.5, loss="zero_one", seed=0, **self.options)
        except TypeError as error:
            return f"TypeError: {error}"
        except ValueError:  # nobody knows what it takes
            pass
        return ""

    def make(self, pairs: ExpertSet, *, cost: float, loss: Any, seed: Any, rounds: int) -> Learner:
        """The learner; a rate tuned to a horizon is tuned to the study's rounds, unless another is given."""
        options = {"horizon": rounds, **self.options} if self.options.get("eta") == "tuned" else self.options
        return self._class()(pairs, cost=cost, loss=loss, seed=seed, **options)


BUILDERS: dict[str, Callable[..., ExpertSet]] = {
    "hyperplanes": experts.hyperplanes,
    "axis_planes": experts.axis_planes,
    "thresholds": experts.thresholds,
    "columns": experts.from_columns,
    "constants": experts.Constants,
}
"""The library's kinds that are made of plain values."""
FEATURES = ("dim", "n_features", "n_models")
"""What arguments are called that take the number of features of the set, unless they are given."""


@dataclass(frozen=True)
class ExpertsSpec(Keyed):
    """Experts: a kind and its options; "instance": the sets bring their own.

    The kind is one of the library's, the ``kind`` of a class of yours that was imported, or an import path,
    ``module:Class`` or ``module:function``, whose module is looked for in ``folder`` first; or the class or function
    itself. It is called with the options, and, where it takes them, with the number of features (as ``dim``,
    ``n_features`` or ``n_models``) and a ``seed``.

    >>> ExpertsSpec("thresholds", {"thresholds": [0.1, 0.5]}).make(3, None)
    <thresholds: 6 experts, 3 predictors, 6 rules>
    """

    kind: str = "hyperplanes"
    options: dict[str, Any] = field(default_factory=dict)
    folder: str | None = field(default=None, compare=False)
    code: str = field(default="", init=False)
    """What tells the code of a kind with an import path from another version of it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", as_options(self.options, "experts"))
        try:
            self._name()
            if self.kind == "instance":
                if self.options:
                    raise InputError(f"expected no options for instances, got {', '.join(self.options)}")
                return
            if self.own:
                object.__setattr__(self, "code", parts.take(self.kind, self.folder).code)
            self._check_options()
            if not self.own:  # one's own may need more than one feature
                self.make(1, None)
        except AbstainError as error:
            raise InputError(f"experts: {error}") from None

    def _name(self) -> None:
        """A class or function by its import path, and so that of a kind that is registered."""
        kind: Any = self.kind
        if isinstance(kind, str) and kind not in BUILDERS and kind != "instance" and not parts.is_path(kind):
            own = [one for one in kinds.kinds if one.kind == kind and one.portable]
            if not own:
                one_of(kind, (*BUILDERS, "instance"), "kind")
            kind = own[-1]
        if not isinstance(kind, str):
            path, folder = parts.path_of(kind)
            object.__setattr__(self, "kind", path)
            object.__setattr__(self, "folder", self.folder or folder)

    @property
    def own(self) -> bool:
        """Whether they are not of the library's kinds."""
        return parts.is_path(self.kind)

    def _content(self) -> list[Any]:
        """Where the code lies makes no difference."""
        return [self.kind, self.options, *([self.code] if self.own else [])]

    def _builder(self) -> Callable[..., ExpertSet]:
        builder = parts.call(self.kind, self.folder, self.code) if self.own else BUILDERS[self.kind]
        if not callable(builder):
            raise InputError(f"kind: expected {self.kind} to be a class or a function, got {builder!r}")
        return builder

    def _check_options(self) -> None:
        arguments = inspect.signature(self._builder()).parameters.values()
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in arguments):
            for option in self.options:
                one_of(option, sorted({one.name for one in arguments} - {"dim", "seed"}), "option")

    def make(self, dim: int, seed: Any) -> ExpertSet:
        """The experts for inputs of that many features; those that take no seed are not drawn."""
        builder, given = self._builder(), dict(self.options)
        arguments = inspect.signature(builder).parameters
        for name in FEATURES:
            if name in arguments:
                given.setdefault(name, dim)
        if "seed" in arguments:
            given["seed"] = seeds.as_number(seed) if self.own else seed
        try:
            made = builder(**given)
        except TypeError as error:
            raise InputError(f"{self.kind}: cannot be made ({error})") from None
        if not isinstance(made, ExpertSet):
            raise InputError(f"kind: expected {self.kind} to make an ExpertSet, got {made!r}")
        return made


MOST_KEPT = 4
_kept: dict[tuple[str, str], tuple[Floats, Array]] = {}
"""Whole sets by their keys and scales."""


@dataclass(frozen=True)
class SetSpec(Keyed):
    """A set by one's own name: of these, one is given.

    ``path`` is a file (see `abstain.datasets.read_file`), looked for in ``folder`` first, with the column ``label`` and
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
        if not isinstance(self.name, str) or not self.name or sets.is_known(self.name):
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
            path, folder = parts.path_of(self.kind)
            object.__setattr__(self, "kind", path)
            object.__setattr__(self, "folder", self.folder or folder)
        object.__setattr__(self, "options", as_options(self.options, "options"))
        found = parts.take(self.kind, self.folder)
        if not callable(found.value):
            raise InputError(f"kind: expected {self.kind} to be a function, got {found.value!r}")
        object.__setattr__(self, "code", found.code)

    def _check_table(self) -> None:
        assert self.table is not None
        X, y = as_table(self.table[0], None), np.asarray(self.table[1])
        signs = reading.two_classes(y, self.positive, Path("y"))
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
        return reading.read_file(Path(self.file), self.label, self.positive)

    def draw(self, n: int, seed: np.random.SeedSequence, scale: str) -> tuple[Floats, Array]:
        """The rounds of a draw: rows in random order, without replacement if there are as many, or a stream's."""
        if self.kind is not None:
            return self._stream(n, seed)
        X, y = self.rows(scale)
        drawn = np.random.default_rng(seed).choice(len(X), n, replace=n > len(X))
        return X[drawn], y[drawn]

    def _stream(self, n: int, seed: np.random.SeedSequence) -> tuple[Floats, Array]:
        given = parts.call(self.kind, self.folder, self.code)(n, seeds.as_number(seed), **self.options)
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
