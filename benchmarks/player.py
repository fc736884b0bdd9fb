"""One side of `before`: a process that does the tasks with the library it finds, one repetition when told.

It uses the public interface only, as the library may be an earlier one.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeAlias

import numpy as np

import abstain as ab

from . import balls, online, rings, scaling, weights
from .data import LEARNERS, Floats, problem, simulation
from .timing import Task, seconds

Measure: TypeAlias = Callable[[], float]
"""One repetition, in seconds."""

ROUNDS = 4_000
"""Few: what takes milliseconds is undisturbed now and then, however busy the machine."""


def timed(tasks: Mapping[str, Task]) -> dict[str, Measure]:
    def measure(task: Task) -> float:
        return seconds(task())

    return {name: partial(measure, task) for name, task in tasks.items()}


def hyperplanes(dim: int) -> tuple[ab.experts.ExpertSet, Floats, Floats]:
    return ab.experts.hyperplanes(dim=dim, seed=0), *problem(2 * ROUNDS, dim)


def confidence() -> tuple[ab.experts.ExpertSet, Floats, Floats]:
    return ab.experts.thresholds(100, np.linspace(0.0, 0.25, 20)), *problem(2 * ROUNDS, 100)


def of_rings() -> dict[str, Measure]:
    games = {dim: hyperplanes(dim) for dim in rings.DIMENSIONS}
    return timed(
        {f"{name}, d = {dim}": simulation(name, *games[dim], warm=ROUNDS) for dim in games for name in LEARNERS}
    )


def of_thresholds() -> dict[str, Measure]:
    game = confidence()
    return timed({name: simulation(name, *game, warm=ROUNDS) for name in LEARNERS})


def of_weights() -> dict[str, Measure]:
    games = {f"rings, d = {dim}": hyperplanes(dim) for dim in weights.DIMENSIONS} | {"thresholds": confidence()}
    return timed(
        {
            f"eta {eta}, {kind}": weights.simulation(eta, experts, X[:ROUNDS], y[:ROUNDS])
            for kind, (experts, X, y) in games.items()
            for eta in (0.01, "adaptive")
        }
    )


def of_balls() -> dict[str, Measure]:
    tasks = {}
    for dim in balls.DIMENSIONS:
        X, y = problem(ROUNDS, dim)
        learner = balls.covered(dim, balls.radius_for(1_000, dim, X, y), X, y)
        tasks[f"d = {dim}, 1,000 balls"] = balls.known(learner, X[:1_000], y[:1_000])
    return timed(tasks)


def of_scaling() -> dict[str, Measure]:
    data = problem(400, scaling.DIM)
    sizes = scaling.SIZES
    return timed({f"UCBGT, {p:,} x {a}": simulation("UCBGT", scaling.hyperplanes(p, a), *data) for p, a in sizes})


def of_online() -> dict[str, Measure]:
    experts = ab.experts.hyperplanes(dim=online.DIM, seed=0)
    X, y = problem(4 * online.WARM, online.DIM)
    advices = [experts.advise(x[np.newaxis]) for x in X]

    def median(name: str) -> float:
        """The median round of a new learner, the first ones left out."""
        learner = LEARNERS[name](experts)
        times = [online.a_round(learner, advice, label) for advice, label in zip(advices, y, strict=True)]
        return float(np.median(times[online.WARM :]))

    return {name: partial(median, name) for name in LEARNERS}


def of_reproduce() -> dict[str, Measure]:
    """A quick study on sets that are always here, without figures; new seeds, so that nothing is kept in memory."""
    from abstain.experiments import runner
    from abstain.experiments.study import LearnerStudy
    from abstain.experiments.toml import paper

    whole, seeds = paper()["regret"], count()
    assert isinstance(whole, LearnerStudy)
    study = replace(whole.quick(), sets=("synthetic", "breast-cancer", "digits"), settings=())

    def computing() -> float:
        with tempfile.TemporaryDirectory() as folder:
            session = runner.run([replace(study, seed=next(seeds))], Path(folder), jobs=1)
        if session.failures or session.missing:
            raise RuntimeError(f"{session.failures} {session.missing}")
        return session.seconds

    return {"three sets, three costs, six learners": computing}


SECTIONS: dict[str, Callable[[], dict[str, Measure]]] = {
    "rings": of_rings,
    "thresholds": of_thresholds,
    "weights": of_weights,
    "balls": of_balls,
    "scaling": of_scaling,
    "reproduce": of_reproduce,
    "online": of_online,
}


def main(names: list[str]) -> None:
    """Do each task once, which compiles it; say where the library is and which tasks there are; then do as told."""
    tasks = {f"{name}: {task}": measure for name in names for task, measure in SECTIONS[name]().items()}
    for measure in tasks.values():
        measure()
    print(json.dumps([ab.__file__, *tasks]), flush=True)
    for line in sys.stdin:
        print(tasks[line.rstrip("\n")](), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
