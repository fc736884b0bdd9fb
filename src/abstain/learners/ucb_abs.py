"""Regions by the pattern of which rules abstain: patterns are kept as bits and found by a hash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import costs
from ..engine import Decision, KernelLearner, Kernels, Seed, check_arrays
from ..engine.feedback import check_predicted
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels.compiling import inline, kernel
from ..kernels.passes import mix
from ..typing import Array, Bools, Floats, Ints

WORD = 64
"""Rules in a word."""


class Patterns(NamedTuple):
    """The patterns of the regions, and how to find them; the first row that is free holds that of the round."""

    n_regions: Ints  # (1,)
    bits: NDArray[np.uint64]  # (capacity, W) bit b of word w is rule 64 w + b
    heads: Ints  # (a power of 2,) the last region of a place of the hash, or -1
    chain: Ints  # (capacity,) the one before it in that place, or -1


@inline
def pack(abstains: Bools, row: Any) -> None:
    """A pattern as bits."""
    for w in range(np.uint64(row.size)):
        word, first = np.uint64(0), w * np.uint64(WORD)
        for b in range(min(np.uint64(WORD), np.uint64(abstains.size) - first)):
            word |= np.uint64(abstains[first + b]) << b
        row[w] = word


@inline
def unpack(row: Any, abstains: Bools) -> None:
    """A pattern from its bits."""
    for a in range(np.uint64(abstains.size)):
        abstains[a] = (row[a // np.uint64(WORD)] >> (a % np.uint64(WORD))) & np.uint64(1) != np.uint64(0)


@inline
def _place(region: int, patterns: Patterns) -> Any:
    """Where a pattern is in the table of the hash."""
    key = np.uint64(0)
    for w in range(patterns.bits.shape[1]):
        key = mix(key, patterns.bits[region, w])
    return key & np.uint64(patterns.heads.size - 1)


@kernel
def find(abstains: Bools, patterns: Patterns) -> int:
    """The region of a pattern; ``n_regions`` if it is new. The pattern is put where a new one's belongs."""
    free = patterns.n_regions[0]
    pack(abstains, patterns.bits[free])
    region = patterns.heads[_place(free, patterns)]
    while region >= 0:
        differ = np.uint64(0)
        for w in range(patterns.bits.shape[1]):
            differ |= patterns.bits[region, w] ^ patterns.bits[free, w]
        if differ == np.uint64(0):
            return int(region)
        region = patterns.chain[region]
    return int(free)


@kernel
def enter(patterns: Patterns) -> None:
    """Make the pattern of the round a region."""
    region = patterns.n_regions[0]
    place = _place(region, patterns)
    patterns.chain[region] = patterns.heads[place]
    patterns.heads[place] = region
    patterns.n_regions[0] = region + 1


WIDTH = 5.0
"""The square of the width of a confidence interval, ``5 log t / n``: that of the paper."""


class Members(NamedTuple):
    """The experts, and those of each predictor side by side; never changes."""

    predictor: Ints  # (K,) of each expert
    rule: Ints  # (K,)
    expert: Ints  # (K,) by predictor, increasing within one
    start: Ints  # (P + 1,) where those of each predictor begin


class RegionState(NamedTuple):
    """A learner: everything it knows. Rows from the number of regions on are 0, or scratch."""

    members: Members
    patterns: Patterns
    labels: Floats  # (capacity,) how many were seen
    losses: Floats  # (capacity, P) the sum of each predictor's
    leader: Ints  # (capacity,) the expert to follow if one predicts, or -1
    silent: Ints  # (capacity,) the expert to follow if one abstains, or -1


@inline
def _first_of(predictor: Any, abstains: Bools, members: Members) -> int:
    """The first expert that predicts with this predictor, or -1."""
    for k in range(members.start[predictor], members.start[predictor + 1]):
        if not abstains[members.rule[members.expert[k]]]:
            return int(members.expert[k])
    return -1


@kernel
def _lead(region: int, abstains: Bools, s: RegionState) -> None:
    """Find the first expert with the predictor of least loss, the lowest among equals, of those that predict."""
    least, s.leader[region] = np.inf, -1
    for p in range(s.losses.shape[1]):
        if s.losses[region, p] < least:
            expert = _first_of(p, abstains, s.members)
            if expert >= 0:
                least, s.leader[region] = s.losses[region, p], expert


