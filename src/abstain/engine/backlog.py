"""Rounds that were decided but are not learnt yet: rounds without a label, and labels that came before their time."""

import copy
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..typing import Array
from .decision import Decision

MOST_WAITING = 65_536
"""How many rounds without a label wait at most; then the oldest is learnt."""


class Backlog:
    """Rounds that a learner has decided and not learnt yet, and when they may be learnt.

    A round without a label (in the paper's protocol: one that abstained) is learnt when

    1. a later decision was learnt, or
    2. no label of an earlier decision is awaited, and the round is as old as the newest decision was whose label came.

    The label of an open decision is awaited until that of a later decision has come: then it is overdue, and may never
    come. A learner that hears nothing changes nothing: while labels are awaited, only the label of a later decision
    releases a round. With labels at once no round waits. Where rounds are learnt at an age that somebody else watches
    (`ripe`), a round without a label waits for that age, and for labels of earlier decisions that are awaited.
    """

    def __init__(self) -> None:
        self.unlabelled: deque[Decision] = deque()
        """Rounds without a label, in increasing order."""
        self.awaited: OrderedDict[int, None] = OrderedDict()
        """Rounds later than `newest` whose label was not learnt yet, in increasing order."""
        self.early: dict[int, tuple[Decision, Array | None]] = {}
        """By round: decisions whose label came before its time, and the losses; None if the label will not come."""
        self.newest = 0
        """The newest round that was learnt after its label had come, or had turned out not to come ..."""
        self.lag = 0
        """... and by how many rounds it was late."""
        self.ripe: int | None = None
        """The last round that is old enough to be learnt; None: all are."""

    def rounds(self) -> tuple[int, ...]:
        """Return the rounds that wait, in increasing order."""
        return tuple(sorted([*(one.round for one in self.unlabelled), *self.early]))

    def decisions(self) -> Iterator[Decision]:
        """Return the decisions that wait."""
        yield from self.unlabelled
        for decision, _ in self.early.values():
            yield decision

    def heard(self, t: int, lag: int) -> None:
        """Take note that round ``t`` was learnt ``lag`` rounds late."""
        if t > self.newest:
            self.newest, self.lag = t, lag
            awaited = self.awaited
            while awaited:
                first, _ = awaited.popitem(last=False)
                if first > t:
                    awaited[first] = None
                    awaited.move_to_end(first, last=False)
                    break

    def await_labels(self, rounds: Iterable[int]) -> None:
        """Wait for the labels of open rounds, after a file was read."""
        waiting = self.rounds()
        rounds = sorted([*rounds, *self.early])
        if len({*rounds, *waiting}) < len(rounds) + len(self.unlabelled):
            raise ValueError("a round that waits is open, too")
        self.awaited = OrderedDict.fromkeys(t for t in rounds if t > self.newest)

    def may_learn_first(self, now: int) -> bool:
        """Say whether the first round without a label may be learnt, after ``now`` rounds."""
        t = self.unlabelled[0].round
        if self.ripe is not None and t > self.ripe:
            return False
        if t < self.newest or (len(self.unlabelled) > MOST_WAITING and self.ripe is None):
            return True
        if self.awaited and next(iter(self.awaited)) < t:
            return False
        return self.ripe is not None or now - t >= self.lag

    def translate(self, decide: Callable[[Decision], Decision], losses: Callable[[Array], Array]) -> None:
        """Translate all that waits to other experts.

        Args:
            decide: Translates a decision.
            losses: Translates the losses of predictors.
        """
        self.unlabelled = deque(map(decide, self.unlabelled))
        self.early = {t: (decide(d), None if y is None else losses(y)) for t, (d, y) in self.early.items()}

    def copy(self) -> "Backlog":
        """Copy it. Decisions never change, so they are shared."""
        other = copy.copy(self)
        other.unlabelled, other.awaited, other.early = self.unlabelled.copy(), self.awaited.copy(), self.early.copy()
        return other

    def __deepcopy__(self, known: Any) -> "Backlog":
        return self.copy()

    def to_file(self, n_predictors: int, n_rules: int) -> tuple[list[int | None], dict[str, Array]]:
        """Describe it as plain values and arrays."""
        rows: list[tuple[Decision, int, Array | None]] = [(one, WITHOUT, None) for one in self.unlabelled]
        rows += [(one, FORGOTTEN if y is None else LABELLED, y) for one, y in self.early.values()]
        rows.sort(key=lambda row: row[0].round)
        values = np.zeros((len(rows), n_predictors))
        abstains = np.zeros((len(rows), n_rules), np.bool_)
        for i, (one, _, y) in enumerate(rows):
            abstains[i] = one.abstains
            if y is not None:
                values[i] = y
        carries = [one.carry for one, _, _ in rows]
        return [self.newest, self.lag, self.ripe], {
            "waiting.rounds": np.array([one.round for one, _, _ in rows], np.int64),
            "waiting.experts": np.array([one.expert for one, _, _ in rows], np.int64),
            "waiting.costs": np.array([one.cost for one, _, _ in rows], np.float64),
            "waiting.kinds": np.array([kind for _, kind, _ in rows], np.int64),
            "waiting.abstains": abstains,
            "waiting.losses": values,
            "waiting.sizes": np.array([len(carry) for carry in carries], np.int64),
            "waiting.carry": np.concatenate(carries) if carries else np.zeros(0),
        }

    @classmethod
    def from_file(
        cls, values: Any, arrays: Mapping[str, Array], make: Callable[..., Decision], n_predictors: int, last: int,
        binary: bool,
    ) -> "Backlog":  # fmt: skip
        """Read what `to_file` wrote and check it; a `ValueError` says what is wrong.

        Args:
            values: The plain values.
            arrays: The arrays.
            make: Makes a decision of a round, an expert, a cost, abstentions and what is carried; it checks them.
            n_predictors: The number of predictors.
            last: The number of rounds decided.
            binary: Whether losses are 0 or 1.
        """
        self = cls()
        newest, lag, ripe = values
        numbers = (newest, lag, 0 if ripe is None else ripe)
        if not all(type(number) is int for number in numbers) or min(numbers) < 0 or max(newest + lag, *numbers) > last:
            raise ValueError(f"the last label came in {values!r:.100} of {last} rounds")
        self.newest, self.lag, self.ripe = newest, lag, ripe
        rounds, kinds, sizes = (_whole(arrays[f"waiting.{name}"]) for name in ("rounds", "kinds", "sizes"))
        experts, costs = _whole(arrays["waiting.experts"]), arrays["waiting.costs"]
        abstains, losses, carry = (arrays[f"waiting.{name}"] for name in ("abstains", "losses", "carry"))
        n = len(rounds)
        if any(len(array) != n for array in (kinds, sizes, experts, costs, abstains, losses)) or sizes.sum() != len(
            carry
        ):
            raise ValueError("rounds that wait have parts of different lengths")
        if n > 0 and (rounds.min() < 1 or rounds.max() > last or len(np.unique(rounds)) < n or sizes.min() < 0):
            raise ValueError(f"rounds that wait are not of the rounds 1 to {last}, each once")
        if costs.dtype != np.float64 or abstains.dtype != np.bool_ or carry.ndim != 1:
            raise ValueError("rounds that wait are of other types")
        if losses.shape != (n, n_predictors) or losses.dtype != np.float64 or not ((losses >= 0) & (losses <= 1)).all():
            raise ValueError("losses that wait are not those of these predictors")
        parts = np.split(carry, np.cumsum(sizes)[:-1]) if n > 0 else []
        for i, t in enumerate(rounds.tolist()):
            one = make(t, int(experts[i]), float(costs[i]), abstains[i].copy(), parts[i].copy())
            if kinds[i] == WITHOUT:
                if self.unlabelled and self.unlabelled[-1].round >= t:
                    raise ValueError("rounds that wait are not in increasing order")
                self.unlabelled.append(one)
            elif kinds[i] in (LABELLED, FORGOTTEN) and ripe is not None and t > ripe:
                known = losses[i].astype(np.uint8 if binary else np.float64)
                self.early[t] = one, known if kinds[i] == LABELLED else None
            else:
                raise ValueError(f"a round that waits is of kind {kinds[i]}")
        return self


WITHOUT, LABELLED, FORGOTTEN = 0, 1, 2


def _whole(array: Array) -> Array:
    if array.dtype != np.int64 or array.ndim != 1:
        raise ValueError(f"rounds that wait are {array.dtype} {array.shape}")
    return array


def blank(n_predictors: int) -> Array:
    """Return what stands for the predictions of a round that waits (P,): zeros that take no memory."""
    return np.broadcast_to(np.float64(0.0), (n_predictors,))


def kept(decision: Decision) -> Decision:
    """Return what is needed to learn from a decision later: its round, expert, cost, abstentions and carry."""
    return replace(decision, predictions=blank(len(decision.predictions)), prediction=None, id=None, digest=None)
