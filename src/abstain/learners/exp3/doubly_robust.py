"""DoublyRobust: exponential weights on a guess of each loss, corrected by its error where the label is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import costs
from ..._core.signals import held_back
from ..._core.validation import as_floats, as_number, plain
from ...capacity import CapacityLike
from ...engine import Decision, Seed
from ...engine.changes import Change, gathered, since
from ...engine.kernel_learner import Hand
from ...errors import InputError, shown
from ...experts import Advice, ExpertSet
from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats, Ints
from .carrying import carry_over_guesses, fading
from .guesses import (
    Guesses,
    believe,
    charge,
    constants_for,
    fill_hidden,
    forget_some,
    guess,
    guesses,
    learn_guesses,
    learn_label,
    limit,
    look,
    miss,
    suppose,
    trust,
)
from .state import ADAPTIVE, ETA, LEARNT, LEAST_PROBABILITY, SQUARES, Memories, Rate
from .weight_kernels import WeightKernels
from .weighted import WeightedLearner

GUESS = 2
"""Where the guesses begin in a carry: o and whether the choice was forced come before, what is lost if the label is
-1, and if it is +1, after them."""


class RobustState(NamedTuple):
    """A learner: everything it knows. Estimates are kept relative to the cost of abstaining."""

    memories: Memories
    guesses: Guesses


@inline
def is_hidden(carry: Floats, s: Any) -> int:
    """Whether the label of a round was unlikely to be seen: 0 or 1."""
    sight = s.memories.sight
    return int(carry[0] < s.guesses.constants.visible * max(sight.predicted, sight.abstained))


@inline
def model_label(x: Floats, abstains: Bools, s: Any) -> float:
    """Look at a round; the model's probability of the label +1, 1/2 without a model."""
    n = s.guesses.cell.size
    look(abstains, s.guesses)
    return believe(x[:n], x[n : 2 * n], s.guesses) if x.size >= 2 * n else 0.5


@inline
def put_guesses(rho: float, x: Floats, carry: Floats, s: Any) -> None:
    """Guess what every predictor would lose, into the carry, which holds o already."""
    n = s.guesses.cell.size
    modelled = x.size >= 2 * n
    out, low, high = carry[GUESS : GUESS + n], x[: n * modelled], x[n * modelled : 2 * n * modelled]
    guess(rho, is_hidden(carry, s), s.memories.numbers[0, LEARNT], low, high, out, s.guesses)
    for i in range(2 * n * modelled):
        carry[GUESS + n + i] = x[i]


@inline
def guess_losses(x: Floats, abstains: Bools, carry: Floats, s: Any) -> None:
    """Guess what every predictor would lose."""
    put_guesses(model_label(x, abstains, s), x, carry, s)


@inline
def estimate(
    j: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any
) -> tuple[bool, float]:  # fmt: skip
    """``k m - c + 1[seen] (l - m) / D`` of every predictor for memory j, with ``D = max(o, clip eta)``.

    k is 1, unless a predictor's debt is too large before the round: then it is ``h = o / D``. The first memory keeps
    the accounts.
    """
    m, g, first, numbers = s.memories, s.guesses, np.uint64(GUESS), s.memories.numbers
    o = max(carry[0], LEAST_PROBABILITY)
    divisor = max(o, g.constants.clip * numbers[j, ETA])
    certainty = 1.0 / divisor if seen else 0.0
    if j == 0:
        trust(limit(numbers[0, LEARNT], g), g)
    if o == divisor:
        for p in range(np.uint64(g.cell.size)):
            m.estimate[p] = (carry[first + p] - cost) + certainty * (losses[p] - carry[first + p])
        return True, 0.0
    look(abstains, g)
    h, most, hidden = o / divisor, 0.0, is_hidden(carry, s)
    owed = (1.0 - h) / o if seen else 0.0
    for p in range(np.uint64(g.cell.size)):
        guessed = carry[first + p]
        k = 1.0 if g.trusted[p] else h
        m.estimate[p] = (k * guessed - cost) + certainty * (losses[p] - guessed)
        most = max(most, (1.0 - k) * guessed)
        if j == 0 and g.lean[p] > 0.0:  # where all of its rules abstain nobody can follow it
            charge(p, hidden, (k - h) * guessed - owed * losses[p], g)
    numbers[j, SQUARES] += g.constants.clip * h * most
    return True, 0.0


