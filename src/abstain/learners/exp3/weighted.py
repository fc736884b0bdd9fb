"""Learners that draw experts by exponential weights: what they share, and how fast their past fades."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import costs
from ..._core.signals import held_back
from ..._core.validation import as_count, as_number, as_share
from ...capacity import CapacityLike, as_capacity
from ...engine import Choice, Decision, KernelLearner, Kernels, Report, Seed
from ...engine.backlog import kept
from ...engine.changes import Change, as_change, since
from ...engine.decision import MOST_ROUNDS, Identity, frozen
from ...engine.feedback import Chances, as_feedback, chances_of
from ...engine.kernel_learner import Calls, Hand, check_arrays, fields_named
from ...errors import InputError, shown
from ...experts import Advice, ExpertSet
from ...kernels.packing import packed
from ...typing import Array, Floats, Ints
from .carrying import by_slot, carry_over_sums, carry_over_weights, fading, rounds_answered, rounds_held
from .drawing import ANSWERED_ANYWAY, DRAWN, FOR_CAPACITY, FOR_LABEL
from .limits import LIMITS, LONGEST, OVERDRAFT, UNITS, bucket
from .mixture import LARGE, REMAKE, REMAKE_SIGNED, entropy, remake_all
from .state import (
    ADAPTIVE,
    ANYTIME,
    ETA,
    FIXED,
    LEARNT,
    OWN,
    Memories,
    Rate,
    Sight,
    WeightState,
    adaptive,
    adaptive_with_shares,
    weights,
)
from .weight_kernels import WeightKernels, adaptive_rate, keep_pace, keep_rate, woven

ADAPTIVE_MEMORIES = (None, 20_000, 5_000, 1_250)
"""Rounds that the memories of ``memory="adaptive"`` hold; None: all."""
FAVOUR = 99.0
"""The weight of the expert that a learner begins with, if all others together have 1."""


class WeightedLearner(KernelLearner):
    """A learner that draws experts by exponential weights of their estimated losses, to build on.

    A subclass says in `weight_kernels` how losses are estimated and how the rate is set. Draws, the floor under the
    probability of seeing a label, memories, capacity, late labels, files, copies and experts that come and go work for
    all of them. The page "Extend" of the documentation has an example.

    Args:
        experts: The experts (predictor, rule) to follow.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name as "zero_one", or a loss of `abstain.losses`.
        seed: The seed of the learner's random numbers.
        memory: The number of rounds the past counts for (None: all); "adaptive": several memories, weighed by what
            each achieves; or "share": after every round each expert gets the same share of all weight.
        feedback: Which labels come back: "predicted", "abstained", "both", or the probabilities that the label comes
            after predicting and after abstaining.
        min_observe: A floor under the probability of seeing the label.
        capacity: How many cases may be abstained on: None (all), a share of them, or a `Capacity`.

    Raises:
        InputError: If an argument has a type or a value that the sentences above exclude.
    """

    weight_kernels: ClassVar[WeightKernels]
    """The algorithm: rate, estimate, guess."""
    squared: ClassVar[bool] = True
    """Whether the rate needs ``squares``, the sum of q Lhat^2 in a round, or V, their sum; otherwise they mean
    nothing."""
    options: ClassVar[tuple[str, ...]] = ("memory", "feedback", "min_observe", "capacity")
    fixed: ClassVar[tuple[str, ...]] = ("rate", "sight", "memory", "layout", "start", "whole")
    relative: ClassVar[bool] = False
    """Whether estimates are relative to abstaining: then 0 is what an expert pays that abstains."""
    saved: tuple[str, ...] = (
        "losses", "paid", "weight", "factor", "sums", "numbers", "answered", "offset", "missed", "agreed",
    )  # fmt: skip
    of_experts: ClassVar[tuple[str, ...]] = (
        "losses", "paid", "weight", "factor", "sums", "answered", "beyond", "offset", "missed",
    )  # fmt: skip
    """The saved fields that have a place for every expert or predictor."""
    limited: ClassVar[Kernels]
    """The kernels with a capacity."""

    def __init_subclass__(cls, **options: Any) -> None:
        plugs = vars(cls).get("weight_kernels")
        if plugs is not None:
            if not isinstance(plugs, WeightKernels) or not all(hasattr(plug, "py_func") for plug in plugs):
                raise InputError(
                    f"weight_kernels: expected WeightKernels of functions marked extend.kernel, got {shown(plugs)}"
                )
            if plugs.pace is not keep_pace and plugs.rate is adaptive_rate:
                plugs = cls.weight_kernels = plugs._replace(rate=keep_rate)
                cls.squared = False  # nothing asks for V
            cls.kernels, cls.limited = woven(plugs).kernels, woven(plugs).limited
        super().__init_subclass__(**options)

    def __init__(
        self,
        experts: ExpertSet,
        *,
        cost: costs.CostLike,
        loss: Any = "zero_one",
        seed: Seed = None,
        memory: int | str | None = None,
        feedback: str | tuple[float, float] = "predicted",
        min_observe: float = 0.0,
        capacity: CapacityLike = None,
    ) -> None:
        if getattr(self, "weight_kernels", None) is None:
            raise InputError(f"weight_kernels: expected WeightKernels in the class {type(self).__name__}, got none")
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        if isinstance(memory, str):
            self._check_word(memory)
        elif memory is not None:
            memory = as_count(memory, "memory", least=2)
        self.memory, self.feedback = memory, as_feedback(feedback)
        self._chances = chances_of(self.feedback)
        most = max(self.chances)
        self.min_observe = as_number(
            min_observe, "min_observe", f"a number from 0 to {most:g}", lambda floor: 0.0 <= floor <= most
        )
        if memory == "adaptive":
            self.saved = (*self.saved, "mix", "scores", "spread")
        self.capacity = as_capacity(capacity)
        if self.capacity is not None:
            self.saved = (*self.saved, "tokens", "price", "beyond")
        if self.weight_kernels.measure is entropy:
            self.saved = (*self.saved, "base")

    def _check_word(self, memory: str) -> None:
        if memory == "share" and "losses" in self.signed:
            raise InputError(
                f"memory: 'share' needs estimates that are never negative, and those of {type(self).__name__} may be; "
                "expected None, 'adaptive' or a number of rounds, got 'share'"
            )
        if memory == "share" and (self._paced or self.weight_kernels.measure is entropy):
            raise InputError(
                "memory: 'share' needs a rate that neither follows the number of the round nor the entropy of the "
                "weights; expected memory=None, or eta='adaptive' or a number, got memory='share'"
            )
        if memory not in ("adaptive", "share"):
            raise InputError(f"memory: expected None, 'adaptive', 'share' or a number of rounds, got {shown(memory)}")

    @property
    def chances(self) -> Chances:
        return self._chances

    @property
    def memories(self) -> tuple[int | None, ...]:
        """How many rounds each memory holds; None: all, which is what a learner that gives shares holds."""
        if isinstance(self.memory, str):
            return ADAPTIVE_MEMORIES if self.memory == "adaptive" else (None,)
        return (self.memory,)

    def new_state(self) -> Any:
        """Make a state in which nothing was learnt; define it if the kernels need more than the weights.

        Returns:
            A NamedTuple with a field ``memories``, the weights, and any other fields.
        """
        return WeightState(self._new_memories())

    def new_numbers(self) -> tuple[float, ...]:
        """Return the first rate, and then the numbers that belong to the kernel ``rate``. Every memory has such."""
        rate = self._find_rate()
        return (self._adaptive(rate, 0.0, 0.0) if rate.kind == ADAPTIVE else rate.scale,)

    def _adaptive(self, rate: Rate, squares: float, learnt: float) -> float:
        """The adaptive rate at a V, after so many rounds learnt."""
        if self.memory == "share":
            return float(adaptive_with_shares(rate.log_experts, squares, learnt))
        return float(adaptive(rate.log_experts, squares))

    def _find_rate(self) -> Rate:
        """The kind of rate; the first one of others is 1."""
        kind = ADAPTIVE if self.weight_kernels.rate is adaptive_rate else OWN
        return Rate(kind, 1.0, math.log(self.experts.n_experts))

    def _new_memories(self, ix: float = 0.0, guard: float | None = None) -> Memories:
        """Weights that learnt nothing yet."""
        return weights(
            rate=self._find_rate(),
            squared=self.squared,
            numbers=self.new_numbers(),
            renew=REMAKE_SIGNED if "losses" in self.signed else REMAKE,
            sight=Sight(*self.chances, self.min_observe, ix),
            memory=fading(self.memories if guard is None else (None, None)),
            layout=self.layout,
            n_predictors=self.experts.n_predictors,
            bucket=None if self.capacity is None else bucket(self.capacity),
            guard=guard,
            relative=self.relative,
            share=1.0 if self.memory == "share" else None,
        )

    @property
    def _weights(self) -> Memories:
        """The part of the state that holds the weights."""
        weights: Memories = self.state.memories
        return weights

    @property
    def _paced(self) -> bool:
        """Whether the rate follows the number of the round, so that weights are made anew in every one."""
        return self.weight_kernels.pace is not keep_pace

    # The capacity: with one, there is a bucket beside the weights.

    @cached_property
    def _call(self) -> Calls:
        return Calls(self.kernels if self.capacity is None else self.limited)

    def _passed(self, X: Floats | None) -> Floats | None:
        """Where the capacity goes by time, the microseconds since the case before (n, 1): the last column of X."""
        if self.capacity is None or self.capacity.per_day is None:
            return None
        if X is None:
            raise InputError("x: a capacity a day needs x, whose last column is a time, but only advice was given")
        passed = X[:, -1:]
        wrong = ~((passed >= 0.0) & (passed <= LONGEST) & (passed == np.floor(passed)))
        if wrong.any():
            raise InputError(
                f"x: expected whole microseconds since the case before, from 0 on, in the last column, got "
                f"{passed[wrong][0]}"
            )
        return passed

    def see(self, X: Floats | None, advice: Advice, costs: Floats) -> Floats:
        self._passed(X)
        return super().see(X, advice, costs)

    @property
    def tokens(self) -> float:
        """How many cases may be abstained on at once; no end without a capacity."""
        with self.lock:
            if self.capacity is None:
                return math.inf
            bucket = self._weights.bucket
            return float(bucket.tokens[UNITS] / bucket.terms.review)

    @property
    def price(self) -> float:
        """What abstaining costs besides, in what is learnt, as it uses up the capacity: lambda."""
        with self.lock:
            return 0.0 if self.capacity is None else float(self._weights.bucket.price[0])

    @property
    def overdraft(self) -> int:
        """In how many cases all experts abstained, and the capacity was used up."""
        with self.lock:
            return 0 if self.capacity is None else int(self._weights.bucket.tokens[OVERDRAFT])

    # Rounds that somebody else decided.

    def watch(
        self, x: "ArrayLike | Advice", expert: int, probability: float, observed: float | None = None
    ) -> Decision:
        """Play a round that somebody else decided: labels are weighed by their probability, not by the learner's own.

        Args:
            x: The input (d,), or the experts' advice on it.
            expert: An expert that does what was decided.
            probability: The probability with which the other one would have predicted.
            observed: The probability that the label is seen; by default it follows from the one of predicting.

        Returns:
            The decision. Its label is to be learnt if the feedback shows it.

        Raises:
            InputError: If x is not an input of these experts, another argument is out of range, or the learner has a
                capacity.
        """
        with self.lock:
            if self.capacity is not None:
                raise InputError("watch: expected a learner without a capacity, which others' decisions would use up")
            probability = as_share(probability, "probability")
            if observed is None:
                answered, abstained = self.chances
                seen = answered * probability + abstained * (1.0 - probability)
            else:
                seen = as_number(observed, "observed", "a probability above 0", lambda o: 0.0 < o <= 1.0)
            advice, cost = self._ask(x)
            before, random = self.round, self._random.bit_generator.state
            try:
                carry = self.choose(advice, cost).carry  # for its guesses
                carry[0], carry[1:2] = seen, DRAWN  # without a floor there is no second place
                choice = Choice(expert, probability, carry, seen)
                decision = self._decision(choice, advice, cost, self.round + 1, Identity.new_id())
                if seen == 0.0 and self.chances[decision.abstained] > 0.0:
                    raise InputError(
                        f"probability: expected one with which expert {expert} can be followed, got {probability:g}"
                    )
                self.round += 1
                self.commit(decision)
            except Exception:
                self.round = before
                raise
            finally:
                self._random.bit_generator.state = random  # nothing was drawn
            if observed is not None or self.chances[decision.abstained] > 0.0:
                self._identity.open[str(decision.id)] = decision.round, decision.expert
                self._backlog.awaited[decision.round] = None
                return decision
            backlog = self._backlog
            if backlog.unlabelled or backlog.lag > 0 or backlog.ripe is not None or backlog.awaited:
                backlog.unlabelled.append(kept(decision))
                self._release()
            else:
                self.miss(decision)
            return decision

    def _own_part(self, carry: Array) -> Array:
        return carry if self.capacity is None else carry[:-LIMITS]

    def _can_be_price(self, price: float) -> bool:
        """It is never more than ``step`` times what is missing in the bucket, but for rounding."""
        terms = self._weights.bucket.terms
        return bool(0.0 <= price <= terms.step * (terms.most / terms.review) * (1.0 + 1e-6) + 1e-6)

    # What is known of a round when its label comes.

    @property
    def n_guessed(self) -> int:
        """How many numbers the kernel ``guess`` puts into the carry, from its third place on."""
        return 0

    def new_carry(self) -> Floats:
        """o, the probability that the label is seen; and whether the choice was forced, where it can be; what is
        guessed.

        With a capacity: then how much passed since the case before, and the price.
        """
        drawn = 1 if self.min_observe == 0.0 and self.capacity is None and self.n_guessed == 0 else 2
        return np.zeros(drawn + self.n_guessed + (0 if self.capacity is None else LIMITS))

    def as_choice(self, expert: int, probability: float, carry: Array) -> Choice:
        why = carry.item(1) if len(carry) > 1 else DRAWN
        return Choice(expert, probability, carry, float(carry[0]), why == FOR_LABEL, why == FOR_CAPACITY)

    def fits(self, decision: Decision) -> bool:
        if not super().fits(decision):
            return False
        carry = decision.carry
        own = self._own_part(carry)
        if self.capacity is not None:
            passed, price = carry[-LIMITS:]
            if not (0.0 <= passed <= LONGEST and passed == math.floor(passed) and price >= 0.0):
                return False
        most = FOR_LABEL if self.capacity is None else ANSWERED_ANYWAY
        seen = own[0] > 0.0 or decision.id is None  # it is 0 where nobody can see the label; such a round may wait
        return bool(seen and 0.0 <= own[0] <= 1.0) and (len(own) == 1 or own[1] in np.arange(most + 1.0))

    def _refresh(self) -> None:
        """Set a rate that follows the number of the round, and the weights with it."""
        if self._paced:
            woven(self.weight_kernels).set_pace(self.round + 1, self._packed)

    @property
    def weights(self) -> Floats:
        """q, the probabilities the coming expert is drawn with (K,)."""
        with self.lock:
            self._refresh()
            s = self._weights
            of_slots = s.weight * np.repeat(s.factor, np.diff(s.start), axis=1)
            q = np.empty(self.experts.n_experts)
            q[s.layout.expert] = s.mix @ (of_slots / of_slots.sum(axis=1, keepdims=True))
            return np.asarray(q / q.sum())

    @property
    def memory_weights(self) -> dict[int | None, float]:
        """How much each memory counts, by the rounds it holds (None: all). When short ones do, something changed."""
        with self.lock:
            if len(self.memories) == 1:
                return {self.memories[0]: 1.0}
            return dict(zip(self.memories, self._weights.mix.tolist(), strict=True))

    @property
    def estimates(self) -> Floats:
        """The mean loss a round of every expert, costs included, as it is estimated now (K,): in the memories, by how
        much each counts. NaN for experts of whom no round was learnt yet. Past rounds count at the cost of now; the
        price of a capacity is not included.
        """
        with self.lock:
            s = self._weights
            sums = s.losses - s.offset
            if not s.layout.alone:
                sums += np.repeat(s.paid, np.diff(s.start), axis=1)
            if s.beyond.size > 0:
                sums += by_slot(s.beyond, s) if s.relative else -by_slot(s.beyond, s)
            held, estimates = self._held(), np.empty(self.experts.n_experts)
            with np.errstate(invalid="ignore", divide="ignore"):
                estimates[s.layout.expert] = s.mix @ np.where(held > 0.5, sums / held, np.nan)
            return np.asarray(estimates + self._aside())

    def _held(self) -> Floats:
        """How many of the rounds learnt with each expert every memory still holds, by slot (C, K)."""
        s = self._weights
        return np.asarray(rounds_held(s.memory, float(s.numbers[0, LEARNT]))[:, np.newaxis] - s.missed)

    def report(self) -> Report:
        """Report weights and estimates. For a cost that varies, there are no estimates."""
        with self.lock:
            return Report(self.weights, self.estimates if self._cost.constant else None)

    def favour(self, expert: int) -> None:
        """Begin with nearly all of the weight on one expert, before the first round.

        Every other expert begins with a handicap of about log(100 K) mistakes (at a first rate of 1), as a part of the
        cumulative estimates: it counts less as the rate falls and as memories fade. Regret against the others grows by
        at most so much.

        Args:
            expert: The expert to begin with.

        Raises:
            InputError: If there is no such expert, a round was played or learnt before, or this learner cannot.
        """
        with self.lock:
            n, s = self.experts.n_experts, self._weights
            as_count(expert, "expert", least=0, most=n - 1)
            self._check_remade(f"expert: expected none to begin with, got {expert}")
            if self.round > 0 or s.numbers[0, LEARNT] > 0.0:
                raise InputError(f"favour: expected a learner before its first round, got one after {self.round}")
            others = s.layout.expert != expert
            first = s.rate.scale if s.rate.kind == ANYTIME else s.numbers[:, ETA, np.newaxis]
            with held_back():
                s.losses[:, others] += math.log(FAVOUR * max(1, n - 1)) / first
                s.offset[:] = s.losses
                remake_all(packed(s))

    def _check_remade(self, message: str) -> None:
        """Raise an error if weights are not made from sums: a change of the sums would not change them."""
        if self._weights.share is not None:
            raise InputError(f"{message}: with memory='share' weights forget how they came about")

    # A cost that changes: from now on, or as if it had always been so.

    def _reprice(self, cost: costs.Constant) -> None:
        before = self._price
        super()._reprice(cost)
        assert before is not None
        s = self._weights
        answered = by_slot(rounds_answered(s), s)
        # Past rounds keep their cost in the sums, but not in the estimates.
        s.offset[:] += (cost.value - before) * (answered if s.relative else answered - self._held())

    def reprice(self, cost: float) -> None:
        """Change the cost as if it had always been this one. ``learner.cost = ...`` is for the coming rounds alone.

        Estimates and weights are at once those of the new cost, and so are rounds that still wait for their label. The
        rate, the guesses, the weights of the memories and the price of a capacity stay.

        Args:
            cost: The cost of abstaining, a number in [0, 1].

        Raises:
            InputError: If the cost is not such a number, or one that varies, or if this learner cannot.

        >>> import abstain as ab
        >>> X, y = ab.datasets.load("synthetic", n=2000, seed=0)
        >>> learner = ab.DoublyRobust(ab.experts.hyperplanes(dim=2, n_predictors=10, seed=0), cost=0.3, seed=0)
        >>> trace = ab.simulate(learner, X, y)
        >>> before = learner.estimates.min()
        >>> learner.reprice(0.05)
        >>> bool(learner.estimates.min() < before)
        True
        """
        with self.lock:
            self._check_remade(f"cost: expected learner.cost = ..., for the coming rounds alone, got {shown(cost)}")
            before, kept = self._price, self._weights.offset.copy()
            self.cost = cost
            assert before is not None
            s, more = self._weights, float(self._price or 0.0) - before
            with held_back():
                if s.layout.alone or s.relative:
                    s.losses[:] -= s.offset - kept
                    s.offset[:] = kept
                else:  # a team pays for its newcomers, too: that part is no estimate
                    held = rounds_held(s.memory, float(s.numbers[0, LEARNT]))[:, np.newaxis]
                    s.paid[:] = np.maximum(0.0, s.paid + more * (held - s.answered))
                    s.offset[:] = kept + more * s.missed
                if not s.relative:
                    s.losses[:] = np.maximum(0.0, s.losses)  # not below 0 by rounding
                s.agreed[:] = self.round, before + more
                remake_all(packed(s))

    def _counts(self, carry: Array) -> bool:
        """Whether a round is learnt at all: not if a bucket was empty and labels of answers never come."""
        return self.capacity is None or not (carry[1] >= FOR_CAPACITY and carry[0] == 0.0)

    def _update(self, decision: Decision, seen: bool, hand: Hand) -> None:
        s, cost = self._weights, decision.cost
        if decision.round <= s.agreed[0]:
            cost = float(s.agreed[1])
        counts = self._counts(hand.carry)
        if counts and self._price is not None and cost != self._price:  # estimates are at the cost of now
            charged = hand.abstains[self.pairs.rule[s.layout.expert]] != s.relative
            s.offset[:, charged] += (self._price - cost) * (1.0 if s.relative else -1.0)
        if counts and self._changes:
            change = since(self._changes, decision.round)
            if change is not None:
                came = change.rules[self.experts.rule_of] < 0
                s.missed[:, came[s.layout.expert]] += 1.0
        self._call("learn", decision.expert, hand.abstains, hand.losses, seen, cost, hand.carry, self._packed)

    def start_afresh(self, cost: float, loss: Any) -> None:
        """Go on with other losses, of which nothing is known yet. Open decisions and a capacity stay as they are.

        A model of the label is kept. Labels that came before their time, and wait, are not learnt.

        Args:
            cost: The cost of abstaining, in all rounds that are still to be learnt.
            loss: The loss of a prediction.

        Raises:
            InputError: If an argument has a type or a value that the sentences above exclude.
        """
        with self.lock:
            fresh = self._make(self.experts, {**self.get_params(), "cost": cost, "loss": loss})
            kept, new = fields_named(self.saved, self.state), fields_named(self.saved, fresh.state)
            for name in ("tokens", "price", "belief", "slopes"):
                if name in kept:
                    new[name][...] = kept[name]
            fresh._weights.agreed[:] = self.round, cost
            with held_back():
                for t, (decision, _) in self._backlog.early.items():
                    self._backlog.early[t] = decision, None
                self._take_cost(fresh._cost)
                self.loss = fresh.loss
                for name in ("_call", "_hand"):
                    vars(self).pop(name, None)
                self.state = fresh.state

    # A capacity that changes.

    def limit(self, capacity: CapacityLike) -> None:
        """Change how many cases may be abstained on, from the coming round on.

        A first capacity starts with a full bucket. Another one goes on with the tokens that are left, as far as the new
        bucket holds them. Without a capacity, what its price added to the estimates is taken off them again.

        Args:
            capacity: None (no limit), a share of the cases, or a `Capacity`.

        Raises:
            InputError: If it is none of these, or if this learner has no capacity.
        """
        if "capacity" not in self.options:
            raise InputError(f"capacity: {type(self).__name__} has none, got {shown(capacity)}")
        with self.lock:
            fresh = self._make(self.experts, {**self.get_params(), "capacity": as_capacity(capacity)})
            if self.capacity is not None and fresh.capacity is None:
                self._check_remade("capacity: expected another one, not None")
            kept, new = fields_named(self.saved, self.state), fields_named(fresh.saved, fresh.state)
            for name in (kept.keys() & new.keys()) - {"tokens", "price"}:
                new[name][...] = kept[name]
            s = fresh._weights
            s.recent[:] = self._weights.recent
            if self.capacity is None or fresh.capacity is None:
                if self.capacity is not None:
                    beyond = by_slot(self._weights.beyond, self._weights)
                    s.losses[:] = s.losses + beyond if s.relative else np.maximum(0.0, s.losses - beyond)
            else:
                terms, tokens = s.bucket.terms, self.tokens
                s.bucket.tokens[:] = min(terms.most, int(tokens * terms.review)), self.overdraft
                missing = (terms.most - s.bucket.tokens[UNITS]) / terms.review
                s.bucket.price[0] = min(self.price, terms.step * missing)
            if s.share is None:
                remake_all(packed(s))
            waiting = [fresh._of_today(one) for one in self._backlog.unlabelled if self._counts(one.carry)]
            early = {t: (fresh._of_today(one), values) for t, (one, values) in self._backlog.early.items()}
            with held_back():
                self.capacity, self.saved = fresh.capacity, fresh.saved
                self._backlog.unlabelled.clear()
                self._backlog.unlabelled.extend(waiting)
                self._backlog.early.update(early)
                for name in ("_call", "_hand"):
                    vars(self).pop(name, None)
                self.state = fresh.state

    def _guessed_of(self, n_predictors: int) -> int:
        """How many numbers were guessed when there were so many predictors."""
        return self.n_guessed

    def _of_today(self, decision: Decision) -> Decision:
        """Translate what a decision carries from before the capacity changed: its price was 0, or counts no more."""
        carry = decision.carry
        same = len(decision.predictions) == self.experts.n_predictors and len(carry) == len(self._hand.carry)
        if "capacity" not in self.options or same:
            return decision
        guessed = self._guessed_of(len(decision.predictions))
        limited, free = 2 + guessed + LIMITS, (1 if self.min_observe == 0.0 and self.n_guessed == 0 else 2) + guessed
        if self.capacity is None and len(carry) == limited:
            own = carry[:free].copy()
            own[1:2] = np.where(own[1:2] > FOR_LABEL, DRAWN, own[1:2])
            return replace(decision, carry=frozen(own))
        if self.capacity is not None and len(carry) == free:
            return replace(
                decision, carry=frozen(np.concatenate([carry, np.zeros(limited - LIMITS - free), [1.0, 0.0]]))
            )
        return decision

    def _aside(self) -> float:
        """What the sums leave out of a round's loss, the same for every expert."""
        return 0.0

    # Experts that come and go.

    def rearrange(self, experts: ExpertSet, predictor_from: ArrayLike, expert_from: ArrayLike) -> None:
        """Continue with another set of experts, some of which were in the previous set.

        Experts that stay keep what was learnt about them. A newcomer starts with the mean weight of the previous
        experts, in every memory; nothing is known about a new predictor. The adaptive rate follows the number of
        experts from the next round learnt on; a rate that is tuned or falls with the rounds follows at once. Open
        decisions stay open: in their rounds newcomers abstain.

        Args:
            experts: The new set.
            predictor_from: The previous index of each new predictor (P,), or -1 for a newcomer.
            expert_from: The previous index of each new expert (K,), or -1 for a newcomer.

        Raises:
            InputError: If an index is invalid, or a newcomer shares a rule with an expert that stays while decisions
                are open. Nothing changes then.

        >>> import abstain as ab
        >>> two, three = (ab.experts.thresholds(n, [0.0, 0.5]) for n in (2, 3))
        >>> learner = ab.DoublyRobust(two, cost=0.2, seed=0)
        >>> learner.rearrange(three, predictor_from=[0, 1, -1], expert_from=[0, 1, 2, 3, -1, -1])
        >>> learner.weights.round(3)
        array([0.167, 0.167, 0.167, 0.167, 0.167, 0.167])
        """
        with self.lock:
            change, stay = as_change(self.experts, experts, predictor_from, expert_from, self.round)
            shared = bool(((stay < 0) & (change.rules[experts.rule_of] >= 0)).any())
            if self._identity.open and shared:
                raise InputError(
                    "expert_from: newcomers that share a rule with experts that stay cannot abstain where those "
                    f"predicted; expected no open decisions, got {len(self._identity.open)}: learn or forget them first"
                )
            fresh = self._make(experts, self.get_params())
            if shared:
                self.catch_up()
            self._hand_over(fresh, change, stay)
            with held_back():
                self._take_experts(experts)
                self.state = fresh.state
                self._note_change(change)

    def _hand_over(self, fresh: Self, change: Change, expert_from: Ints) -> None:
        """Let a fresh learner with other experts have what this one learnt."""
        own, other = fields_named(self.saved, self.state), fields_named(self.saved, fresh.state)
        for name in own.keys() - set(self.of_experts):
            other[name][...] = own[name]
        s = fresh._weights
        if s.rate.kind in (FIXED, ANYTIME):
            s.numbers[:, ETA] = s.rate.scale / (math.sqrt(self.round + 1) if s.rate.kind == ANYTIME else 1.0)
        carry_over_sums(self._weights, s, expert_from)
        if s.share is None:
            remake_all(packed(s))
        else:
            carry_over_weights(self.weights, s, expert_from)

    # Copies and files.

    def _keep(self) -> Any:
        return self.capacity, self.saved, super()._keep()

    def _bring_back(self, kept: Any) -> None:
        capacity, saved, state = kept
        if capacity is not self.capacity:
            self.capacity, self.saved = capacity, saved
            for name in ("_call", "_hand"):
                vars(self).pop(name, None)
        super()._bring_back(state)

    def arrays(self) -> dict[str, Array]:
        arrays = super().arrays()
        arrays["answered"] = rounds_answered(self._weights).copy()
        if self._paced:  # weights are made anew in every round: what they are made of
            arrays = {name: array for name, array in arrays.items() if name not in ("weight", "factor", "sums")}
            arrays["numbers"][:, ETA] = 0.0
        return arrays

    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        like = fields_named(self.saved, self.state)
        if self._paced:
            like = {name: array for name, array in like.items() if name not in ("weight", "factor", "sums")}
        check_arrays(arrays, like, (*self.signed, "offset"))
        self.check_saved(arrays)
        for name, array in arrays.items():
            like[name][...] = array
        self._weights.recent.fill(0)
        self._weights.products.fill(np.nan)

    def check_saved(self, arrays: Mapping[str, Array]) -> None:
        s, numbers = self._weights, arrays["numbers"]
        for eta, squares, learnt, *_ in numbers.tolist():
            follows = 0.0 < eta <= 1.0 if self._changes else eta == self._adaptive(s.rate, squares, learnt)
            if s.rate.kind == ADAPTIVE and not follows:  # right after a change it is still that of other experts
                raise InputError(f"state: expected the rate that V gives, got {eta}")
            # Twice: a cost that was set on the way may have changed the scale.
            if s.rate.kind in (FIXED, ANYTIME) and eta > 2.0 * s.rate.scale:
                raise InputError(f"state: expected a rate of {s.rate.scale} or so, got {eta}")
            if learnt != math.floor(learnt) or learnt != numbers[0, LEARNT]:
                raise InputError(f"state: expected whole rounds learnt, the same for all memories, got {learnt}")
        held = rounds_held(s.memory, float(min(numbers[0, LEARNT], MOST_ROUNDS)))[:, np.newaxis] * (1.0 + 1e-9) + 1e-9
        for name in ("answered", "missed"):
            if (arrays[name] > held).any():
                raise InputError(f"state: expected at most the rounds learnt in {name}, got {arrays[name].max()}")
        last, cost = arrays["agreed"].tolist()
        if last > self.round or last != math.floor(last) or cost > 1.0:
            raise InputError(f"state: expected an earlier round and its cost, got {last} and {cost}")
        if s.layout.alone and arrays["paid"].any():
            raise InputError("state: expected costs to be among the losses where rules are not shared, got them apart")
        if s.rate.kind == OWN and not self._paced and (numbers[:, ETA] <= 0.0).any():
            raise InputError(f"state: expected rates above 0, got {numbers[:, ETA].min()}")
        if "weight" in arrays:
            shared = s.share is not None
            if shared and not ((arrays["weight"] > 0.0).all() and (arrays["factor"] == 1.0).all()):
                least, factor = arrays["weight"].min(), arrays["factor"].max()
                raise InputError(
                    "state: expected weights above 0 and factors of 1, as shares are given, got a weight of "
                    f"{least:g} and a factor of {factor:g}"
                )
            if (
                "losses" not in self.signed
                and not shared
                and ((arrays["weight"] > 1.0).any() or (arrays["factor"] > 1.0).any())
            ):
                raise InputError("state: expected weights and factors of 1 at most, got more")
            with np.errstate(over="ignore", invalid="ignore"):
                sums = np.add.reduceat(arrays["weight"], s.start[:-1], axis=1)
                masses = (arrays["factor"] * sums).sum(axis=1)
            if not np.isfinite(sums).all() or not np.allclose(arrays["sums"], sums, rtol=1e-9, atol=0.0):
                raise InputError(
                    f"state: expected the sums of the weights, up to {sums.max()}, got up to {arrays['sums'].max()}"
                )
            if shared and not np.allclose(masses, len(s.layout.expert), rtol=1e-6):
                raise InputError(f"state: expected weights that sum to {len(s.layout.expert)}, got {masses}")
            if not ((masses > 0.0) & (masses <= max(LARGE, len(s.layout.expert)))).all():
                raise InputError(f"state: expected weights that sum to more than 0, at most {LARGE:g}, got {masses}")
        if "tokens" in arrays and arrays["tokens"][UNITS] > s.bucket.terms.most:
            raise InputError("state: expected at most as many tokens as the bucket holds, got more")
        if "tokens" in arrays and arrays["tokens"][OVERDRAFT] > self.round:
            raise InputError(
                f"state: expected at most {self.round} cases over capacity, got {arrays['tokens'][OVERDRAFT]}"
            )
        if "price" in arrays and not self._can_be_price(arrays["price"][0]):
            raise InputError("state: expected a price of step * burst at most, got more")
        if "mix" in arrays and not math.isclose(np.minimum(arrays["mix"], 2.0).sum(), 1.0, rel_tol=1e-9):
            raise InputError(f"state: expected weights of the memories that sum to 1, got {arrays['mix']}")
