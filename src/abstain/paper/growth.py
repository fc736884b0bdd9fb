"""How the regret of ContEXP3-ABS grows with the number of rounds: a study without experts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .. import __version__, theory
from .._core.validation import as_count, as_seed, is_number
from ..errors import InputError
from ..experiments import seeds
from ..experiments.specs import Keyed, one_of
from ..instances import Lipschitz, lipschitz
from ..learners import ContExp3Abs
from ..learners.cover.cont_exp3_abs import most_balls
from ..losses import ramp_value
from ..simulate import simulate
from ..typing import Floats, Ints

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


@dataclass(frozen=True)
class GrowthStudy:
    """ContEXP3-ABS on `instances.lipschitz`, in each dimension, for each number of rounds, so many runs."""

    name: str
    title: str = ""
    figure: str = ""
    role: str = ""
    """What it is to the paper's claims; see `LearnerStudy`."""
    dims: tuple[int, ...] = (1, 2)
    rounds: tuple[int, ...] = (1_000, 10_000, 100_000)
    runs: int = 10
    cost: float = 0.3
    seed: int = 0
    actions: str = "three"
    """"three", or "grid": the paper to the letter, at its rate, with each of the ``gammas``."""
    gammas: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("dims", "rounds"):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)) or not values:
                raise InputError(f"study {self.name}: {name}: expected a list of whole numbers, got {values!r}")
            object.__setattr__(self, name, tuple(as_count(value, f"study {self.name}: {name}") for value in values))
        as_count(self.runs, f"study {self.name}: runs")
        as_seed(self.seed)
        lipschitz(1, self.cost)
        one_of(self.actions, ("three", "grid"), f"study {self.name}: actions")
        given = self.gammas if isinstance(self.gammas, (tuple, list)) else (None,)
        fits = all(is_number(gamma) and 0.0 < gamma < 1.0 for gamma in given)
        if not fits or bool(given) != (self.actions == "grid"):
            expected = "a list of numbers in (0, 1)" if self.actions == "grid" else "none but for the grid"
            raise InputError(f"study {self.name}: gammas: expected {expected}, got {self.gammas!r}")
        object.__setattr__(self, "gammas", tuple(map(float, given)))

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
    gamma: float | None = None
    """On the grid; None for the three actions."""

    def __str__(self) -> str:
        grid = "" if self.gamma is None else f", grid, gamma = {self.gamma:g}"
        return f"ContEXP3-ABS{grid}, d = {self.dim}, {self.rounds:,} rounds, run {self.run}"

    def _content(self) -> list[Any]:
        """For the three actions, what it was before there was a grid."""
        return [value for value in super()._content() if value is not None]

    @property
    def weight(self) -> float:
        """About how long it takes, in runs of 10,000 rounds of 2,000 experts."""
        return self.rounds / 1e4


def jobs(study: GrowthStudy) -> list[Growth]:
    """The runs of a study."""
    return [
        Growth(dim, rounds, run, study.cost, study.seed, gamma=gamma)
        for gamma in study.gammas or (None,)
        for dim in study.dims
        for rounds in study.rounds
        for run in range(study.runs)
    ]


def collect(studies: Sequence[Any], records: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """The runs there are records of."""
    rows = []
    for job in [job for study in studies if isinstance(study, GrowthStudy) for job in jobs(study)]:
        if job.key in records:
            found, actions = records[job.key], "three" if job.gamma is None else "grid"
            more = (found.get("close"), found.get("bound"), found.get("worst"))
            rows.append(Row(actions, job.gamma, job.dim, job.rounds, job.run, found["regret"], *more))
    return rows


def play(job: Growth) -> dict[str, Any]:
    """The expected regret against the best action on every input: more than against any pair of functions."""
    name = f"lipschitz {job.dim} {job.rounds}"
    problem = lipschitz(job.dim, job.cost)
    X, y = problem.draw(job.rounds, seeds.of_data(job.seed, name, 0, job.run))
    label = "ContEXP3-ABS" if job.gamma is None else f"ContEXP3-ABS, grid, {job.gamma}"
    seed = seeds.of_learner(job.seed, name, 0, job.run, label)
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
