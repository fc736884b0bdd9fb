"""Exponential weights to build on: rounds written once, with plug-in functions for rate, estimate and guess.

The functions below are patterns: `woven` gives a copy of each the plug-ins for the names of `WeightKernels`.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...engine import Kernels
from ...kernels.compiling import inline, inlined, kernel, with_parts
from ...typing import Array, Bools, Floats
from .drawing import abstains_on, answer, draw, teaches_nothing
from .limits import LIMITS, Bucket, is_empty, priced, take
from .mixture import (
    count_prices,
    fade_all,
    learn_by_rules,
    mean_estimate,
    remake,
    settle,
    shrink_estimates,
    spared,
    weigh,
    weigh_guard,
)
from .state import (
    ETA,
    LEARNT,
    LEAST_PROBABILITY,
    OWN_NUMBERS,
    SQUARES,
    Memories,
    adaptive,
    adaptive_with_shares,
)


@inline
def estimate_by_importance(
    j: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any
) -> tuple[bool, float]:  # fmt: skip
    """EXP3-ABS's estimates: ``l / (o + ix)`` where the label was seen, else 0; who abstains pays the cost."""
    m = s.memories
    if seen and j == 0:  # the same for all memories
        certainty = 1.0 / (max(carry[0], LEAST_PROBABILITY) + m.sight.ix)
        for p in range(np.uint64(losses.size)):
            m.estimate[p] = certainty * losses[p]
    return seen, cost


@inline
def _adaptive_of(numbers: Floats, share: float | None, m: Memories) -> float:
    if share is None:
        return adaptive(m.rate.log_experts, numbers[SQUARES])
    return adaptive_with_shares(m.rate.log_experts, numbers[SQUARES], numbers[LEARNT])


@inline
def adaptive_rate(j: int, squares: float, measured: float, own: Floats, s: Any) -> float:
    """``min(1, sqrt(log K / (1 + V)))``, rounded down to a power of 2^(1/8); with ``memory="share"`` `Exp3Abs`'s rate
    for that.
    """
    return _adaptive_of(s.memories.numbers[j], s.memories.share, s.memories)


@inline
def keep_rate(j: int, squares: float, measured: float, own: Floats, s: Any) -> float:
    """Leave the rate as it is after a round."""
    return float(s.memories.numbers[j, ETA])


@inline
def keep_pace(t: int, j: int, s: Any) -> bool:
    """Leave the rate as it is before a draw."""
    return False


@inline
def measure_nothing(j: int, s: Any) -> float:
    """Measure nothing."""
    return 0.0


@inline
def guess_nothing(x: Floats, abstains: Bools, carry: Floats, s: Any) -> None:
    """Guess nothing."""


@inline
def revise_nothing(abstains: Bools, losses: Array, seen: bool, carry: Floats, s: Any) -> None:
    """Learn nothing but the weights."""


class WeightKernels(NamedTuple):
    """What makes one algorithm of exponential weights differ from another: compiled functions, plugged into the rounds
    that all of them share. They allocate nothing.

    ``s`` is the state, ``s.memories`` the weights in it, ``j`` the memory. The first number of ``carry`` is o, the
    probability that the round's label was seen.
    """

    rate: Any = adaptive_rate
    """``rate(j, squares, measured, own, s) -> eta``: the rate from the next round on, called after every round that was
    learnt. ``squares`` is the sum of q Lhat^2 in the round, ``measured`` what `measure` returned, ``own`` are the
    rate's own numbers (`WeightedLearner.new_numbers`)."""
    estimate: Any = estimate_by_importance
    """``estimate(j, abstains, losses, seen, cost, carry, s) -> moved, paid``: fill ``s.memories.estimate`` (P,) with
    the estimated losses of the predictors, and return whether any differs from 0 (if not, nothing need be filled in)
    and what an expert pays that abstains: the cost, or 0 if estimates are relative to abstaining. Called for j = 0, 1,
    ... in turn; what is filled in stays."""
    guess: Any = guess_nothing
    """``guess(x, abstains, carry, s)``: what is to be known of a round before its label, put into the carry. o is there
    already; who is followed must not matter."""
    revise: Any = revise_nothing
    """``revise(abstains, losses, seen, carry, s)``: let guesses learn from a round, after the weights."""
    measure: Any = measure_nothing
    """``measure(j, s)``: a number that the rate needs of the weights before they learn a round, such as `entropy`."""
    pace: Any = keep_pace
    """``pace(t, j, s) -> True``: for a rate that follows the number of the round: set ``s.memories.numbers[j, 0]``
    before the draw of every round t, and return True. With a pace, ``rate`` need not be given."""
    plain: Any = estimate_by_importance
    """``plain(0, abstains, losses, seen, cost, carry, s) -> moved, paid``: the estimates that a guard learns, and is
    scored by, relative to abstaining."""


