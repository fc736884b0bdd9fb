"""Jobs: the independent pieces of work of studies, each known by its content.

A job of any study has a key and `Job.run`. Those of learners on data sets are here: all learners on a draw of the data,
and the best expert of a group of draws that they are compared with.
"""

import platform
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from .. import __version__, datasets
from .._core import parts
from .._core.validation import as_table
from ..engine.play import Prepared, bytes_kept
from ..errors import FileError, InputError
from ..experts import ExpertSet
from ..losses import get as loss_named
from ..regret import losses_of, sums_of_all
from ..simulate import prepare, simulate
from ..typing import Floats, Ints
from . import seeds
from .model import Keyed
from .sets import MissingDataError, fingerprint, source, spoil
from .specs import ExpertsSpec, LearnerSpec, SetSpec, problem_of

Record: TypeAlias = dict[str, Any]
"""What is known of a job: plain values, so that a line of JSON holds it exactly."""
PUBLISHED = (200, 1_000, 5_000, 9_800)
"""The rounds of the published points: always among the checkpoints."""


class Job(Keyed, ABC):
    """A piece of work that depends on no other: a frozen dataclass whose fields say all about it.

    Subclasses have `run` and ``__str__``, a few words for progress and errors.
    """

    fields: ClassVar[tuple[str, ...]] = ()
    """What its record has at least: one that lacks some is damaged."""

    @abstractmethod
    def run(self, data: str | None) -> Record:
        """Do it.

        Args:
            data: The folder of the data sets; None for the usual one.

        Returns:
            What it came to, as plain values. If `dataset` is not None, ``data`` is the `fingerprint` of its file.

        Raises:
            MissingDataError: If its data set is not here.
        """

    def _content(self) -> list[Any]:
        """The fields; of an own class the code, too: what was changed is run anew."""
        code = _code(type(self))
        return [*super()._content(), *([code] if code else [])]

    def __reduce__(self) -> Any:
        """Another process finds an own class by its path, as it does other own parts of studies."""
        kind: Any = type(self)
        place = parts.path_of(kind) if _code(kind) else (kind, None)
        return _made_again, (*place, {one.name: getattr(self, one.name) for one in fields(self)})  # type: ignore[arg-type]

    @property
    def dataset(self) -> str | None:
        """The library's set that it reads, if that may have a file."""
        return None

    @property
    def group(self) -> str | None:
        """Jobs of a group share what a worker loads, and run one after the other; None: it runs alone."""
        return None

    @property
    def batch(self) -> Any:
        """Jobs of a group with the same batch run together, in one worker."""
        return None

    @property
    def weight(self) -> float:
        """About how long it takes, in runs of 10,000 rounds of 2,000 experts: for the time left."""
        return 1.0

    @property
    def slow(self) -> tuple[str, ...]:
        """The labels of learners in it that are written in Python, and take most of the time."""
        return ()


@cache
def _code(kind: type[Job]) -> str:
    """What tells the code of an own class from another version of it; nothing for the library's."""
    return "" if kind.__module__.startswith("abstain.") else parts.take(*parts.path_of(kind)).code


def _made_again(kind: Any, folder: str | None, values: dict[str, Any]) -> Job:
    job: Job = (parts.take(kind, folder).value if isinstance(kind, str) else kind)(**values)
    return job


def batches(jobs: Iterable[Job]) -> list[list[Job]]:
    """What runs together: jobs of the same batch, group after group; then those that run alone, the longest first.

    Equal jobs are run once.
    """
    found: dict[str, dict[Any, dict[str, Job]]] = {}
    alone: dict[str, Job] = {}
    for job in jobs:
        if job.group is None:
            alone[job.key] = job
        else:
            found.setdefault(job.group, {}).setdefault(job.batch, {})[job.key] = job
    shared = [list(batch.values()) for of_group in found.values() for batch in of_group.values()]
    return shared + [[job] for job in sorted(alone.values(), key=lambda job: -job.weight)]


