"""Playing a part of a study of logs."""

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
from .study import LogPart, feedback_of

PIECES = 40
"""A log is cut into so many for the loss over time."""


def play(part: LogPart, data: str | None) -> dict[str, Any]:
    """The mean loss and the share abstained after the first tenth, and the loss over time, of each player."""
    source = fingerprint(part.dataset, data)
    log = _made(part.recipe, part.rounds, part.seed, data, source)
    runs = [_learner(part, log)] if part.learner is not None else _alternatives(part, log)
    return {"runs": runs, "data": source}


@lru_cache(maxsize=1)
def _made(recipe: Recipe, rounds: int, seed: int, data: str | None, source: str | None) -> ModelLog:
    """Made once for all who play on it, who come one after the other; ``source`` tells a file from a changed one."""
    return make(recipe, rounds, seed, data)


def _learner(part: LogPart, log: ModelLog) -> dict[str, Any]:
    assert part.learner is not None
    who = f"{part.learner.label}, {feedback_of(part.learner)}"
    learner = part.learner.make(
        log.experts,
        cost=part.recipe.cost,
        loss=log.loss,
        seed=seeds.of_learner(part.seed, part.recipe.name, 0, 0, who),
        rounds=len(log.y),
    )
    start = time.perf_counter()
    trace = simulate(learner, log.inputs, log.y, delay=part.delay)
    return _run(part.learner.label, trace.loss, trace.abstained, time.perf_counter() - start)


def _alternatives(part: LogPart, log: ModelLog) -> list[dict[str, Any]]:
    """The tuned threshold knows all labels of the first tenth, however late."""
    rounds = log.answers.confidence, log.losses, part.recipe.cost
    tenth = first_tenth(len(log.y))
    played = {
        TUNED: alternatives.tuned(*rounds, tenth),
        OWN: alternatives.retuned(*rounds, tenth, delay=part.delay),
        ALL: alternatives.retuned(*rounds, tenth, delay=part.delay, own=False),
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
