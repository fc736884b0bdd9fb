"""Studies as data: what is played, how often, by whom."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import datasets
from .._core.validation import as_count, as_seed, is_number
from ..errors import AbstainError, InputError
from . import sets
from .sets import source
from .specs import ExpertsSpec, LearnerSpec, SetSpec, one_of

SetAndCost: TypeAlias = tuple[str, float]

SCALES = ("maxabs", "minmax", "none")
PUBLISHED = (200, 1_000, 5_000, 9_800)
"""The rounds of the published points: always among the checkpoints."""
ROLES = ("main", "extreme", "confidence", "small", "bias", "adversarial", "theory", "reading")
MOST_ROUNDS = 10**9
QUICK_ROUNDS, QUICK_DRAWS = 2_000, 2
LEAST_1 = {"least": 1}
"""What a count is at least: here, and in files."""


@dataclass(frozen=True)
class LearnerStudy:
    """What is played: every setting (set, cost), for each expert set on each draw of the data, by every learner.

    Give ``sets`` and ``costs``, whose pairs are all played, or ``settings``, a list of pairs; the other is filled in.
    A set of one's own is a `SetSpec`, among the sets or in ``own``, where settings find it by its name.

    >>> study = LearnerStudy("mine", sets=("synthetic",), costs=(0.1, 0.2), learners=(LearnerSpec("UCB-GT", "UCBGT"),))
    >>> study.settings
    (('synthetic', 0.1), ('synthetic', 0.2))
    """

    name: str
    title: str = ""
    figure: str = ""
    """The paper's figure that shows it."""
    sets: tuple[str, ...] = ()
    costs: tuple[float, ...] = ()
    settings: tuple[SetAndCost, ...] = ()
    instead: tuple[SetAndCost, ...] = ()
    """What is played where none of the sets is here."""
    scale: str = "maxabs"
    experts: ExpertsSpec = field(default_factory=ExpertsSpec)
    learners: tuple[LearnerSpec, ...] = ()
    rounds: int = field(default=10_000, metadata=LEAST_1)
    draws: int = field(default=5, metadata=LEAST_1)
    expert_sets: int = field(default=5, metadata=LEAST_1)
    checkpoints: int = field(default=60, metadata={"least": 2})
    seed: int = 0
    quick_rounds: int = field(default=QUICK_ROUNDS, metadata=LEAST_1)
    """How many of the rounds a quick run plays."""
    table: str = ""
    """The table of final numbers it is part of, if not one of its own."""
    reference: str = ""
    """The learner that others are compared with there, if not FS or the first."""
    apart: tuple[str, ...] = ("FS",)
    """Learners that do not compete with the others."""
    role: str = ""
    """What it is to the paper's claims, which look at studies by their roles: one of `ROLES`, or nothing."""
    own: tuple[SetSpec, ...] = ()
    """Sets of one's own, by whose names the others call them."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"study: expected a name, got {self.name!r}")
        try:
            self._check()
        except AbstainError as error:
            raise InputError(f"study {self.name}: {error}") from None

    def _check(self) -> None:
        for name in ("title", "figure", "table", "reference"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name}: expected a text, got {getattr(self, name)!r}")
        for one in fields(self):
            if "least" in one.metadata:
                count = as_count(getattr(self, one.name), one.name, one.metadata["least"])
                object.__setattr__(self, one.name, count)
        if self.rounds > MOST_ROUNDS:
            raise InputError(f"rounds: expected at most {MOST_ROUNDS:,}, got {self.rounds:,}")
        if as_seed(self.seed) is None or not isinstance(self.seed, (int, np.integer)):
            raise InputError(f"seed: expected a whole number that is not negative, got {self.seed!r}")
        object.__setattr__(self, "seed", int(self.seed))
        one_of(self.scale, SCALES, "scale")
        if self.role != "":
            one_of(self.role, ROLES, "role")
        if not isinstance(self.experts, ExpertsSpec):
            raise InputError(f"experts: expected an ExpertsSpec, got {self.experts!r}")
        settings, instead = self._pairs(), tuple(as_pair(pair, "instead") for pair in self.instead)
        own = [one.name for one in self.own]
        if len(set(own)) < len(own):
            raise InputError(f"own: expected no name twice, got {', '.join(own)}")
        for dataset, cost in (*settings, *instead):
            if dataset not in own:
                sets.check(dataset)
            if (dataset in sets.INSTANCES) != (self.experts.kind == "instance"):
                raise InputError(f"experts: {dataset} needs experts of kind {_kind_for(dataset)}")
            if not is_number(cost) or not 0.0 <= cost <= 1.0:
                raise InputError(f"cost: expected a number in [0, 1], got {cost!r}")
        for learner in self.learners:
            if not isinstance(learner, LearnerSpec):
                raise InputError(f"learners: expected LearnerSpecs, got {learner!r}")
        labels = [learner.label for learner in self.learners]
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"learners: expected at least one and no label twice, got {', '.join(labels) or 'none'}")
        if self.reference and self.reference not in labels:
            raise InputError(f"reference: expected one of {'; '.join(labels)}, got {self.reference!r}")
        for label in self.apart:
            one_of(label, dict.fromkeys((*labels, "FS")), "apart")
        settings = tuple(dict.fromkeys((dataset, float(cost)) for dataset, cost in settings))
        object.__setattr__(self, "learners", tuple(self.learners))
        object.__setattr__(self, "settings", settings)
        object.__setattr__(self, "instead", instead)
        object.__setattr__(self, "sets", tuple(dict.fromkeys(dataset for dataset, _ in settings)))
        object.__setattr__(self, "own", tuple(one for one in self.own if one.name in self.sets))
        object.__setattr__(self, "costs", tuple(dict.fromkeys(cost for _, cost in settings)))

    def _pairs(self) -> tuple[SetAndCost, ...]:
        for name in ("sets", "costs", "settings", "instead", "learners", "apart", "own"):
            if not isinstance(getattr(self, name), (tuple, list)):
                raise InputError(f"{name}: expected a list, got {getattr(self, name)!r}")
        given = tuple(one for one in self.sets if isinstance(one, SetSpec) and one not in self.own)
        object.__setattr__(self, "own", (*self.own, *given))
        names = tuple(one.name if isinstance(one, SetSpec) else one for one in self.sets)
        object.__setattr__(self, "sets", names)
        if self.settings:
            return tuple(as_pair(pair, "settings") for pair in self.settings)
        if not self.sets or not self.costs:
            raise InputError("expected sets and costs, or settings, got neither")
        return tuple((dataset, cost) for dataset in self.sets for cost in self.costs)

    @property
    def played(self) -> "LearnerStudy":
        """The study without what is only said of it: studies that play the same have the same."""
        return replace(self, name="played", title="", figure="", table="", role="", reference="", apart=())

    def own_set(self, dataset: str) -> SetSpec | None:
        """The set of one's own of that name; None for the library's."""
        return next((one for one in self.own if one.name == dataset), None)

    def quick(self) -> "LearnerStudy":
        """The same on one expert set and two draws, in few rounds: to see that it works."""
        return replace(
            self, rounds=min(self.rounds, self.quick_rounds), draws=min(self.draws, QUICK_DRAWS), expert_sets=1
        )  # fmt: skip

    def here(self, data: Any) -> "LearnerStudy":
        """The study itself; if none of its sets is here and it says so, the same on others."""
        files = {source(dataset) for dataset, _ in self.settings if dataset not in sets.INSTANCES}
        if not self.instead or not files or self.own:
            return self
        if any(datasets.info(name, data=data).found is not None for name in files):
            return self
        return replace(self, sets=(), costs=(), settings=self.instead)


def _kind_for(dataset: str) -> str:
    return "instance" if dataset in sets.INSTANCES else "hyperplanes, axis_planes or another that takes features"


def as_pair(pair: Any, name: str) -> SetAndCost:
    """A set and a cost, which are not looked at."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InputError(f"{name}: expected pairs of a set and a cost, got {pair!r}")
    return pair[0], pair[1]