def run_batch(batch: Sequence[Job], data: str | None) -> list[Record]:
    """A record for each job; of one that fails, why. ``data`` is the folder of the data sets."""
    records = []
    for job in batch:
        record: Record = {"key": job.key, "what": str(job)}
        try:
            record |= job.run(data) | {"host": platform.node()}
        except MissingDataError as error:
            record |= {"missing": error.dataset, "why": str(error)}
        except Exception as error:  # whatever it is, the other jobs go on
            why = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
            record |= {"failed": why, "traceback": traceback.format_exc()}
        records.append(record)
    return records


_compiled: set[tuple[str, str, str]] = set()
"""The learners that have played in this process, with their experts and set: compiling is no part of the time of a run.
"""


def shown_rounds(rounds: int, checkpoints: int) -> Ints:
    """The rounds kept: about so many, equally spaced in log t, the last and those of the published points among them.

    >>> shown_rounds(300, 5)
    array([  1,   4,  17,  72, 200, 300])
    """
    spaced = np.geomspace(1, rounds, checkpoints).round().astype(np.int64)
    return np.unique(np.concatenate([spaced, [t for t in PUBLISHED if t <= rounds]])).astype(np.int64)


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
    """Of the library: results of another version are not taken for this one's."""
    own: SetSpec | None = None
    """The set, if it is not one of the library's."""

    def _content(self) -> list[Any]:
        return [value for value in super()._content() if value is not None]

    def __str__(self) -> str:
        return f"expert set {self.expert_set}"

    @property
    def at(self) -> Ints:
        """The rounds kept."""
        return shown_rounds(self.rounds, self.checkpoints)

    @property
    def source(self) -> str | None:
        """The library's set, if it is one; own sets are known by their content."""
        return self.dataset if self.own is None else None

    @property
    def weight(self) -> float:
        """About how long a run takes, in runs of 10,000 rounds with shared rules."""
        return self.rounds / 1e4 * {"axis_planes": 16.0, "instance": 0.2}.get(self.experts.kind, 1.0)

    def data(self, folder: str | None) -> str | None:
        """What tells the data from others of that name."""
        return fingerprint(self.dataset, folder) if self.own is None else self.own.code


@dataclass(frozen=True)
class _StageJob(Job):
    """A job on a stage at one cost."""

    stage: Stage
    cost: float

    @property
    def dataset(self) -> str | None:
        return self.stage.source

    @property
    def group(self) -> str:
        return self.stage.key


@dataclass(frozen=True)
class DrawJob(_StageJob):
    """All learners on one draw at one cost."""

    tag = "Cell"
    fields = ("runs", "data")

    draw: int
    learners: tuple[LearnerSpec, ...]

    def __str__(self) -> str:
        return f"{self.stage.dataset}, cost {self.cost:g}, {self.stage}, draw {self.draw}"

    @property
    def batch(self) -> int:
        return self.draw

    @property
    def weight(self) -> float:
        return self.stage.weight * len(self.learners)

    @property
    def slow(self) -> tuple[str, ...]:
        return tuple(spec.label for spec in self.learners if spec.in_python)

    def run(self, data: str | None) -> Record:
        """What every learner lost, how often it abstained and how many edges it had, up to each of the rounds kept;
        where the means of the experts are known, its pseudo-regret, too.
        """
        stage, at = self.stage, self.stage.at
        rounds, _, gaps = _draw(stage, self.draw, self.cost, data)
        runs: list[Record] = []
        for spec in self.learners:
            seed = seeds.of_learner(stage.seed, stage.dataset, stage.expert_set, self.draw, spec.label)
            options: dict[str, Any] = {"cost": self.cost, "loss": rounds.loss, "seed": seed, "rounds": stage.rounds}
            try:
                learner = spec.make(rounds.experts, **options)
                known = (repr(spec), repr(stage.experts), stage.dataset)
                if not spec.in_python and known not in _compiled:
                    some = prepare(rounds.experts, rounds.X[:2], rounds.y[:2], loss=rounds.loss)
                    simulate(spec.make(rounds.experts, **options), some, checkpoints=[1])
                    _compiled.add(known)
                start = time.perf_counter()
                trace = simulate(learner, rounds, checkpoints=at)
            except Exception as error:
                error.add_note(f"(learner {spec.label})")
                raise
            seconds = time.perf_counter() - start
            runs.append({
                "loss": np.cumsum(trace.loss)[at - 1].tolist(),
                "abstained": np.cumsum(trace.abstained)[at - 1].tolist(),
                "edges": trace.edges.tolist(),
                "seconds_run": seconds,
            })  # fmt: skip
            if gaps is not None:
                runs[-1]["pseudo"] = np.cumsum(gaps[trace.expert])[at - 1].tolist()
        return {"runs": runs, "data": stage.data(data)}


