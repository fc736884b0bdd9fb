"""Playing a run of ContEXP3-ABS: its regret, and what theorem 2 promises for it."""

import time
from typing import Any

import numpy as np

from .. import theory
from ..instances import Lipschitz, lipschitz
from ..learners import ContExp3Abs
from ..learners.cover.cont_exp3_abs import most_balls
from ..losses import ramp_value
from ..simulate import simulate
from ..typing import Floats, Ints
from . import seeds
from .growth import Growth


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
