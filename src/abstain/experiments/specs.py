"""What studies are made of: learners, experts and sets.

Parts of a study are known by their content, in every process: their keys tell results apart.
"""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, PlainValidator, model_validator

from .. import experts, learners
from .._core import parts
from .._core.validation import as_floats, as_table
from ..datasets import reading
from ..datasets.loading import rescale
from ..errors import AbstainError, FileError, InputError, shown
from ..experts import ExpertSet
from ..experts.base import kinds
from ..instances import Problem
from ..learners import KernelLearner, Learner
from ..losses import get as loss_named
from ..typing import Array, Floats
from . import seeds, sets
from .model import Keyed, Model, one_of


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


Options = Annotated[dict[str, Any], PlainValidator(lambda value: as_options(value, "options"))]


class Part(Keyed, Model):
    """A part of a study that may be somebody's own: a kind with its options, or an import path, or the thing itself.

    Import paths are ``module:Class`` or ``module:function``; the module is looked for in ``folder`` first.
    """

    kind: Any
    options: Options = Field(default_factory=dict)
    folder: str | None = Field(default=None, exclude=True)
    derived: ClassVar[tuple[str, ...]] = ("code",)

    @model_validator(mode="before")
    @classmethod
    def _name_kind(cls, given: Any) -> Any:
        """A class or function by its import path, so that every process finds it."""
        kind = given.get("kind") if isinstance(given, dict) else None
        name = None if kind is None else cls._named(kind)
        if name is None or (isinstance(name, str) and name == kind):
            return given
        path, folder = (name, None) if isinstance(name, str) else parts.path_of(name)
        return given | {"kind": path, "folder": given.get("folder") or folder}

    @classmethod
    def _named(cls, kind: Any) -> Any:
        """The name of a kind of the library's; other kinds as they are."""
        return kind

    @property
    def is_own(self) -> bool:
        """Whether it is not one of the library's."""
        return parts.is_path(self.kind)

    @cached_property
    def code(self) -> str:
        """What tells the code of an own part from another version of it."""
        return parts.take(self.kind, self.folder).code if self.is_own else ""

    def _content(self) -> list[Any]:
        """Where the code lies makes no difference."""
        return [self.kind, self.options, *([self.code] if self.is_own else [])]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@cache
def learner_kinds() -> dict[str, type[Learner]]:
    """The library's learners by the names of their classes; ContEXP3-ABS has no experts."""
    found = {name: getattr(learners, name) for name in learners.__all__}
    return {
        name: kind
        for name, kind in found.items()
        if isinstance(kind, type)
        and issubclass(kind, Learner)
        and not inspect.isabstract(kind)
        and kind is not learners.ContExp3Abs
    }


class LearnerSpec(Part):
    """A learner of a study.

    Args:
        label: The name of its curves.
        kind: One of the library's learners by its name, an import path, or the class itself.
        options: The options of the class.
        folder: Where the module of an import path is looked for first.
    """

    label: Annotated[str, Field(min_length=1)]
    positional: ClassVar[tuple[str, ...]] = ("label", "kind", "options", "folder")
    derived: ClassVar[tuple[str, ...]] = ("code", "supervised", "in_python", "all_options")

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        label = given.get("label")
        return f"{label}: " if isinstance(label, str) and label else ""

    @classmethod
    def _named(cls, kind: Any) -> Any:
        return next((name for name, ours in learner_kinds().items() if ours is kind), kind)

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Make it once, so that an error shows before anything is played.

        An own learner may refuse the experts it is tried with: such an error waits until it meets its own.
        """
        if self.is_own:
            parts.take_class(self.kind, self.folder, Learner, "a learner")
        else:
            one_of(self.kind, learner_kinds(), "kind")
        for option in self.options:
            one_of(option, self._class().options, "option")
        try:
            self._tried  # noqa: B018 (made here, kept)
        except AbstainError:
            raise
        except Exception as error:  # whatever somebody's constructor does
            why = f"{type(error).__name__}: {error}"
            if self.is_own:
                why = _refused(self._class(), _few_experts(), cost=0.25, loss="zero_one", seed=0, **self.options)
            if why:
                raise InputError(f"{self.kind}: cannot be made ({why})") from None
            self.__dict__["_tried"] = (False, False, {})
        return self

    @cached_property
    def _tried(self) -> tuple[bool, bool, dict[str, Any]]:
        made = self.make(_few_experts(), cost=0.25, loss="zero_one", seed=0, rounds=1)
        options = {name: _in_words(getattr(made, name)) for name in made.options}
        return bool(made.supervised), not (isinstance(made, KernelLearner) and made.compiled), options

    @property
    def supervised(self) -> bool:
        """Whether it is shown the label of every round."""
        return self._tried[0]

    @property
    def in_python(self) -> bool:
        """Whether it is played round by round, which takes much longer than compiled code does."""
        return self._tried[1]

    @property
    def all_options(self) -> dict[str, Any]:
        """The options, with the defaults of those that were not given; in words where they are no plain values."""
        return self._tried[2]

    def _content(self) -> list[Any]:
        return [self.label, *super()._content()]

    def _class(self) -> type[Learner]:
        if not self.is_own:
            return learner_kinds()[self.kind]
        kind: type[Learner] = parts.call(self.kind, self.folder, self.code)
        return kind

    def make(self, pairs: ExpertSet, *, cost: float, loss: Any, seed: Any, rounds: int) -> Learner:
        """The learner; a rate tuned to a horizon is tuned to the study's rounds, unless another is given."""
        options = {"horizon": rounds, **self.options} if self.options.get("eta") == "tuned" else self.options
        return self._class()(pairs, cost=cost, loss=loss, seed=seed, **options)


