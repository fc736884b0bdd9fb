"""EXP3 (Auer et al. 2002): exponential weights on the loss of the expert that was followed alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...typing import Bools, Floats, Ints
from ..jit import kernel
from .rate import ANYTIME, LEAST_PROBABILITY, Rate


class BanditState(NamedTuple):
    """Cumulative estimates of the losses."""

    rate: Rate
    predictor: Ints  # (K,)
    rule: Ints  # (K,)
    losses: Floats  # (K,)
    weight: Floats  # (K,) scratch: those of the round, the largest 1


@kernel
def weigh(t: int, s: BanditState) -> float:
    """Make the weights of round t, and their sum."""
    eta = s.rate.scale / math.sqrt(t) if s.rate.kind == ANYTIME else s.rate.scale
    low, everybody = s.losses[0], 0.0
    for k in range(s.losses.size):
        low = min(low, s.losses[k])
    for k in range(s.losses.size):
        s.weight[k] = math.exp(-eta * (s.losses[k] - low))
        everybody += s.weight[k]
    return everybody


@kernel
def choose(t: int, u: float, x: Any, abstains: Bools, carry: Floats, s: BanditState) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting; q_t of the expert is carried."""
    everybody = weigh(t, s)
    target, expert, predicting = u * everybody, -1, 0.0
    for k in range(s.weight.size):
        if not abstains[s.rule[k]]:
            predicting += s.weight[k]
        if target >= 0.0 and s.weight[k] > 0.0:  # by rounding it may lie behind the last
            expert = k
        target -= s.weight[k]
    carry[0] = max(s.weight[expert] / everybody, LEAST_PROBABILITY)
    return expert, min(1.0, predicting / everybody)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: BanditState) -> None:
    """``Lhat_t(I_t) = L_t(I_t) / q_t(I_t)``; nothing of anybody else."""
    if abstains[s.rule[expert]]:
        s.losses[expert] += cost / carry[0]
    elif seen:
        s.losses[expert] += losses[s.predictor[expert]] / carry[0]


@kernel
def edges(t: int, abstains: Bools, s: BanditState) -> int:
    """Self-loops."""
    return int(s.losses.size)
