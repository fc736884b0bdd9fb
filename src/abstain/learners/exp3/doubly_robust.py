"""DoublyRobust: exponential weights on a guess of each loss, corrected by its error where the label is seen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ... import costs
from ..._core.validation import as_number
from ...capacity import CapacityLike
from ...engine import Decision, Kernels, Seed
from ...engine.changes import Change, gathered, since
from ...engine.kernel_learner import Hand
from ...errors import InputError
from ...experts import Advice, ExpertSet
from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats, Ints
from .drawing import answer, draw, teaches_nothing
from .exp3_abs import note
from .guesses import Constants, Guesses, believe, forget_some, guess, guesses, learn_guesses, learn_label, look, miss
from .limits import LIMITS, Bucket, bucket, is_empty, priced
from .mixture import REMAKE_SIGNED, learn, mean_estimate, weigh, weigh_guard
from .state import ADAPTIVE, ETA, LEARNT, LEAST_PROBABILITY, Memories, Rate, adaptive, weights
from .weighted import WeightedLearner, carry_over_guesses, fading

GUESS = 2
"""Where the guesses begin in a carry: o and whether the choice was forced come before, what is lost if the label is
-1, and if it is +1, after them."""


class RobustState(NamedTuple):
    """A learner: everything it knows. Estimates are kept relative to the cost of abstaining."""

    memories: Memories
    guesses: Guesses


@inline
def prepare(x: Floats, abstains: Bools, carry: Floats, s: Any) -> float:
    """Guess what every predictor would lose, into the carry; the model's probability of the label +1."""
    n = s.guesses.cell.size
    modelled = x.size >= 2 * n
    out, low, high = carry[GUESS : GUESS + n], x[: n * modelled], x[n * modelled : 2 * n * modelled]
    look(abstains, s.guesses)
    rho = believe(low, high, s.guesses) if modelled else 0.5
    guess(rho, s.memories.numbers[0, LEARNT], low, high, out, s.guesses)
    for i in range(2 * n * modelled):
        carry[GUESS + n + i] = x[i]
    return rho


@inline
def choose(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: RobustState) -> tuple[int, float]:
    """The expert drawn from q_t by ``u`` in [0, 1), and the probability of predicting."""
    prepare(x, abstains, carry, s)
    return draw(t, u, s.memories.sight.least, abstains, carry, s.memories)


@inline
def estimate(j: int, losses: Array, seen: bool, cost: float, carry: Floats, s: Any) -> None:
    """``m - c + 1[seen] (l - m) / D`` of every predictor for memory j, with ``D = max(o, clip eta)``."""
    m, first, certainty = s.memories, np.uint64(GUESS), 0.0
    if seen:
        certainty = 1.0 / max(carry[0], s.guesses.constants.clip * m.numbers[j, ETA], LEAST_PROBABILITY)
    for p in range(np.uint64(s.guesses.cell.size)):
        m.estimate[p] = (carry[first + p] - cost) + certainty * (losses[p] - carry[first + p])


@inline
def estimate_plainly(losses: Array, seen: bool, cost: float, carry: Floats, s: Any) -> None:
    """``-c + 1[seen] l / o`` of every predictor: no guess, no clip."""
    certainty = 1.0 / max(carry[0], LEAST_PROBABILITY) if seen else 0.0
    for p in range(np.uint64(s.guesses.cell.size)):
        s.memories.estimate[p] = certainty * losses[p] - cost


@inline
def learn_estimates(j: int, abstains: Bools, aside: float, square: float, s: RobustState) -> float:
    """Let memory j learn the estimates of a round, relative to the cost of abstaining; their mean before."""
    m = s.memories
    eta = m.numbers[j, ETA]
    for p in range(np.uint64(m.shrink.size)):
        m.shrink[p] = math.exp(-eta * m.estimate[p])
    return learn(abstains, True, 0.0, 1.0, aside, square, REMAKE_SIGNED, j, m)


@inline
def revise(abstains: Bools, losses: Any, seen: bool, carry: Floats, s: RobustState) -> None:
    """Let guesses learn from a round."""
    m, g, n = s.memories, s.guesses, s.guesses.cell.size
    look(abstains, g)
    learnt = m.numbers[0, LEARNT]
    if seen:
        modelled = carry.size >= GUESS + 3 * n
        low, high = carry[GUESS + n : GUESS + n + n * modelled], carry[GUESS + n + n : GUESS + n + n + n * modelled]
        rho = believe(low, high, g) if modelled else 0.5
        learn_guesses(rho, learnt, max(carry[0], LEAST_PROBABILITY), losses, low, high, g)
        if modelled:
            learn_label(rho, losses, low, high, g)
    else:
        miss(g)
    forget_some(learnt, g)


@inline
def learn_weights(
    abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, guard: float | None, s: RobustState
) -> None:  # fmt: skip
    """Let the weights of all memories, or of the learner and its guard, learn from a round."""
    m = s.memories
    if guard is None:
        for j in range(m.mix.size):
            estimate(j, losses, seen, cost, carry, s)
            m.means[j] = learn_estimates(j, abstains, 0.0, 0.0, s)
        if m.mix.size > 1:
            weigh(m)
    else:  # both are scored by plain estimates, of which the guard learns
        for j in range(2):
            estimate_plainly(losses, seen, cost, carry, s)
            m.means[j] = mean_estimate(abstains, j, m.lanes, m)
            if j == 0:
                estimate(j, losses, seen, cost, carry, s)
            learn_estimates(j, abstains, 0.0, 0.0, s)
        weigh_guard(guard, m)