@inline
def estimate_plainly(
    j: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Floats, s: Any
) -> tuple[bool, float]:  # fmt: skip
    """``-c + 1[seen] l / o`` of every predictor: no guess, no clip."""
    certainty = 1.0 / max(carry[0], LEAST_PROBABILITY) if seen else 0.0
    for p in range(np.uint64(s.guesses.cell.size)):
        s.memories.estimate[p] = certainty * losses[p] - cost
    return True, 0.0


@inline
def revise(abstains: Bools, losses: Any, seen: bool, carry: Floats, s: Any) -> None:
    """Let guesses learn from a round."""
    m, g, n = s.memories, s.guesses, s.guesses.cell.size
    hidden, learnt = is_hidden(carry, s), m.numbers[0, LEARNT]
    look(abstains, g)
    if seen:
        modelled = carry.size >= GUESS + 3 * n
        low, high = carry[GUESS + n : GUESS + n + n * modelled], carry[GUESS + n + n : GUESS + n + n + n * modelled]
        rho = believe(low, high, g) if modelled else 0.5
        learn_guesses(rho, hidden, learnt, max(carry[0], LEAST_PROBABILITY), losses, low, high, g)
        if modelled:
            learn_label(rho, losses, low, high, g)
    else:
        miss(hidden, g)
    forget_some(learnt, g)


ROBUST = WeightKernels(estimate=estimate, guess=guess_losses, revise=revise, plain=estimate_plainly)
"""The algorithm, as plug-ins of the weights."""
RATE = 2.0
"""The rate is so many times EXP3-ABS's."""
GUESSES_HELD = 5_000
"""Rounds that guesses are held for by ``memory="adaptive"``."""

GUESSED = (
    "support", "expected", "suffered", "unseen", "visits", "account", "debt", "belief", "slopes", "lost",
)  # fmt: skip
"""What guesses are made of, and saved."""


