"""Single runs of EXP3-ABS, with and without ``ix``: `python -m benchmarks.tail` prints the table of "Guarantees"."""

import math
import sys

import numpy as np

import abstain as ab
from abstain import theory

from .table import show

ROUNDS, RUNS = 2_000, 20_000
IX = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08)


def main(runs: int) -> None:
    stream = ab.instances.late_bloomer()
    X, y = stream.draw(ROUNDS, seed=0)
    best = ab.best_in_hindsight(stream.experts, X, y, cost=stream.cost).total.min()
    rows = []
    for ix in IX:
        learners = (
            ab.Exp3Abs(stream.experts, cost=stream.cost, horizon=ROUNDS, seed=seed, ix=ix) for seed in range(runs)
        )
        regret = np.array([ab.simulate(learner, X, y).loss.sum() - best for learner in learners])
        numbers = [regret.mean(), *np.quantile(regret, [0.99, 0.999]), regret.max()]
        bound = theory.exp3_abs_tail_bound(ROUNDS, 2, stream.cost, ix, 0.01) if ix > 0.0 else math.inf
        rows.append([f"{ix:g}", f"{numbers[0]:.1f}", *(f"{one:.0f}" for one in numbers[1:]), f"{bound:.0f}"])
    show(f"Regret of {runs:,} runs", ["ix", "mean", "99 %", "99.9 %", "largest", "bound, 99 %"], rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
