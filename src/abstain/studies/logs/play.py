"""Playing a job of a study of logs."""

import time
from functools import lru_cache
from typing import Any

import numpy as np

from ... import alternatives
from ...simulate import simulate
from ...typing import Bools, Floats
from .. import seeds
from ..sources import fingerprint
from .making import ModelLog, make
from .players import ALL, HINDSIGHT, OWN, TUNED
from .recipes import Recipe
from .study import LogJob, feedback_of

PIECES = 40
"""A log is cut into so many for the loss over time."""


def play(job: LogJob, data: str | None) -> dict[str, Any]:
    """The mean loss and the share abstained after the first tenth, and the loss over time, of each player."""
    source = fingerprint(job.dataset, data)
    log = _made(job.recipe, job.rounds, job.seed, data, source)
    runs = [_learner(job, log)] if job.learner is not None else _alternatives(job, log)
    return {"runs": runs, "data": source}


@lru_cache(maxsize=1)
def _made(recipe: Recipe, rounds: int, seed: int, data: str | None, source: str | None) -> ModelLog:
    """Made once for all who play on it, who come one after the other; ``source`` tells a file from a changed one."""
    return make(recipe, rounds, seed, data)


def _learner(job: LogJob, log: ModelLog) -> dict[str, Any]:
    assert job.learner is not None
    who = f"{job.learner.label}, {feedback_of(job.learner)}"
    learner = job.learner.make(
        log.experts,
        cost=job.recipe.cost,
        loss=log.loss,
        seed=seeds.of_learner(job.seed, job.recipe.name, 0, 0, who),
        rounds=len(log.y),
    )
    start = time.perf_counter()
    trace = simulate(learner, log.inputs, log.y, delay=job.delay)
    return _run(job.learner.label, trace.loss, trace.abstained, time.perf_counter() - start)


def _alternatives(job: LogJob, log: ModelLog) -> list[dict[str, Any]]:
    """The tuned threshold knows all labels of the first tenth, however late."""
    rounds = log.answers.confidence, log.losses, job.recipe.cost
    tenth = first_tenth(len(log.y))
    played = {
        TUNED: alternatives.tuned(*rounds, tenth),
        OWN: alternatives.retuned(*rounds, tenth, delay=job.delay),
        ALL: alternatives.retuned(*rounds, tenth, delay=job.delay, own=False),
        HINDSIGHT: alternatives.hindsight(*rounds, tenth),
    }
    return [_run(label, policy.loss, policy.abstained, 0.0) for label, policy in played.items()]


def _run(label: str, loss: Floats, abstained: Bools, seconds: float) -> dict[str, Any]:
    tenth = first_tenth(len(loss))
    return {
        "label": label,
        "loss": float(loss[tenth:].mean()),
        "abstained": float(abstained[tenth:].mean()),
        "pieces": [float(piece.mean()) for piece in np.array_split(loss, PIECES)],
        "seconds_run": seconds,
    }


def first_tenth(n: int) -> int:
    """The rounds a threshold is tuned on, and that do not count."""
    return n // 10
