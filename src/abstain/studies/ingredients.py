"""What studies are made of, known by their content: learners, and what they share with experts and sets."""

import hashlib
import inspect
import json
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import Any, ClassVar

import numpy as np

from .. import experts, learners
from ..engine.play import PlayingRounds
from ..errors import AbstainError, InputError
from ..experts import ExpertSet
from ..learners import Learner
from . import imported


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
                object.__setattr__(self, "code", imported.find(self.kind, self.folder).code)
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
        path, folder = (ours, None) if ours is not None else imported.path_of(self.kind)
        object.__setattr__(self, "kind", path)
        object.__setattr__(self, "folder", self.folder or folder)

    @property
    def own(self) -> bool:
        """Whether it is not one of the library's."""
        return imported.is_path(self.kind)

    def _content(self) -> list[Any]:
        """Where the code lies makes no difference."""
        return [self.label, self.kind, self.options, *([self.code] if self.own else [])]

    def _class(self) -> type[Learner]:
        if not self.own:
            return learner_kinds()[self.kind]
        kind: type[Learner] = imported.call(self.kind, self.folder, self.code)
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
