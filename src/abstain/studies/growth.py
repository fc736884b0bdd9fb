"""How ContEXP3-ABS's regret grows with the number of rounds (claim 14): runs without experts, so without cells."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from .. import __version__
from ..errors import InputError
from ..instances import lipschitz
from ..learners import ContExp3Abs
from ..simulate import simulate
from ..tables import as_count, as_seed
from . import seeds
from .ingredients import Keyed

Row: TypeAlias = tuple[int, int, int, float]
"""Dimension, rounds, run, regret."""
QUICK_ROUNDS, QUICK_RUNS = 10_000, 2


@dataclass(frozen=True)
class GrowthStudy:
    """ContEXP3-ABS on `instances.lipschitz`, in each dimension, for each number of rounds, so many runs."""

    name: str
    title: str = ""
    figure: str = ""
    role: str = ""
    """What it is to the paper's claims; see `Study`."""
    dims: tuple[int, ...] = (1, 2)
    rounds: tuple[int, ...] = (1_000, 10_000, 100_000)
    runs: int = 10
    cost: float = 0.3
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("dims", "rounds"):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)) or not values:
                raise InputError(f"study {self.name}: {name}: expected a list of whole numbers, got {values!r}")
            object.__setattr__(self, name, tuple(as_count(value, f"study {self.name}: {name}") for value in values))
        as_count(self.runs, f"study {self.name}: runs")
        as_seed(self.seed)
        lipschitz(1, self.cost)

    def quick(self) -> "GrowthStudy":
        """The same with two runs, of 10,000 rounds at most."""
        short = tuple(n for n in self.rounds if n <= QUICK_ROUNDS)
        return replace(self, rounds=short or self.rounds[:1], runs=min(self.runs, QUICK_RUNS))


@dataclass(frozen=True)
class Growth(Keyed):
    """One run."""

    dim: int
    rounds: int
    run: int
    cost: float
    seed: int
    version: str = __version__

    def __str__(self) -> str:
        return f"ContEXP3-ABS, d = {self.dim}, {self.rounds:,} rounds, run {self.run}"

    @property
    def weight(self) -> float:
        """About how long it takes, in runs of 10,000 rounds of 2,000 experts."""
        return self.rounds / 1e4


def jobs(study: GrowthStudy) -> list[Growth]:
    """The runs of a study."""
    return [
        Growth(dim, rounds, run, study.cost, study.seed)
        for dim in study.dims
        for rounds in study.rounds
        for run in range(study.runs)
    ]


def play(job: Growth) -> dict[str, Any]:
    """The expected regret against the best action on every input: more than against any pair of functions."""
    name = f"lipschitz {job.dim} {job.rounds}"
    problem = lipschitz(job.dim, job.cost)
    X, y = problem.draw(job.rounds, seeds.of_data(job.seed, name, 0, job.run))
    seed = seeds.of_learner(job.seed, name, 0, job.run, "ContEXP3-ABS")
    learner = ContExp3Abs(job.dim, cost=job.cost, horizon=job.rounds, seed=seed)
    start = time.perf_counter()
    trace = simulate(learner, X, y)
    seconds, expected = time.perf_counter() - start, problem.expected(X)
    regret = float((expected[trace.expert, np.arange(job.rounds)] - expected.min(axis=0)).sum())
    return {"regret": regret, "balls": learner.n_balls, "seconds_run": seconds}


def collect(studies: Sequence[Any], records: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The runs there are records of."""
    wanted = [job for study in studies if isinstance(study, GrowthStudy) for job in jobs(study)]
    return [(job.dim, job.rounds, job.run, records[job.key]["regret"]) for job in wanted if job.key in records]
