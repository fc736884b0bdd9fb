"""Problems whose best expert hides: `python -m benchmarks.lockin [rounds [runs [name]]]` (10,000 rounds and 100 runs).

With a name only the problems are played whose own begins with it.

Regret of DoublyRobust, of the form that the README recommends, and of EXP3-ABS: mean, median, 90 % and 99 % quantiles,
the largest, and the share of runs that are locked in: they lose more than half the gap to the next expert in the second
half.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import abstain as ab
from abstain import instances

from .table import show


def weak(errs: float, cost: float) -> instances.Instance:
    """Two experts: a model that errs more often than abstaining costs, and one that always abstains."""
    values = np.array([[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])  # what the model says, and the label
    chances = np.array([1.0 - errs, 1.0 - errs, errs, errs]) / 2.0
    experts = ab.experts.thresholds(1, [-1.0, 5.0])
    return instances.Instance(experts, cost, ab.losses.get("zero_one"), (errs, cost), values, chances)


PROBLEMS: dict[str, Any] = {
    "specialists": instances.specialists(),
    "specialists, spoilt": instances.specialists(2, 0.8, 0.5, spoilt=100),
    "specialists among 20": instances.specialists(20),
    "two models": instances.two_models(),
    "two models, spoilt": instances.two_models(spoilt=100),
    "two models x 10": instances.two_models(10),
    "two models x 10, spoilt": instances.two_models(10, spoilt=100),
    "one model x 20": instances.one_model(),
    "one model x 20, spoilt": instances.one_model(spoilt=100),
    "bias problem": instances.bias_problem(),
    "trap, 300 rounds": instances.trap(300),
    "trap, 1,000 rounds": instances.trap(1000),
    "weak model, errs 0.5, cost 0.3": weak(0.5, 0.3),
    "weak model, errs 0.2, cost 0.1": weak(0.2, 0.1),
    "weak model, errs 0.8, cost 0.7": weak(0.8, 0.7),
}
OF_TRAP = 0.15
"""What abstaining costs more than the best predictor of a trap, after the trap."""
LEARNERS: dict[str, Callable[..., ab.Learner]] = {
    "DoublyRobust": ab.DoublyRobust,
    "... recommended": lambda experts, **options: ab.DoublyRobust(
        experts, memory="adaptive", min_observe=0.005, **options
    ),
    "EXP3-ABS": ab.Exp3Abs,
}


def main(rounds: int, runs: int, begins: str) -> None:
    rows = []
    for name, problem in PROBLEMS.items():
        if not name.startswith(begins):
            continue
        found: dict[str, list[tuple[float, float]]] = {label: [] for label in LEARNERS}
        for seed in range(1000, 1000 + runs):
            X, y = problem.draw(rounds, seed=seed)
            prepared = ab.prepare(problem.experts, X, y)
            best = ab.best_in_hindsight(problem.experts, X, y, cost=problem.cost)
            for label, make in LEARNERS.items():
                regret = ab.simulate(make(problem.experts, cost=problem.cost, seed=seed), prepared).regret(best)
                found[label].append((float(regret[-1]), float(regret[-1] - regret[rounds // 2 - 1])))
        means = sorted(set(getattr(problem, "means", (0.0, OF_TRAP))))
        gap = (means[1] - means[0]) * (rounds - rounds // 2)
        for label, results in found.items():
            total, late = np.array(results).T
            quantiles = np.quantile(total, [0.5, 0.9, 0.99, 1.0])
            numbers = [f"{one:.0f}" for one in (total.mean(), *quantiles)]
            rows.append([name, label, *numbers, f"{100.0 * (late > gap / 2).mean():.0f} %"])
            name = ""
    title = f"Regret after {rounds:,} rounds, {runs} runs"
    show(title, ["", "", "mean", "median", "90 %", "99 %", "largest", "locked in"], rows)


if __name__ == "__main__":
    given = sys.argv[1:]
    rounds, runs = (int(float(word)) for word in (given[:2] + ["10000", "100"][len(given[:2]) :]))
    main(rounds, runs, " ".join(given[2:]))
