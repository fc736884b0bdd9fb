"""What studies are made of, known by their content: learners and experts."""

import hashlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from .. import experts, learners
from ..errors import AbstainError, InputError
from ..experts import ExpertSet
from ..learners import Learner

BUILDERS: dict[str, Callable[..., ExpertSet]] = {"hyperplanes": experts.hyperplanes, "axis_planes": experts.axis_planes}


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

    @cached_property
    def key(self) -> str:
        """A hash of its kind and fields: equal for equal content, in every process."""
        values = [getattr(self, name) for name in self.__dataclass_fields__]  # type: ignore[attr-defined]
        content = json.dumps([type(self).__name__, *map(_as_key, values)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]


def _as_key(value: Any) -> Any:
    """Parts that have a key stand by it: it is made once, however many wholes they are part of."""
    if isinstance(value, tuple):
        return [_as_key(part) for part in value]
    return value.key if isinstance(value, Keyed) else value


def _as_plain(options: Any, name: str) -> dict[str, Any]:
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


@dataclass(frozen=True)
class LearnerSpec(Keyed):
    """A learner: the label its lines have, the name of its class, its options."""

    label: str
    kind: str
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label:
            raise InputError(f"label: expected a text, got {self.label!r}")
        object.__setattr__(self, "options", _as_plain(self.options, self.label))
        kinds = learner_kinds()
        one_of(self.kind, kinds, f"{self.label}: kind")
        for option in self.options:
            one_of(option, kinds[self.kind].options, f"{self.label}: option")
        try:
            self.make(experts.hyperplanes(1, 1, 1), cost=0.5, loss="zero_one", seed=0, rounds=1)
        except AbstainError as error:
            raise InputError(f"{self.label}: {error}") from None

    def make(self, pairs: ExpertSet, *, cost: float, loss: Any, seed: Any, rounds: int) -> Learner:
        """The learner; a rate tuned to a horizon is tuned to the study's rounds, unless another is given."""
        options = {"horizon": rounds, **self.options} if self.options.get("eta") == "tuned" else self.options
        return learner_kinds()[self.kind](pairs, cost=cost, loss=loss, seed=seed, **options)


@dataclass(frozen=True)
class ExpertsSpec(Keyed):
    """Experts: a function of `abstain.experts` and its options; "instance": the sets bring their own."""

    kind: str = "hyperplanes"
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        one_of(self.kind, (*BUILDERS, "instance"), "experts: kind")
        object.__setattr__(self, "options", _as_plain(self.options, "experts"))
        if self.kind == "instance":
            if self.options:
                raise InputError(f"experts: expected no options for instances, got {', '.join(self.options)}")
            return
        known = set(inspect.signature(BUILDERS[self.kind]).parameters) - {"dim", "seed"}
        for option in self.options:
            one_of(option, sorted(known), "experts: option")
        try:
            self.make(1, None)
        except AbstainError as error:
            raise InputError(f"experts: {error}") from None

    def make(self, dim: int, seed: Any) -> ExpertSet:
        """The experts for inputs of that many features; axis planes are not drawn."""
        if self.kind == "axis_planes":
            return experts.axis_planes(dim, **self.options)
        return experts.hyperplanes(dim, **self.options, seed=seed)
