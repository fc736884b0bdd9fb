"""How fast the past fades: memories, by the rounds they hold."""

import numpy as np

from ..kernels.exp3.state import Memory
from ..typing import Floats

ADAPTIVE_MEMORIES = (None, 20_000, 5_000, 1_250)
"""Rounds that the memories of ``memory="adaptive"`` hold; None: all."""
STEPS = 64
"""The past fades in so many steps a memory: weights are made anew in each."""


def fading(memories: tuple[int | None, ...]) -> Memory:
    """The memories that hold so many rounds: a step keeps ``(1 - 1/n)^(rounds between steps)``."""
    every = [0 if n is None else max(1, n // STEPS) for n in memories]
    keep = [1.0 if n is None else (1.0 - 1.0 / n) ** e for n, e in zip(memories, every, strict=True)]
    return Memory(np.array(every), np.array(keep))


def rounds_held(memory: Memory, learnt: float) -> Floats:
    """How many of the rounds learnt each memory still holds (C,): all of them, less what has faded."""
    held = np.full(len(memory.every), learnt)
    for j, (every, keep) in enumerate(zip(memory.every, memory.keep, strict=True)):
        if every > 0:
            steps, rest = divmod(learnt, every)
            held[j] = rest + every * keep * (1.0 - keep**steps) / (1.0 - keep)
    return held
