"""Doubly robust weights with one more expert, which looks at x."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import costs
from ..engine import Kernels, Learner, Seed
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels.exp3.stacked import StackedState, choose, inform, update
from ..kernels.exp3.state import Memories
from ..typing import Array, Floats
from .doubly_robust import DoublyRobust


class Stacked(DoublyRobust):
    """`DoublyRobust` with a stacker as one more expert: it begins with half of the weight.

    The stacker asks the model of the label: of those who predict on x it follows the one that is expected to lose least
    if that is below the cost, else one that abstains. So for 0/1 losses it predicts the likelier label where the other
    one's probability is below the cost. It chooses by x, so it competes with more than the
    experts do and may lose less than the best of them: its regret may be negative. Where nearly always abstaining is
    best, or the experts' signs say little of the label, it costs a little. For labels -1 and +1.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> trace = ab.simulate(Stacked(experts, cost=0.2, seed=0), X, y)
    >>> bool(trace.regret(ab.best_in_hindsight(experts, X, y, cost=0.2))[-1] < 0.0)
    True
    """

    kernels = Kernels(choose, update, inform=inform)
    options = ()
    saved = (*DoublyRobust.saved, "base", "stack")
    signed = (*DoublyRobust.signed, "base", "stack")

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        if not self._modelled:
            raise InputError(f"loss: Stacked needs one of labels -1 and +1, got {self.loss!r}")

    def new_state(self) -> StackedState:  # type: ignore[override]
        return StackedState(super().new_state(), np.zeros(1))  # type: ignore[arg-type]

    def rearrange(self, experts: ExpertSet, predictor_from: ArrayLike, expert_from: ArrayLike) -> None:
        Learner.rearrange(self, experts, predictor_from, expert_from)  # it cannot

    @property
    def _weights(self) -> Memories:
        weights: Memories = self.state.robust.memories
        return weights

    @property
    def weights(self) -> Floats:
        """The probabilities of the experts (K,), which sum to what the stacker leaves: 1 - `stacker_weight`."""
        with self.lock:
            return super().weights * (1.0 - self.stacker_weight)

    @property
    def stacker_weight(self) -> float:
        """The probability that the stacker is asked in the coming round."""
        with self.lock:
            s = self._weights
            others = math.log(float((s.factor * s.sums).sum()))
            own = math.log(self.experts.n_experts) - s.numbers[0, 0] * float(self.state.stack[0] - s.base[0, 0])
            return 1.0 / (1.0 + math.exp(min(700.0, others - own)))

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """What every predictor loses if the label is -1, and then if it is +1, and the cost (n, 2 P + 1)."""
        return np.column_stack([super().see(X, advice, costs), costs])

    def new_carry(self) -> Floats:
        """As for `DoublyRobust`; then the predictor that the stacker follows (-1: it abstains) and its guess."""
        return np.concatenate([super().new_carry(), np.zeros(2)])

    def _carried_well(self, carry: Array) -> bool:
        follows = carry[-2]
        known = follows == math.floor(follows) and -1.0 <= follows < self.experts.n_predictors
        return bool(known) and super()._carried_well(np.delete(carry, -2))
