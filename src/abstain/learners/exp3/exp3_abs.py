"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ... import costs
from ..._core.validation import as_number
from ...capacity import CapacityLike
from ...engine import Decision, Seed
from ...engine.kernel_learner import Calls
from ...errors import InputError
from ...experts import ExpertSet
from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats
from .mixture import entropy
from .state import (
    ADAPTIVE,
    ANYTIME,
    ETA,
    LEAST_PROBABILITY,
    OWN,
    Rate,
    WeightState,
    as_eta,
    as_horizon,
    find_rate,
)
from .weight_kernels import WeightKernels, adaptive_rate, woven
from .weighted import WeightedLearner


@inline
def rate(j: int, squares: float, measured: float, own: Floats, s: Any) -> float:
    """The adaptive rate follows the estimates; the others stay until the next draw."""
    if s.memories.rate.kind == ADAPTIVE:
        return adaptive_rate(j, squares, measured, own, s)
    return float(s.memories.numbers[j, ETA])


@inline
def pace(t: int, j: int, s: Any) -> bool:
    """The anytime rate follows the number of the round."""
    m = s.memories
    if m.rate.kind != ANYTIME:
        return False
    m.numbers[j, ETA] = m.rate.scale / math.sqrt(t)
    return True


LEAST_ENTROPY = 1e-9
"""Entropies below this are rounding errors."""


@inline
def match(j: int, squares: float, measured: float, own: Floats, s: Any) -> float:
    """Divide the rate by 1 + step as soon as what it has cost, the sum of ``eta z / 2`` since it was last changed,
    reaches what the change costs, ``step H / eta``. The proof needs a step of 1 / (24 + 2 log K).
    """
    m = s.memories
    eta, step = float(m.numbers[j, ETA]), 1.0 / (24.0 + 2.0 * m.rate.log_experts)
    own[0] += eta * squares / 2.0
    if own[0] * eta < step * max(measured, LEAST_ENTROPY):
        return eta
    own[0] = 0.0
    return float(eta / (1.0 + step))


FIRST_EXPLORED = 2
"""Where the numbers begin in a carry that are added to P for each memory."""


@inline
def explore(x: Any, abstains: Bools, carry: Floats, s: Any) -> None:
    """Carry half the rate of each memory."""
    for j in range(s.memories.mix.size):
        carry[FIRST_EXPLORED + j] = s.memories.numbers[j, ETA] / 2.0


@inline
def estimate_explored(
    j: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any
) -> tuple[bool, float]:  # fmt: skip
    """``l / (o + gamma)`` where the label was seen, with the gamma of its round; who abstains pays the cost."""
    if seen:
        certainty = 1.0 / (max(carry[0], LEAST_PROBABILITY) + carry[FIRST_EXPLORED + j])
        for p in range(np.uint64(losses.size)):
            s.memories.estimate[p] = certainty * losses[p]
    return seen, cost


PAPER = WeightKernels(rate=rate, pace=pace)
BOTH = WeightKernels(rate=match, measure=entropy)


