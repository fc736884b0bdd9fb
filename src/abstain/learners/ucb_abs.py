"""UCB-ABS: the best choice for each region of inputs, by an upper confidence bound (Cortes et al. 2019)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import costs
from ..engine import Decision, KernelLearner, Kernels, Seed, check_arrays
from ..engine.feedback import check_predicted
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels.regions.choices import Members, RegionState, choose, enter_all, full, note, update
from ..kernels.regions.search import WORD, Patterns
from ..typing import Array, Bools, Floats, Ints

_LEAST_CAPACITY = 16


class UCBABS(KernelLearner):
    """UCB-ABS (Cortes, DeSalvo, Gentile, Mohri and Yang, *Online learning with sleeping experts and feedback graphs*,
    ICML 2019): in each region of inputs predict as well as can be, or abstain.

    It looks at x. A region is the set of inputs on which the same rules abstain. Of the predictors that some expert
    predicts with there, it takes the one with the least mean error in the region, mu. If ``mu - sqrt(5 log t / n)`` is
    below c(x), where t is the round and n the number of labels seen in the region, or if n = 0, it follows an expert
    that predicts with it, else one that abstains. Where nobody abstains it predicts, and where nobody predicts it
    abstains. Ties go to the lowest number, of predictors and then of experts; nothing is random.

    So it is measured against the best choice per region, a larger class than the experts: it may well have less loss
    than the best of them. But each region is learnt by itself, and takes at least ``5 log t / (1 - c)^2`` labels to
    abstain: where regions are many and their rounds few, it predicts nearly everywhere. A late label counts when it
    comes.

    A region takes ``8 (P + A / 64 + 6)`` bytes, for P predictors and A rules; room for up to twice the regions is held.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=20_000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=3, n_rings=4, seed=0)
    >>> learner = UCBABS(experts, cost=0.05)
    >>> trace = ab.simulate(learner, X, y)
    >>> best = ab.best_in_hindsight(experts, X, y, cost=0.05)
    >>> learner.n_regions, bool(trace.regret(best)[-1] < 0.0)
    (4, True)
    """

    kernels = Kernels(choose, update, note, full=full)
    fixed = ("members",)

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        feedback: str | tuple[float, float] = "predicted",
    ) -> None:
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        check_predicted(feedback, type(self).__name__)
        self._n_words = -(-self.n_rules // WORD)

    # What it knows.

    def new_state(self) -> RegionState:
        return self._state_with(**self._nothing(0))

    def _nothing(self, n: int) -> dict[str, Array]:
        """What a file holds of n regions in which nothing was learnt."""
        bits = np.zeros((n, self._n_words), np.uint64)
        return {"bits": bits, "labels": np.zeros(n), "losses": np.zeros((n, self.experts.n_predictors))}

    def _state_with(self, bits: Array, labels: Floats, losses: Floats) -> RegionState:
        """These regions, and room for as many again."""
        n, predictor = len(labels), self.pairs.predictor
        capacity = max(_LEAST_CAPACITY, 2 * n)
        start = np.searchsorted(np.sort(predictor), np.arange(self.experts.n_predictors + 1))
        patterns = Patterns(
            n_regions=np.zeros(1, np.int64),
            bits=np.zeros((capacity, self._n_words), np.uint64),
            heads=np.full(2 ** math.ceil(math.log2(capacity)), -1),
            chain=np.full(capacity, -1),
        )
        state = RegionState(
            members=Members(predictor, self.pairs.rule, np.argsort(predictor, kind="stable"), start),
            patterns=patterns,
            labels=np.zeros(capacity),
            losses=np.zeros((capacity, self.experts.n_predictors)),
            leader=np.full(capacity, -1),
            silent=np.full(capacity, -1),
        )
        patterns.bits[:n], state.labels[:n], state.losses[:n] = bits, labels, losses
        enter_all(n, np.zeros(self.n_rules, np.bool_), state)
        return state

    def grow(self) -> None:
        self.state = self._state_with(**self._arrays())

    def new_carry(self) -> Floats:
        """The region."""
        return np.zeros(1)

    @property
    def draws(self) -> bool:
        return False

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """The cost of each round: of x all that matters is who abstains."""
        return costs[:, np.newaxis]

    @property
    def n_regions(self) -> int:
        """N, the number of regions so far."""
        return int(self.state.patterns.n_regions[0])

    @property
    def patterns(self) -> Bools:
        """Which rules abstain in each region (N, A), of the rules in use, in the order the regions came."""
        with self.lock:
            return self._unpacked(self.state.patterns.bits[: self.n_regions])

    @property
    def counts(self) -> Ints:
        """How many labels were seen in each region (N,)."""
        with self.lock:
            return np.asarray(self.state.labels[: self.n_regions], np.int64)

    @property
    def means(self) -> Floats:
        """The mean error of each predictor in each region (N, P), also where no expert predicts with it; NaN before
        its first label.
        """
        with self.lock, np.errstate(invalid="ignore"):
            return np.asarray(self.state.losses[: self.n_regions] / self.state.labels[: self.n_regions, np.newaxis])

    def _unpacked(self, bits: Array) -> Bools:
        octets = np.ascontiguousarray(bits, "<u8").view(np.uint8)
        return np.unpackbits(octets, axis=1, count=self.n_rules, bitorder="little").astype(np.bool_)

    # The protocol.

    def _fits(self, decision: Decision) -> bool:
        if not super()._fits(decision):
            return False
        region = float(self._carry_of(decision)[0])
        if not 0.0 <= region < self.n_regions or region != math.floor(region):
            return False
        pattern = self._unpacked(self.state.patterns.bits[int(region) : int(region) + 1])[0]
        return np.array_equal(pattern, self._of_used(decision.abstains))

    # Copies and files.

    def _arrays(self) -> dict[str, Array]:
        n, s = self.n_regions, self.state
        return {"bits": s.patterns.bits[:n].copy(), "labels": s.labels[:n].copy(), "losses": s.losses[:n].copy()}

    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        n = len(arrays["labels"]) if "labels" in arrays and arrays["labels"].ndim else 0
        check_arrays(arrays, self._nothing(n))
        self.check_saved(arrays)
        self.state = self._state_with(**arrays)

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        bits, labels, losses = arrays["bits"], arrays["labels"], arrays["losses"]
        if (labels != np.floor(labels)).any() or (labels > self.round).any() or labels.sum() > self.round:
            raise InputError(f"state: expected the labels of at most {self.round} rounds, got others")
        if len(labels) > self.round:
            raise InputError(f"state: expected at most {self.round} regions, got {len(labels)}")
        if (losses > labels[:, np.newaxis]).any() or (self.loss.binary and (losses != np.floor(losses)).any()):
            raise InputError("state: expected losses in [0, 1] of each label, got others")
        in_last = self.n_rules - WORD * (self._n_words - 1)
        if in_last < WORD and (bits[:, -1] >> np.uint64(in_last)).any():
            raise InputError(f"state: expected patterns of {self.n_rules} bits, got more")
        nobody_predicts = self._unpacked(bits).all(axis=1)
        if len(np.unique(bits, axis=0)) < len(bits) or labels[nobody_predicts].any():
            raise InputError("state: expected regions that differ, and labels where somebody predicts, got others")
