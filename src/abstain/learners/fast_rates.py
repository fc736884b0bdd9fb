"""Exponential weights with full information that abstain where the predictors disagree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import costs
from .._core.validation import as_number
from ..engine import KernelLearner, Kernels, Seed
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels.compiling import inline, kernel
from ..losses import Multiclass, ZeroOne
from ..typing import Array, Bools, Floats, Ints

LARGEST_RATE = 1e9
"""A rate beyond any use, and far from overflow."""


def fast_rate(cost: float) -> float:
    """The largest eta with ``(e^eta - 1) / eta <= 2 (1 - c)``, for c < 1/2; it is between 1 - 2 c and 2 (1 - 2 c)."""
    low, high = 1.0 - 2.0 * cost, 2.0 * (1.0 - 2.0 * cost)
    for _ in range(60):
        middle = (low + high) / 2.0
        if math.expm1(middle) / middle <= 2.0 * (1.0 - cost):
            low = middle
        else:
            high = middle
    return low


def _powers(rate: float) -> Floats:
    return np.array([math.exp(-rate * behind) for behind in range(1024)])


class ForecasterState(NamedTuple):
    """Everything the learner knows."""

    predictor: Ints  # (K,) of each expert; never changes
    rule: Ints  # (K,)
    used: Bools  # (P,) whether an expert has the predictor
    signed: bool  # labels are signs of scores, else they come numbered
    rate: Floats  # (1,) eta
    totals: Floats  # (P,) the sum of each predictor's losses
    votes: Floats  # (P, or 2) scratch: the weight of each label
    powers: Floats  # e^(-eta k) for whole k from 0 on, which saves exponentials


@inline
def _least_total(s: ForecasterState) -> float:
    """The sum of losses of the best predictor."""
    least = np.inf
    for p in range(np.uint64(s.totals.size)):
        least = min(least, s.totals[p] if s.used[p] else np.inf)
    return least


@inline
def _weight(p: Any, least: float, s: ForecasterState) -> float:
    """w_{t,p}, over that of the best predictor."""
    behind = s.totals[p] - least
    if not s.used[p]:
        return 0.0
    return s.powers[int(behind)] if behind < s.powers.size else math.exp(-s.rate[0] * behind)


@inline
def _label(x: float, s: ForecasterState) -> int:
    """The number of a label: 0 is +1 and 1 is -1, or as it comes; -1 is none."""
    if s.signed:
        return 0 if x > 0.0 else 1 if x < 0.0 else -1
    return int(x)


@inline
def _vote(x: Floats, s: ForecasterState) -> tuple[int, float]:
    """The label k*_t with the most weight, and its share p*_t."""
    votes, least, total, best = s.votes, _least_total(s), 0.0, 0
    votes[:] = 0.0
    for p in range(np.uint64(x.size)):
        weight = _weight(p, least, s)
        total += weight
        label = _label(x[p], s)
        if label >= 0:
            votes[label] += weight
    for label in range(votes.size):
        if votes[label] > votes[best]:
            best = label
    return best, votes[best] / total


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: ForecasterState) -> tuple[int, float]:
    """Follow the first expert that predicts k*_t, or with probability alpha_t the first that abstains."""
    best, share = _vote(x, s)
    speaker, silent = -1, -1
    for k in range(s.rule.size):
        if abstains[s.rule[k]]:
            silent = k if silent < 0 else silent
        elif speaker < 0 and _label(x[s.predictor[k]], s) == best:
            speaker = k
        if speaker >= 0 and silent >= 0:
            break
    predicts = 1.0 - min(max(2.0 * (1.0 - share), 0.0), 1.0)
    if speaker < 0:
        predicts = 0.0
        speaker = 0
    if silent < 0:
        predicts = 1.0
    return (speaker, predicts) if u < predicts else (silent, predicts)


@kernel
def update(
    expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: ForecasterState
) -> None:
    """Add the losses of all predictors."""
    if seen:
        for p in range(np.uint64(losses.size)):
            s.totals[p] += losses[p]


@kernel
def weigh(weights: Floats, s: ForecasterState) -> None:
    """Compute q_t."""
    least, total = _least_total(s), 0.0
    for p in range(weights.size):
        weights[p] = _weight(p, least, s)
        total += weights[p]
    for p in range(weights.size):
        weights[p] /= total


class FastRates(KernelLearner):
    """Exponential weights on predictors, which abstain where the predictors disagree (Neu and Zhivotovskiy, *Fast rates
    for online prediction with abstention*, COLT 2020, algorithm 1; for several classes section 5.1).

    It sees every label: a reference beside `FullSupervision`, outside the protocol (``supervised``). Abstaining is its
    own action and not an expert's, and it competes with the *predictors*, which never abstain. Predictor i has weight
    ``q_i ~ exp(-eta L_i)``, where L_i is the sum of its losses. Let p* be the weight of the label with the most. With
    probability ``min(2 (1 - p*), 1)`` it abstains, else it predicts that label. For c < 1/2 and
    ``(e^eta - 1) / eta <= 2 (1 - c)`` its expected regret to the best of N predictors is at most ``log N / eta`` on any
    sequence, for any number of rounds (theorems 1 and 12). They state it for
    ``eta <= 2 (1 - 2 c)``, which is false: where ``(e^eta - 1) / eta`` is above ``2 (1 - c)``, regret can grow as T
    (see "Successors").

    To abstain it follows the first expert that abstains, to predict a label the first that predicts it. The bound asks
    that there always are such experts: that a rule always abstains and another one never, or ``hyperplanes`` with
    ``always_predict=True``. Where nobody abstains it predicts, and where nobody predicts that label it abstains.

    No learner can have such a bound against experts that abstain: let one always abstain and another one always
    predict, and be wrong with probability c in every round.

    Args:
        experts: The experts; their predictors are what counts, their rules only say when it may abstain.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: "zero_one" or "multiclass".
        seed: The seed of the learner's random numbers; by default every learner draws others.
        eta: The rate, a positive number; by default the largest for which the bound holds at the largest cost, which
            must be below 1/2.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, always_predict=True, seed=0)
    >>> learner = FastRates(experts, cost=0.3, seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> of_experts = ab.best_in_hindsight(experts, X, y, cost=0.3).total
    >>> of_predictors = of_experts.reshape(10, 21)[:, -1]  # the last rule never abstains
    >>> bool(trace.loss.sum() - of_predictors.min() < ab.theory.fast_rates_bound(2000, 10, 0.3))
    True
    """

    kernels = Kernels(choose, update)
    options = ("eta",)
    saved = ("totals",)
    fixed = ("predictor", "rule", "used", "signed")
    supervised = True

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        eta: float | None = None,
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        if not isinstance(self.loss, (ZeroOne, Multiclass)):
            raise InputError(f"loss: expected 'zero_one' or 'multiclass', got {self.loss!r}")
        if eta is not None:
            expected = f"a positive number up to {LARGEST_RATE:g}"
            eta = as_number(eta, "eta", expected, lambda eta: 0.0 < eta <= LARGEST_RATE)
        self.eta = eta
        self._rate_at(self.cost)

    def _rate_at(self, cost: costs.Cost) -> float:
        """The rate in use."""
        if self.eta is not None:
            return self.eta
        if not cost.largest < 0.5:
            raise InputError(f"cost: expected less than 1/2 unless you give eta, got up to {cost.largest:g}")
        return fast_rate(cost.largest)

    def _reprice(self, cost: costs.Constant) -> None:
        rate = self._rate_at(cost)
        super()._reprice(cost)
        self.state.rate[0], self.state.powers[:] = rate, _powers(rate)

    def new_state(self) -> ForecasterState:
        n_predictors, rate = self.experts.n_predictors, self._rate_at(self.cost)
        return ForecasterState(
            predictor=self.pairs.predictor,
            rule=self.pairs.rule,
            used=np.isin(np.arange(n_predictors), self.pairs.predictor),
            signed=isinstance(self.loss, ZeroOne),
            rate=np.array([rate]),
            totals=np.zeros(n_predictors),
            votes=np.zeros(max(n_predictors, 2)),
            powers=_powers(rate),
        )

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """The scores, or for each predictor the first that says the same class (n, P)."""
        said = advice.predictions
        if isinstance(self.loss, ZeroOne):
            return np.asarray(said, np.float64)
        first = np.zeros(said.shape)
        for label in np.unique(said):
            same = said == label
            first = np.where(same, same.argmax(axis=1)[:, np.newaxis], first)
        return first

    # What has been learnt.

    @property
    def weights(self) -> Floats:
        """q: the weight of each predictor (P,); 0 for those that no expert has."""
        with self.lock:
            weights = np.zeros(self.experts.n_predictors)
            weigh(weights, self._packed)
            return weights

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        totals = arrays["totals"]
        wrong = (totals != np.floor(totals)) | (totals > self.round)
        if wrong.any():
            raise InputError(f"state: expected at most {self.round} losses, a whole number, got {totals[wrong][0]}")