@dataclass(frozen=True)
class Comparator(_StageJob):
    """The best expert of a group: the one with the least mean loss over all its draws at one cost."""

    fields = ("best", "data")

    draws: int

    def __str__(self) -> str:
        return f"{self.stage.dataset}, cost {self.cost:g}, {self.stage}, best of {self.draws} draws"

    def _content(self) -> list[Any]:
        return [*super()._content(), "tracked"]  # the best sequence of experts, too

    @property
    def weight(self) -> float:
        return self.stage.weight * 0.1 * self.draws

    def run(self, data: str | None) -> Record:
        """The best expert over all draws, and what it lost up to each of the rounds kept."""
        # Made one by one: all together may be too large.
        draws = [partial(_draw, self.stage, draw, self.cost, data) for draw in range(self.draws)]
        return compare(draws, self.cost, self.stage.at) | {"data": self.stage.data(data)}


class Draw(NamedTuple):
    """A draw of the data."""

    rounds: Prepared
    regime: Ints
    """The regime of each round: those of one come in the same way."""
    gaps: Floats | None = None
    """By how much the expected loss of each expert is above the least, where it is known."""


def compare(draws: Sequence[Callable[[], Draw]], cost: float, at: Ints) -> dict[str, Any]:
    """The expert with the least mean total loss over the draws, the lowest number among equals, and its losses up to
    the rounds ``at``; where there are several regimes, the same for the best expert of each.
    """
    first = draws[0]()
    n_regimes = int(first.regime.max()) + 1
    erred, silent = np.zeros((2, n_regimes, first.rounds.experts.n_experts))
    for draw in draws:
        counts = _counts(draw(), n_regimes)
        erred += counts[0]
        silent += counts[1]
    # Abstentions are counted first and multiplied then: experts that abstain and err equally often are equal.
    best = int(np.argmin(erred.sum(axis=0) + cost * silent.sum(axis=0)))
    record: dict[str, Any] = {"expert": best, "best": _curves([best] * n_regimes, draws, cost, at)}
    if n_regimes > 1:
        sequence = np.argmin(erred + cost * silent, axis=1).tolist()
        record |= {"sequence": sequence, "tracked": _curves(sequence, draws, cost, at)}
    return record


def _counts(draw: Draw, n_regimes: int) -> tuple[Floats, Floats]:
    """The sum of the losses of each expert where it predicts, and how often it abstains, in each regime (R, K): once
    for all costs.
    """
    rounds, regime, _ = draw
    if rounds not in _kept.counted:
        erred, silent = np.zeros((2, n_regimes, rounds.experts.n_experts))
        once = np.ones(len(rounds))
        borders = [0, *(np.flatnonzero(np.diff(regime)) + 1).tolist(), len(rounds)]
        for first, last in pairwise(borders):
            sums = sums_of_all(rounds, once, first, last)
            erred[regime[first]] += sums[0]
            silent[regime[first]] += sums[1]
        _kept.counted[rounds] = erred, silent
    return _kept.counted[rounds]


