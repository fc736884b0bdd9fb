"""EXP3-ABS (algorithm 3): exponential weights on importance-weighted losses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ... import costs
from ..._core.validation import as_number
from ...capacity import CapacityLike
from ...engine import Kernels, Seed
from ...errors import InputError
from ...experts import ExpertSet
from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats
from .drawing import abstains_on, answer, draw, teaches_nothing
from .limits import LIMITS, Bucket, bucket, is_empty, priced, take
from .mixture import REMAKE, learn, weigh
from .state import (
    ADAPTIVE,
    ETA,
    LEAST_PROBABILITY,
    Memories,
    Rate,
    adaptive,
    as_eta,
    as_horizon,
    find_rate,
    weights,
)
from .weighted import WeightedLearner, fading


@inline
def choose(t: int, u: float, x: Any, abstains: Bools, carry: Floats, s: Memories) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting."""
    return draw(t, u, s.sight.least, abstains, carry, s)


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: Memories) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(losses.size)
    certainty = 1.0 / (max(carry[0], LEAST_PROBABILITY) + s.sight.ix) if seen else 0.0
    others = 0  # losses but 0 and 1, which are by far the most common
    for p in range(n):
        estimate[p] = certainty * losses[p]
    for p in range(n):
        others += (losses[p] != 0) & (losses[p] != 1)
    for j in range(s.mix.size):
        eta = s.numbers[j, ETA]
        of_one = math.exp(-eta * certainty)
        for p in range(n):
            shrink[p] = 1.0 if losses[p] == 0 else of_one
        if others > 0:
            for p in range(n):
                shrink[p] = math.exp(-eta * estimate[p])
        s.means[j] = learn(abstains, seen, cost, math.exp(-eta * cost), 0.0, 0.0, REMAKE, j, s)
    if s.mix.size > 1:
        weigh(s)


@inline
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: Memories) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    carry[0] = 1.0
    update(0, abstains, losses, losses.size > 0, cost, carry, s)


class LimitedWeights(NamedTuple):
    """A learner: everything it knows."""

    memories: Memories
    bucket: Bucket


@inline
def choose_limited(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: LimitedWeights) -> tuple[int, float]:
    """The expert drawn by ``u``, or the one that answers instead, and the probability of predicting."""
    own, empty = carry[: carry.size - LIMITS], is_empty(x, carry, s.bucket)
    expert, predicts = draw(t, u, 0.0 if empty else s.memories.sight.least, abstains, own, s.memories)
    return answer(expert, predicts, abstains, own, s.memories) if empty else (expert, predicts)


@inline
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: Any) -> None:
    """Take a token for a review, and move the price."""
    take(abstains_on(expert, abstains, s.memories), carry, s.bucket)


@inline
def update_limited(
    expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: LimitedWeights
) -> None:  # fmt: skip
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    own = carry[: carry.size - LIMITS]
    if not teaches_nothing(own):
        update(expert, abstains, losses, seen, priced(cost, carry), own, s.memories)


@inline
def inform_limited(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: LimitedWeights) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    inform(x, abstains, losses, cost, carry[: carry.size - LIMITS], s.memories)


class Exp3Abs(WeightedLearner):
    """EXP3-ABS (algorithm 3): draw the expert from q_t, estimate losses by how likely they were to be seen.

    ``Lhat_t(j) = L_t(j) / P_t(j)`` where it is observed, else 0, with ``P_t(j) = 1`` if j abstains and else the
    q_t-mass of the predicting experts; ``q_{t+1}`` is proportional to ``q_t exp(-eta Lhat_t)``. The rate ``eta`` is

    - a number: the algorithm to the letter; regret at most ``log K / eta + eta T (c^2 + 1) / 2`` (theorem 1);
    - "tuned": ``sqrt(2 log K / ((c^2 + 1) T))`` with T = ``horizon``; regret at most ``sqrt(2 (c^2 + 1) T log K)``;
    - "anytime": ``eta_t = sqrt(log K / ((c^2 + 1) t))``, on the cumulative estimates; ``2 sqrt((c^2 + 1) T log K)``;
    - "adaptive" (the default): ``eta_t = min(1, sqrt(log K / (1 + V_t)))`` with V the sum of ``q Lhat^2`` so far,
      rounded down to a power of 2^(1/8), on the cumulative estimates; about ``2.3 sqrt((c^2 + 1) T log K)``, and less
      where V stays small (`theory.exp3_abs_bound`).

    Where costs vary, c stands for their largest value (1 for a function of x). ``ix`` is added to P (implicit
    exploration, Neu 2015): the bounds above are on the mean, and single runs may have many times as much regret; with
    ``ix`` nearly every run has a bound (`theory.exp3_abs_tail_bound`). A late label is weighted by the probability of
    its decision's own round.

    Beyond the paper: with other ``feedback`` P is the probability that the label is seen. With a ``capacity`` c stands
    for 1 in the formulas, as the price of abstaining may rise to that.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers.
        eta: The rate: "adaptive", "anytime", "tuned" or a positive number, as above.
        horizon: The number of rounds T, which "tuned" needs.
        ix: A number added to P, 0 or more.
        memory: The number of rounds the past counts for (None: all), or "adaptive": several memories, weighed by what
            each achieves.
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

    kernels = Kernels(choose, update, inform=inform)
    limited = Kernels(choose_limited, update_limited, note, inform=inform_limited)
    options = ("eta", "horizon", "ix", "memory", "feedback", "min_observe", "capacity")
    fixed = ("rate", "sight", "memory", "layout", "start", "whole")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        eta: str | float = "adaptive",
        horizon: int | None = None,
        ix: float = 0.0,
        memory: int | str | None = None,
        feedback: str | tuple[float, float] = "predicted",
        min_observe: float = 0.0,
        capacity: CapacityLike = None,
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, memory=memory, feedback=feedback, min_observe=min_observe,
            capacity=capacity,
        )  # fmt: skip
        self.ix = as_number(ix, "ix", "a number that is not negative", lambda ix: 0.0 <= ix < math.inf)
        self.eta, self.horizon = as_eta(eta), as_horizon(horizon)
        if self.memory is not None and self._find_rate().kind != ADAPTIVE and isinstance(self.eta, str):
            raise InputError(
                f"eta: a rate that falls with the rounds unlearns with a memory; got {eta!r} and {memory!r}"
            )
        self._find_rate()

    def _find_rate(self) -> Rate:
        largest = self.cost.largest if self.capacity is None else 1.0
        log_experts, spread = math.log(self.experts.n_experts), largest**2 + 1.0
        return find_rate(
            self.eta, log_experts, spread, self.horizon, lambda T: math.sqrt(2.0 * log_experts / (spread * T))
        )

    def new_state(self) -> Memories | LimitedWeights:
        rate = self._find_rate()
        fresh = weights(rate, self._sight(self.ix), fading(self.memories), self.layout, self.experts.n_predictors)
        fresh.numbers[:, ETA] = adaptive(rate.log_experts, 0.0) if rate.kind == ADAPTIVE else rate.scale
        return fresh if self.capacity is None else LimitedWeights(fresh, bucket(self.capacity))

    def _reprice(self, cost: costs.Constant) -> None:
        """The anytime rate follows the cost; a tuned one was tuned."""
        super()._reprice(cost)
        repriced = self._weights._replace(rate=self._find_rate())
        self.state = repriced if self.capacity is None else self.state._replace(memories=repriced)

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        super().check_saved(arrays)
        if "weight" in arrays and ((arrays["weight"] > 1.0).any() or (arrays["factor"] > 1.0).any()):
            raise InputError("state: expected weights and factors of 1 at most, got more")
