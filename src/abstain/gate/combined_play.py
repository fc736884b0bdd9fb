"""Tables of cases with the combination of models in them: it answers and learns inside the compiled loop.

What the combination says depends on the labels learnt so far, so that its column of a table is filled in row by row.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..engine import Learner
from ..engine.loop import Arrivals, Expects, Late, Pairs, Played, Rounds
from ..engine.play import NO_EDGES, Playing, PlayingBlocks, Table, Waiting
from ..kernels.compiling import inline, kernel, with_parts
from ..learners.exp3.doubly_robust import DoublyRobust
from ..learners.exp3.stacked import Stacked
from ..learners.exp3.weighted import WeightedLearner
from ..typing import Array, Bools, Floats, Ints
from .combining import Cases, Combination, observed, relative_to
from .experts import NO_ANSWER
from .prices import Prices
from .stack import count_candidates, hear, say


class Kept(NamedTuple):
    """Cases that wait for their label, each at its place."""

    waits: Bools  # (places,)
    code: Ints  # (places, P)
    confidence: Floats  # (places, P)
    truth: Ints  # (places,)
    observed: Floats  # (places,)
    chances: Floats  # (places, candidates, S)


class Terms(NamedTuple):
    """What a game with a combination needs to know."""

    two: bool
    staked: bool
    sees: int  # what the learner sees of an input: 0 nothing of the combination, 1 outcomes, 2 the input itself
    second: float  # the loss of wrongly saying the second of two classes ...
    first: float  # ... and the first
    thresholds: Floats  # (L,) of the combination


play_rows: Any = None
"""A placeholder for the learner's own loop."""


relative = inline(relative_to)


@inline
def put_answer(row: int, i: int, terms: Terms, cases: Cases, chances: Floats, x: Floats, losses: Array, s: Any) -> None:
    """Write the combined answer of a case into its row of inputs and losses, i, and its confidence into the cases."""
    models = cases.code.shape[1]
    kinds = cases.kinds[row if cases.kinds.shape[0] > 1 else 0]
    answer, sure = say(terms.two, cases.code[row], cases.confidence[row], kinds, chances, s)
    sign = 0.0
    if answer < 0:
        sure = NO_ANSWER
        losses[i, models] = 0
    else:
        risk = cases.risk[row, answer]
        if terms.staked:
            if kinds.size > 0:
                sure = relative(sure, risk)
            sure = max(0.0, 1.0 - risk * (1.0 - sure))
        losses[i, models] = cases.lost[row, answer]
        if terms.two:
            sign = min(1.0, risk) if answer == 1 else -min(1.0, risk)
    cases.sure[row], cases.said[row] = sure, answer
    if terms.sees == 1:
        x[i, models] = terms.second * max(sign, 0.0)
        x[i, models + models + 1] = terms.first * max(-sign, 0.0)
    elif terms.sees == 2:
        x[i, models] = sure
        x[i, models + models + 1] = sign


@inline
def keep_case(row: int, place: int, observed: float, cases: Cases, chances: Floats, kept: Kept) -> None:
    """Keep a case until its label comes."""
    kept.waits[place], kept.truth[place], kept.observed[place] = True, cases.truth[row], observed
    for m in range(cases.code.shape[1]):
        kept.code[place, m], kept.confidence[place, m] = cases.code[row, m], cases.confidence[row, m]
    for k in range(chances.shape[0]):
        for j in range(chances.shape[1]):
            kept.chances[place, k, j] = chances[k, j]


@inline
def hear_kept(place: int, seen: bool, two: bool, kept: Kept, s: Any) -> None:
    """Learn a case that waited, if its label came."""
    if kept.waits[place] and seen:
        code = kept.code[place]
        n = count_candidates(two, code)
        hear(two, n, code, kept.confidence[place], kept.truth[place], kept.observed[place], kept.chances[place], s)
    kept.waits[place] = False


def play_combined(
    first: int, t: int, rounds: Rounds, at: Ints, n_edges: Ints, late: Late, arrivals: Arrivals, expects: Expects,
    pairs: Pairs, carry: Array, s: Any, out: Played, begin: int, terms: Terms, cases: Cases, kept: Kept,
    chances: Floats, stacks: Any,
) -> int:  # fmt: skip
    """Play a block as the learner's loop does, with the combined answer as the last predictor; see `engine.loop.play`.

    Row i of the block is row ``begin + i`` of the cases.
    """
    n_levels = terms.thresholds.size
    own = rounds.abstains.shape[1] - n_levels
    for i in range(first, rounds.u.size):
        row, upto = begin + i, i + 1
        put_answer(row, i, terms, cases, chances, rounds.x, rounds.losses, stacks)
        for k in range(n_levels):
            rounds.abstains[i, own + k] = cases.sure[row] <= terms.thresholds[k]
        part = Rounds(
            rounds.u[:upto], rounds.x[:upto], rounds.abstains[:upto], rounds.losses[:upto], rounds.cost[:upto],
            rounds.comes[:upto],
        )  # fmt: skip
        happened = Played(out.expert[:upto], out.abstained[:upto], out.loss[:upto], out.kept[:upto])
        done = play_rows(i, t, part, at, n_edges, late, arrivals, expects, pairs, carry, s, happened)
        if done != upto:
            return int(done)
        if late.expert.size > 0:
            keep_case(row, arrivals.place[i], out.kept[i, 0], cases, chances, kept)
            for j in range(arrivals.first[i], arrivals.first[upto]):
                place = arrivals.come[j]
                hear_kept(place, late.seen[place], terms.two, kept, stacks)
        else:
            abstained = out.abstained[i]
            seen = expects.abstained if abstained else expects.predicted
            if rounds.comes.size > 0:
                seen = seen and rounds.comes[i, np.uint64(abstained)]
            if seen:
                code = cases.code[row]
                n = count_candidates(terms.two, code)
                hear(terms.two, n, code, cases.confidence[row], cases.truth[row], out.kept[i, 0], chances, stacks)
    return int(rounds.u.size)


