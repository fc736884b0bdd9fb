"""Single runs of EXP3-ABS, with and without ``ix``, and of the guard: tables of "Guarantees".

`python -m benchmarks.tail [RUNS [FIRST]]`: so many runs of EXP3-ABS and a tenth of the others, seeds from FIRST on.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import abstain as ab
from abstain import theory

from .data import Floats
from .table import show

ROUNDS, RUNS = 2_000, 20_000
IX = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08)


def main(runs: int, first: int) -> None:
    stream = ab.instances.late_bloomer()
    X, y = stream.draw(ROUNDS, seed=0)
    best = ab.best_in_hindsight(stream.experts, X, y, cost=stream.cost).total.min()

    def regrets(make: Callable[..., ab.Learner], seeds: range, **options: Any) -> Floats:
        learners = (make(stream.experts, cost=stream.cost, seed=seed, **options) for seed in seeds)
        return np.array([ab.simulate(learner, X, y).loss.sum() - best for learner in learners])

    rows = []
    for ix in IX:
        regret = regrets(ab.Exp3Abs, range(first, first + runs), horizon=ROUNDS, ix=ix)
        numbers = [regret.mean(), *np.quantile(regret, [0.99, 0.999]), regret.max()]
        bound = theory.exp3_abs_tail_bound(ROUNDS, 2, stream.cost, ix, 0.01) if ix > 0.0 else math.inf
        rows.append([f"{ix:g}", f"{numbers[0]:.1f}", *(f"{one:.0f}" for one in numbers[1:]), f"{bound:.0f}"])
    show(f"Regret of {runs:,} runs", ["ix", "mean", "99 %", "99.9 %", "largest", "bound, 99 %"], rows)
    rows, few = [], range(first, first + runs // 10)
    for name, make, options in (
        ("DoublyRobust, guard 1/16", ab.DoublyRobust, {"guard": 1 / 16}),
        ("DoublyRobust, guard 1/4", ab.DoublyRobust, {"guard": 1 / 4}),
        ("Exp3Abs", ab.Exp3Abs, {"horizon": ROUNDS}),
    ):
        regret = regrets(make, few, **options)
        rows.append(
            [name, *(f"{one:.0f}" for one in (regret.mean(), *np.quantile(regret, [0.5, 0.9, 0.99]), regret.max()))]
        )
    show(f"Regret of {len(few):,} runs", ["learner", "mean", "median", "90 %", "99 %", "largest"], rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *(RUNS, 0)[len(sys.argv) - 1 :])
