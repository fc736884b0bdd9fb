"""Experts as part of a study: of any kind, the library's or one's own."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import experts
from ..errors import AbstainError, InputError
from ..experts import ExpertSet
from ..experts.base import kinds
from . import imported, seeds
from .ingredients import Keyed, as_options, one_of

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
                object.__setattr__(self, "code", imported.take(self.kind, self.folder).code)
            self._check_options()
            if not self.own:  # one's own may need more than one feature
                self.make(1, None)
        except AbstainError as error:
            raise InputError(f"experts: {error}") from None

    def _name(self) -> None:
        """A class or function by its import path, and so that of a kind that is registered."""
        kind: Any = self.kind
        if isinstance(kind, str) and kind not in BUILDERS and kind != "instance" and not imported.is_path(kind):
            own = [one for one in kinds.kinds if one.kind == kind and one.portable]
            if not own:
                one_of(kind, (*BUILDERS, "instance"), "kind")
            kind = own[-1]
        if not isinstance(kind, str):
            path, folder = imported.path_of(kind)
            object.__setattr__(self, "kind", path)
            object.__setattr__(self, "folder", self.folder or folder)

    @property
    def own(self) -> bool:
        """Whether they are not of the library's kinds."""
        return imported.is_path(self.kind)

    def _content(self) -> list[Any]:
        """Where the code lies makes no difference."""
        return [self.kind, self.options, *([self.code] if self.own else [])]

    def _builder(self) -> Callable[..., ExpertSet]:
        builder = imported.call(self.kind, self.folder, self.code) if self.own else BUILDERS[self.kind]
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
