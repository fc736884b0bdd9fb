"""Games: prepared tables, rounds that wait for their label, and a learner playing table after table."""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.signals import held_back
from ..experts import Advice, ExpertSet
from ..kernels import passes
from ..losses import Loss
from ..typing import Array, Bools, Floats, Ints
from .loop import Arrivals, Played

if TYPE_CHECKING:
    from .kernel_learner import KernelLearner
    from .learner import Learner

BLOCK_BYTES = 1 << 20
"""Predictions and abstentions held at once: a block of rounds should stay in the processor's cache."""
BLOCK_ROWS = 256
"""The least number of rounds in a block, to be worth its overhead."""


def blocks(first: int, last: int, row_bytes: int) -> Iterator[slice]:
    """Split rows into blocks.

    Args:
        first: The first row.
        last: The row after the last one.
        row_bytes: What the advice on a row takes.

    Returns:
        Slices of rows, one after the other.
    """
    rows = max(BLOCK_ROWS, BLOCK_BYTES // row_bytes)
    for start in range(first, last, rows):
        yield slice(start, min(last, start + rows))


class KnownAdvice(Advice):
    """Advice on rows of prepared rounds: abstentions are known, predictions are computed on demand."""

    _rounds: "Prepared"
    _rows: slice

    def __init__(self, rounds: "Prepared", rows: slice, abstains: Bools) -> None:
        for name, value in (("_rounds", rounds), ("_rows", rows), ("abstains", abstains)):
            object.__setattr__(self, name, value)

    @cached_property
    def predictions(self) -> Array:
        return self._rounds.experts.advise_block(self._rounds.X[self._rows]).predictions

    def __len__(self) -> int:
        return len(self.abstains)

    def outcomes(self, loss: Loss) -> Array | None:
        return self._rounds.outcomes(self._rows) if loss == self._rounds.loss else super().outcomes(loss)


class Prepared:
    """A table with its labels, and what the experts say and lose on it: what `abstain.prepare` returns.

    Args:
        experts: The experts.
        X: The inputs (n, d), checked.
        y: The labels (n,), checked.
        loss: The loss.
        keep: Whether to hold losses and abstentions in memory: one byte per predictor and rule of a round, or eight per
            predictor where losses are not 0 or 1. Otherwise, or where a byte cannot hold the losses of either label,
            they are computed whenever they are needed, to the same last bit.
    """

    def __init__(self, experts: ExpertSet, X: Floats, y: Array, loss: Loss, keep: bool = True) -> None:
        self.experts, self.X, self.y, self.loss = experts, X, y, loss
        either = keep and len(X) > 0 and loss._outcomes(experts.advise_block(X[:1]).predictions) is not None
        self.kept = keep and len(X) > 0 and (loss.binary or not either)
        self._coded = either
        """Whether losses are kept for either label, as ``l(-1) + 2 l(+1)``."""
        if self.kept:
            self._losses = np.empty((len(X), experts.n_predictors), np.uint8 if loss.binary else np.float64)
            self._abstains = np.empty((len(X), experts.n_rules), np.bool_)
            for rows in blocks(0, len(X), experts.row_bytes):
                self._compute(rows)

    def _compute(self, rows: slice) -> None:
        advice = self.experts.advise_block(self.X[rows])
        both = self.loss._outcomes(advice.predictions) if self._coded else None
        if both is None:
            self._losses[rows] = self.loss(advice.predictions, self.y[rows])
        else:
            self._losses[rows] = both[..., 0] | both[..., 1] << 1
        self._abstains[rows] = advice.abstains

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"<{len(self)} rounds of {self.experts!r}>"

    @property
    def n_bytes(self) -> int:
        """The memory that the rounds take."""
        return self.X.nbytes + (self._losses.nbytes + self._abstains.nbytes if self.kept else 0)

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[slice]:
        """Split rows into blocks of a suitable size.

        Args:
            first: The first row.
            last: The row after the last one; None: all.

        Returns:
            Slices of rows.
        """
        width = self.experts.row_bytes
        if self.kept:
            width = self._losses.itemsize * self.experts.n_predictors + self.experts.n_rules
        return blocks(first, len(self) if last is None else last, width)

    def advice(self, rows: slice, out: Floats | None = None) -> Advice:
        """Return what the experts say.

        Args:
            rows: The rows.
            out: Room for predictions.

        Returns:
            The advice on these rows.
        """
        if self.kept:
            return KnownAdvice(self, rows, self._abstains[rows])
        return self.experts.advise_block(self.X[rows], out)

    def losses(self, rows: slice, advice: Advice) -> Array:
        """Return the loss of each predictor.

        Args:
            rows: The rows.
            advice: The advice on them.

        Returns:
            The losses (n, P).
        """
        if not self.kept:
            return self.loss(advice.predictions, self.y[rows])
        if not self._coded:
            return self._losses[rows]
        values = np.empty((rows.stop - rows.start, self.experts.n_predictors), np.uint8)
        passes.of_label(self._losses[rows], self.y[rows], values)
        return values

    def losses_of(self, predictor: int, rows: slice, advice: Advice) -> Array:
        """Return the losses of one predictor.

        Args:
            predictor: Its index.
            rows: The rows.
            advice: The advice on them.

        Returns:
            The losses (n,).
        """
        if self.kept:
            return np.asarray(self.losses(rows, advice)[:, predictor])
        return np.asarray(self.loss(advice.predictions[:, [predictor]], self.y[rows])[:, 0])

    def outcomes(self, rows: slice) -> Array | None:
        """Return the losses for either label.

        Args:
            rows: The rows.

        Returns:
            The losses (n, P, 2) if the label is -1, and if it is +1; None where labels are others.
        """
        if not self._coded:
            return None
        codes = self._losses[rows]
        return np.stack([codes & 1, codes >> 1], axis=-1)


def bytes_kept(experts: ExpertSet, n: int, loss: Loss) -> int:
    """Compute the memory that n rounds take if they are kept."""
    return n * (experts.n_predictors * (1 if loss.binary else 8) + experts.n_rules)


class Waiting:
    """Places for the rounds of a game that wait to be learnt. Rounds are numbered from 0 here.

    Args:
        delay: By how many rounds labels are late, unless a table says itself when each comes.
    """

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self.played = 0
        self.n_places = delay + 1
        self._open: list[tuple[int, int, int, int]] = []
        """A heap of rounds whose table says when their label comes: before which round, in which order there, the round
        itself, its place."""
        self._free: list[int] = []

    def arrange(self, n: int, due: Ints | None, came: Ints | None = None) -> Arrivals:
        """Find places for the coming rounds.

        Args:
            n: How many there are.
            due: The round before which each label is learnt (n,). None: by the delay.
            came: Among labels that are learnt before the same round, the lowest of these numbers goes first, and then
                the earlier round.

        Returns:
            The places, and which labels come after each round.
        """
        first, self.played = self.played, self.played + n
        if due is None:
            rounds = np.arange(first, first + n)
            come = rounds[rounds >= self.delay] - self.delay
            counts = np.cumsum(rounds >= self.delay)
            return Arrivals(rounds % self.n_places, np.append(0, counts), come % self.n_places)
        place, starts, come_at = np.empty(n, np.int64), np.zeros(n + 1, np.int64), []
        for i in range(n):
            place[i] = self._take()
            heapq.heappush(self._open, (int(due[i]), 0 if came is None else int(came[i]), first + i, int(place[i])))
            while self._open and self._open[0][0] <= first + i + 1:
                come_at.append(self._give_back())
            starts[i + 1] = len(come_at)
        return Arrivals(place, starts, np.array(come_at, np.int64))

    def left(self) -> Ints:
        """Return the places of all rounds that still wait, in the order in which they are learnt."""
        rounds = np.arange(max(0, self.played - self.delay), self.played)
        if not self._open and not self._free:
            return np.asarray(rounds % self.n_places)
        return np.array([self._give_back() for _ in range(len(self._open))], np.int64)

    def _take(self) -> int:
        if not self._free:
            self._free.append(len(self._open))
            self.n_places = max(self.n_places, len(self._open) + 1)
        return self._free.pop()

    def _give_back(self) -> int:
        *_, place = heapq.heappop(self._open)
        self._free.append(place)
        return place


class Table(NamedTuple):
    """A table of rounds to play, checked."""

    X: Floats
    y: Array
    costs: Floats
    due: Ints | None = None
    """The round, counted from 0 at the beginning of the game, before which each label is learnt; None: by the delay."""
    came: Ints | None = None
    """With ``due``: of labels that are learnt before the same round, the lowest number goes first; None: the earliest
    round."""
    prepared: Prepared | None = None
    """The same rounds, where `prepare` computed what the experts say and lose."""

    def part(self, rows: slice) -> "Table":
        """Return some of the rows; what was prepared is left out."""
        due, came = (None if numbers is None else numbers[rows] for numbers in (self.due, self.came))
        return Table(self.X[rows], self.y[rows], self.costs[rows], due, came)


class Edges(NamedTuple):
    """Where the edges of the graph in use are counted."""

    at: Ints
    """1-based rounds of the table."""
    counts: Ints
    """Room for the numbers."""


NO_EDGES = Edges(np.zeros(0, np.int64), np.zeros(0, np.int64))


class Playing(ABC):
    """A game of several tables in a row."""

    @abstractmethod
    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        """Play a table.

        Args:
            table: The rounds.
            edges: Where edges are counted.
            progress: Called now and then with the number of rounds played so far.
            out: Room for what happens.
        """

    @abstractmethod
    def finish(self) -> None:
        """Learn all rounds that wait, with the labels that are still to come."""

    @abstractmethod
    def leave(self) -> None:
        """Leave rounds as they are: those whose label is still to come stay open, those without a label wait."""


NO_ARRIVALS = Arrivals(*(np.zeros(0, np.int64) for _ in Arrivals._fields))
"""Where labels are learnt at once."""


class PlayingBlocks(Playing):
    """A game of a compiled learner, in blocks of rounds.

    Args:
        learner: The learner.
        delay: By how many rounds labels are late.
        later: Whether each table says itself when its labels come.
    """

    def __init__(self, learner: "KernelLearner", delay: int, later: bool) -> None:
        self._learner = learner
        self._waiting = Waiting(delay) if delay > 0 or later else None
        learner.catch_up()
        self._late = learner.new_late(0, None)
        self.player: Callable[..., int] | None = None
        """What is called with the arguments of the learner's compiled loop, instead of it."""

    def _arrange(self, n: int, due: Ints | None, came: Ints | None) -> Arrivals:
        if self._waiting is None:
            return NO_ARRIVALS
        arrivals = self._waiting.arrange(n, due, came)
        if len(self._late.expert) < self._waiting.n_places:
            self._late = self._learner.new_late(self._waiting.n_places, self._late)
        return arrivals

    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        learner, experts, done = self._learner, self._learner.experts, 0
        X, y, costs, due, came, prepared = table
        given = Prepared(experts, X, y, learner.loss, keep=False) if prepared is None else prepared
        room = 0 if given.kept else next(given.blocks(), slice(0, 0)).stop
        scores = np.empty((room, experts.n_predictors))
        with held_back() as deliver_signals:
            for rows in given.blocks():
                advice = given.advice(rows, scores)
                inside = slice(done, int(edges.at.searchsorted(rows.stop, "right")))
                done = inside.stop
                when = (None if numbers is None else numbers[rows] for numbers in (due, came))
                arrivals = self._arrange(rows.stop - rows.start, *when)
                learner.play_block(
                    X[rows],
                    advice,
                    given.losses(rows, advice),
                    costs[rows],
                    edges.at[inside] - rows.start - 1,
                    edges.counts[inside],
                    self._late,
                    arrivals,
                    Played(out.expert[rows], out.abstained[rows], out.loss[rows], out.kept[rows]),
                    self.player,
                )
                self._hear(out.abstained[rows])
                progress(rows.stop)
                deliver_signals()

    def _hear(self, abstained: Bools) -> None:
        """Tell the learner how late labels are."""
        learner, backlog = self._learner, self._learner._backlog
        if self._waiting is not None:
            backlog.heard(*self._late.heard.tolist())
            return
        after_predicting, after_abstaining = learner.expects
        heard = np.flatnonzero(np.where(abstained, after_abstaining, after_predicting))
        if len(heard) > 0:
            t = learner.round - len(abstained) + 1 + int(heard[-1])
            backlog.heard(t, 0)

    def finish(self) -> None:
        if self._waiting is not None:
            self._learner.settle(self._waiting.left(), self._late)

    def leave(self) -> None:
        self._learner.leave_open(self._late)


def writeable(array: Array) -> Array:
    """Return an array in the one form that kernels are compiled for: contiguous, and not read-only."""
    return array if array.flags.c_contiguous and array.flags.writeable else array.copy(order="C")


class PlayingRounds(Playing):
    """A game of a learner, or with a graph, written in Python, round by round.

    Args:
        learner: The learner.
        delay: By how many rounds labels are late.
    """

    def __init__(self, learner: "Learner", delay: int) -> None:
        learner.catch_up()
        self._learner, self._waiting = learner, Waiting(delay)
        self._open: dict[int, tuple[Any, Any]] = {}
        """The decision and the label of each round that waits, by its place."""

    def _close(self, place: int) -> None:
        decision, label = self._open.pop(place)
        if self._learner.expects[decision.abstained]:
            self._learner.close(decision, label)
        else:
            self._learner.miss(decision)

    def play(self, table: Table, edges: Edges, progress: Callable[[int], None], out: Played) -> None:
        learner, checkpoint = self._learner, 0
        for i, row in enumerate(table.X):
            when = (None if numbers is None else numbers[i : i + 1] for numbers in (table.due, table.came))
            arrivals = self._waiting.arrange(1, *when)
            if checkpoint < len(edges.at) and edges.at[checkpoint] == i + 1:
                edges.counts[checkpoint] = learner.n_edges(row)
                checkpoint += 1
            decision = learner.decide_only(row)
            out.expert[i], out.abstained[i], out.loss[i] = decision.expert, decision.abstained, decision.cost
            out.kept[i] = decision.carry[: out.kept.shape[1]]
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

    def leave(self) -> None:
        for one, _ in sorted(self._open.values(), key=lambda item: int(item[0].round)):
            if not self._learner.expects[one.abstained]:
                self._learner.leave(one.round, one.expert, one.cost, one.abstains, one.carry)
        self._open.clear()