rate: Any = None
pace: Any = None
measure: Any = None
estimate: Any = None
plain: Any = None
guess: Any = None
revise: Any = None
# Placeholders for the plug-ins, which `woven` puts in.


def set_pace(t: int, s: Any) -> None:
    """Set the rates of round t that follow the number of the round."""
    for j in range(s.memories.mix.size):
        if pace(t, j, s):
            remake(j, s.memories)


def learn_memory(
    j: int, abstains: Bools, moved: bool, paid: float, aside: float, square: float, s: Any
) -> float:  # fmt: skip
    """Let memory j learn the estimates of a round; their mean before.

    ``aside`` is the mass of an expert that is not among the weights, and ``square`` that of its estimate.
    """
    m = s.memories
    numbers, every, keep, measured = m.numbers[j], m.memory.every[j], m.memory.keep[j], measure(j, s)
    old = numbers[ETA]
    if moved:
        shrink_estimates(old, m)
    else:
        for p in range(np.uint64(m.shrink.size)):
            m.estimate[p], m.shrink[p] = 0.0, 1.0
    cheaper = spared(abstains, old, paid, math.exp(-old * paid), m.share, m)
    mean, squares, after = learn_by_rules(abstains, moved, paid, cheaper, j, m.lanes, m.shared, m)
    count_prices(abstains, j, m.bucket, m)
    squares = (1.0 - aside) * squares + aside * square
    numbers[LEARNT] += 1.0
    anew = numbers[LEARNT] % m.renew == 0.0
    if m.squared:
        numbers[SQUARES] += squares
    if every > 0 and numbers[LEARNT] % every == 0.0:
        anew = True
        numbers[SQUARES] *= keep * keep
        fade_all(keep, j, m)
    numbers[ETA] = rate(j, squares, measured, numbers[OWN_NUMBERS:], s)
    settle(j, anew or numbers[ETA] != old, after, m.share, m)
    return mean


def learn_memories(
    abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, guard: float | None, s: Any
) -> None:  # fmt: skip
    """Let the weights of all memories, or of the learner and its guard, learn from a round."""
    m = s.memories
    if guard is None:
        for j in range(m.mix.size):
            moved, paid = estimate(j, abstains, losses, seen, cost, carry, s)
            m.means[j] = learn_memory(j, abstains, moved, paid, 0.0, 0.0, s)
        if m.mix.size > 1:
            weigh(m)
    else:  # both are scored by plain estimates, of which the guard learns
        for j in range(2):
            moved, paid = plain(0, abstains, losses, seen, cost, carry, s)
            m.means[j] = mean_estimate(abstains, j, m.lanes, m.shared, m)
            if j == 0:
                moved, paid = estimate(j, abstains, losses, seen, cost, carry, s)
            learn_memory(j, abstains, moved, paid, 0.0, 0.0, s)
        weigh_guard(guard, m)


