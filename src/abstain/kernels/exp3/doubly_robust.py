"""Exponential weights on doubly robust estimates: a guess, and what it was wrong by where the label is seen."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...typing import Array, Bools, Floats
from ..jit import inline, kernel
from .drawing import draw
from .guesses import Guesses, believe, forget_some, guess, learn_guesses, learn_label, look, miss
from .rate import LEAST_PROBABILITY
from .state import ETA, LEARNT, Memories, one_of
from .weights import REMAKE_SIGNED, learn, mean_estimate, weigh, weigh_guard

GUESS = 2
"""Where the guesses begin in a carry: o and whether the choice was forced come before, what is lost if the label is
-1, and if it is +1, after them."""


class RobustState(NamedTuple):
    """A learner: everything it knows. Estimates are kept relative to the cost of abstaining."""

    memories: Memories
    guesses: Guesses


@inline
def prepare(x: Floats, abstains: Bools, carry: Floats, s: RobustState) -> float:
    """Guess what every predictor would lose, into the carry; the model's probability of the label +1."""
    n = s.guesses.cell.size
    modelled = x.size >= 2 * n
    out, low, high = carry[GUESS : GUESS + n], x[: n * modelled], x[n * modelled : 2 * n * modelled]
    look(abstains, s.guesses)
    rho = believe(low, high, s.guesses) if modelled else 0.5
    guess(rho, s.memories.numbers[0, LEARNT], low, high, out, s.guesses)
    for i in range(2 * n * modelled):
        carry[GUESS + n + i] = x[i]
    return rho


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: RobustState) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting."""
    prepare(x, abstains, carry, s)
    return draw(t, u, s.memories.sight.least, abstains, carry, s.memories)


@inline
def estimate(j: int, losses: Array, seen: bool, cost: float, carry: Floats, s: RobustState) -> None:
    """``m - c + 1[seen] (l - m) / D`` of every predictor for memory j, with ``D = max(o, clip eta)``."""
    m, first, certainty = s.memories, np.uint64(GUESS), 0.0
    if seen:
        certainty = 1.0 / max(carry[0], s.guesses.constants.clip * m.numbers[j, ETA], LEAST_PROBABILITY)
    for p in range(np.uint64(s.guesses.cell.size)):
        m.estimate[p] = (carry[first + p] - cost) + certainty * (losses[p] - carry[first + p])


@inline
def estimate_plainly(losses: Array, seen: bool, cost: float, carry: Floats, s: RobustState) -> None:
    """``-c + 1[seen] l / o`` of every predictor: no guess, no clip."""
    certainty = 1.0 / max(carry[0], LEAST_PROBABILITY) if seen else 0.0
    for p in range(np.uint64(s.guesses.cell.size)):
        s.memories.estimate[p] = certainty * losses[p] - cost


@inline
def learn_estimates(j: int, abstains: Bools, aside: float, square: float, s: RobustState) -> float:
    """Let memory j learn the estimates of a round, relative to the cost of abstaining; their mean before."""
    m = s.memories
    eta = m.numbers[j, ETA]
    for p in range(np.uint64(m.shrink.size)):
        m.shrink[p] = math.exp(-eta * m.estimate[p])
    every, keep = m.memory.every[j], m.memory.keep[j]
    return learn(abstains, True, 0.0, 1.0, aside, square, REMAKE_SIGNED, every, keep, one_of(m, j))


@inline
def revise(abstains: Bools, losses: Any, seen: bool, carry: Floats, s: RobustState) -> None:
    """Let guesses learn from a round."""
    m, g, n = s.memories, s.guesses, s.guesses.cell.size
    look(abstains, g)
    learnt = m.numbers[0, LEARNT]
    if seen:
        modelled = carry.size >= GUESS + 3 * n
        low, high = carry[GUESS + n : GUESS + n + n * modelled], carry[GUESS + n + n : GUESS + n + n + n * modelled]
        rho = believe(low, high, g) if modelled else 0.5
        learn_guesses(rho, learnt, max(carry[0], LEAST_PROBABILITY), losses, low, high, g)
        if modelled:
            learn_label(rho, losses, low, high, g)
    else:
        miss(g)
    forget_some(learnt, g)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: RobustState) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    m = s.memories
    guarded, last = m.guard > 0.0, m.mix.size - 1
    for j in range(m.mix.size):
        if guarded:  # scored by plain estimates, of which the guard learns
            estimate_plainly(losses, seen, cost, carry, s)
            m.means[j] = mean_estimate(abstains, one_of(m, j))
        if not guarded or j < last:
            estimate(j, losses, seen, cost, carry, s)
        mean = learn_estimates(j, abstains, 0.0, 0.0, s)
        if not guarded:
            m.means[j] = mean
    if guarded:
        weigh_guard(m)
    elif last > 0:
        weigh(m)
    revise(abstains, losses, seen, carry, s)


@kernel
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: RobustState) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    prepare(x, abstains, carry, s)
    carry[0] = 1.0
    update(0, abstains, losses, losses.size > 0, cost, carry, s)