def shown_rounds(rounds: int, checkpoints: int) -> NDArray[np.int64]:
    """The rounds kept: about so many, equally spaced in log t, the last and those of the published points among them.

    >>> shown_rounds(300, 5)
    array([  1,   4,  17,  72, 200, 300])
    """
    spaced = np.geomspace(1, rounds, checkpoints).round().astype(np.int64)
    return np.unique(np.concatenate([spaced, [t for t in PUBLISHED if t <= rounds]])).astype(np.int64)


_ABOUT_HERE = ("folder", "file", "table")
"""Fields that say where something lies on this machine, or are the data itself, whose digest is in ``code``."""


def described(study: Any) -> dict[str, Any]:
    """All that was asked for: the fields of the study, and of what it is made of.

    >>> from .specs import LearnerSpec
    >>> low = LearnerSpec("low", "UCBGT", {"beta": 1})
    >>> study = LearnerStudy("mine", sets=("synthetic",), costs=(0.1,), learners=(low,))
    >>> described(study)["learners"][0]["options"], described(study)["settings"]
    ({'beta': 1}, [['synthetic', 0.1]])
    """
    plain: dict[str, Any] = _plain(study)
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        given = [one.name for one in fields(value)]
        names = [name for name in given if not ("code" in given and name in _ABOUT_HERE)]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def earlier(study: LearnerStudy, studies: Sequence[Any]) -> LearnerStudy | None:
    """The first of the studies before this one that plays the same."""
    before = studies[: next(k for k, one in enumerate(studies) if one.name == study.name)]
    return next((one for one in before if isinstance(one, LearnerStudy) and one.played == study.played), None)


def repeated(studies: Sequence[Any]) -> set[str]:
    """The names of studies whose runs another has, too: all it plays and more, or the same and it comes first."""
    played = [study for study in studies if isinstance(study, LearnerStudy)]
    return {
        study.name
        for k, study in enumerate(played)
        if any(is_part(study, other) and (j < k or not is_part(other, study)) for j, other in enumerate(played))
    }


def is_part(study: LearnerStudy, other: LearnerStudy) -> bool:
    """Whether the other plays every game of the first, in the same way.

    >>> from .toml import paper
    >>> is_part(paper()["main"], paper()["regret"]), is_part(paper()["regret"], paper()["main"])
    (True, False)
    """
    if not set(study.settings) <= set(other.settings):
        return False
    settings = replace(other.played, sets=(), costs=(), settings=study.settings, instead=())
    return replace(study.played, instead=()) == settings


def said(studies: Sequence[Any], of: Iterable[str]) -> list[str]:
    """Of which studies others' curves are to be seen instead, a sentence each."""
    found = [study for study in studies if isinstance(study, LearnerStudy) and study.name in set(of)]
    pairs = [(study.name, earlier(study, studies)) for study in found]
    return [f"{name} plays the same games as {first.name}: see its curves." for name, first in pairs if first]
