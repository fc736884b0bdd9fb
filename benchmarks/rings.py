"""The paper's experts: 100 hyperplanes x 20 rings, from features to trace."""

import abstain as ab

from .data import LEARNERS, problem, simulation
from .floor import ROUNDS, floor
from .table import at_most, number, show
from .timing import best

DIMENSIONS = (2, 8, 25)
TARGET, GOAL = 4.0, 2.0


def run() -> None:
    tasks = {"floor": floor(), "unlucky": floor(offset=16)}
    for dim in DIMENSIONS:
        X, y = problem(ROUNDS, dim)
        experts = ab.experts.hyperplanes(dim=dim, seed=0)
        tasks.update({f"{name} {dim}": simulation(name, experts, X, y) for name in LEARNERS})
    times = best(tasks, 40)
    rows = []
    for name in LEARNERS:
        ratios = [times[f"{name} {dim}"] / times["floor"] for dim in DIMENSIONS]
        unlucky = number(max(ratios) * times["floor"] / times["unlucky"])
        rows.append([name, *map(number, ratios), at_most(max(ratios), TARGET, GOAL), unlucky])
    show(
        f"simulate with 100 hyperplanes x 20 rings: passes a round",
        ["learner", *(f"d = {dim}" for dim in DIMENSIONS), f"target (goal {GOAL:g})", "worst, slower passes"],
        rows,
    )
