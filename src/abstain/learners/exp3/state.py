"""What exponential weights are made of: the rate, the memories, the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._core.validation import as_count, is_number
from ...engine.decision import MOST_ROUNDS
from ...errors import InputError, shown
from ...kernels.compiling import inline, kernel
from ...kernels.layout import CHUNK, Layout
from ...typing import Array, Floats, Ints

FIXED, ANYTIME, ADAPTIVE, OWN = 0, 1, 2, 3

LEAST_PROBABILITY = 1e-150
"""No probability of seeing a label is taken for less: 1 over its square is still far from overflow."""


class Rate(NamedTuple):
    """How the rate is set."""

    kind: int
    scale: float  # the rate itself (for one that others wrote: the first), or for the anytime rate eta_t sqrt(t)
    log_experts: float


@kernel
def rounded(eta: float) -> float:
    """Round a rate down to a power of 2^(1/8); 0 becomes 1. All weights are made anew when a rate changes: such a rate
    seldom does.
    """
    return 2.0 ** (math.floor(8.0 * math.log2(eta)) / 8.0) if eta > 0.0 else 1.0


@kernel
def adaptive(log_experts: float, squares: float) -> float:
    """``min(1, sqrt(log K / (1 + V)))``, rounded down to a power of 2^(1/8); 1 for a single expert."""
    return rounded(min(1.0, math.sqrt(log_experts / (1.0 + squares))))


@kernel
def adaptive_with_shares(log_experts: float, squares: float, learnt: float) -> float:
    """``min(1, 2 sqrt(log(K (n + 2)) / (1 + V)))`` after n rounds learnt. Nothing is rounded: with shares weights are
    never made anew.
    """
    return min(1.0, 2.0 * math.sqrt((log_experts + math.log(learnt + 2.0)) / (1.0 + squares)))


_KINDS = {"anytime": ANYTIME, "adaptive": ADAPTIVE}


def as_eta(eta: Any) -> Any:
    """A rate as a float, if it is a number; `find_rate` says if it is neither that nor a word it knows."""
    return float(eta) if is_number(eta) else eta


def as_horizon(horizon: Any) -> int | None:
    """The number of rounds, if it is known."""
    return None if horizon is None else as_count(horizon, "horizon", most=MOST_ROUNDS)


def find_rate(
    eta: Any, log_experts: float, spread: float, horizon: int | None, tuned: Callable[[int], float],
    other: str | None = None,
) -> Rate:  # fmt: skip
    """The kind of rate and its number: the rate itself, or ``eta_t sqrt(t)`` of the anytime rate.

    ``spread`` bounds the mean of ``sum_j q(j) Lhat(j)^2`` in a round; ``tuned`` gives the rate for a horizon; ``other``
    is the word for the learner's own rate, if it has one, whose first is 1.
    """
    if isinstance(eta, str):
        if eta in _KINDS:
            return Rate(_KINDS[eta], math.sqrt(log_experts / spread), log_experts)
        if eta == "tuned":
            if horizon is None:
                raise InputError("horizon: eta='tuned' needs the number of rounds, got None")
            return Rate(FIXED, tuned(horizon), log_experts)
        if other is not None and eta == other:
            return Rate(OWN, 1.0, log_experts)
    elif is_number(eta) and 0.0 < eta < math.inf:
        return Rate(FIXED, eta, log_experts)
    words = ", ".join(map(repr, filter(None, (other, *sorted(_KINDS), "tuned"))))
    raise InputError(f"eta: expected {words} or a positive number, got {shown(eta)}")


ETA, SQUARES, LEARNT, OWN_NUMBERS = 0, 1, 2, 3
"""Places in `Memories.numbers`: the rate in use, V (the sum of q Lhat^2 so far), the rounds learnt, and from where on
the numbers are the rate's own.
"""
TINY = 1e-200
"""Weights below this count as 0 until they are made anew: processors are slow with numbers near the least."""

ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = map(np.uint64, range(9))
"""Unsigned, as indices are: the compiler need not ask whether they are negative. A constant is faster to compile than
``np.uint64(1)``."""

LANES = 16
"""Running sums of a chunk that vector instructions keep side by side."""


class Sight(NamedTuple):
    """How labels are seen."""

    predicted: float  # v_p, the probability that a label comes after predicting
    abstained: float  # v_a, after abstaining
    least: float  # a floor under the probability of seeing the label
    ix: float  # added to that probability (implicit exploration)


class Memory(NamedTuple):
    """How fast the past fades, for each of C memories."""

    every: Ints  # (C,) rounds between two steps; 0: nothing fades
    keep: Floats  # (C,) what is kept of the sums in a step


class Memories(NamedTuple):
    """What a learner knows, with C memories side by side. In brackets what differs where no two experts share a rule.

    A field that is None is known to be so when the kernels are compiled: functions that get it as an argument are
    compiled without the branches that need it.
    """

    rate: Rate
    squared: bool  # whether the rate needs V
    renew: int  # weights are made anew after so many rounds
    sight: Sight
    memory: Memory
    bucket: Any  # what a capacity leaves (`limits.Bucket`); None: no capacity
    guard: float | None  # the least weight of the last row, if that is a guard
    share: float | None  # after n rounds learnt everybody gets 1/K of share / (n + share); None: nothing is given away
    layout: Layout
    start: Ints  # (G + 1,) the first slot of each group
    losses: Floats  # (C, K) estimated losses while predicting (and costs while abstaining), summed
    paid: Floats  # (C, G) costs while abstaining, summed (0)
    relative: bool  # whether estimates are relative to abstaining: who predicts has the cost taken off
    answered: Floats  # (C, G) rounds in which a group predicted, summed ((C, K))
    recent: Array  # (C, 0) (of bytes (C, K): the last of these rounds, which are not yet in that sum)
    beyond: Floats  # (C, G) what its sums hold of the price of a capacity, beyond the cost ((C, K)); (C, 0) without one
    offset: Floats  # (C, K) what of the cumulative estimates, costs included, is no estimate at the cost of now
    missed: Floats  # (C, K) rounds learnt before the expert came, summed
    agreed: Floats  # (2,) the last round that counts at another cost than its own (0: none), and that cost
    extra: Floats  # (1,) scratch: the price of a capacity in this round
    weight: Floats  # (C, K) exp(-eta losses), up to a factor of the group; with shares what they have become, sum K
    factor: Floats  # (C, G) that factor and exp(-eta paid), up to a common one (1; with shares: 1)
    sums: Floats  # (C, G) of the weights of a group
    numbers: Floats  # (C, 3 + own) see the places above
    base: Floats  # (C, 1) the least cumulative estimate when weights were last made: that of weight 1
    mix: Floats  # (C,) the weights of the memories
    scores: Floats  # (C,) their estimated losses, discounted
    spread: Floats  # (1,) the sum of mix score^2 so far, discounted
    products: Floats  # (C, G) scratch: the sum of weight times loss in a group; NaN: to be worked out
    masses: Floats  # (C, 2) scratch: the sum of the weights of all, and of those who predict
    means: Floats  # (C,) scratch: the mean estimate of the round
    shrink: Floats  # (P,) scratch: exp(-eta Lhat) of each predictor
    estimate: Floats  # (P,) scratch: Lhat of each predictor
    whole: Ints  # (2,) all slots as one run
    lanes: Any  # (whole chunks, LANES) scratch for experts with own rules; None: rules are shared
    shared: Any  # empty; None: every expert has its own rule
    scratch: Floats  # (K,) scratch for experts with own rules


class WeightState(NamedTuple):
    """The state of a learner that knows nothing but its weights."""

    memories: Memories


def weights(
    rate: Rate, squared: bool, numbers: Sequence[float], renew: int, sight: Sight, memory: Memory, layout: Layout,
    n_predictors: int, bucket: Any, guard: float | None, relative: bool, share: float | None = None,
) -> Memories:  # fmt: skip
    """Nothing learnt yet: all weights are 1. ``numbers`` are the first rate and then the rate's own."""
    n_experts, n = len(layout.expert), len(memory.every)
    start = np.append(np.arange(0, n_experts, CHUNK), n_experts) if layout.alone else layout.start
    n_groups, n_alone = len(start) - 1, n_experts if layout.alone else 0
    n_counted = n_experts if layout.alone else n_groups
    first, *own = numbers
    return Memories(
        rate=rate,
        squared=squared,
        renew=renew,
        sight=sight,
        memory=memory,
        bucket=bucket,
        guard=guard,
        share=share,
        layout=layout,
        start=start,
        losses=np.zeros((n, n_experts)),
        paid=np.zeros((n, n_groups)),
        relative=relative,
        answered=np.zeros((n, n_counted)),
        recent=np.zeros((n, n_alone), np.uint8),
        beyond=np.zeros((n, 0 if bucket is None else n_counted)),
        offset=np.zeros((n, n_experts)),
        missed=np.zeros((n, n_experts)),
        agreed=np.zeros(2),
        extra=np.zeros(1),
        weight=np.ones((n, n_experts)),
        factor=np.ones((n, n_groups)),
        sums=np.tile(np.diff(start).astype(np.float64), (n, 1)),
        numbers=np.tile(np.array([first, 0.0, 0.0, *own], np.float64), (n, 1)),
        base=np.zeros((n, 1)),
        mix=np.full(n, 1.0 / n) if guard is None else np.array([(1.0 - guard) ** 2, 1.0 - (1.0 - guard) ** 2]),
        scores=np.zeros(n),
        spread=np.zeros(1),
        products=np.full((n, n_groups), np.nan),
        masses=np.zeros((n, 2)),
        means=np.zeros(n),
        shrink=np.ones(n_predictors),
        estimate=np.zeros(n_predictors),
        whole=np.array([0, n_experts]),
        lanes=np.zeros((n_alone // CHUNK, LANES)) if layout.alone else None,
        shared=None if layout.alone else np.zeros(0, np.int64),
        scratch=np.zeros(n_alone),
    )


@inline
def total(x: Floats, first: Any, last: Any) -> float:
    """The sum of ``x[first:last]`` by eight running sums, in a fixed order."""
    a = b = c = d = e = f = g = h = 0.0
    i = first
    while i + EIGHT <= last:
        a += x[i]
        b += x[i + ONE]
        c += x[i + TWO]
        d += x[i + THREE]
        e += x[i + FOUR]
        f += x[i + FIVE]
        g += x[i + SIX]
        h += x[i + SEVEN]
        i += EIGHT
    while i < last:
        a += x[i]
        i += ONE
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
