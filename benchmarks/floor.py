"""The floor: what touching 2,000 numbers once costs. Other sections count in such passes."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from .table import at_most, number, show
from .timing import Task, best

N_NUMBERS = 2_000
ROUNDS = 20_000
LINE = 64


@numba.njit
def one(E: Any, d: Any) -> Any:
    """One pass: add to each number, find the least. All in int32, so that the compiler uses vector instructions."""
    m = np.int32(2**31 - 1)
    for i in range(E.size):
        v = np.int32(E[i] + d[i])
        E[i] = v
        if v < m:
            m = v
    return m


@numba.njit
def passes(E: Any, d: Any, rounds: int) -> int:
    """A pass a round."""
    total = 0
    for _ in range(rounds):
        total += one(E, d)
    return total


@numba.njit
def plain_passes(E: Any, d: Any, rounds: int) -> int:
    """The same as one would first write it: the sums are int64, and the compiler makes nothing of it."""
    total = 0
    for _ in range(rounds):
        m = 2**31 - 1
        for i in range(E.size):
            v = E[i] + d[i]
            E[i] = v
            m = min(m, v)
        total += m
    return total


def placed(values: NDArray[np.int32], offset: int) -> NDArray[np.int32]:
    """A copy that begins so many bytes behind a cache line's start."""
    buffer = np.zeros(values.nbytes + 2 * LINE, np.uint8)
    start = -buffer.ctypes.data % LINE + offset
    copy = buffer[start : start + values.nbytes].view(np.int32)
    copy[:] = values
    return copy


def floor(function: Any = passes, offset: int = 0) -> Task:
    """ROUNDS passes. The place in memory is fixed, as it decides the speed."""

    def prepare() -> Callable[[], object]:
        d = np.random.default_rng(0).integers(0, 2, N_NUMBERS, np.int32)
        E, d = placed(np.zeros_like(d), offset), placed(d, offset)
        return lambda: function(E, d, ROUNDS)

    return prepare


UNIT = {"pass": floor(offset=16)}
"""Arrays 16 bytes behind a cache line's start: where NumPy puts all but small ones, those of the learners, too."""


def in_passes(times: Mapping[str, float], name: str, target: float = math.inf, goal: float = -math.inf) -> list[str]:
    """A time in passes, and whether it is within the target."""
    ratio = times[name] / times["pass"]
    return [number(ratio), "" if target == math.inf else at_most(ratio, target, goal)]


def run() -> None:
    others = {
        "the same, arrays at a cache line's start": floor(),
        "the plain loop, sums in int64": floor(plain_passes, 16),
    }
    times = best(UNIT | others, 40)
    rows = [[name, number(time / ROUNDS * 1e9), number(time / times["pass"])] for name, time in times.items()]
    show(f"The floor, a pass: add to {N_NUMBERS:,} int32, find the least", ["", "ns in this run", "passes"], rows)