@inline
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: Any) -> None:
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    learn_weights(abstains, losses, seen, cost, carry, s.memories.guard, s)
    revise(abstains, losses, seen, carry, s)


@inline
def inform(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: Any) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    prepare(x, abstains, carry, s)
    carry[0] = 1.0
    update(0, abstains, losses, losses.size > 0, cost, carry, s)


class LimitedRobust(NamedTuple):
    """A learner: everything it knows."""

    memories: Memories
    guesses: Guesses
    bucket: Bucket


@inline
def choose_limited(t: int, u: float, x: Floats, abstains: Bools, carry: Floats, s: LimitedRobust) -> tuple[int, float]:
    """The expert drawn by ``u``, or the one that answers instead, and the probability of predicting."""
    own, empty = carry[: carry.size - LIMITS], is_empty(x, carry, s.bucket)
    prepare(x, abstains, own, s)
    expert, predicts = draw(t, u, 0.0 if empty else s.memories.sight.least, abstains, own, s.memories)
    return answer(expert, predicts, abstains, own, s.memories) if empty else (expert, predicts)


@inline
def update_limited(
    expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, carry: Floats, s: LimitedRobust
) -> None:  # fmt: skip
    """Learn from a round, with the losses (P,) of its predictors if the label was seen."""
    own = carry[: carry.size - LIMITS]
    if not teaches_nothing(own):
        update(expert, abstains, losses, seen, priced(cost, carry), own, s)


@inline
def inform_limited(x: Any, abstains: Bools, losses: Any, cost: float, carry: Floats, s: LimitedRobust) -> None:
    """Learn from a round that nobody decided on, whose label is known."""
    inform(x, abstains, losses, cost, carry[: carry.size - LIMITS], s)


RATE = 2.0
"""The rate is so many times EXP3-ABS's."""
GUESSES_HELD = 5_000
"""Rounds that guesses are held for by ``memory="adaptive"``."""

GUESSED = ("support", "residual", "unseen", "belief", "slopes", "lost")
"""What guesses are made of, and saved."""


class DoublyRobust(WeightedLearner):
    """Exponential weights on doubly robust estimates with guesses that fade.

    Whether a label is seen depends on the past and on who abstains on x_t, not on the label. So with any guess m of a
    predictor's loss l that was fixed before the draw, ``m - c + 1[seen] (l - m) / o`` is an unbiased estimate of ``l -
    c``, what predicting costs more than abstaining, where o is the probability that the label is seen; and its variance
    is that of what the guess was wrong by. The guess is made of a model of the label and of what was lost in the rounds
    on which the same rules of the predictor abstained; where labels fail to come it fades to 0, so that no expert
    is given up for good. Experts are drawn by ``q_t`` proportional to ``exp(-eta_t S_{t-1})``, with S the sums of the
    estimates and ``eta_t = min(1, 2 sqrt(log K / (1 + V_t)))``, V the sum of their squares averaged over q. See
    "Doubly robust" in the documentation for the algorithm, what is proved of it and where it fails.

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

    kernels = Kernels(choose, update, inform=inform)
    limited = Kernels(choose_limited, update_limited, note, inform=inform_limited)
    options: ClassVar[tuple[str, ...]] = ("guard", "memory", "feedback", "min_observe", "capacity")
    saved: tuple[str, ...] = (*WeightedLearner.saved, *GUESSED)
    of_experts = (*WeightedLearner.of_experts, *GUESSED)
    signed: tuple[str, ...] = ("losses", "residual", "belief", "scores")

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
        self._modelled = self.loss.outcomes(np.zeros((1, 1), np.uint8)) is not None

    def new_state(self) -> RobustState | LimitedRobust:
        rate, n_predictors = Rate(ADAPTIVE, 0.0, RATE**2 * math.log(self.experts.n_experts)), self.experts.n_predictors
        rows = self.memories if self.guard is None else (None, None)
        fresh = weights(rate, self._sight(), fading(rows), self.layout, n_predictors, self.guard)
        fresh.numbers[:, ETA] = adaptive(rate.log_experts, 0.0)
        held = fading((GUESSES_HELD if self.memory == "adaptive" else self.memory,))  # type: ignore[arg-type]
        constants = Constants(every=int(held.every[0]), keep=float(held.keep[0]))
        guessed = guesses(self.pairs.predictor, self.pairs.rule, n_predictors, constants)
        if self.capacity is None:
            return RobustState(fresh, guessed)
        return LimitedRobust(fresh, guessed, bucket(self.capacity))

    @property
    def _weights(self) -> Memories:
        weights: Memories = self.state.memories
        return weights

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

    def new_carry(self) -> Floats:
        """o, whether the choice was forced, the guesses, and what `see` lets see; and what a capacity carries."""
        return self._carry_with(GUESS + self.experts.n_predictors * (3 if self._modelled else 1))

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
        learnt = g.support.T, g.residual.T, g.unseen.T, g.lost
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
        if (abs(arrays["residual"]) > arrays["support"] * (1.0 + 1e-9)).any():
            raise InputError("state: expected losses beyond the guess of 1 at most a label, got more")
        if (arrays["lost"][:, 1] > arrays["lost"][:, 0] * (1.0 + 1e-9)).any():
            raise InputError("state: expected losses of 1 at most a label, got more")
