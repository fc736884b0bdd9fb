"""Exponential weights on doubly robust estimates: the learner to begin with."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from .. import costs
from ..capacity import CapacityLike
from ..engine import Decision, Kernels, Seed
from ..engine.calls import Hand
from ..engine.changes import Change, gathered, since
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..kernels.exp3.doubly_robust import GUESS, RobustState, choose, inform, update
from ..kernels.exp3.guesses import Constants, guesses
from ..kernels.exp3.limited import note
from ..kernels.exp3.limited_robust import LimitedRobust
from ..kernels.exp3.limited_robust import choose as choose_limited
from ..kernels.exp3.limited_robust import inform as inform_limited
from ..kernels.exp3.limited_robust import update as update_limited
from ..kernels.exp3.rate import ADAPTIVE, Rate, adaptive
from ..kernels.exp3.state import ETA, Memories, weights
from ..tables import as_number
from ..typing import Array, Floats, Ints
from .memories import fading
from .newcomers import carry_over_guesses
from .weighted import WeightedLearner

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
    on which the same rules of the predictor abstained; where labels fail to come it fades to 0, so that nobody is given
    up for good. Experts are drawn by ``q_t`` proportional to ``exp(-eta_t S_{t-1})``, with S the sums of the estimates
    and ``eta_t = min(1, 2 sqrt(log K / (1 + V_t)))``, V the sum of their squares in the mean of q. See "Doubly robust"
    in the documentation for the algorithm, what is proved of it and where it fails.

    Args:
        guard: The least weight of an EXP3-ABS that is played beside it, and weighed against it by what both achieve:
            with it regret grows as sqrt(T) whatever the sequence, where predicting shows the label at once. None: no
            such guard.

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
        fresh = weights(rate, self._sight(), fading(rows), self.layout, n_predictors, self.guard or 0.0)
        fresh.numbers[:, ETA] = adaptive(rate.log_experts, 0.0)
        held = fading((GUESSES_HELD if self.memory == "adaptive" else self.memory,))  # type: ignore[arg-type]
        constants = Constants(every=int(held.every[0]), keep=float(held.keep[0]))
        guessed = guesses(self.pairs.predictor, self.pairs.rule, n_predictors, constants)
        if self.capacity is None:
            return RobustState(fresh, guessed)
        return LimitedRobust(fresh, guessed, self._new_bucket(self.capacity))

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

    def _fits(self, decision: Decision) -> bool:
        return super()._fits(decision) and self._carried_well(self._own_part(decision.carry))

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
            raise InputError("state: expected sums of squares above 0, got others")
        if (abs(arrays["residual"]) > arrays["support"] * (1.0 + 1e-9)).any():
            raise InputError("state: expected losses beyond the guess of 1 at most a label, got more")
        if (arrays["lost"][:, 1] > arrays["lost"][:, 0] * (1.0 + 1e-9)).any():
            raise InputError("state: expected losses of 1 at most a label, got more")
