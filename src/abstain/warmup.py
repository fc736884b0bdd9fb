"""Compile in advance: for container images, and services that must answer their first request in time."""

import inspect
from collections.abc import Callable, Sequence

import numpy as np

from . import experts, learners
from .engine import KernelLearner
from .errors import InputError
from .gate import Gate
from .gate.frames import Block
from .simulate import simulate

GATE = "Gate"


def compiled_learners() -> dict[str, type[KernelLearner]]:
    """The library's compiled learners, by name."""
    kinds = [getattr(learners, name) for name in learners.__all__]
    return {
        kind.__name__: kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, KernelLearner) and not inspect.isabstract(kind)
    }


def warmup(names: Sequence[str] | None = None, progress: Callable[[str], None] | None = None) -> None:
    """Compile what learners and gates need for whole tables and for single rounds.

    The result is kept where Numba keeps its cache (`NUMBA_CACHE_DIR`, if it is set), so that later processes start at
    once.

    Args:
        names: Names of learners, and "Gate"; None means all.
        progress: Called with each name when it is done.

    Raises:
        InputError: A name is unknown.

    >>> warmup(["UCBGT"])
    """
    known = compiled_learners()
    all_names = (*known, GATE)
    for name in names if names is not None else all_names:
        if name not in all_names:
            raise InputError(f"names: expected some of {', '.join(all_names)}, got {name!r}")
    for name in names if names is not None else all_names:
        if name == GATE:
            _use_gates()
        else:
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
    if kind is learners.FastRates:
        return [learners.FastRates(pairs, cost=0.2, seed=0)]  # all its losses are in {0, 1}
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


def _use_gates() -> None:
    """As the command and a service do: with and without a capacity, combined, losses of 0 and 1, and others."""
    sure, same = np.random.default_rng(0).uniform(0.5, 1.0, (20, 2)), np.ones((20, 2), np.int64)
    block = Block(sure, np.zeros((20, 2)), np.ones((20, 2)), answer=same.astype(np.float64), truth=same[:, 0])
    for capacity, combine in ((None, False), (0.5, False), (None, True)):
        for task in ("binary", "classes", "number"):
            if combine and task == "number":
                continue
            gate = Gate(
                ["a", "b"], cost=0.2, task=task, start=("a", 0.6), capacity=capacity, combine=combine, labels="both",
                seed=0,
            )  # fmt: skip
            gate._teach(block)
            for delay, later in ((0, False), (2, False), (0, True)):
                with gate._playing(delay, later) as play:
                    play(block._replace(due=np.arange(20) + 3) if later else block)
            for answers in ({"a": (1, 0.9)}, {"b": (0, 0.6)}):
                gate.peek(answers)
                gate.learn(gate.decide(answers), 1)
            if gate._combination is not None:
                gate._combination.weigh()  # as reading a file does