def _refused(kind: Callable[..., Any], *args: Any, **options: Any) -> str:
    """Why a class or function does not take these arguments; nothing if it does, or has no signature."""
    try:
        inspect.signature(kind).bind(*args, **options)
    except TypeError as error:
        return f"TypeError: {error}"
    except ValueError:
        pass
    return ""


def _few_experts() -> ExpertSet:
    return experts.hyperplanes(2, 2, 2, seed=0)


def _in_words(value: Any) -> Any:
    try:
        return as_options({"": value}, "")[""]
    except InputError:
        return repr(value)


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


class ExpertsSpec(Part):
    """The experts of a study.

    Args:
        kind: One of the library's kinds, the ``kind`` of an imported class, an import path, or the class or function
            itself; "instance": the sets bring their own.
        options: The arguments of the kind. It also gets the number of features (as ``dim``, ``n_features`` or
            ``n_models``) and a ``seed``, where it takes them.
        folder: Where the module of an import path is looked for first.

    >>> ExpertsSpec("thresholds", {"thresholds": [0.1, 0.5]}).make(3, None)
    <thresholds: 6 experts, 3 predictors, 6 rules>
    """

    kind: str = "hyperplanes"
    positional: ClassVar[tuple[str, ...]] = ("kind", "options", "folder")

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        return "experts: "

    @classmethod
    def _named(cls, kind: Any) -> Any:
        if not isinstance(kind, str) or kind in BUILDERS or kind == "instance" or parts.is_path(kind):
            return kind
        registered = [one for one in kinds.kinds if one.kind == kind and one.portable]
        if not registered:
            one_of(kind, (*BUILDERS, "instance"), "kind")
        return registered[-1]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.kind == "instance":
            if self.options:
                raise InputError(f"expected no options for instances, got {', '.join(self.options)}")
            return self
        arguments = inspect.signature(self._builder()).parameters.values()
        if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in arguments):
            for option in self.options:
                one_of(option, sorted({one.name for one in arguments} - {"dim", "seed"}), "option")
        if not self.is_own:  # an own kind may need more than one feature
            self.make(1, None)
        return self

    def _builder(self) -> Callable[..., ExpertSet]:
        builder = parts.call(self.kind, self.folder, self.code) if self.is_own else BUILDERS[self.kind]
        if not callable(builder):
            raise InputError(f"kind: expected {self.kind} to be a class or a function, got {builder!r}")
        return builder

    def make(self, dim: int, seed: Any) -> ExpertSet:
        """The experts for inputs of that many features; those that take no seed are not drawn."""
        builder, given = self._builder(), dict(self.options)
        arguments = inspect.signature(builder).parameters
        for name in FEATURES:
            if name in arguments:
                given.setdefault(name, dim)
        if "seed" in arguments:
            given["seed"] = seeds.as_number(seed) if self.is_own else seed
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


def _as_own_name(value: Any) -> str:
    if not isinstance(value, str) or not value or sets.is_known(value):
        raise InputError(f"sets: expected a name that is none of the library's, got {value!r}")
    return value