def learn_all(abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any) -> None:
    """Let weights and guesses learn from a round, with the losses (P,) of its predictors if the label was seen."""
    learn_memories(abstains, losses, seen, cost, carry, s.memories.guard, s)
    revise(abstains, losses, seen, carry, s)


def choose_within(
    t: int, u: float, x: Floats, abstains: Bools, carry: Floats, bucket: Bucket | None, s: Any
) -> tuple[int, float]:  # fmt: skip
    """The expert drawn by ``u``, or the one that answers instead as the bucket is empty."""
    m = s.memories
    set_pace(t, s)
    if bucket is None:
        expert, predicts = draw(u, m.sight.least, abstains, carry, m)
        guess(x, abstains, carry, s)
        return expert, predicts
    own, empty = carry[: carry.size - LIMITS], is_empty(x, carry, bucket)
    expert, predicts = draw(u, 0.0 if empty else m.sight.least, abstains, own, m)
    if empty:
        expert, predicts = answer(expert, predicts, abstains, own, m)
    guess(x, abstains, own, s)
    return expert, predicts


def update_within(
    abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, bucket: Bucket | None, s: Any
) -> None:  # fmt: skip
    """Learn from a round, at the cost or, with a bucket, at the price of its time."""
    if bucket is None:
        learn_all(abstains, losses, seen, cost, carry, s)
    else:
        own = carry[: carry.size - LIMITS]
        if not teaches_nothing(own):
            charged = priced(cost, carry)
            s.memories.extra[0] = charged - cost
            learn_all(abstains, losses, seen, charged, own, s)


def inform_within(
    x: Floats, abstains: Bools, losses: Array, cost: float, carry: Floats, bucket: Bucket | None, s: Any
) -> None:  # fmt: skip
    """Learn from a round that nobody decided on: no bucket, no price."""
    own = carry if bucket is None else carry[: carry.size - LIMITS]
    own[0], s.memories.extra[0] = 1.0, 0.0
    guess(x, abstains, own, s)
    learn_all(abstains, losses, losses.size > 0, cost, own, s)


def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: Any) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting."""
    return choose_within(t, u, x, abstains, carry, s.memories.bucket, s)


def update(expert: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    update_within(abstains, losses, seen, cost, carry, s.memories.bucket, s)


def inform(x: Floats, abstains: Bools, losses: Array, cost: float, carry: Floats, s: Any) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    inform_within(x, abstains, losses, cost, carry, s.memories.bucket, s)


@inline
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: Any) -> None:
    """Take a token for a review, and move the price."""
    take(abstains_on(expert, abstains, s.memories), carry, s.memories.bucket)


class Woven(NamedTuple):
    """The patterns with the plug-ins of an algorithm."""

    kernels: Kernels
    limited: Kernels  # with a capacity
    learn_memory: Any  # to be called by kernels
    set_pace: Any  # to be called from Python


_PATTERNS = (
    set_pace, learn_memory, learn_memories, learn_all, choose_within, update_within, inform_within, choose, update,
    inform,
)  # fmt: skip
"""A pattern calls only those before it."""


@cache
def woven(plugs: WeightKernels) -> Woven:
    """The rounds of an algorithm; learners with the same plug-ins share them."""
    parts: dict[str, Any] = {name: inlined(function) for name, function in plugs._asdict().items()}
    own = [getattr(plug, "py_func", plug) for plug in parts.values()]
    name = hashlib.sha256(repr([(one.__module__, one.__qualname__) for one in own]).encode()).hexdigest()[:12]
    callable_pace = kernel(with_parts(set_pace, parts, f"call_pace_{name}"))
    for pattern in _PATTERNS:
        parts[pattern.__name__] = inline(with_parts(pattern, parts, f"{pattern.__name__}_{name}"))
    rounds = parts["choose"], parts["update"]
    return Woven(
        Kernels(*rounds, inform=parts["inform"]),
        Kernels(*rounds, note, inform=parts["inform"]),
        parts["learn_memory"],
        callable_pace,
    )
