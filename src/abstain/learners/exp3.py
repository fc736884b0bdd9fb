"""EXP3: exponential weights with bandit feedback only."""

import math
from typing import Any

import numpy as np

from .. import costs
from ..engine import Decision, KernelLearner, Kernels, Seed
from ..engine.feedback import check_predicted
from ..errors import InputError, shown
from ..experts import ExpertSet
from ..kernels.exp3.bandit import BanditState, choose, edges, update, weigh
from ..kernels.exp3.rate import ADAPTIVE
from ..typing import Floats
from .tuning import as_eta, as_horizon, find_rate


class Exp3(KernelLearner):
    """EXP3 of Auer, Cesa-Bianchi, Freund and Schapire (2002), a baseline: only the loss of the expert that is followed
    is seen, whatever else the round shows.

    ``Lhat_t(j) = L_t(j) / q_t(j)`` for the expert drawn, else 0, and ``q_t`` is proportional to ``exp(-eta_t sum_{s<t}
    Lhat_s)``. The rate ``eta`` is "anytime" (the default), ``sqrt(log K / (K t))``; "tuned", ``sqrt(2 log K / (K T))``
    with T = ``horizon``; or a number. Regret is at most ``2 sqrt(T K log K)``, or ``sqrt(2 T K log K)`` if tuned
    (`theory.exp3_bound`): it grows with sqrt(K) where `Exp3Abs` has sqrt(log K).

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> learner = Exp3(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.2, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> float(learner.weights.sum().round(12))
    1.0
    """

    kernels = Kernels(choose, update, edges=edges)
    options = ("eta", "horizon")
    saved = ("losses",)
    fixed = ("rate", "predictor", "rule")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        eta: str | float = "anytime",
        horizon: int | None = None,
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        check_predicted(feedback, type(self).__name__)
        n_experts, log_experts = experts.n_experts, math.log(experts.n_experts)
        self.eta, self.horizon = as_eta(eta), as_horizon(horizon)
        self._rate = find_rate(
            self.eta, log_experts, n_experts, self.horizon, lambda T: math.sqrt(2.0 * log_experts / (n_experts * T))
        )
        if self._rate.kind == ADAPTIVE:
            raise InputError(f"eta: expected 'anytime', 'tuned' or a positive number, got {shown(eta)}")

    def new_state(self) -> BanditState:
        losses, weight = np.zeros((2, self.experts.n_experts))
        return BanditState(self._rate, *self.pairs, losses, weight)

    def new_carry(self) -> Floats:
        """q_t of the expert."""
        return np.zeros(1)

    def _fits(self, decision: Decision) -> bool:
        return super()._fits(decision) and bool(0.0 < self._carry_of(decision)[0] <= 1.0)

    @property
    def weights(self) -> Floats:
        """q, the probabilities the coming expert is drawn with (K,)."""
        with self.lock:
            return np.asarray(self.state.weight / weigh(self.round + 1, self.state))
