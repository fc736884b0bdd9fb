"""Playing a whole table."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .experts import ExpertSet
from .interrupts import held_back
from .kernels.play import Played
from .learners.base import Learner
from .learners.compiled import CompiledLearner
from .losses import Loss
from .tables import as_count, as_table, plain
from .trace import Trace

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

BLOCK_BYTES = 1 << 19
"""Predictions and abstentions held at once: a block of rounds should stay in the processor's cache ..."""
BLOCK_ROWS = 256
"""... but have no fewer rounds than this, to be worth its overhead."""


def blocks(n: int, experts: ExpertSet) -> Iterator[slice]:
    """The rows 0, ..., n - 1 in blocks of a size that suits the number of predictors and rules."""
    rows = max(BLOCK_ROWS, BLOCK_BYTES // experts.row_bytes)
    for first in range(0, n, rows):
        yield slice(first, min(n, first + rows))


def as_labels(y: ArrayLike, n: int, loss: Loss) -> NDArray[Any]:
    """Labels the loss can judge, one a round."""
    array = plain(y, "y")
    if array.ndim == 0 or len(array) != n:
        raise InputError(f"y: expected {n} labels, one for each row of X, got shape {array.shape}")
    return loss.labels(array)


def _as_checkpoints(checkpoints: ArrayLike | None, n: int) -> Ints:
    if checkpoints is None:
        return np.zeros(0, np.int64)
    array = plain(checkpoints, "checkpoints")
    if array.ndim != 1 or (len(array) > 0 and array.dtype.kind not in "iu"):
        raise InputError(f"checkpoints: expected rounds as integers, got {array.dtype} of shape {array.shape}")
    rounds = array.astype(np.int64)
    if len(rounds) > 0 and (rounds.min() < 1 or rounds.max() > n or (np.diff(rounds) <= 0).any()):
        raise InputError(f"checkpoints: expected increasing rounds from 1 to {n}, got {array}")
    return rounds


def simulate(
    learner: Learner,
    X: ArrayLike,
    y: ArrayLike,
    *,
    checkpoints: ArrayLike | None = None,
    delay: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Play the rows of a table, exactly as that many calls of `decide` and `learn` would.

    X is (T, d), y (T,); labels of rounds that abstain are not used. ``checkpoints`` are the rounds, 1-based, at which
    the edges of the graph in use are counted. With ``delay=n`` the label of round t is learnt just before round t + n
    + 1 is decided, the rest at the end. ``progress`` is called now and then with the number of rounds played so far.

    After an exception the learner is as before the call. Ctrl-C leaves it after the last whole block of rounds, with
    the labels of those learnt; a further call goes on from there. (Labels that wait when ``progress`` is called are
    in no file saved there.)

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=1000, seed=0)
    >>> learner = ab.UCBGT(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2)
    >>> trace = ab.simulate(learner, X, y, checkpoints=[1, 1000])
    >>> len(trace), trace.edges
    (1000, array([40000,  2000]))
    """
    if not isinstance(learner, Learner):
        raise InputError(f"learner: expected a Learner, got {type(learner).__name__}")
    table = as_table(X, learner.experts.n_features)
    learner.experts.check_inputs(table)
    labels = as_labels(y, len(table), learner.loss)
    at = _as_checkpoints(checkpoints, len(table))
    wait = min(as_count(delay, "delay", least=0), len(table))
    costs = np.ascontiguousarray(learner.cost.of(table, learner.round + 1, len(table)))
    out = Played(np.empty(len(table), np.int64), np.empty(len(table), np.bool_), np.empty(len(table)))
    trace = Trace(*out, checkpoints=at, edges=np.zeros(len(at), np.int64))
    before = learner._snapshot()
    try:
        if isinstance(learner, CompiledLearner) and learner.compiled:
            _play_compiled(learner, table, labels, costs, wait, progress, trace)
        else:
            _play_rounds(learner, table, labels, wait, progress, trace)
    except Exception:
        learner._restore(before)
        raise
    surrogate = learner._surrogate(trace.expert, labels, costs)
    return trace if surrogate is None else replace(trace, surrogate=surrogate[0], gamma=surrogate[1])


def _play_compiled(
    learner: CompiledLearner, X: Floats, y: NDArray[Any], costs: Floats, delay: int, progress: Any, trace: Trace
) -> None:
    """Play in compiled blocks."""
    late = learner._new_late(delay) if delay > 0 else None
    first_round, done = learner.round + 1, 0
    scores = np.empty((next(blocks(len(X), learner.experts)).stop, learner.experts.n_predictors))
    with held_back() as deliver_signals:
        try:
            for rows in blocks(len(X), learner.experts):
                advice = learner.experts.advise_block(X[rows], scores)
                losses = learner.loss(advice.predictions, y[rows])
                inside = slice(done, done + int((trace.checkpoints[done:] <= rows.stop).sum()))
                done = inside.stop
                learner._play(
                    X[rows], advice, losses, costs[rows], trace.checkpoints[inside] - rows.start - 1,
                    trace.edges[inside], late, Played(trace.expert[rows], trace.abstained[rows], trace.loss[rows]),
                )  # fmt: skip
                learner.round += rows.stop - rows.start
                if progress is not None:
                    progress(rows.stop)
                deliver_signals()
        finally:
            if late is not None:
                for t in range(max(first_round, learner.round - delay + 1), learner.round + 1):
                    learner._learn_late(t % delay, late)


def _play_rounds(learner: Learner, X: Floats, y: NDArray[Any], delay: int, progress: Any, trace: Trace) -> None:
    """Play round by round: for learners and graphs written in Python."""
    open_rounds: dict[int, Any] = {}
    next_checkpoint = 0
    try:
        for i, rows in enumerate(X):
            advice = learner.experts.advise_block(rows[np.newaxis])
            if next_checkpoint < len(trace.checkpoints) and trace.checkpoints[next_checkpoint] == i + 1:
                trace.edges[next_checkpoint] = learner.n_edges(rows)
                next_checkpoint += 1
            decision = learner.decide(rows)
            trace.expert[i], trace.abstained[i], trace.loss[i] = decision.expert, decision.abstained, decision.cost
            if learner.supervised or not decision.abstained:
                open_rounds[i] = decision
            if not decision.abstained:
                loss = learner.loss(advice.predictions, y[i : i + 1])
                trace.loss[i] = loss[0, learner.experts.predictor_of[decision.expert]]
            if i - delay in open_rounds:
                learner.learn(open_rounds.pop(i - delay), y[i - delay])
            if progress is not None and ((i + 1) % 1000 == 0 or i + 1 == len(X)):
                progress(i + 1)
    finally:
        for i, decision in open_rounds.items():
            learner.learn(decision, y[i])