class SetSpec(Part):
    """A set by an own name: a file, a stream, a table, or a problem of `abstain.instances`; one of them is given.

    Rows of files and tables are drawn at random and scaled as those of the library's sets; streams come as they are.
    Problems bring their experts.

    Args:
        name: What the settings of a study call it.
        path: A file (see `abstain.datasets.read_file`), looked for in ``folder`` first.
        label: The column of the labels in the file.
        positive: The label that counts as +1.
        kind: A function, or its import path ``module:function``: ``f(n, seed, **options)`` returns the n rounds of a
            draw, X (n, d) and y (n,), with labels -1 and +1.
        options: The options of the function or of the problem.
        table: X and y themselves.
        instance: What makes a problem with experts: the name of a function of `abstain.instances`, or the import path
            of a function or class that makes a `Problem`. Its ``cost`` is that of the setting.
        folder: Where files and modules are looked for first.
    """

    name: Annotated[str, PlainValidator(_as_own_name)]
    path: str | None = None
    label: str | None = None
    positive: Any = None
    kind: Any = None
    table: Any = Field(default=None, repr=False, exclude=True)
    instance: str | None = None
    positional: ClassVar[tuple[str, ...]] = ("name", "path", "label", "positive", "kind")

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        name = given.get("name")
        return f"set {name}: " if isinstance(name, str) and name and not sets.is_known(name) else ""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(one is not None for one in (self.path, self.kind, self.table, self.instance)) != 1:
            raise InputError("expected one of path, kind, table and instance")
        if self.kind is None and self.instance is None and self.options:
            raise InputError(f"expected path, label and positive, kind or instance, got {', '.join(self.options)}")
        if self.instance is not None:
            if not parts.is_path(self.instance):
                one_of(self.instance, (*sets.PROBLEMS, "module:function"), "instance")
                arguments = inspect.signature(sets.PROBLEMS[self.instance]).parameters
                for option in self.options:
                    one_of(option, sorted(set(arguments) - {"cost"}), "option")
            self.problem(0.5)
        elif self.kind is not None:
            found = parts.take(self.kind, self.folder)
            if not callable(found.value):
                raise InputError(f"kind: expected {self.kind} to be a function, got {found.value!r}")
            why = _refused(found.value, 1, 0, **self.options)
            if why:
                raise InputError(f"{self.kind}: cannot be called with these options ({why})")
        elif self.table is not None:
            X, y = as_table(self.table[0], None), np.asarray(self.table[1])
            signs = reading.two_classes(y, self.positive, Path("y"))
            if len(X) != len(signs):
                raise InputError(f"table: expected one label per row, got {len(signs)} for {len(X)} rows")
            self.__dict__["table"] = (X, signs)
        else:
            self.rows("none")
        self.code  # noqa: B018 (that of now)
        return self

    @cached_property
    def file(self) -> str:
        """Where the file is; nothing for tables and streams."""
        if self.path is None:
            return ""
        places = [Path(self.path)] if self.folder is None else [Path(self.folder, self.path), Path(self.path)]
        here = next((place for place in places if place.is_file()), None)
        if here is None:
            raise InputError(f"path: expected a file, got none at {' or '.join(map(str, places))}")
        return str(here.absolute())

    @cached_property
    def code(self) -> str:
        """What tells the file, the table or the function's code from another version of it."""
        if self.table is not None:
            return hashlib.sha256(self.table[0].tobytes() + self.table[1].tobytes()).hexdigest()[:24]
        if self.instance is not None:
            return parts.take(self.instance, self.folder).code if parts.is_path(self.instance) else "computed"
        return _digest(self.file) if self.kind is None else parts.take(self.kind, self.folder).code

    def _content(self) -> list[Any]:
        """Where a file or the code lies makes no difference."""
        made = [] if self.instance is None else [self.instance]
        return [self.name, self.label, self.positive, self.kind, self.options, self.code, *made]

    @property
    def is_scaled(self) -> bool:
        """Whether scaling means something to it."""
        return self.kind is None and self.instance is None

    def problem(self, cost: float) -> sets.Playable:
        """The problem at a cost, if it is one."""
        assert self.instance is not None
        if parts.is_path(self.instance):
            return self._own_problem(self.instance, cost)
        make = sets.PROBLEMS[self.instance]
        priced = {"cost": cost} if "cost" in inspect.signature(make).parameters else {}
        try:
            return make(**self.options, **priced)
        except TypeError as error:
            raise InputError(f"{self.instance}: cannot be made ({error})") from None

    def _own_problem(self, path: str, cost: float) -> Problem:
        make = parts.call(path, self.folder, self.code)
        try:
            made = make(**self.options, cost=cost)
        except Exception as error:  # whatever it does
            raise InputError(f"{path}: cannot be made ({type(error).__name__}: {error})") from None
        if not isinstance(made, Problem):
            raise InputError(f"{path}: expected a Problem of abstain.instances, got {shown(made)}")
        if made.cost != cost:
            raise InputError(f"{path}: expected the cost of the setting, {cost}, got {shown(made.cost)}")
        means = as_floats(made.means, "means")
        if means.shape != (made.experts.n_experts,) or not np.isfinite(means).all():
            raise InputError(
                f"{path}: means: expected a number for each of {made.experts.n_experts} experts, got {means}"
            )
        return made

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


def problem_of(dataset: str, own: SetSpec | None) -> Callable[[float], sets.Playable] | None:
    """What makes the problem of that name at a cost; None for sets without experts of their own."""
    if own is not None:
        return None if own.instance is None else own.problem
    return sets.INSTANCES.get(dataset)


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
