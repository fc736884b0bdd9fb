"""Importing, compiling, and finding it compiled: each in a fresh process.

`python -m benchmarks.startup COMMIT` compares what nothing compiled costs with an earlier commit.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .before import ROOT, checkout
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

COLD = """
import resource
import abstain as ab
def spent():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
start = spent()
{code}
print(spent() - start)
"""

FIRST_CASE = """
gate = ab.Gate(["gbm", "logreg", "rules"], cost=0.2, labels="both", seed=0)
gate.learn(gate.decide({"gbm": ("spam", 0.93), "logreg": ("ham", 0.61), "rules": None}), "ham")
"""

TASKS = {"first gate.decide + gate.learn": FIRST_CASE, "warmup of Gate": 'ab.warmup(["Gate"])'}


def child(code: str, cache: str | None = None, source: Path | None = None) -> float:
    """The number a fresh Python process prints; it may have another cache of kernels, or another library."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed library has its bytecode, as Numba has
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = cache
    if source is not None:
        env["PYTHONPATH"] = str(source)
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


def cold(code: str, source: Path) -> float:
    """The processor seconds that code takes with nothing compiled, the import of the library not counted."""
    with tempfile.TemporaryDirectory() as cache:
        return child(COLD.format(code=code), cache, source)


def compare(commit: str) -> None:
    """Print the processor seconds of first uses now and at a commit, measured in turns."""
    rows = []
    with checkout(commit) as tree:
        for name, code in TASKS.items():
            then, now = cold(code, tree / "src"), cold(code, ROOT / "src")
            rows.append([name, number(then), number(now), number(now / then)])
    show(f"Nothing compiled, against {commit}", ["processor seconds", "then", "now", "now / then"], rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected a commit: python -m benchmarks.startup COMMIT")
    compare(sys.argv[1])
