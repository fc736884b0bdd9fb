"""The paper's experts: 100 hyperplanes x 20 rings, from features to trace."""

import abstain as ab

from .data import LEARNERS, problem, simulation
from .floor import ROUNDS, UNIT, in_passes
from .table import show
from .timing import best

DIMENSIONS = (2, 8, 25)
TARGET, GOAL = 4.0, 2.0


def run() -> None:
    tasks = dict(UNIT)
    for dim in DIMENSIONS:
        X, y = problem(ROUNDS, dim)
        experts = ab.experts.hyperplanes(dim=dim, seed=0)
        tasks.update({f"{name}, d = {dim}": simulation(name, experts, X, y) for name in LEARNERS})
    times = best(tasks, 40)
    show(
        f"simulate with 100 hyperplanes x 20 rings: passes a round (target {TARGET:g}, goal {GOAL:g})",
        ["learner", "passes", ""],
        [[name, *in_passes(times, name, TARGET, GOAL)] for name in tasks if name not in UNIT],
    )
