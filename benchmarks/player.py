"""One side of `before`: a process that does the tasks with the library it finds, one repetition when told.

It uses the public interface only, as the library may be an earlier one.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import abstain as ab

from . import balls, online, rings, scaling, weights
from .data import COST, LEARNERS, Floats, problem, simulation
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


def of_robust() -> dict[str, Measure]:
    """`DoublyRobust` with its defaults, as the docs recommend it, and with a guard."""
    games = {f"rings, d = {dim}": hyperplanes(dim) for dim in weights.DIMENSIONS[1:2]} | {"thresholds": confidence()}
    kinds: dict[str, dict[str, Any]] = {
        "default": {},
        "recommended": {"memory": "adaptive", "min_observe": 0.005},
        "guard": {"guard": 1 / 16},
    }

    def play(kind: str, game: str) -> Callable[[], object]:
        experts, X, y = games[game]
        learner = ab.DoublyRobust(experts, cost=COST, seed=0, **kinds[kind])
        return lambda: ab.simulate(learner, X[:ROUNDS], y[:ROUNDS])

    return timed({f"{kind}, {game}": partial(play, kind, game) for game in games for kind in kinds})


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


def of_gate() -> dict[str, Measure]:
    """`decide` and, if it answered, `learn`: one case by hand, three models with 48 thresholds each."""
    random = np.random.default_rng(0)
    names = ["gbm", "logreg", "rules"]
    confidence = random.uniform(0.3, 1.0, (4 * online.WARM, len(names)))
    right = random.random(confidence.shape) < confidence
    cases = [
        {name: (bool(r), float(c)) for name, r, c in zip(names, *row, strict=True)}
        for row in zip(right, confidence, strict=True)
    ]

    def median() -> float:
        gate, times = ab.Gate(names, cost=0.2, seed=0), []
        for answers in cases:
            start = time.perf_counter()
            case = gate.decide(answers)
            if case.action == "answer":
                gate.learn(case, True)
            times.append(time.perf_counter() - start)
        return float(np.median(times[online.WARM :]))

    return {"decide and learn": median}


def command(words: Sequence[str | Path]) -> Measure:
    """A command of the library, in this process, with a new folder for what it writes."""
    from typer.testing import CliRunner

    from abstain.cli import app

    def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            result = CliRunner().invoke(app, [*map(str, words), "--out", folder])
            took = time.perf_counter() - start
        if result.exit_code != 0:
            raise RuntimeError(result.output)
        return took

    return measure


def of_replay() -> dict[str, Measure]:
    """A log of three models, 30,000 rows, from the file to the report."""
    import polars as pl

    random, n = np.random.default_rng(0), 30_000
    label = random.integers(0, 3, n)
    table: dict[str, object] = {"label": label}
    for name in ("gbm", "logreg", "rules"):
        confidence = random.uniform(0.3, 1.0, n)
        table[name] = (label + (random.random(n) > confidence)) % 3
        table[f"{name}_confidence"] = confidence
    path = Path(tempfile.mkdtemp(dir=os.environ.get("NUMBA_CACHE_DIR"))) / "log.parquet"
    pl.DataFrame(table).write_parquet(path)
    return {"30,000 rows": command(["replay", path])}


def of_reproduce() -> dict[str, Measure]:
    """A small study on sets that are always here, with its tables and figures."""
    path = Path(tempfile.mkdtemp(dir=os.environ.get("NUMBA_CACHE_DIR"))) / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return {"two sets, three learners": command(["reproduce", path, "--jobs", "1"])}


STUDY = """
[studies.speed]
title = "Speed"
sets = ["synthetic", "digits"]
costs = [0.2]
learners = ["UCB-GT", "UCB-NT", "FS"]
rounds = 1_000
draws = 4
expert_sets = 1
"""


SECTIONS: dict[str, Callable[[], dict[str, Measure]]] = {
    "rings": of_rings,
    "thresholds": of_thresholds,
    "weights": of_weights,
    "robust": of_robust,
    "balls": of_balls,
    "scaling": of_scaling,
    "reproduce": of_reproduce,
    "online": of_online,
    "gate": of_gate,
    "replay": of_replay,
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
