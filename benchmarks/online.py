"""One round by hand: decide and learn, with the experts' advice given, against an empty compiled call."""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import abstain as ab

from .data import LEARNERS, Floats, problem
from .table import at_most, number, show

DIM = 8
WARM, ROUNDS, CALLS = 200, 2_000, 10
TARGET = 15.0


def arrays_of(value: Any) -> list[Any]:
    """The arrays in nested tuples."""
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_of(part)]
    return [value] if isinstance(value, np.ndarray) else []


@numba.njit
def empty(game: Any) -> int:
    """What a compiled step of the learner gets, and nothing done with it."""
    return 0


@numba.njit
def empty_flat(*arrays: Any) -> int:
    """As many arrays, not in tuples."""
    return 0


def plain(game: Any) -> int:
    """A Python function."""
    return 0


def a_call(function: Callable[..., object], *arguments: Any) -> float:
    """The time of a call, averaged over a few."""
    start = time.perf_counter()
    for _ in range(CALLS):
        function(*arguments)
    return (time.perf_counter() - start) / CALLS


def a_round(learner: ab.Learner, advice: ab.experts.Advice, label: float) -> float:
    """The time of a round as the protocol has it: learn, if there is a label."""
    start = time.perf_counter()
    decision = learner.decide(advice)
    if learner.supervised or not decision.abstained:
        learner.learn(decision, label)
    return time.perf_counter() - start


def measure(learner: Any, advices: list[ab.experts.Advice], y: Floats) -> tuple[Floats, Floats]:
    """The median and the least time of a round, of both empty calls and of a Python call, taken in turns."""
    game, arrays = learner.state, arrays_of(learner.state)
    times = []
    for advice, label in zip(advices, y, strict=True):
        calls = a_call(empty, game), a_call(empty_flat, *arrays), a_call(plain, game)
        times.append((a_round(learner, advice, label), *calls))
    table = np.array(times[WARM:])
    return np.median(table, axis=0), table.min(axis=0)


def run() -> None:
    experts = ab.experts.hyperplanes(dim=DIM, seed=0)
    X, y = problem(WARM + ROUNDS, DIM)
    advices = [experts.advise(x[np.newaxis]) for x in X]
    rows = []
    for name, make in LEARNERS.items():
        learner: Any = make(experts)
        n_arrays = len(arrays_of(learner.state))
        median, least = measure(learner, advices, y)
        row = [name]
        for call in (1, 2):
            ratio = float(median[0] / median[call])
            row += [number(ratio), number(least[0] / least[call]), at_most(ratio, TARGET)]
        rows.append(row)
    show(
        f"decide + learn, in empty compiled calls with the learner's {n_arrays} arrays (target {TARGET:g})",
        ["learner", "nested: median", "best", "", "flat: median", "best", ""],
        rows,
    )
    show(
        f"An empty compiled call with {n_arrays} arrays, in calls of a Python function",
        ["", "median", "best"],
        [
            ["nested in tuples, as the learner's", number(median[1] / median[3]), number(least[1] / least[3])],
            ["flat: an argument each", number(median[2] / median[3]), number(least[2] / least[3])],
        ],
    )
