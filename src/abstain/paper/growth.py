"""How the regret of ContEXP3-ABS grows with the number of rounds: a study without experts."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from .. import __version__, theory
from ..errors import InputError
from ..experiments import Columns, Count, Description, Items, Job, Record, Study, seeds, word_of
from ..instances import Lipschitz, lipschitz
from ..learners import ContExp3Abs
from ..learners.cover.cont_exp3_abs import most_balls
from ..losses import ramp_value
from ..simulate import simulate
from ..typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

GAMMA = "\N{GREEK SMALL LETTER GAMMA}"
QUICK_ROUNDS, QUICK_RUNS = 10_000, 2


class Row(NamedTuple):
    """What a run came to."""

    actions: str
    gamma: float | None
    dim: int
    rounds: int
    run: int
    regret: float
    """Expected, against the best action on every input: that of h = lean, r = |lean| - (1 - 2c), wherever gamma is at
    most 1 - 2c."""
    close: int | None = None
    """M*_T(gamma) of this pair, on the grid."""
    bound: float | None = None
    """Theorem 2's, with its proof's constants and this M*."""
    worst: float | None = None
    """The regret of the worst action in every round."""


class GrowthStudy(Study):
    """ContEXP3-ABS on `instances.lipschitz`, in each dimension, for each number of rounds, so many runs.

    Args:
        dims: The dimensions.
        rounds: The numbers of rounds.
        runs: How many runs each has.
        cost: The cost of abstaining.
        actions: "three", or "grid": the paper to the letter, at its rate, with each of the ``gammas``.
        gammas: The widths of the ramp on the grid.
    """

    kind: ClassVar[str] = "growth"
    columns: ClassVar[Columns] = Columns(
        ("study", "actions", "gamma", "dim", "rounds", "run"), ("study", "actions", "gamma", "dim", "rounds"), ()
    )

    dims: Annotated[tuple[Count, ...], Items, Field(min_length=1)] = (1, 2)
    rounds: Annotated[tuple[Count, ...], Items, Field(min_length=1)] = (1_000, 10_000, 100_000)
    runs: Count = 10
    cost: float = 0.3
    actions: Annotated[str, word_of("three", "grid")] = "three"
    gammas: Annotated[tuple[float, ...], Items] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        lipschitz(1, self.cost)
        fits = all(0.0 < gamma < 1.0 for gamma in self.gammas)
        if not fits or bool(self.gammas) != (self.actions == "grid"):
            expected = "a list of numbers in (0, 1)" if self.actions == "grid" else "none but for the grid"
            raise InputError(f"gammas: expected {expected}, got {self.gammas!r}")
        return self

    def quick(self) -> Self:
        """The same with two runs, of 10,000 rounds at most."""
        short = tuple(n for n in self.rounds if n <= QUICK_ROUNDS)
        return self.replace(rounds=short or self.rounds[:1], runs=min(self.runs, QUICK_RUNS))

    def jobs(self) -> "list[Growth]":
        return [
            Growth(dim, rounds, run, self.cost, self.seed, gamma=gamma)
            for gamma in self.gammas or (None,)
            for dim in self.dims
            for rounds in self.rounds
            for run in range(self.runs)
        ]

    def collect(self, records: Mapping[str, Record]) -> "pl.DataFrame":
        """One row for each run; its columns are those of `Row`."""
        import polars as pl

        schema = {
            "study": pl.String, "actions": pl.String, "gamma": pl.Float64, "dim": pl.Int64, "rounds": pl.Int64,
            "run": pl.Int64, "regret": pl.Float64, "close": pl.Int64, "bound": pl.Float64, "worst": pl.Float64,
        }  # fmt: skip
        rows = []
        for job in self.jobs():
            if job.key in records:
                found = records[job.key]
                more = (found["regret"], found.get("close"), found.get("bound"), found.get("worst"))
                rows.append((self.name, self.actions, job.gamma, job.dim, job.rounds, job.run_number, *more))
        return pl.DataFrame(rows, schema=schema, orient="row")

    def describe(self) -> Description:
        gammas = ", ".join(f"{gamma:g}" for gamma in self.gammas)
        return Description(
            self.name,
            self.title,
            "",
            f"lipschitz, d = {', '.join(map(str, self.dims))}: {self.cost:g}",
            "none",
            f"ContEXP3-ABS, {self.actions}{f', {GAMMA} = {gammas}' if gammas else ''}",
            ", ".join(f"{n:,}" for n in self.rounds),
            f"{self.runs} runs",
            self.seed,
        )


GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
SAMPLE = 20_000
"""Inputs by which M* is estimated where no game was played."""


@cache
def least_bound(dim: int, rounds: int, cost: float) -> float:
    """Theorem 2's bound for the three actions, against the pair of `_promised`, with the best of several gammas."""
    problem, epsilon = lipschitz(dim, cost), theory.cont_exp3_abs_epsilon(rounds, dim)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLE, dim))
    margins, box = np.abs(problem.lean(X)) - (1.0 - 2.0 * cost), np.ones(dim)
    balls = int(min(rounds, most_balls(epsilon, "euclidean", -box, box)))
    return min(
        theory.cont_exp3_abs_bound(
            rounds, balls, epsilon, gamma, lipschitz=3.0 / dim**0.5,
            close=round(theory.close_calls(margins, gamma) / SAMPLE * rounds),
        )
        for gamma in GAMMAS
    )  # fmt: skip


