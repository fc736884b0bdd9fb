"""EXP3 (Auer et al. 2002): exponential weights on the loss of the expert that was followed alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ... import costs
from ...engine import Decision, KernelLearner, Kernels, Report, Seed
from ...engine.feedback import check_predicted
from ...errors import InputError, shown
from ...experts import ExpertSet
from ...kernels.compiling import inline, kernel
from ...typing import Bools, Floats, Ints
from .state import ADAPTIVE, ANYTIME, LEAST_PROBABILITY, Rate, as_eta, as_horizon, find_rate


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


@inline
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


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: BanditState) -> None:
    """``Lhat_t(I_t) = L_t(I_t) / q_t(I_t)``; nothing of anybody else."""
    if abstains[s.rule[expert]]:
        s.losses[expert] += cost / carry[0]
    elif seen:
        s.losses[expert] += losses[s.predictor[expert]] / carry[0]


@inline
def edges(t: int, abstains: Bools, s: BanditState) -> int:
    """Self-loops."""
    return int(s.losses.size)


class Exp3(KernelLearner):
    """EXP3 of Auer, Cesa-Bianchi, Freund and Schapire (2002), a baseline: only the loss of the expert that is followed
    is seen, whatever else the round shows.

    ``Lhat_t(j) = L_t(j) / q_t(j)`` for the expert drawn, else 0, and ``q_t`` is proportional to ``exp(-eta_t sum_{s<t}
    Lhat_s)``. The rate ``eta`` is "anytime" (the default), ``sqrt(log K / (K t))``; "tuned", ``sqrt(2 log K / (K T))``
    with T = ``horizon``; or a number. Regret is at most ``2 sqrt(T K log K)``, or ``sqrt(2 T K log K)`` if tuned
    (`theory.exp3_bound`): it grows with sqrt(K) where `Exp3Abs` has sqrt(log K).

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers.
        eta: The rate: "anytime", "tuned" or a positive number, as above.
        horizon: The number of rounds T, which "tuned" needs.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

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

    def fits(self, decision: Decision) -> bool:
        return super().fits(decision) and bool(0.0 < decision.carry[0] <= 1.0)

    @property
    def weights(self) -> Floats:
        """q, the probabilities the coming expert is drawn with (K,)."""
        with self.lock:
            return np.asarray(self.state.weight / weigh(self.round + 1, self._packed))

    def report(self) -> Report:
        """Report the weights."""
        return Report(weights=self.weights)
