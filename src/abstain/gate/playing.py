"""Many cases at once, as arrays: what a log is replayed in."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ..engine.loop import room_for
from ..engine.play import NO_EDGES, Table
from ..kernels.exp3.answering import FOR_CAPACITY, FOR_LABEL
from ..learners.weighted import WeightedLearner
from ..tables import as_count
from ..typing import Bools, Floats, Ints
from .experts import NO_ANSWER
from .prices import threshold_at, weighed

if TYPE_CHECKING:
    from .gate import Gate


class Block(NamedTuple):
    """Cases of a log, a row a case."""

    confidence: Floats
    """(n, P), in [0, 1]; NaN: no answer."""
    losses: Floats
    """(n, P) of each model's answer, in [0, 1]; 0 where there is none."""
    said: Floats | None = None
    """(n, P) with two classes: -1.0 or +1.0."""
    stake: Floats | None = None
    """(n,) relative to the most stake, in (0, 1]."""
    time: Ints | None = None
    """(n,) microseconds since some origin, not decreasing."""
    due: Ints | None = None
    """(n,) the number of the case, from 0, before which the label is learnt; above its own."""


class PlayedCases(NamedTuple):
    """What the gate did (n,)."""

    reviewed: Bools
    model: Ints
    level: Ints
    """The number of the threshold."""
    threshold: Floats
    """What the confidence had to exceed in the case."""
    loss: Floats
    """Relative to the unit; the cost of a review where it was one."""
    forced: Bools
    """Whether it was answered as there was no capacity left."""
    explored: Bools
    """Whether it was answered, or reviewed, just to see the label."""


Player: TypeAlias = Callable[[Block], PlayedCases]


def inputs(block: Block, two: bool, last_time: int | None) -> Floats:
    """What the gate's experts are shown (n, 2 P + 1)."""
    n, models = block.confidence.shape
    X = np.zeros((n, 2 * models + 1))
    stake = np.ones((1, 1)) if block.stake is None else block.stake[:, np.newaxis]
    missing = np.isnan(block.confidence)
    X[:, :models] = np.where(missing, NO_ANSWER, weighed(block.confidence, stake))
    if two and block.said is not None:
        X[:, models:-1] = np.where(missing, 0.0, block.said * stake)
    if block.time is not None:
        X[:, -1] = np.diff(block.time, prepend=block.time[0] if last_time is None else last_time)
    return X


@contextmanager
def playing(gate: "Gate", delay: int, later: bool) -> Iterator[Player]:
    """Play blocks of cases, one after the other, with labels ``delay`` cases late, or (``later``) when blocks say.

    It does what `decide` and `learn` would, bit for bit. After an exception the gate is as before; Ctrl-C leaves it
    after the cases played, with their labels learnt.
    """
    learner = gate.learner
    with learner.lock:
        before = learner.snapshot(), gate.counts.copy(), gate.last_time
        game = learner.playing(as_count(delay, "delay", least=0), later)

        def play(block: Block) -> PlayedCases:
            X = inputs(block, gate.task.two, gate.last_time)
            n, n_levels = len(X), gate.levels.shape[1]
            out = room_for(n, 2 if isinstance(learner, WeightedLearner) and learner.new_carry().size > 1 else 0)
            costs = learner.cost.of(X, learner.round + 1, n)
            game.play(Table(X, learner.loss.labels(block.losses), costs, block.due), NO_EDGES, _no_progress, out)
            gate.count(X)
            if block.time is not None and n > 0:
                gate.last_time = int(block.time[-1])
            model, level = np.divmod(out.expert, n_levels)
            stake = 1.0 if block.stake is None else block.stake
            threshold = threshold_at(gate.levels[model, level], stake)
            why = out.kept[:, 1] if out.kept.size > 0 else np.zeros(n)
            return PlayedCases(
                out.abstained, model, level, threshold, out.loss, why == FOR_CAPACITY, why == FOR_LABEL
            )  # fmt: skip

        try:
            yield play
        except Exception:
            learner.restore(before[0])
            gate.counts, gate.last_time = before[1:]
            raise
        except BaseException:
            game.finish()
            raise
        game.finish()


def _no_progress(done: int) -> None:
    """A block is short."""
