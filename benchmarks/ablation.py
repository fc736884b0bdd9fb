"""What each ingredient of DoublyRobust is worth: `python -m benchmarks.ablation [seeds [set ...]]`.

Ten sets x three costs x {20 rings, confidence-based experts}, 10,000 rounds, tuning seeds (below 1,000).
The limit is 2 FS + 0.002 in average regret.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import abstain as ab

from .table import show

SETS = ("higgs", "phishing", "ijcnn", "covtype", "eye", "skin", "cod-rna", "guide", "cifar", "synthetic")
COSTS = (0.1, 0.2, 0.3)
ROUNDS = 10_000


def set_state(learner: ab.Learner, state: Any) -> None:
    with learner.lock:
        learner.state = state


def with_constants(memory: str | None = None, **changes: float) -> Callable[..., ab.Learner]:
    def make(experts: ab.experts.ExpertSet, **options: Any) -> ab.Learner:
        learner = ab.DoublyRobust(experts, memory=memory, **options)
        state = learner.state
        constants = state.guesses.constants._replace(**changes)
        set_state(learner, state._replace(guesses=state.guesses._replace(constants=constants)))
        return learner

    return make


def no_cells(experts: ab.experts.ExpertSet, **options: Any) -> ab.Learner:
    """All cells of a predictor lie at one place in memory."""
    learner = ab.DoublyRobust(experts, **options)
    guesses = learner.state.guesses
    shared = {}
    for name in ("support", "expected", "suffered", "unseen", "visits"):
        array = getattr(guesses, name)
        shared[name] = np.lib.stride_tricks.as_strided(array, array.shape, (0, array.strides[1]))
    set_state(learner, learner.state._replace(guesses=guesses._replace(**shared)))
    return learner


class NoModel(ab.DoublyRobust):
    """Guesses from a predictor's own losses alone."""

    def __init__(self, experts: ab.experts.ExpertSet, **options: Any) -> None:
        super().__init__(experts, **options)
        self._modelled = False

    def see(self, X: Any, advice: Any, costs: Any) -> Any:
        """Nothing."""
        return np.zeros((len(advice), 0))


def slower(experts: ab.experts.ExpertSet, **options: Any) -> ab.Learner:
    learner = ab.DoublyRobust(experts, **options)
    m = learner.state.memories
    rate = m.rate._replace(log_experts=m.rate.log_experts / 4.0)
    set_state(learner, learner.state._replace(memories=m._replace(rate=rate)))
    return learner


VARIANTS: dict[str, Callable[..., ab.Learner]] = {
    "EXP3-ABS": ab.Exp3Abs,
    "as it is": ab.DoublyRobust,
    "no model of the label": NoModel,
    "no cells": no_cells,
    "labels not weighted": with_constants(most=1.0),
    "no clip": with_constants(clip=0.0),
    "clip at the rate": with_constants(clip=1.0),
    "no fading": with_constants(patience=1e300, tries=1e300),
    "no hidden cells": with_constants(visible=0.0),
    "no scaling": with_constants(calm=1e300),
    "no accounts": with_constants(pessimism=1e300),
    "half the rate": slower,
    "with a guard, 1/64": partial(ab.DoublyRobust, guard=1 / 64),
    "with a guard, 1/16": partial(ab.DoublyRobust, guard=1 / 16),
    "memory='adaptive'": partial(ab.DoublyRobust, memory="adaptive"),
    "... labels not weighted": with_constants("adaptive", most=1.0),
    "... min_observe=0.005": partial(ab.DoublyRobust, memory="adaptive", min_observe=0.005),
}


def problems(sets: tuple[str, ...], seeds: range) -> Iterator[tuple[Any, ...]]:
    for name in sets:
        for seed in seeds:
            X, y = ab.datasets.load(name, n=ROUNDS, seed=seed)
            yield name, "rings", ab.experts.hyperplanes(dim=X.shape[1], seed=seed), X, y, seed
            yield name, "confidence", ab.experts.axis_planes(X.shape[1], 100), X, y, seed


def main(sets: tuple[str, ...], seeds: range, variants: dict[str, Callable[..., ab.Learner]]) -> None:
    found: dict[tuple[str, str, float], dict[str, list[float]]] = {}
    for name, kind, experts, X, y, seed in problems(sets, seeds):
        for cost in COSTS:
            best = ab.best_in_hindsight(experts, X, y, cost=cost)
            runs = found.setdefault((name, kind, cost), {})
            for label, make in {"FS": ab.FullSupervision, **variants}.items():
                trace = ab.simulate(make(experts, cost=cost, seed=seed), X, y)
                runs.setdefault(label, []).append(float(trace.regret(best)[-1]) / ROUNDS)
    rows = []
    of_fs = np.array([np.mean(runs["FS"]) for runs in found.values()])
    for label in ("FS", *variants):
        regret = np.array([np.mean(runs[label]) for runs in found.values()])
        excess = regret - (2.0 * of_fs + 0.002)
        worst = " ".join(map(str, list(found)[int(excess.argmax())]))
        rows.append([
            label, str(int((excess <= 0.0).sum())), f"{np.median(regret):.4f}", f"{np.mean(regret):.4f}",
            f"{np.median(regret / of_fs):.2f}", f"{excess.max():.4f}", worst,
        ])  # fmt: skip
    title = f"{len(found)} settings, {len(seeds)} seeds"
    show(title, ["", "within", "median", "mean", "median ratio to FS", "largest excess", "at"], rows)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    main(tuple(sys.argv[2:]) or SETS, range(count), VARIANTS)