class DoublyRobust(WeightedLearner):
    """Exponential weights on doubly robust estimates with guesses that fade.

    Whether a label is seen depends on the past and on who abstains on x_t, not on the label. So with any guess m of a
    predictor's loss l that was fixed before the draw, ``m - c + 1[seen] (l - m) / o`` is an unbiased estimate of ``l -
    c``, what predicting costs more than abstaining, where o is the probability that the label is seen; and its variance
    is that of what the guess was wrong by. The guess is made of a model of the label and of what was lost in the rounds
    on which the same rules of the predictor abstained; where labels fail to come it fades to 0, so that no expert
    is given up for good. Where estimates have to be clipped they lean on the guess, and accounts bound by how much that
    may make a predictor look worse than it is. Where predicting shows the label at once, without a memory, guard or
    capacity, and for rules such as rings, balls and thresholds in order, regret grows no faster than sqrt(T log T) on
    any sequence (`theory.doubly_robust_bound`). Experts are drawn by ``q_t`` proportional to ``exp(-eta_t S_{t-1})``,
    with S the sums of the estimates and ``eta_t = min(1, 2 sqrt(log K / (1 + V_t)))``, V the sum of their squares
    averaged over q.
    See "Doubly robust" in the documentation for the algorithm, what is proved of it and where it fails.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers.
        guard: The least weight of an EXP3-ABS that plays beside it (1e-6 to 1/2), or None for no such guard. Both are
            weighed by what they achieve, so that regret grows as sqrt(T) on every sequence where predicting shows the
            label at once.
        memory: The number of rounds the past counts for (None: all), or "adaptive": several memories, weighed by what
            each achieves.
        feedback: Which labels come back: "predicted", "abstained", "both", or the probabilities that the label comes
            after predicting and after abstaining.
        min_observe: A floor under the probability of seeing the label.
        capacity: How many cases may be abstained on: None (all), a share of them, or a `Capacity`.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude, or if a guard is
            combined with a memory.

    >>> import abstain as ab
    >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
    >>> experts = ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0)
    >>> learner = DoublyRobust(experts, cost=0.2, memory="adaptive", seed=0)
    >>> trace = ab.simulate(learner, X, y)
    >>> float(learner.weights.sum().round(12)), list(learner.memory_weights)
    (1.0, [None, 20000, 5000, 1250])
    """

    weight_kernels = ROBUST
    options: ClassVar[tuple[str, ...]] = ("guard", "memory", "feedback", "min_observe", "capacity")
    saved: tuple[str, ...] = (*WeightedLearner.saved, *GUESSED)
    of_experts = (*WeightedLearner.of_experts, *GUESSED)
    relative = True
    signed: tuple[str, ...] = (*WeightedLearner.signed, "losses", "belief", "scores", "debt")

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        guard: float | None = None,
        memory: int | str | None = None,
        feedback: str | tuple[float, float] = "predicted",
        min_observe: float = 0.0,
        capacity: CapacityLike = None,
    ) -> None:
        super().__init__(
            experts, cost=cost, loss=loss, seed=seed, memory=memory, feedback=feedback, min_observe=min_observe,
            capacity=capacity,
        )  # fmt: skip
        if guard is not None:
            guard = as_number(guard, "guard", "None or a number from 1e-6 to 1/2", lambda w: 1e-6 <= w <= 0.5)
            if self.memory is not None:
                raise InputError(f"guard: expected memory=None, which its guarantee is for, got memory={self.memory!r}")
            self.saved = (*self.saved, "mix", "scores", "spread")
        self.guard = guard
        self._modelled = self.loss._outcomes(np.zeros((1, 1), np.uint8)) is not None

    def _find_rate(self) -> Rate:
        return Rate(ADAPTIVE, 0.0, RATE**2 * math.log(self.experts.n_experts))

    def new_state(self) -> RobustState:
        held: Any = GUESSES_HELD if self.memory == "adaptive" else self.memory
        steps = fading((held,))
        constants = constants_for(
            self.experts.n_experts, self.chances.abstained > self.chances.predicted, math.inf if held is None else held,
            int(steps.every[0]), float(steps.keep[0]),
        )  # fmt: skip
        guessed = guesses(self.pairs.predictor, self.pairs.rule, self.experts.n_predictors, constants)
        return RobustState(self._new_memories(guard=self.guard), guessed)

    @property
    def guard_weight(self) -> float:
        """The probability that the guard chooses; 0 without one."""
        with self.lock:
            return 0.0 if self.guard is None else float(self._weights.mix[-1])

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        """What every predictor loses if the label is -1, and then if it is +1 (n, 2 P); nothing for other labels.

        Where the capacity goes by time: and then how much passed since the case before.
        """
        outcomes, passed = advice.outcomes(self.loss), self._passed(X)
        seen = [] if outcomes is None else [outcomes[:, :, 0], outcomes[:, :, 1]]
        if passed is not None:
            seen.append(passed)
        return np.concatenate(seen, axis=1, dtype=np.float64) if seen else np.zeros((len(advice), 0))

    @property
    def n_guessed(self) -> int:
        """The guesses, and what `see` lets see."""
        return self._guessed_of(self.experts.n_predictors)

    def _guessed_of(self, n_predictors: int) -> int:
        return n_predictors * (3 if self._modelled else 1)

    def fits(self, decision: Decision) -> bool:
        return super().fits(decision) and self._carried_well(self._own_part(decision.carry))

    def _carried_well(self, carry: Array) -> bool:
        """Whether probabilities, guesses and losses are such."""
        shares = np.delete(carry, 1)  # what was checked before: whether the choice was forced
        return bool((shares >= 0.0).all() and (shares <= 1.0).all())

    def _aside(self) -> float:
        """Estimates are relative to the cost, which has to be one and the same for all rounds."""
        if not isinstance(self._cost, costs.Constant):
            raise InputError(f"estimates: expected a learner whose cost is a number, got {self._cost!r}")
        return self._cost.value

    def suppose(self, abstains: ArrayLike, losses: ArrayLike) -> None:
        """Begin with a belief in what predictors lose, before the first round.

        Otherwise guesses begin at 0: what no label has shown is tried, and if labels are late, for long. Estimates
        stay unbiased, because what is supposed is fixed before the draw, as any guess is.

        Args:
            abstains: Which rules abstain (n, A), one row per pattern.
            losses: What each predictor is supposed to lose in such rounds (n, P), each worth 64 labels.

        Raises:
            InputError: If a round was played or learnt before, or the arrays are not such.

        >>> import abstain as ab
        >>> experts = ab.experts.thresholds(n_models=1, thresholds=[0.0, 0.5, 1.0])
        >>> learner = ab.DoublyRobust(experts, cost=0.2, seed=0)
        >>> learner.suppose([[False, True, True], [False, False, True]], [[0.4], [0.1]])
        """
        silent, supposed = np.asarray(plain(abstains, "abstains")), as_floats(losses, "losses")
        n = supposed.shape[:1]
        shapes = (*n, self.experts.n_rules), (*n, self.experts.n_predictors)
        if silent.dtype != np.bool_ or silent.shape != shapes[0] or supposed.shape != shapes[1]:
            raise InputError(
                f"abstains, losses: expected bools (n, {shapes[0][-1]}) and numbers (n, {shapes[1][-1]}), got "
                f"{silent.dtype} {silent.shape} and {supposed.shape}"
            )
        if not ((supposed >= 0.0) & (supposed <= 1.0)).all():
            raise InputError(f"losses: expected numbers in [0, 1], got {shown(losses)}")
        with self.lock:
            if self.round > 0 or self._weights.numbers[0, LEARNT] > 0.0:
                raise InputError(f"suppose: expected a learner before its first round, got one after {self.round}")
            with held_back():
                suppose(self._of_used(silent), supposed, 0.5 if self._modelled else 0.0, self.state.guesses)

    def _settle_warm_start(self) -> None:
        fill_hidden(self.state.guesses)

    # Experts that come and go.

    def _hand_over(self, fresh: Self, change: Change, expert_from: Ints) -> None:
        super()._hand_over(fresh, change, expert_from)
        old, new = self.state.guesses, fresh.state.guesses
        carry_over_guesses(old, new, self._as_numbered(old.rules), fresh._as_numbered(new.rules), change)

    def _carry_of_now(self, decision: Decision, change: Change) -> Array:
        """Newcomers guessed 0 and lose nothing by either label. What comes after these stays."""
        carry, n = decision.carry, change.n_predictors
        n_parts = 3 if self._modelled else 1
        head, parts, rest = np.split(carry, [GUESS, GUESS + n_parts * n])
        if parts.size < n_parts * n:
            return carry  # it does not fit
        return np.concatenate([head, gathered(parts.reshape(n_parts, n), change.predictors, 0.0).ravel(), rest])

    def _update(self, decision: Decision, seen: bool, hand: Hand) -> None:
        """Of rounds before they came, newcomers learn no guess."""
        change = since(self._changes, decision.round)
        if change is None:
            return super()._update(decision, seen, hand)
        g, came = self.state.guesses, change.predictors < 0
        learnt = *(of_cells.T for of_cells in g.by_cell), g.debt, g.lost
        before = [of_predictors[came] for of_predictors in learnt]
        super()._update(decision, seen, hand)
        for of_predictors, kept in zip(learnt, before, strict=True):
            of_predictors[came] = kept
        return None

    # Files.

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        super().check_saved(arrays)
        if arrays["paid"].any():
            raise InputError("state: expected estimates relative to the cost of abstaining, got costs that were paid")
        if (arrays["slopes"] <= 0.0).any():
            raise InputError(f"state: expected sums of squares above 0, got {arrays['slopes'].min()}")
        for name in ("expected", "suffered"):
            if (arrays[name] > arrays["support"] * (1.0 + 1e-9)).any():
                raise InputError(f"state: expected losses of 1 at most a label in {name}, got more")
        with np.errstate(over="ignore"):
            owed = arrays["account"].sum(axis=0)
        if not np.allclose(arrays["debt"], owed, rtol=1e-6, atol=1e-3):
            raise InputError("state: expected the debt of a predictor to be the sum of its accounts, got another")
        if (arrays["lost"][:, 1] > arrays["lost"][:, 0] * (1.0 + 1e-9)).any():
            raise InputError("state: expected losses of 1 at most a label, got more")
