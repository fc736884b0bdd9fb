"""EXP3-ABS: exponential weights for the adversarial game (algorithm 3)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import costs
from ..engine import Decision, KernelLearner, Kernels, Seed, check_arrays
from ..errors import InputError
from ..experts import ExpertSet
from ..kernels.exp3.rate import ADAPTIVE, ANYTIME, Rate, adaptive
from ..kernels.exp3.state import ETA, SQUARES, WeightState, weights
from ..kernels.exp3.weights import choose, remake, update
from ..tables import as_number
from ..typing import Array, Floats
from .tuning import as_eta, as_horizon, find_rate

_CUMULATIVE = ("losses", "paid", "numbers")
"""What the weights can be made of anew."""


class Exp3Abs(KernelLearner):
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
    exploration, Neu 2015). A late label is weighted by the probability of its decision's own round.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = Exp3Abs(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> float(learner.weights.sum().round(12))
    1.0
    """

    kernels = Kernels(choose, update)
    options = ("eta", "horizon", "ix")
    saved = ("losses", "paid", "weight", "factor", "sums", "numbers")
    fixed = ("rate", "layout", "start", "whole")

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
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.ix = as_number(ix, "ix", "a number that is not negative", lambda ix: 0.0 <= ix < math.inf)
        self.eta, self.horizon = as_eta(eta), as_horizon(horizon)
        self._find_rate()

    def _find_rate(self) -> Rate:
        log_experts, spread = math.log(self.experts.n_experts), self.cost.largest**2 + 1.0
        return find_rate(
            self.eta, log_experts, spread, self.horizon, lambda T: math.sqrt(2.0 * log_experts / (spread * T))
        )

    def new_state(self) -> WeightState:
        rate = self._find_rate()
        fresh = weights(rate, self.ix, self.layout, self.experts.n_predictors)
        fresh.numbers[ETA] = adaptive(rate.log_experts, 0.0) if rate.kind == ADAPTIVE else rate.scale
        return fresh

    def new_carry(self) -> Floats:
        """P_t, the probability that the label would be seen."""
        return np.zeros(1)

    def _reprice(self, cost: costs.Constant) -> None:
        """The anytime rate follows the cost; a tuned one was tuned."""
        super()._reprice(cost)
        self.state = self.state._replace(rate=self._find_rate())

    @property
    def weights(self) -> Floats:
        """q, the probabilities the coming expert is drawn with (K,)."""
        with self.lock:
            s = self.state
            if s.rate.kind == ANYTIME:
                s.numbers[ETA] = s.rate.scale / math.sqrt(self.round + 1)
                remake(s)
            q = np.empty(self.experts.n_experts)
            q[s.layout.expert] = s.weight * np.repeat(s.factor, np.diff(s.start))
            return np.asarray(q / q.sum())

    def _fits(self, decision: Decision) -> bool:
        return super()._fits(decision) and bool(0.0 < self._carry_of(decision)[0] <= 1.0)

    def _arrays(self) -> dict[str, Array]:
        arrays = super()._arrays()
        if self.state.rate.kind == ANYTIME:  # weights are made anew in every round: what they are made of
            arrays = {name: arrays[name] for name in _CUMULATIVE}
            arrays["numbers"][ETA] = 0.0
        return arrays

    def _from_format_1(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The first files had costs apart, also where every expert has a rule of its own; weights are made anew."""
        s, paid = self.state, arrays["paid"]
        if not s.layout.alone or (paid.shape == s.paid.shape and not paid.any()):
            return arrays
        check_arrays({"paid": paid}, {"paid": s.losses})
        return {"losses": arrays["losses"] + paid, "paid": s.paid, "numbers": arrays["numbers"]}

    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        s = self.state
        cumulative = arrays.keys() == set(_CUMULATIVE)
        like = {name: getattr(s, name) for name in (_CUMULATIVE if cumulative else self.saved)}
        check_arrays(arrays, like)
        self.check_saved(arrays)
        for name, array in arrays.items():
            getattr(s, name)[:] = array
        if cumulative and s.rate.kind != ANYTIME:
            remake(s)

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        s, numbers = self.state, arrays["numbers"]
        if s.rate.kind == ADAPTIVE and numbers[ETA] != adaptive(s.rate.log_experts, numbers[SQUARES]):
            raise InputError("state: expected the rate that V gives, got another")
        # Twice: a cost that was set on the way may have changed the scale.
        if s.rate.kind != ADAPTIVE and numbers[ETA] > 2.0 * s.rate.scale:
            raise InputError(f"state: expected a rate of {s.rate.scale} or so, got {numbers[ETA]}")
        if s.layout.alone and arrays["paid"].any():
            raise InputError("state: expected costs to be among the losses where rules are not shared, got them apart")
        if "weight" in arrays:
            if (arrays["weight"] > 1.0).any() or (arrays["factor"] > 1.0).any():
                raise InputError("state: expected weights and factors of 1 at most, got more")
            sums = np.add.reduceat(arrays["weight"], s.start[:-1])
            if not np.allclose(arrays["sums"], sums, rtol=1e-9, atol=0.0) or not (arrays["factor"] * sums).any():
                raise InputError("state: expected sums of the weights, not all 0, got others")
