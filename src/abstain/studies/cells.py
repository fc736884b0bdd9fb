"""The independent parts of studies, each known by its content."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import __version__
from .expert_specs import ExpertsSpec
from .growth import Growth
from .ingredients import Keyed, LearnerSpec
from .logs.study import LogPart
from .problems import is_scaled
from .set_specs import SetSpec
from .study import Study


@dataclass(frozen=True)
class Stage(Keyed):
    """What is played on: an expert set, and the draws of the data that belong to it. Costs and learners share it."""

    dataset: str
    scale: str
    experts: ExpertsSpec
    rounds: int
    checkpoints: int
    expert_set: int
    seed: int
    version: str = __version__
    """Of the library: what another version ran is not taken for this one's."""
    own: SetSpec | None = None
    """The set, if it is not one of the library's."""

    def _content(self) -> list[Any]:
        """Without a set of one's own, what it was before there were any."""
        return [part for part in super()._content() if part is not None]

    @property
    def weight(self) -> float:
        """About how long a run takes, in runs of 10,000 rounds with shared rules."""
        return self.rounds / 1e4 * {"axis_planes": 16.0, "instance": 0.2}.get(self.experts.kind, 1.0)


@dataclass(frozen=True)
class Cell(Keyed):
    """All learners on one draw at one cost."""

    stage: Stage
    cost: float
    draw: int
    learners: tuple[LearnerSpec, ...]

    def __str__(self) -> str:
        return f"{self.stage.dataset}, cost {self.cost:g}, expert set {self.stage.expert_set}, draw {self.draw}"

    @property
    def weight(self) -> float:
        """About how long it takes, for the time left."""
        return self.stage.weight * len(self.learners)


@dataclass(frozen=True)
class Comparator(Keyed):
    """The best expert of a group: the one with the least mean loss over all its draws at one cost."""

    stage: Stage
    cost: float
    draws: int

    def __str__(self) -> str:
        return (
            f"{self.stage.dataset}, cost {self.cost:g}, expert set {self.stage.expert_set}, best of {self.draws} draws"
        )

    def _content(self) -> list[Any]:
        """Logs of earlier versions have comparators without the best sequence of experts; those are not meant."""
        return [*super()._content(), "tracked"]

    @property
    def weight(self) -> float:
        """About how long it takes, for the time left."""
        return self.stage.weight * 0.1 * self.draws


Part: TypeAlias = Cell | Comparator | Growth | LogPart


def dataset_of(part: Part) -> str | None:
    """The library's set that a part is played on, if it is one that may have a file; one's own are known by content."""
    if isinstance(part, LogPart):
        return part.dataset
    return None if isinstance(part, Growth) or part.stage.own is not None else part.stage.dataset


def stages(study: Study) -> list[tuple[float, Stage]]:
    """The cost and the stage of every group of a study. Scalings share a set that is not scaled."""
    found = []
    for dataset, cost in study.settings:
        own = study.own_set(dataset)
        scaled = is_scaled(dataset) if own is None else own.is_scaled
        scale = study.scale if scaled else "none"
        for expert_set in range(study.expert_sets):
            stage = Stage(
                dataset, scale, study.experts, study.rounds, study.checkpoints, expert_set, study.seed, own=own
            )
            found.append((cost, stage))
    return found


def cells(study: Study) -> list[Cell]:
    """The cells of a study."""
    return [Cell(stage, cost, draw, study.learners) for cost, stage in stages(study) for draw in range(study.draws)]


def comparators(study: Study) -> list[Comparator]:
    """The comparators of a study, one a group."""
    return [Comparator(stage, cost, study.draws) for cost, stage in stages(study)]


def batches(parts: Iterable[Part]) -> list[list[Part]]:
    """What should run together: the cells of a draw, at all costs; then the comparators of these draws.

    All parts on one log are a batch; runs of `growth` are batches of their own, the longest first. Equal parts are run
    once. Batches on the same stage come one after the other: a worker keeps what it has loaded.
    """
    found: dict[str, dict[int | None, dict[str, Part]]] = {}
    alone: dict[str, Part] = {}
    logs: dict[str, dict[str, Part]] = {}
    for part in parts:
        if isinstance(part, Growth):
            alone[part.key] = part
            continue
        if isinstance(part, LogPart):
            logs.setdefault(part.group, {})[part.key] = part
            continue
        draw = part.draw if isinstance(part, Cell) else None
        found.setdefault(part.stage.key, {}).setdefault(draw, {})[part.key] = part
    ordered = []
    for of_stage in found.values():
        last = of_stage.pop(None, {})
        ordered += [list(batch.values()) for batch in (*of_stage.values(), last) if batch]
    ordered += [list(batch.values()) for batch in logs.values()]
    return ordered + [[part] for part in sorted(alone.values(), key=lambda part: -part.weight)]
