"""How time and memory of UCB-GT grow with the number of experts."""

import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import abstain as ab

from .data import COST, Floats, problem, simulation
from .table import number, show
from .timing import best

SIZES = ((100, 20), (1_000, 20), (2_000, 100), (10_000, 100))
ROUNDS = 1_000
DIM = 8


def peak_bytes(make: Callable[[], ab.experts.ExpertSet], X: Floats, y: Floats) -> int:
    """The most memory held at once: experts, learner, and playing the table (the table itself left out)."""
    ab.simulate(ab.UCBGT(make(), cost=COST), X[:1], y[:1])  # compiles what is not
    tracemalloc.start()
    try:
        ab.simulate(ab.UCBGT(make(), cost=COST), X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def hyperplanes(n_predictors: int, n_rings: int) -> ab.experts.ExpertSet:
    return ab.experts.hyperplanes(dim=DIM, n_predictors=n_predictors, n_rings=n_rings, seed=0)


def memory_cells(K: int, size: int) -> list[str]:
    """Megabytes, bytes an expert, and how often the memory goes into one bit for each pair of experts."""
    return [number(size / 1e6), number(size / K), number(K * K / 8 / size)]


def run() -> None:
    X, y = problem(ROUNDS, DIM)
    least = best({str(size): simulation("UCBGT", hyperplanes(*size), X, y) for size in SIZES}, 5)
    times = list(least.values())
    memory = [peak_bytes(partial(hyperplanes, *size), X, y) for size in SIZES]
    sizes = [p * a for p, a in SIZES]
    rows = [
        [f"{p:,} x {a}", f"{K:,}", number(time / ROUNDS * 1e6), *memory_cells(K, size)]
        for (p, a), K, time, size in zip(SIZES, sizes, times, memory, strict=True)
    ]
    for name, first in (("slope, log-log", 0), ("slope, last step", -2)):
        slopes = (slope(sizes[first:], values[first:]) for values in (times, memory))
        rows.append([name, "", *(f"{value:.2f}" for value in slopes), "", ""])
    own_rules = partial(ab.experts.thresholds, 100, np.linspace(0.0, 0.25, 20))
    cells = memory_cells(2_000, peak_bytes(own_rules, *problem(ROUNDS, 100)))
    rows.append(["thresholds", "2,000", "", *cells])
    show(
        f"UCBGT with hyperplanes x rings, d = {DIM}, in this run",
        ["experts", "K", "us a round", "peak MB", "bytes / K", "K^2 bits / peak"],
        rows,
    )