def _curves(sequence: Sequence[int], draws: Sequence[Callable[[], Draw]], cost: float, at: Ints) -> list[list[float]]:
    """What a sequence of experts, one a regime, has lost on each draw."""
    curves = []
    for rounds, regime, _ in (make() for make in draws):
        losses, paid = np.zeros(len(rounds)), np.full(len(rounds), cost)
        for expert in set(sequence):
            own = losses_of(expert, rounds, paid)
            losses = np.where(np.array(sequence)[regime] == expert, own, losses)
        curves.append(np.cumsum(losses)[at - 1].tolist())
    return curves


MOST_BYTES = 1 << 28
"""Advice on a draw that takes more is worked out by every learner anew ..."""
KEPT_BYTES = 1 << 27
"""... and draws are kept for later batches up to this."""


class _Kept(threading.local):
    """What this worker loaded last: batches come in an order that uses it again."""

    def __init__(self) -> None:
        self.experts: tuple[Any, Any] = (None, None)
        self.draws: dict[Any, Draw] = {}
        self.counted: WeakKeyDictionary[Prepared, tuple[Floats, Floats]] = WeakKeyDictionary()
        """What was summed up, as long as the rounds are kept."""


_kept = _Kept()


def _draw(stage: Stage, draw: int, cost: float, data: str | None) -> Draw:
    """A draw; the same for all costs, unless the set is an instance made for a cost."""
    made = problem_of(stage.dataset, stage.own)
    key = (stage.key, draw, None if made is None else cost, data)
    found = _kept.draws.pop(key, None)
    if found is None:
        seed, gaps = seeds.of_data(stage.seed, stage.dataset, stage.expert_set, draw), None
        if made is not None:
            instance = made(cost)
            experts, loss, means = instance.experts, instance.loss, getattr(instance, "means", None)
            gaps = None if means is None else np.array(means) - min(means)
            X, y = instance.draw(stage.rounds, seed)
            if not len(X) == len(y) == stage.rounds:
                raise InputError(
                    f"{stage.dataset}: expected {stage.rounds} rows and labels of draw, got {len(X)} and {len(y)}"
                )
            regime = instance.regime(stage.rounds)
        else:
            X, y, regime = _rows(stage, draw, seed, data)
            experts, loss = _experts(stage, X.shape[1]), loss_named("zero_one")
        table = as_table(X, experts.n_features)
        experts.check_inputs(table)
        keep = bytes_kept(experts, len(table), loss) <= MOST_BYTES
        found = Draw(Prepared(experts, table, loss.labels(y), loss, keep), regime, gaps)
    _kept.draws[key] = found  # the one used last is the last to go
    while len(_kept.draws) > 1 and sum(one.rounds.n_bytes for one in _kept.draws.values()) > KEPT_BYTES:
        del _kept.draws[next(iter(_kept.draws))]
    return found


def _rows(stage: Stage, draw: int, seed: np.random.SeedSequence, data: str | None) -> tuple[Any, Any, Ints]:
    """Rows of the set in random order, without replacement unless it has fewer than there are rounds, and regimes."""
    if stage.own is not None:
        X, y = stage.own.draw(stage.rounds, seed, stage.scale)
        return X, y, np.zeros(len(y), np.int64)
    name = source(stage.dataset)
    try:
        scale = None if stage.scale == "none" else stage.scale
        X, y = datasets.load(name, scale=scale, data=data, n=stage.rounds, seed=seed)
    except (FileError, InputError) as error:  # not a file, or not a package
        if datasets.info(name, data=data).found is None:
            raise MissingDataError(name, str(error)) from None
        raise
    y, regime = spoil(stage.dataset, y, seeds.of_labels(stage.seed, stage.dataset, stage.expert_set, draw))
    return X, y, regime


def _experts(stage: Stage, dim: int) -> ExpertSet:
    if _kept.experts[0] != stage.key:
        seed = seeds.of_experts(stage.seed, stage.dataset, stage.expert_set)
        _kept.experts = stage.key, stage.experts.make(dim, seed)
    experts: ExpertSet = _kept.experts[1]
    return experts
