"""Estimates without a correction, beside those with one: `python -m benchmarks.naive`.

`Naive` takes a loss as it is where its own label was seen, and nothing where it was not: what one gets by averaging
what was observed. It is EXP3-ABS on those rounds but for the division by the probability of seeing the label.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import abstain as ab

from .table import show

ROUNDS, SEEDS = 20_000, range(10)
update_exp3 = ab.Exp3Abs.kernels.update


@ab.extend.kernel
def update(expert: Any, abstains: Any, losses: Any, seen: Any, cost: Any, carry: Any, s: Any) -> None:
    """Learn as if every label were sure to be seen, and only where it is; who abstains then pays, too."""
    if seen:
        carry[0] = 1.0
        update_exp3(expert, abstains, losses, seen, cost, carry, s)


class Naive(ab.Exp3Abs):
    """Exponential weights on what was observed."""

    kernels = ab.extend.Kernels(ab.Exp3Abs.kernels.choose, update)


def bias_instance(seed: int) -> tuple[Any, ...]:
    """Red abstains where blue is right (figure 3), at the proportions of `instances.bias_problem`."""
    problem = ab.instances.bias_problem()
    return problem.experts, *problem.draw(ROUNDS, seed), problem.cost


def log(seed: int) -> tuple[Any, ...]:
    """Two models with their thresholds, of which one is better."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], ROUNDS)
    sure = rng.random((ROUNDS, 2))
    right = rng.random((ROUNDS, 2)) < 0.5 + 0.5 * sure * [0.9, 0.6]
    return (
        ab.experts.thresholds(2, np.linspace(-0.01, 0.95, 20)),
        np.where(right, 1.0, -1.0) * y[:, None] * sure,
        y,
        0.25,
    )


def main() -> None:
    kinds: dict[str, Callable[..., ab.Learner]] = {
        "naive": Naive,
        "EXP3-ABS": ab.Exp3Abs,
        "DoublyRobust": ab.DoublyRobust,
    }
    rows = []
    for name, make in {"the bias instance": bias_instance, "a log of two models": log}.items():
        row = [name]
        for kind in kinds.values():
            regret = []
            for seed in SEEDS:
                experts, X, y, cost = make(seed)
                best = ab.best_in_hindsight(experts, X, y, cost=cost)
                regret.append(ab.simulate(kind(experts, cost=cost, seed=seed), X, y).regret(best)[-1] / ROUNDS)
            row.append(f"{np.mean(regret):.4f} (worst {np.max(regret):.4f})")
        rows.append(row)
    show(f"Regret a round, {ROUNDS:,} rounds, {len(SEEDS)} seeds", ["", *kinds], rows)


if __name__ == "__main__":
    main()