class Exp3Abs(WeightedLearner):
    """EXP3-ABS (algorithm 3): draw the expert from q_t, estimate losses by how likely they were to be seen.

    ``Lhat_t(j) = L_t(j) / P_t(j)`` where it is observed, else 0, with ``P_t(j) = 1`` if j abstains and else the
    q_t-mass of the predicting experts; ``q_{t+1}`` is proportional to ``q_t exp(-eta Lhat_t)``. The rate ``eta`` is

    - a number: the algorithm to the letter; regret at most ``log K / eta + eta T (c^2 + 1) / 2`` (theorem 1);
    - "tuned": ``sqrt(2 log K / ((c^2 + 1) T))`` with T = ``horizon``; regret at most ``sqrt(2 (c^2 + 1) T log K)``;
    - "anytime": ``eta_t = sqrt(log K / ((c^2 + 1) t))``, on the cumulative estimates; ``2 sqrt((c^2 + 1) T log K)``;
    - "both": by stability-penalty matching (after Ito, Tsuchiya and Honda 2024) for both regimes. From 1 on, the rate
      is divided by ``1 + s``, s = 1 / (24 + 2 log K), as soon as the sum of ``eta z / 2`` since its last change reaches
      ``s H / eta``, where z is the sum of ``q Lhat^2`` in a round and H the entropy of q, taken as 1e-9 if less. Regret
      is of the order ``sqrt((c^2 + 1) T log K log T)`` on any sequence and ``(c^2 + 1) log T log(K T) / gap`` for
      i.i.d. rounds with one best expert, with large constants (`theory.exp3_abs_bound`);
    - "adaptive" (the default): ``eta_t = min(1, sqrt(log K / (1 + V_t)))`` with V the sum of ``q Lhat^2`` so far,
      rounded down to a power of 2^(1/8), on the cumulative estimates; about ``2.3 sqrt((c^2 + 1) T log K)``, and less
      where V stays small (`theory.exp3_abs_bound`).

    Where costs vary, c stands for their largest value (1 for a function of x). ``ix`` is added to P (implicit
    exploration, Neu 2015): the bounds above are on the mean, and single runs may have many times as much regret; with
    ``ix`` nearly every run has a bound (`theory.exp3_abs_tail_bound`). Take ``ix="anytime"``: half the rate of the
    round is added, which falls, and so the bound is of the order sqrt(T) up to logarithms. A constant biases estimates
    in every round, and regret grows as T. A late label is weighted by the probability, and what was added to it, of its
    decision's own round.

    With ``memory="share"`` it follows experts that take turns in being the best: EXP3.S of Auer, Cesa-Bianchi, Freund
    and Schapire (2002), on these estimates. After n rounds learnt, q becomes ``(1 - a) q + a / K``, a = 1 / (n + 1).
    The adaptive rate is then ``min(1, 2 sqrt(log(K (n + 2)) / (1 + V)))``. If you know T and how often the best expert
    changes, s, take the number that `theory.exp3_abs_tracking_rate` gives: regret to any sequence of experts with s
    switches is then of the order ``sqrt(s T log(K T))`` (`theory.exp3_abs_tracking_bound`).

    Beyond the paper: with other ``feedback`` P is the probability that the label is seen. With a ``capacity`` c stands
    for 1 in the formulas, as the price of abstaining may rise to that.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers.
        eta: The rate: "adaptive", "anytime", "both", "tuned" or a positive number, as above.
        horizon: The number of rounds T, which "tuned" needs.
        ix: A number added to P, 0 or more; or "anytime": half the rate of the round.
        memory: The number of rounds the past counts for (None: all); "adaptive": several memories, weighed by what
            each achieves; or "share": after every round each expert gets the same share of all weight.
        feedback: Which labels come back: "predicted", "abstained", "both", or the probabilities that the label comes
            after predicting and after abstaining.
        min_observe: A floor under the probability of seeing the label.
        capacity: How many cases may be abstained on: None (all), a share of them, or a `Capacity`.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude, or if a rate
            that falls with the rounds is combined with a memory.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = Exp3Abs(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> float(learner.weights.sum().round(12))
    1.0
    """

    weight_kernels = PAPER
    options = ("eta", "horizon", "ix", "memory", "feedback", "min_observe", "capacity")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        eta: str | float = "adaptive",
        horizon: int | None = None,
        ix: float | str = 0.0,
        memory: int | str | None = None,
        feedback: str | tuple[float, float] = "predicted",
        min_observe: float = 0.0,
        capacity: CapacityLike = None,
    ) -> None:
        self.eta = as_eta(eta)
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, memory=memory, feedback=feedback, min_observe=min_observe,
            capacity=capacity,
        )  # fmt: skip
        if not (isinstance(ix, str) and ix == "anytime"):
            wanted = "'anytime' or a number that is not negative"
            ix = as_number(ix, "ix", wanted, lambda ix: 0.0 <= ix < math.inf)
        self.ix = ix
        self.horizon = as_horizon(horizon)
        if self.memory is not None and self._find_rate().kind != ADAPTIVE and isinstance(self.eta, str):
            raise InputError(
                f"eta: a rate that falls with the rounds unlearns with a memory: expected 'adaptive' or a number, "
                f"got {eta!r} and {memory!r}"
            )
        if self._find_rate().kind == OWN:
            self.saved = (*self.saved, "base")

    def _find_rate(self) -> Rate:
        largest = self.cost.largest if self.capacity is None else 1.0
        log_experts, spread = math.log(self.experts.n_experts), largest**2 + 1.0
        return find_rate(
            self.eta, log_experts, spread, self.horizon, lambda T: math.sqrt(2.0 * log_experts / (spread * T)), "both"
        )

    @cached_property
    def _call(self) -> Calls:
        """Rates and estimates that few ask for are compiled for those alone."""
        if self.kernels is not Exp3Abs.kernels:  # a subclass has its own
            return super()._call
        plugs = BOTH if self._find_rate().kind == OWN else PAPER
        if self.ix == "anytime":
            plugs = plugs._replace(guess=explore, estimate=estimate_explored)
        rounds = woven(plugs)
        return Calls(rounds.kernels if self.capacity is None else rounds.limited)

    @property
    def squared(self) -> bool:  # type: ignore[override]
        """Whether the rate needs V."""
        return self._find_rate().kind in (ADAPTIVE, OWN)

    def new_numbers(self) -> tuple[float, ...]:
        """Return the first rate and, for "both", what it has cost."""
        return (1.0, 0.0) if self._find_rate().kind == OWN else super().new_numbers()

    @property
    def n_guessed(self) -> int:
        """With ``ix="anytime"``, half the rate of each memory."""
        return len(self.memories) if self.ix == "anytime" else 0

    def fits(self, decision: Decision) -> bool:
        return super().fits(decision) and bool((decision.carry[FIRST_EXPLORED:] >= 0.0).all())

    @property
    def _paced(self) -> bool:
        return isinstance(self.eta, str) and self.eta == "anytime"

    def new_state(self) -> WeightState:
        return WeightState(self._new_memories(0.0 if isinstance(self.ix, str) else self.ix))

    def _reprice(self, cost: costs.Constant) -> None:
        """The anytime rate follows the cost; a tuned one was tuned."""
        super()._reprice(cost)
        self.state = WeightState(self._weights._replace(rate=self._find_rate()))
