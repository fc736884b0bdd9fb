"""Doing a batch of jobs, in whatever process."""

import platform
import threading
import time
import traceback
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from .. import datasets
from .._core.validation import as_table
from ..engine.play import Prepared, bytes_kept
from ..errors import FileError, InputError
from ..experts import ExpertSet
from ..losses import get as loss_named
from ..simulate import simulate
from ..typing import Ints
from . import growing, growth, problems, seeds
from .comparing import Draw, compare
from .jobs import Comparator, DrawJob, Job, Stage
from .logs.play import play as play_log
from .logs.study import LogJob
from .sources import MissingDataError, fingerprint
from .spoilt import source, spoil
from .study import shown_rounds

Record: TypeAlias = dict[str, Any]
"""What is known of a job: plain values, so that a line of JSON holds it exactly."""

MOST_BYTES = 1 << 28
"""Advice on a draw that takes more is worked out by every learner anew ..."""
KEPT_BYTES = 1 << 27
"""... and draws are kept for later batches up to this."""


class _Kept(threading.local):
    """What this worker loaded last: batches come in an order that uses it again."""

    def __init__(self) -> None:
        self.experts: tuple[Any, Any] = (None, None)
        self.draws: dict[Any, Draw] = {}


_kept = _Kept()


def run_batch(batch: Sequence[Job], data: str | None) -> list[Record]:
    """A record for each job; of one that fails, why. ``data`` is the folder of the data sets."""
    records = []
    for job in batch:
        record: Record = {"key": job.key, "what": str(job)}
        try:
            if isinstance(job, growth.Growth):
                record |= growing.play(job)
            elif isinstance(job, LogJob):
                record |= play_log(job, data)
            else:
                record |= _compare(job, data) if isinstance(job, Comparator) else _play(job, data)
                own = job.stage.own
                record["data"] = fingerprint(job.stage.dataset, data) if own is None else own.code
            record["host"] = platform.node()
        except MissingDataError as error:
            record |= {"missing": error.dataset, "why": str(error)}
        except Exception as error:  # whatever it is, the other jobs go on
            why = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
            record |= {"failed": why, "traceback": traceback.format_exc()}
        records.append(record)
    return records


def _play(job: DrawJob, data: str | None) -> Record:
    """What every learner lost, how often it abstained and how many edges it had, up to each of the rounds shown."""
    stage = job.stage
    rounds = _draw(stage, job.draw, job.cost, data).rounds
    at = shown_rounds(stage.rounds, stage.checkpoints)
    runs = []
    for spec in job.learners:
        seed = seeds.of_learner(stage.seed, stage.dataset, stage.expert_set, job.draw, spec.label)
        try:
            learner = spec.make(rounds.experts, cost=job.cost, loss=rounds.loss, seed=seed, rounds=stage.rounds)
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
    return {"runs": runs}


def _compare(group: Comparator, data: str | None) -> Record:
    """The best expert over all draws, and what it lost up to each of the rounds shown."""
    stage = group.stage
    draws = [partial(_draw, stage, draw, group.cost, data) for draw in range(group.draws)]  # all may be too large
    return compare(draws, group.cost, shown_rounds(stage.rounds, stage.checkpoints))


def _draw(stage: Stage, draw: int, cost: float, data: str | None) -> Draw:
    """A draw; the same for all costs, unless the set is an instance made for a cost."""
    made = stage.own is None and stage.dataset in problems.INSTANCES
    key = (stage.key, draw, cost if made else None, data)
    found = _kept.draws.pop(key, None)
    if found is None:
        seed = seeds.of_data(stage.seed, stage.dataset, stage.expert_set, draw)
        if made:
            instance = problems.INSTANCES[stage.dataset](cost)
            experts, loss = instance.experts, instance.loss
            X, y = instance.draw(stage.rounds, seed)
            regime = instance.regime(stage.rounds)
        else:
            X, y, regime = _rows(stage, draw, seed, data)
            experts, loss = _experts(stage, X.shape[1]), loss_named("zero_one")
        table = as_table(X, experts.n_features)
        experts.check_inputs(table)
        keep = bytes_kept(experts, len(table), loss) <= MOST_BYTES
        found = Draw(Prepared(experts, table, loss.labels(y), loss, keep), regime)
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
        _kept.experts = (
            stage.key,
            stage.experts.make(dim, seeds.of_experts(stage.seed, stage.dataset, stage.expert_set)),
        )
    experts: ExpertSet = _kept.experts[1]
    return experts