def rows_of(frame: "pl.DataFrame | None") -> list[Row]:
    """The runs of a frame of results."""
    return [] if frame is None else [Row(*row[1:]) for row in frame.iter_rows()]


@dataclass(frozen=True)
class Growth(Job):
    """One run."""

    fields = ("regret",)

    dim: int
    rounds: int
    run_number: int
    cost: float
    seed: int
    version: str = __version__
    gamma: float | None = None
    """On the grid; None for the three actions."""

    def __str__(self) -> str:
        grid = "" if self.gamma is None else f", grid, gamma = {self.gamma:g}"
        return f"ContEXP3-ABS{grid}, d = {self.dim}, {self.rounds:,} rounds, run {self.run_number}"

    def _content(self) -> list[Any]:
        return [value for value in super()._content() if value is not None]

    @property
    def weight(self) -> float:
        return self.rounds / 1e4

    def run(self, data: str | None) -> Record:
        return play(self)


def play(job: Growth) -> dict[str, Any]:
    """The expected regret against the best action on every input: more than against any pair of functions."""
    name = f"lipschitz {job.dim} {job.rounds}"
    problem = lipschitz(job.dim, job.cost)
    X, y = problem.draw(job.rounds, seeds.of_data(job.seed, name, 0, job.run_number))
    label = "ContEXP3-ABS" if job.gamma is None else f"ContEXP3-ABS, grid, {job.gamma}"
    seed = seeds.of_learner(job.seed, name, 0, job.run_number, label)
    options: dict[str, Any] = {} if job.gamma is None else {"actions": "grid", "gamma": job.gamma, "eta": "tuned"}
    learner = ContExp3Abs(job.dim, cost=job.cost, horizon=job.rounds, seed=seed, **options)
    start = time.perf_counter()
    trace = simulate(learner, X, y)
    seconds, expected = time.perf_counter() - start, problem.expected(X)
    if job.gamma is None:
        paid = expected[trace.expert, np.arange(job.rounds)]
    else:
        paid = _paid(learner, trace.expert, expected[1], job.cost, job.gamma)
    record = {"regret": float((paid - expected.min(axis=0)).sum()), "balls": learner.n_balls, "seconds_run": seconds}
    return record if job.gamma is None else record | _promised(job, learner, problem, X)


def _paid(learner: ContExp3Abs, expert: Ints, chance: Floats, cost: float, gamma: float) -> Floats:
    """The expected L of the pairs (h, r) that were followed; ``chance`` is that of the label +1."""
    h, r = (values[expert] for values in learner.experts.values)  # type: ignore[attr-defined]
    predicted = chance * ramp_value(-h, gamma) + (1.0 - chance) * ramp_value(h, gamma)
    return np.where(r <= 0.0, cost, predicted)


def _promised(job: Growth, learner: ContExp3Abs, problem: Lipschitz, X: Floats) -> dict[str, Any]:
    """Theorem 2's bound against the pair h = lean, r = |lean| - (1 - 2c), which is right on every input.

    Both functions have slopes of at most 3 / sqrt(d). The bound is for the number of balls that the rate counts with.
    """
    assert job.gamma is not None
    close = theory.close_calls(np.abs(problem.lean(X)) - (1.0 - 2.0 * job.cost), job.gamma)
    box = np.ones(job.dim)
    bound = theory.cont_exp3_abs_bound(
        job.rounds,
        int(min(job.rounds, most_balls(learner.epsilon, "euclidean", -box, box))),
        learner.epsilon,
        job.gamma,
        lipschitz=3.0 / job.dim**0.5,
        n_actions=learner.experts.n_experts,
        close=close,
    )
    expected = problem.expected(X)
    worst = float((expected.max(axis=0) - expected.min(axis=0)).sum())
    return {"close": close, "bound": bound, "worst": worst}