@cache
def _combined_loop(loop: Any) -> Any:
    """The loop of a learner with the combination in it."""
    own = getattr(loop, "py_func", loop)
    return kernel(with_parts(play_combined, {"play_rows": loop}, f"{play_combined.__name__}_{own.__name__}"))


@kernel
def put_one(row: int, terms: Terms, cases: Cases, chances: Floats, x: Floats, losses: Array, s: Any) -> None:
    """Write the combined answer of a case into its row of inputs and losses."""
    put_answer(row, row, terms, cases, chances, x, losses, s)


@kernel
def keep_one(row: int, place: int, observed: float, cases: Cases, chances: Floats, kept: Kept) -> None:
    """Keep a case until its label comes."""
    keep_case(row, place, observed, cases, chances, kept)


@kernel
def hear_one(place: int, seen: bool, two: bool, kept: Kept, s: Any) -> None:
    """Learn a case that waited, if its label came."""
    hear_kept(place, seen, two, kept, s)


class CombinedGame:
    """A game of tables with the combination in it.

    Args:
        learner: The learner, whose last predictor is the combination.
        combination: The combination.
        thresholds: The thresholds of the combination (L,).
        prices: What mistakes cost.
        delay: By how many cases labels are late.
        later: Whether each table says itself when its labels come.
    """

    def __init__(
        self, learner: Learner, combination: Combination, thresholds: Floats, prices: Prices, delay: int, later: bool
    ) -> None:  # fmt: skip
        self._learner, self._combination, self._two = learner, combination, combination.two
        self.game: Playing = learner.playing(delay, later)
        kind: Any = type(learner)
        sees = {DoublyRobust.see: int(self._two), Stacked.see: int(self._two), WeightedLearner.see: 2}
        whole = isinstance(learner, WeightedLearner) and kind.see in sees and isinstance(self.game, PlayingBlocks)
        self._waiting = None if whole else Waiting(delay)
        loss: Any = learner.loss
        second, first = loss.of_signs or (1.0, 1.0)
        self._terms = Terms(
            self._two, prices.staked, sees[kind.see] if whole else 2, second, first, thresholds.copy()
        )  # fmt: skip
        self._kept = self._room(0)

    def _room(self, n: int) -> Kept:
        combination = self._combination
        kept = Kept(
            np.zeros(n, np.bool_), np.zeros((n, combination.n_models), np.int64), np.zeros((n, combination.n_models)),
            np.zeros(n, np.int64), np.zeros(n), np.zeros((n, *combination.chances.shape)),
        )  # fmt: skip
        if hasattr(self, "_kept"):
            for array, before in zip(kept, self._kept, strict=True):
                array[: len(before)] = before
        return kept

    def play(self, table: Table, cases: Cases, out: Played) -> None:
        """Play a table; the columns of the combination are filled in."""
        if self._waiting is None:
            self._play_whole(table, cases, out)
        else:
            self._play_rows(self._waiting, table, cases, out)
        table.X[:, cases.code.shape[1]] = cases.sure

    def _play_whole(self, table: Table, cases: Cases, out: Played) -> None:
        """Play in compiled code, block after block."""
        assert isinstance(self.game, PlayingBlocks)
        assert isinstance(self._learner, WeightedLearner)
        loop, begin = _combined_loop(self._learner.loop), 0

        def play(first: int, t: int, rounds: Rounds, at: Ints, edges: Ints, late: Late, *rest: Any) -> int:
            nonlocal begin
            if len(self._kept.waits) < len(late.expert):
                self._kept = self._room(len(late.expert))
            one = self._combination
            done: int = loop(
                first, t, rounds, at, edges, late, *rest, begin, self._terms, cases, self._kept, one.chances, one.packed
            )  # fmt: skip
            if done == len(rounds.u):
                begin += done
            return done

        self.game.player = play
        try:
            self.game.play(table, NO_EDGES, _no_progress, out)
        finally:
            self.game.player = None

    def _play_rows(self, waiting: Waiting, table: Table, cases: Cases, out: Played) -> None:
        """Play case after case, with learners of all kinds."""
        learner, one = self._learner, self._combination
        X, y, costs, due, came, _ = table
        for i in range(len(X)):
            row = slice(i, i + 1)
            put_one(i, self._terms, cases, one.chances, X, y, one.packed)
            when = (None if numbers is None else numbers[row] for numbers in (due, came))
            here, when_came = when
            happened = Played._make(array[row] for array in out)
            self.game.play(Table(X[row], y[row], costs[row], here, when_came), NO_EDGES, _no_progress, happened)
            abstained = bool(happened.abstained[0])
            seen = learner.expects[abstained]
            if not learner.chances.sure:
                seen = seen and bool(learner.comes(learner.round, 1)[0, int(abstained)])
            arrivals = waiting.arrange(1, here, when_came)
            if len(self._kept.waits) < waiting.n_places:
                self._kept = self._room(2 * waiting.n_places)
            place = int(arrivals.place[0])
            keep_one(i, place, observed(learner, abstained, happened.kept[0]), cases, one.chances, self._kept)
            if not seen:
                self._kept.waits[place] = False
            for k in arrivals.come.tolist():
                hear_one(k, True, self._two, self._kept, one.packed)


def _no_progress(done: int) -> None:
    """Report nothing: a block is short."""
