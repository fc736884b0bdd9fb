"""What late labels cost: `python -m benchmarks.late`.

Plays logs of the study `abstain reproduce logs` with labels 1,500 rows late. For each it prints the loss per row of all
rows and of those after the first tenth, and the share of reviews in the first 1,500 rows, in which no label has come.
To compare with the library of another commit, check it out with `git worktree add then COMMIT`, and run
`PYTHONPATH=then/src python -m benchmarks.late`.
"""

import argparse

import numpy as np

import abstain as ab
from abstain.paper.logs.recipes import make, recipe

from .table import show

DELAY = 1_500
LOGS = ("eye, recorded", "covtype", "cod-rna, outage", "ijcnn", "higgs, switch", "skin, noise")


def play(name: str, rounds: int, seed: int, memory: str | None) -> tuple[float, float, float]:
    """Play a log: the loss per row, that after the first tenth, and the share of reviews before the first label."""
    of = recipe(name)
    rows = min(rounds, of.rounds)
    log = make(of, rows, seed, None)
    floor = 0.0 if memory is None else 0.005
    learner = ab.DoublyRobust(
        log.experts, cost=of.cost, loss=log.loss, memory=memory, min_observe=floor, seed=10_000 + seed
    )
    trace = ab.simulate(learner, log.inputs, log.y, delay=DELAY)
    return float(trace.loss.mean()), float(trace.loss[rows // 10 :].mean()), float(trace.abstained[:DELAY].mean())


def main() -> None:
    """Play all logs and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20_000, help="rows of a log")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of each log")
    given = parser.parse_args()
    lines = []
    for name in LOGS:
        for memory, label in ((None, "DR"), ("adaptive", "DR, adaptive")):
            found = np.array([play(name, given.rounds, 1_000 + seed, memory) for seed in range(given.seeds)])
            error = found.std(axis=0, ddof=1) / np.sqrt(given.seeds) if given.seeds > 1 else np.full(3, np.nan)
            means = [f"{mean:.4f} ({off:.4f})" for mean, off in zip(found.mean(axis=0), error, strict=True)]
            lines.append([name, label, *means])
    show(f"Labels {DELAY:,} rows late", ["log", "learner", "all rows", "after 1/10", "reviews at first"], lines)


if __name__ == "__main__":
    main()
