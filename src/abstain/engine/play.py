"""Playing tables, one after the other: in compiled blocks, or round by round. Labels may come during a later one."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..interrupts import held_back
from ..typing import Array, Floats, Ints
from .loop import Arrivals, Late, Played, Rounds
from .prepared import Prepared
from .waiting import Waiting

if TYPE_CHECKING:
    from .kernel_learner import KernelLearner
    from .learner import Learner


class Table(NamedTuple):
    """Rounds to play, checked."""

    X: Floats
    y: Array
    costs: Floats
    due: Ints | None = None
    """The round, counted from 0 at the beginning of the game, before which each label is learnt; None: by the delay."""
    prepared: Prepared | None = None
    """The same rounds, where what the experts say and lose was worked out before."""


class Edges(NamedTuple):
    """Where the edges of the graph in use are counted."""

    at: Ints
    """1-based rounds of the table ..."""
    counts: Ints
    """... and what was counted there."""


NO_EDGES = Edges(np.zeros(0, np.int64), np.zeros(0, np.int64))


class Playing(ABC):
    """A game of several tables in a row."""

    @abstractmethod
    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        """Play a table into the arrays of ``out``."""

    @abstractmethod
    def finish(self) -> None:
        """Learn all labels that are still to come."""


class PlayingBlocks(Playing):
    """A game of a compiled learner."""

    def __init__(self, learner: "KernelLearner", delay: int, later: bool) -> None:
        self._learner = learner
        self._waiting = Waiting(delay) if delay > 0 or later else None
        self._late: Late | None = None

    def _arrange(self, n: int, due: Ints | None) -> Arrivals | None:
        if self._waiting is None:
            return None
        arrivals = self._waiting.arrange(n, due)
        if self._late is None or len(self._late.expert) < self._waiting.n_places:
            self._late = self._learner._new_late(self._waiting.n_places, self._late)
        return arrivals

    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        """Play in compiled blocks."""
        learner, experts, done = self._learner, self._learner.experts, 0
        sure, as_expected = learner.chances.sure, np.zeros((0, 2), np.bool_)
        X, y, costs, due, prepared = table
        given = Prepared(experts, X, y, learner.loss, keep=False) if prepared is None else prepared
        room = 0 if given.kept else next(given.blocks(), slice(0, 0)).stop
        scores = np.empty((room, experts.n_predictors))
        with held_back() as deliver_signals:
            for rows in given.blocks():
                n = rows.stop - rows.start
                advice = given.advice(rows, scores)
                inside = slice(done, done + int((edges.at[done:] <= rows.stop).sum()))
                done = inside.stop
                rounds = Rounds(
                    learner._draw(n),
                    writeable(learner.see(X[rows], advice, costs[rows])),
                    writeable(learner._of_used(advice.abstains)),
                    writeable(given.losses(rows, advice)),
                    writeable(costs[rows]),
                    as_expected if sure else learner.comes(learner.round + 1, n),
                )
                arrivals = self._arrange(n, None if due is None else due[rows])
                learner._play_block(
                    rounds,
                    edges.at[inside] - rows.start - 1,
                    edges.counts[inside],
                    self._late,
                    arrivals,
                    Played(out.expert[rows], out.abstained[rows], out.loss[rows], out.kept[rows]),
                )
                learner.round += n
                progress(rows.stop)
                deliver_signals()

    def finish(self) -> None:
        if self._waiting is not None and self._late is not None:
            self._learner._settle(self._waiting.left(), self._late)


def writeable(array: Array) -> Array:
    """The array, in the one form that kernels are compiled for: contiguous, and not read-only."""
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


class PlayingRounds(Playing):
    """A game of a learner, or with a graph, written in Python."""

    def __init__(self, learner: "Learner", delay: int) -> None:
        self._learner, self._waiting = learner, Waiting(delay)
        self._open: dict[int, tuple[Any, Any]] = {}
        """The decision and the label of each round that waits, by its place."""

    def _close(self, place: int) -> None:
        if place in self._open:
            self._learner.close(*self._open.pop(place))

    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        """Play round by round."""
        learner, checkpoint = self._learner, 0
        for i, row in enumerate(table.X):
            arrivals = self._waiting.arrange(1, None if table.due is None else table.due[i : i + 1])
            if checkpoint < len(edges.at) and edges.at[checkpoint] == i + 1:
                edges.counts[checkpoint] = learner.n_edges(row)
                checkpoint += 1
            decision = learner.decide(row)
            out.expert[i], out.abstained[i], out.loss[i] = decision.expert, decision.abstained, decision.cost
            out.kept[i] = decision.carry[: out.kept.shape[1]]
            if learner.expects[decision.abstained]:
                self._open[int(arrivals.place[0])] = decision, table.y[i]
            if not decision.abstained:
                losses = learner.loss(decision.predictions[np.newaxis], table.y[i : i + 1])
                out.loss[i] = losses[0, learner.experts.predictor_of[decision.expert]]
            for place in arrivals.come:
                self._close(int(place))
            if (i + 1) % 1000 == 0 or i + 1 == len(table.X):
                progress(i + 1)

    def finish(self) -> None:
        for place in self._waiting.left():
            self._close(int(place))
