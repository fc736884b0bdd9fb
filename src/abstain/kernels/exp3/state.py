"""The arrays EXP3-ABS works on.

Experts of one rule form a *group*: their team (see `layout`). The cumulative estimate of an expert is split: what it
lost while predicting, per expert, and what it paid while abstaining, per group. Where every expert has a rule of its
own there is nothing to share: groups are chunks of slots, just to draw from, and all that experts lost or paid is
theirs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...typing import Floats, Ints
from ..jit import inline
from ..layout import CHUNK, Layout
from .rate import Rate

ETA, SQUARES, LEARNT = 0, 1, 2
"""Places in `WeightState.numbers`: the rate in use, V (the sum of q Lhat^2 so far), and the rounds learnt."""
TINY = 1e-200
"""Weights below this count as 0 until they are made anew: processors are slow with numbers near the least."""

LANES = 16
"""Running sums of a chunk that vector instructions keep side by side."""


class WeightState(NamedTuple):
    """A learner: everything it knows. In brackets what differs where every expert has a rule of its own."""

    rate: Rate
    ix: float  # added to the observation probability (implicit exploration)
    layout: Layout
    start: Ints  # (G + 1,) the first slot of each group
    losses: Floats  # (K,) estimated losses while predicting (and costs while abstaining), summed
    paid: Floats  # (G,) costs while abstaining, summed (0)
    weight: Floats  # (K,) exp(-eta losses), up to a factor of the group
    factor: Floats  # (G,) that factor and exp(-eta paid), up to a common one (1)
    sums: Floats  # (G,) of the weights of a group
    numbers: Floats  # see the places above
    shrink: Floats  # (P,) scratch: exp(-eta Lhat) of each predictor
    estimate: Floats  # (P,) scratch: Lhat of each predictor
    whole: Ints  # (2,) all slots as one run
    lanes: Floats  # (whole chunks, LANES) scratch for experts with own rules
    scratch: Floats  # (K,) scratch for experts with own rules


def weights(rate: Rate, ix: float, layout: Layout, n_predictors: int) -> WeightState:
    """Nothing learnt yet: all weights are 1."""
    n_experts = len(layout.expert)
    start = np.append(np.arange(0, n_experts, CHUNK), n_experts) if layout.alone else layout.start
    n_groups, n_alone = len(start) - 1, n_experts if layout.alone else 0
    return WeightState(
        rate=rate,
        ix=ix,
        layout=layout,
        start=start,
        losses=np.zeros(n_experts),
        paid=np.zeros(n_groups),
        weight=np.ones(n_experts),
        factor=np.ones(n_groups),
        sums=np.diff(start).astype(np.float64),
        numbers=np.zeros(3),
        shrink=np.ones(n_predictors),
        estimate=np.zeros(n_predictors),
        whole=np.array([0, n_experts]),
        lanes=np.zeros((n_alone // CHUNK, LANES)),
        scratch=np.zeros(n_alone),
    )


@inline
def total(x: Floats, first: Any, last: Any) -> float:
    """The sum of ``x[first:last]`` by eight running sums, in a fixed order."""
    a = b = c = d = e = f = g = h = 0.0
    i = first
    while i + np.uint64(8) <= last:
        a += x[i]
        b += x[i + np.uint64(1)]
        c += x[i + np.uint64(2)]
        d += x[i + np.uint64(3)]
        e += x[i + np.uint64(4)]
        f += x[i + np.uint64(5)]
        g += x[i + np.uint64(6)]
        h += x[i + np.uint64(7)]
        i += np.uint64(8)
    while i < last:
        a += x[i]
        i += np.uint64(1)
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
