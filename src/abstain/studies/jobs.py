"""The independent jobs of studies, each known by its content."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import __version__
from .expert_specs import ExpertsSpec
from .growth import Growth
from .ingredients import Keyed, LearnerSpec
from .logs.study import LogJob
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
        return [value for value in super()._content() if value is not None]

    @property
    def weight(self) -> float:
        """About how long a run takes, in runs of 10,000 rounds with shared rules."""
        return self.rounds / 1e4 * {"axis_planes": 16.0, "instance": 0.2}.get(self.experts.kind, 1.0)


@dataclass(frozen=True)
class DrawJob(Keyed):
    """All learners on one draw at one cost."""

    sort = "Cell"

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


Job: TypeAlias = DrawJob | Comparator | Growth | LogJob


def dataset_of(job: Job) -> str | None:
    """The library's set that a job is played on, if it is one that may have a file; one's own are known by content."""
    if isinstance(job, LogJob):
        return job.dataset
    return None if isinstance(job, Growth) or job.stage.own is not None else job.stage.dataset


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


def draw_jobs(study: Study) -> list[DrawJob]:
    """Every draw of a study, at every cost."""
    return [DrawJob(stage, cost, draw, study.learners) for cost, stage in stages(study) for draw in range(study.draws)]


def comparators(study: Study) -> list[Comparator]:
    """The comparators of a study, one a group."""
    return [Comparator(stage, cost, study.draws) for cost, stage in stages(study)]


def batches(jobs: Iterable[Job]) -> list[list[Job]]:
    """What should run together: all learners on a draw, at all costs; then the comparators of these draws.

    All jobs on one log are a batch; runs of `growth` are batches of their own, the longest first. Equal jobs are run
    once. Batches on the same stage come one after the other: a worker keeps what it has loaded.
    """
    found: dict[str, dict[int | None, dict[str, Job]]] = {}
    alone: dict[str, Job] = {}
    logs: dict[str, dict[str, Job]] = {}
    for job in jobs:
        if isinstance(job, Growth):
            alone[job.key] = job
            continue
        if isinstance(job, LogJob):
            logs.setdefault(job.group, {})[job.key] = job
            continue
        draw = job.draw if isinstance(job, DrawJob) else None
        found.setdefault(job.stage.key, {}).setdefault(draw, {})[job.key] = job
    ordered = []
    for of_stage in found.values():
        last = of_stage.pop(None, {})
        ordered += [list(batch.values()) for batch in (*of_stage.values(), last) if batch]
    ordered += [list(batch.values()) for batch in logs.values()]
    return ordered + [[job] for job in sorted(alone.values(), key=lambda job: -job.weight)]
