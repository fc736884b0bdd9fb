"""One more expert that looks at x: it predicts the likelier label, or abstains where that is cheaper."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import costs
from ...engine import Kernels, Learner, Seed
from ...errors import InputError, shown
from ...experts import Advice, ExpertSet
from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats
from .doubly_robust import ROBUST, DoublyRobust, estimate, model_label, put_guesses, revise
from .drawing import draw, weigh_sides
from .guesses import Guesses
from .state import ETA, LEAST_PROBABILITY, Memories
from .weight_kernels import woven

learn_memory = woven(ROBUST).learn_memory


class StackedState(NamedTuple):
    """A learner: everything it knows."""

    memories: Memories
    guesses: Guesses
    stack: Floats  # (1,) the cumulative estimate of the stacker, relative to abstaining


@inline
def _share(s: StackedState) -> float:
    """The mass of the stacker, which begins with a half; `masses` holds the sum of the others' weights."""
    m = s.memories
    own = math.log(m.weight.shape[1]) - m.numbers[0, ETA] * (s.stack[0] - m.base[0, 0])
    return 1.0 / (1.0 + math.exp(min(700.0, math.log(m.masses[0, 0]) - own)))


@inline
def _first_silent(abstains: Bools, m: Memories) -> int:
    """The first slot of those who abstain; -1 if nobody does."""
    for team in range(m.layout.rule.size):
        if abstains[m.layout.rule[team]]:
            return int(m.layout.start[team])
    return -1


@inline
def _best_predicting(rho: float, low: Floats, high: Floats, abstains: Bools, m: Memories) -> tuple[int, float]:
    """The first slot of those who predict with the least expected loss, and that loss; -1 if nobody predicts."""
    best, least = -1, np.inf
    for team in range(m.layout.rule.size):
        if not abstains[m.layout.rule[team]]:
            for slot in range(m.layout.start[team], m.layout.start[team + 1]):
                p = m.layout.predictor[slot]
                expected = rho * high[p] + (1.0 - rho) * low[p]
                if expected < least:
                    best, least = slot, expected
            if m.layout.product:  # all predictors were looked at
                break
    return best, least


@inline
def _follow(rho: float, cost: float, low: Floats, high: Floats, abstains: Bools, m: Memories) -> int:
    """The slot that does what the stacker wants: predict with the least expected loss if that is below the cost, else
    abstain; where nobody does, the other.
    """
    best, least = _best_predicting(rho, low, high, abstains, m)
    if best >= 0 and least < cost:
        return best
    silent = _first_silent(abstains, m)
    return silent if silent >= 0 else best


@inline
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: StackedState) -> tuple[int, float]:
    """The expert drawn by ``u``, or the one the stacker follows, and the probability of predicting.

    Carried in the end: the predictor the stacker follows (-1: it abstains), and its guess.
    """
    m, n = s.memories, s.guesses.cell.size
    low, high = x[:n], x[n : 2 * n]
    rho = model_label(x, abstains, s)
    slot = _follow(rho, x[2 * n], low, high, abstains, m)
    p, silent = m.layout.predictor[slot], abstains[m.layout.rule[m.layout.team[m.layout.expert[slot]]]]
    mass = weigh_sides(abstains, m)
    share = _share(s)
    expert, predicts = m.layout.expert[slot], (1.0 - share) * mass + (0.0 if silent else share)
    if u >= share:
        within = min((u - share) / (1.0 - share), 1.0 - 2.0**-53)
        expert, _ = draw(within, m.sight.least, abstains, carry, m)
    carry[0], carry[1] = predicts, 0.0
    put_guesses(rho, x, carry, s)
    carry[carry.size - 2] = -1.0 if silent else float(p)
    carry[carry.size - 1] = rho * high[p] + (1.0 - rho) * low[p]
    return expert, predicts


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: StackedState) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    m = s.memories
    weigh_sides(abstains, m)
    share, eta, p = _share(s), m.numbers[0, ETA], int(carry[carry.size - 2])
    moved, paid = estimate(0, abstains, losses, seen, cost, carry, s)
    own = 0.0
    if p >= 0:
        own = carry[carry.size - 1] - cost
        if seen:
            certainty = 1.0 / max(carry[0], s.guesses.constants.clip * eta, LEAST_PROBABILITY)
            own += certainty * (losses[p] - carry[carry.size - 1])
    s.stack[0] += own
    learn_memory(0, abstains, moved, paid, share, own * own, s)
    revise(abstains, losses, seen, carry, s)


@inline
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: StackedState) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    choose(1, 0.0, x, abstains, carry, s)
    carry[0] = 1.0
    update(0, abstains, losses, losses.size > 0, cost, carry, s)


class Stacked(DoublyRobust):
    """`DoublyRobust` with a stacker as one more expert: it begins with half of the weight.

    The stacker asks the model of the label: of those who predict on x it follows the one that is expected to lose least
    if that is below the cost, else one that abstains. So for 0/1 losses it predicts the likelier label where the other
    one's probability is below the cost. It chooses by x, so it competes with more than the
    experts do and may lose less than the best of them: its regret may be negative. Where nearly always abstaining is
    best, or the experts' signs say little of the label, it costs a little. For labels -1 and +1.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`, for labels -1 and +1.
        seed: The seed of the learner's random numbers.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

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
        return StackedState(*super().new_state(), np.zeros(1))

    def rearrange(self, experts: ExpertSet, predictor_from: ArrayLike, expert_from: ArrayLike) -> None:
        Learner.rearrange(self, experts, predictor_from, expert_from)  # it cannot

    def favour(self, expert: int) -> None:
        raise InputError(f"expert: Stacked begins with its stacker, got {shown(expert)} to begin with")

    def reprice(self, cost: float) -> None:
        raise InputError(f"cost: Stacked cannot count past rounds at another cost, got {shown(cost)}; set learner.cost")

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
