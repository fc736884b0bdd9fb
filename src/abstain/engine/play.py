"""Playing a table: in compiled blocks, or round by round."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..interrupts import held_back
from ..typing import Array, Floats, Ints
from .blocks import blocks
from .loop import Played, Rounds

if TYPE_CHECKING:
    from .kernel_learner import KernelLearner
    from .learner import Learner


def play_blocks(
    learner: "KernelLearner", X: Floats, y: Array, costs: Floats, delay: int, at: Ints, edges: Ints,
    progress: Callable[[int], None], out: Played,
) -> None:  # fmt: skip
    """Play in compiled blocks."""
    experts = learner.experts
    late = learner._new_late(delay) if delay > 0 else None
    first_round, done = learner.round + 1, 0
    sure, as_expected = learner.chances.sure, np.zeros((0, 2), np.bool_)
    scores = np.empty((next(blocks(len(X), experts)).stop, experts.n_predictors))
    with held_back() as deliver_signals:
        try:
            for rows in blocks(len(X), experts):
                advice = experts.advise_block(X[rows], scores)
                losses = learner.loss(advice.predictions, y[rows])
                inside = slice(done, done + int((at[done:] <= rows.stop).sum()))
                done = inside.stop
                rounds = Rounds(
                    learner._draw(rows.stop - rows.start),
                    writeable(learner.see(X[rows], advice, costs[rows])),
                    writeable(learner._of_used(advice.abstains)),
                    writeable(losses),
                    writeable(costs[rows]),
                    as_expected if sure else learner.comes(learner.round + 1, rows.stop - rows.start),
                )
                learner._play_block(
                    rounds,
                    at[inside] - rows.start - 1,
                    edges[inside],
                    late,
                    Played(out.expert[rows], out.abstained[rows], out.loss[rows]),
                )
                learner.round += rows.stop - rows.start
                progress(rows.stop)
                deliver_signals()
        finally:
            if late is not None:
                learner._settle(max(first_round, learner.round - delay + 1), learner.round, late)


def writeable(array: Array) -> Array:
    """The array, in the one form that kernels are compiled for: contiguous, and not read-only."""
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


def play_rounds(
    learner: "Learner", X: Floats, y: Array, delay: int, at: Ints, edges: Ints, progress: Callable[[int], None],
    out: Any,
) -> None:  # fmt: skip
    """Play round by round: for learners and graphs written in Python."""
    open_rounds: dict[int, Any] = {}
    checkpoint = 0
    try:
        for i, row in enumerate(X):
            if checkpoint < len(at) and at[checkpoint] == i + 1:
                edges[checkpoint] = learner.n_edges(row)
                checkpoint += 1
            decision = learner.decide(row)
            out.expert[i], out.abstained[i], out.loss[i] = decision.expert, decision.abstained, decision.cost
            if learner.expects[decision.abstained]:
                open_rounds[i] = decision
            if not decision.abstained:
                losses = learner.loss(decision.predictions[np.newaxis], y[i : i + 1])
                out.loss[i] = losses[0, learner.experts.predictor_of[decision.expert]]
            if i - delay in open_rounds:
                learner.close(open_rounds.pop(i - delay), y[i - delay])
            if (i + 1) % 1000 == 0 or i + 1 == len(X):
                progress(i + 1)
    finally:
        for i, decision in open_rounds.items():
            learner.close(decision, y[i])
