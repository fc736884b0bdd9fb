"""Compiling beforehand: for container images, and services that must answer their first request in time."""

import inspect
from collections.abc import Callable, Sequence

import numpy as np

from . import experts, learners
from .engine import KernelLearner
from .errors import InputError
from .simulate import simulate


def compiled_learners() -> dict[str, type[KernelLearner]]:
    """The library's compiled learners, by name."""
    kinds = [getattr(learners, name) for name in learners.__all__]
    return {
        kind.__name__: kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, KernelLearner) and not inspect.isabstract(kind)
    }


def warmup(names: Sequence[str] | None = None, progress: Callable[[str], None] | None = None) -> None:
    """Compile what these learners (all, unless named) need for whole tables and for single rounds.

    What was compiled is kept where Numba keeps its cache (`NUMBA_CACHE_DIR`, if it is set), so that later processes
    start at once. ``progress`` is called with the name of each learner when it is done.

    >>> warmup(["UCBGT"])
    """
    known = compiled_learners()
    for name in names if names is not None else known:
        if name not in known:
            raise InputError(f"names: expected some of {', '.join(known)}, got {name!r}")
    for name in names if names is not None else known:
        for learner in _examples(known[name]):
            _use(learner)
        if progress is not None:
            progress(name)


def _examples(kind: type[KernelLearner]) -> list[KernelLearner]:
    """Learners of that kind for every type of array that kernels are compiled for: losses in {0, 1}, and real ones."""
    if kind is learners.ContExp3Abs:
        options = ({"actions": "three"}, {"actions": "grid", "gamma": 0.5})
        return [learners.ContExp3Abs(2, cost=1.0, epsilon=1.0, seed=0, **one) for one in options]
    pairs = experts.hyperplanes(2, 2, 2, seed=0)
    return [kind(pairs, cost=1.0, loss=loss, seed=0) for loss in ("zero_one", "ramp")]


def _use(learner: KernelLearner) -> None:
    """Play, with labels at once and late, by tables and by single rounds."""
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    for delay in (0, 2):
        simulate(learner, X, y, delay=delay, checkpoints=[1])
    for x, label in zip(X, y, strict=True):
        learner.peek(x)
        decision = learner.decide(x)
        if decision.round in learner.pending:
            learner.learn(decision, label)
    for decision in map(learner.decide, X):
        if decision.round in learner.pending:
            learner.forget(decision)
    learner.n_edges(X[0])
    learner.contents()
