"""Importing, compiling, and finding it compiled: each in a fresh process."""

import os
import subprocess
import sys
import tempfile

from .table import at_most, number, show

TARGET = 1.5
REPETITIONS = 12

IMPORT = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""

COMPILES = """
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    import abstain
print(len(recorder.buffer))
"""

FIRST_USE = """
import time
import numpy as np
import abstain as ab
X = np.random.default_rng(0).uniform(-1.0, 1.0, (100, 8))
y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
start = time.perf_counter()
ab.simulate(ab.UCBGT(ab.experts.hyperplanes(dim=8, seed=0), cost=0.2), X, y)
print(time.perf_counter() - start)
"""


def child(code: str, cache: str | None = None) -> float:
    """The number a fresh Python process prints."""
    env = os.environ if cache is None else os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True)
    return float(done.stdout)


def run() -> None:
    times = {"numba": float("inf"), "abstain": float("inf")}
    for _ in range(REPETITIONS):
        for module in times:
            times[module] = min(times[module], child(IMPORT.format(module=module)))
    ratio = times["abstain"] / times["numba"]
    compiled = child(COMPILES)
    with tempfile.TemporaryDirectory() as cache:
        cold = child(FIRST_USE, cache)
        warm = min(child(FIRST_USE, cache) for _ in range(3))
    show(
        "Starting",
        ["", "in this run, s", "/ import numba", "at most", ""],
        [
            ["import numba", number(times["numba"]), "1", "", ""],
            ["import abstain", number(times["abstain"]), number(ratio), f"{TARGET:g}", at_most(ratio, TARGET)],
            ["functions it compiles", f"{compiled:.0f}", "", "0", at_most(compiled, 0.0)],
            ["first simulate ever", number(cold), number(cold / times["numba"]), "", ""],
            ["... of the next process", number(warm), number(warm / times["numba"]), "", ""],
        ],
    )
