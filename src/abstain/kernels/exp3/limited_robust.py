"""Doubly robust weights with a capacity: a price on abstaining, and no abstaining while the bucket is empty."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...typing import Bools, Floats
from ..jit import inline, kernel
from . import doubly_robust
from .answering import answer, teaches_nothing
from .bucket import LIMITS, Bucket, is_empty, priced
from .doubly_robust import RobustState, prepare
from .drawing import draw
from .guesses import Guesses
from .state import Memories

learn = inline(doubly_robust.update.py_func)  # type: ignore[attr-defined]


class LimitedRobust(NamedTuple):
    """A learner: everything it knows."""

    memories: Memories
    guesses: Guesses
    bucket: Bucket


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: LimitedRobust) -> tuple[int, float]:
    """The expert drawn by ``u``, or the one that answers instead, and the probability of predicting."""
    own, empty = carry[: carry.size - LIMITS], is_empty(x, carry, s.bucket)
    prepare(x, abstains, own, RobustState(s.memories, s.guesses))
    expert, predicts = draw(t, u, 0.0 if empty else s.memories.sight.least, abstains, own, s.memories)
    return answer(expert, predicts, abstains, own, s.memories) if empty else (expert, predicts)


@kernel
def update(
    expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: LimitedRobust
) -> None:  # fmt: skip
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    own = carry[: carry.size - LIMITS]
    if not teaches_nothing(own):
        state = RobustState(s.memories, s.guesses)
        learn(expert, abstains, losses, seen, priced(cost, carry), own, state)


@kernel
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: LimitedRobust) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    doubly_robust.inform(x, abstains, losses, cost, carry[: carry.size - LIMITS], RobustState(s.memories, s.guesses))