@kernel
def _survey(region: int, abstains: Bools, s: RegionState) -> None:
    """Find whom to follow in a region."""
    _lead(region, abstains, s)
    s.silent[region] = -1
    for k in range(s.members.rule.size):
        if abstains[s.members.rule[k]]:
            s.silent[region] = k
            break


@kernel
def enter_all(n: int, abstains: Bools, s: RegionState) -> None:
    """Make the first n rows regions; ``abstains`` is scratch."""
    for region in range(n):
        unpack(s.patterns.bits[region], abstains)
        _survey(region, abstains, s)
        enter(s.patterns)


@kernel
def full(s: RegionState) -> bool:
    """Whether there is no room for a new region, and for the pattern of one more round behind it."""
    return bool(s.patterns.n_regions[0] >= s.labels.size - 1)


@kernel
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: RegionState) -> tuple[int, float]:
    """Predict if the least mean error of the region may be below the cost, x; the region is carried."""
    region = find(abstains, s.patterns)
    if region == s.patterns.n_regions[0]:
        _survey(region, abstains, s)
    carry[0] = region
    leader, silent, n = s.leader[region], s.silent[region], s.labels[region]
    predicts = leader >= 0
    if predicts and silent >= 0 and n > 0.0:
        mean = s.losses[region, s.members.predictor[leader]] / n
        predicts = mean - math.sqrt(WIDTH * math.log(t) / n) < x[0]
    return (leader, 1.0) if predicts else (silent, 0.0)


@kernel
def note(t: int, expert: int, abstains: Bools, carry: Floats, s: RegionState) -> None:
    """A round was decided in a region, perhaps a new one."""
    if int(carry[0]) == s.patterns.n_regions[0]:
        enter(s.patterns)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: RegionState) -> None:
    """A label shows the losses of all predictors; without one there is nothing to learn."""
    if seen:
        region = int(carry[0])
        s.labels[region] += 1.0
        for p in range(np.uint64(losses.size)):
            s.losses[region, p] += losses[p]
        _lead(region, abstains, s)


_LEAST_CAPACITY = 16


class UCBAbs(KernelLearner):
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

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: Accepted as by every learner; nothing is random.
        feedback: Which labels come back; only "predicted" is possible here.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=20_000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=3, n_rings=4, seed=0)
    >>> learner = UCBAbs(experts, cost=0.05)
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
        self.state = self._state_with(**self.arrays())

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

    def fits(self, decision: Decision) -> bool:
        if not super().fits(decision):
            return False
        region = float(decision.carry[0])
        if not 0.0 <= region < self.n_regions or region != math.floor(region):
            return False
        pattern = self._unpacked(self.state.patterns.bits[int(region) : int(region) + 1])[0]
        return np.array_equal(pattern, self._of_used(decision.abstains))

    # Copies and files.

    def arrays(self) -> dict[str, Array]:
        n, s = self.n_regions, self.state
        return {"bits": s.patterns.bits[:n].copy(), "labels": s.labels[:n].copy(), "losses": s.losses[:n].copy()}

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        n = len(arrays["labels"]) if "labels" in arrays and arrays["labels"].ndim else 0
        check_arrays(arrays, self._nothing(n))
        self.check_saved(arrays)
        self.state = self._state_with(**arrays)

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        bits, labels, losses = arrays["bits"], arrays["labels"], arrays["losses"]
        if (labels != np.floor(labels)).any() or (labels > self.round).any() or labels.sum() > self.round:
            raise InputError(
                f"state: expected the labels of at most {self.round} rounds, got up to {labels.max()} in a region"
            )
        if len(labels) > self.round:
            raise InputError(f"state: expected at most {self.round} regions, got {len(labels)}")
        if (losses > labels[:, np.newaxis]).any() or (self.loss.binary and (losses != np.floor(losses)).any()):
            raise InputError(f"state: expected losses in [0, 1] for each label, got sums up to {losses.max()}")
        in_last = self.n_rules - WORD * (self._n_words - 1)
        if in_last < WORD and (bits[:, -1] >> np.uint64(in_last)).any():
            raise InputError(f"state: expected patterns of {self.n_rules} bits, got more")
        nobody_predicts = self._unpacked(bits).all(axis=1)
        if len(np.unique(bits, axis=0)) < len(bits) or labels[nobody_predicts].any():
            raise InputError(
                "state: expected regions that differ, and labels only where an expert predicts, got "
                f"{len(bits)} regions with {labels[nobody_predicts].sum()} labels where none does"
            )
