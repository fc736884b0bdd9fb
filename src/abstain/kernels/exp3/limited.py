"""EXP3-ABS with a capacity: a price on abstaining, and no abstaining while the bucket is empty."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...typing import Bools, Floats
from ..jit import inline, kernel
from . import exp3_abs
from .answering import abstains_on, answer, teaches_nothing
from .bucket import LIMITS, Bucket, is_empty, priced, take
from .drawing import draw
from .state import Memories

learn = inline(exp3_abs.update.py_func)  # type: ignore[attr-defined]


class LimitedWeights(NamedTuple):
    """A learner: everything it knows."""

    memories: Memories
    bucket: Bucket


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: LimitedWeights) -> tuple[int, float]:
    """The expert drawn by ``u``, or the one that answers instead, and the probability of predicting."""
    own, empty = carry[: carry.size - LIMITS], is_empty(x, carry, s.bucket)
    expert, predicts = draw(t, u, 0.0 if empty else s.memories.sight.least, abstains, own, s.memories)
    return answer(expert, predicts, abstains, own, s.memories) if empty else (expert, predicts)


@kernel
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: Any) -> None:
    """Take a token for a review, and move the price."""
    take(abstains_on(expert, abstains, s.memories), carry, s.bucket)


@kernel
def update(
    expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: LimitedWeights
) -> None:  # fmt: skip
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    own = carry[: carry.size - LIMITS]
    if not teaches_nothing(own):
        learn(expert, abstains, losses, seen, priced(cost, carry), own, s.memories)


@kernel
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: LimitedWeights) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    exp3_abs.inform(x, abstains, losses, cost, carry[: carry.size - LIMITS], s.memories)
