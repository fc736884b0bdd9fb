"""EXP3-ABS: exponential weights for the adversarial game (algorithm 3)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import costs
from ..decision import Decision
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels import exp3, exp3_play, exp3_state
from ..kernels.play import Late, Played, no_late
from ..kernels.rates import adaptive
from ..tables import as_count, is_number
from .arrange import arrange
from .base import Choice, Seed
from .compiled import CompiledLearner
from .rates import find_rate

_SAVED = ("losses", "paid", "weight", "factor", "sums", "numbers")


class Exp3Abs(CompiledLearner):
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

    options = ("eta", "horizon", "ix")

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
        if not is_number(ix) or not 0.0 <= ix < math.inf:
            raise InputError(f"ix: expected a number that is not negative, got {ix!r}")
        self.eta = float(eta) if is_number(eta) else eta
        self.horizon = None if horizon is None else as_count(horizon, "horizon")
        self.ix = float(ix)
        log_experts, spread = math.log(experts.n_experts), self.cost.largest**2 + 1.0
        rate, scale = find_rate(
            self.eta, log_experts, spread, self.horizon, lambda T: math.sqrt(2.0 * log_experts / (spread * T))
        )
        used, places, cell_of = arrange(experts, by_rule=True)
        self._used = None if len(used) == experts.n_rules else used
        how = exp3_state.Settings(rate, scale, log_experts, self.ix)
        self._weights = exp3_state.weights(how, places, cell_of, experts.n_predictors)
        self._weights.numbers[exp3_state.ETA] = adaptive(how.log_experts, 0.0) if rate == exp3_state.ADAPTIVE else scale

    @property
    def weights(self) -> NDArray[np.float64]:
        """q, the probabilities the coming expert is drawn with (K,)."""
        w = self._weights
        if w.how.rate == exp3_state.ANYTIME:
            w.numbers[exp3_state.ETA] = w.how.scale / math.sqrt(self.round + 1)
            exp3.remake(w)
        q = np.empty(self.experts.n_experts)
        q[w.places.expert] = w.weight * np.repeat(w.factor, np.diff(w.start))
        return np.asarray(q / q.sum())

    def _choose(self, advice: Advice, cost: float) -> Choice:
        slot, probability = exp3.draw(
            self.round + 1, self._random.random(), self._of_used(advice.abstains[0]).copy(), self._weights
        )
        return Choice(int(self._weights.places.expert[slot]), probability, np.zeros(0, np.bool_))

    def _commit(self, decision: Decision) -> None:
        if decision.abstained:
            self._learn(decision, np.zeros(self.experts.n_predictors, np.uint8 if self.loss.binary else np.float64))

    def _fits(self, decision: Decision) -> bool:
        return super()._fits(decision) and 0.0 < decision.probability <= 1.0 + 1e-9

    def _absorb(self, decision: Decision, losses: NDArray[Any]) -> None:
        self._learn(decision, losses)

    def _learn(self, decision: Decision, losses: NDArray[Any]) -> None:
        abstains = self._of_used(decision.abstains).copy()  # writable: read-only arrays would be compiled for once more
        exp3.learn(abstains, losses, not decision.abstained, decision.probability, decision.cost, self._weights)

    def _new_late(self, delay: int) -> Late:
        losses = np.uint8 if self.loss.binary else np.float64
        return no_late(delay, 0, len(self._weights.places.rule), self.experts.n_predictors, losses)

    def _play(
        self, X: NDArray[np.float64], advice: Advice, losses: NDArray[Any], costs: NDArray[np.float64],
        at: NDArray[np.int64], edges: NDArray[np.int64], late: Late | None, out: Played,
    ) -> None:  # fmt: skip
        u = self._random.random(len(advice))
        abstains = self._of_used(advice.abstains)
        exp3_play.play(self.round + 1, u, abstains, losses, costs, at, edges, late, self._weights, out)

    def _learn_late(self, k: int, late: Late) -> None:
        exp3_play.learn_late(k, late, self._weights)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        arrays = {name: getattr(self._weights, name).copy() for name in _SAVED}
        if self._weights.how.rate == exp3_state.ANYTIME:  # weights are made anew in every round: what they are made of
            arrays = {"losses": arrays["losses"], "paid": arrays["paid"], "numbers": arrays["numbers"]}
            arrays["numbers"][exp3_state.ETA] = 0.0
        return arrays

    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        w, paid = self._weights, arrays["paid"]
        apart = w.places.single and (paid.shape != w.paid.shape or paid.any())  # the first files had it so
        if apart:
            arrays = {"losses": arrays["losses"] + paid, "numbers": arrays["numbers"]}
        for name, array in arrays.items():
            if name not in _SAVED or array.shape != getattr(w, name).shape:
                raise InputError("state: the arrays do not fit these experts")
        for name, array in arrays.items():
            getattr(w, name)[:] = array
        if apart:
            exp3.remake(w)
