"""What a capacity costs and what it keeps: share and loss on a log that drifts, violation and regret as T grows.

Nothing is timed. `python -m benchmarks.capacity` prints the tables of docs/capacity.md; defaults were chosen on seeds
below 1,000.
"""

import math
from typing import Any

import numpy as np

import abstain as ab
from abstain.experts import ExpertSet

from .table import number, show

COST, SHARE = 0.1, 0.08
ROUNDS = 20_000
HORIZONS = (1_000, 10_000, 100_000)
SEEDS = range(1_000, 1_005)
HUGE = 10**7
"""A bucket that never gets empty: what is left is the price."""


def experts() -> ExpertSet:
    """Three models with 20 thresholds each."""
    return ab.experts.thresholds(3, np.linspace(-0.01, 1.5, 20))


def log(n: int, seed: int, drift: bool) -> tuple[Any, Any]:
    """Signed scores of three models, and labels; the better model of the first half breaks in the second."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    noise = np.tile([0.7, 1.0, 1.3], (n, 1))
    if drift:
        noise[n // 2 :] = [1.6, 0.9, 1.3]
    return 0.6 * y[:, np.newaxis] + noise * rng.normal(size=(n, 3)), y


def of_experts(X: Any, y: Any, cost: float = COST) -> tuple[Any, Any]:
    """What every expert loses a case, and in what share of cases it abstains (K,)."""
    those = experts()
    best = ab.best_in_hindsight(those, X, y, cost=cost)
    abstains = those.advise(X).abstains.mean(axis=0)[those.rule_of]
    return best.total / len(X), abstains


def best_mixture(losses: Any, abstains: Any, share: float) -> float:
    """The least loss of a mixture of two experts that abstains on at most a share of the cases."""
    least = losses[abstains <= share].min(initial=math.inf)
    for few in np.flatnonzero(abstains <= share):
        for many in np.flatnonzero(abstains > share):
            weight = (share - abstains[few]) / (abstains[many] - abstains[few])
            least = min(least, (1.0 - weight) * losses[few] + weight * losses[many])
    return float(least)


def play(X: Any, y: Any, seed: int, capacity: Any, **options: Any) -> tuple[Any, Any]:
    """A learner and its game."""
    given: dict[str, Any] = {"memory": "adaptive", "min_observe": 0.005} | options
    learner = ab.DoublyRobust(experts(), cost=COST, seed=seed, capacity=capacity, **given)
    return learner, ab.simulate(learner, X, y)


def drifting(seeds: Any = SEEDS) -> None:
    """Share and loss with and without a capacity."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in seeds:
        X, y = log(ROUNDS, seed, drift=True)
        for name, capacity in {
            "no capacity": None,
            "capacity=0.08": SHARE,
            "... the bucket alone": ab.Capacity(SHARE, step=0.0),
            "... the price alone": ab.Capacity(SHARE, burst=HUGE, step=ab.Capacity(SHARE).step),
        }.items():
            _, trace = play(X, y, seed, capacity)
            found.setdefault(name, []).append((trace.abstained.mean(), trace.loss.mean()))
        losses, abstains = of_experts(X, y)
        k = int(np.argmin(np.where(abstains <= SHARE, losses, math.inf)))
        found.setdefault("best expert that respects it", []).append((abstains[k], losses[k]))
        found.setdefault("best mixture that respects it", []).append((SHARE, best_mixture(losses, abstains, SHARE)))
    rows = [[name, *(f"{value:.3f}" for value in np.mean(pairs, axis=0))] for name, pairs in found.items()]
    show(f"A log that drifts, {ROUNDS:,} cases, cost {COST}, share {SHARE}", ["", "abstained", "loss"], rows)


def growing(seeds: Any = SEEDS) -> None:
    """The most that was abstained on beyond the share up to any case, and regret, both over sqrt(T)."""
    rows = []
    for T in HORIZONS:
        steps = {"1/sqrt(T)": T**-0.5, "as by default": ab.Capacity(SHARE).step}
        for name, step in steps.items():
            beyond, regret = [], []
            for seed in seeds:
                X, y = log(T, seed, drift=False)
                _, trace = play(X, y, seed, ab.Capacity(SHARE, burst=HUGE, step=step), memory=None, min_observe=0.0)
                excess = np.cumsum(trace.abstained) - SHARE * np.arange(1, T + 1)
                beyond.append(excess.max() / math.sqrt(T))
                regret.append((trace.loss.sum() - T * best_mixture(*of_experts(X, y), SHARE)) / math.sqrt(T))
            row = [f"{T:,}", name, number(float(np.mean(beyond)))]
            rows.append([*row, f"{np.mean(regret):.2f}", f"{np.mean(regret) / math.sqrt(T):.4f}"])
    columns = ["T", "step", "violation / sqrt(T)", "regret / sqrt(T)", "regret / T"]
    show("The price alone (a bucket that never gets empty)", columns, rows)


def main() -> None:
    """Print both tables."""
    drifting()
    growing()


if __name__ == "__main__":
    main()
