"""Best of several interleaved repetitions: what else the machine does hurts all alike, and the best hardly."""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

Task: TypeAlias = Callable[[], Callable[[], object]]
"""Prepares one repetition, untimed, and returns what is to be timed."""


def seconds(run: Callable[[], object]) -> float:
    """The time of one call."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(tasks: Mapping[str, Task], repetitions: int) -> dict[str, float]:
    """The least time of each task; the tasks take turns. The first turn compiles and is dropped."""
    least = dict.fromkeys(tasks, float("inf"))
    for turn in range(repetitions + 1):
        for name, prepare in tasks.items():
            time_taken = seconds(prepare())
            if turn > 0:
                least[name] = min(least[name], time_taken)
    return least
