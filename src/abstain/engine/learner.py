"""The base class of all learners: the protocol of a round, late labels, copies and files."""

import copy
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from .. import costs, losses
from .._core import files as _files
from .._core.registry import name_of
from .._core.validation import as_row, as_seed, own_stream
from ..errors import DecisionError, InputError, ReadOnlyError, shown
from ..experts import Advice, ExpertSet
from ..experts.base import check_advice
from ..typing import Array, Bools, Floats, Ints
from . import changes
from .backlog import Backlog, blank, kept
from .changes import Change
from .decision import MOST_ROUNDS, Choice, Decision, Identity, frozen, sign
from .feedback import Chances, arrivals
from .files import LEARNERS, describe
from .play import Playing, PlayingRounds

Seed: TypeAlias = int | np.random.SeedSequence | None

_alive: "WeakSet[Learner]" = WeakSet()


def _begin_lives() -> None:
    """Make every learner of a forked process a copy: no thread is left there that could release a lock."""
    for learner in list(_alive):
        with suppress(AttributeError):  # its constructor did not finish
            learner._begin_life()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_lives)


def _then_closed(init: Callable[..., None]) -> Callable[..., None]:
    """Close a learner's public attributes when its class's own constructor, the last one, is done."""

    @wraps(init)
    def make(self: "Learner", *args: Any, **arguments: Any) -> None:
        init(self, *args, **arguments)
        if type(self).__init__ is make:
            for name in self.options:
                if not hasattr(self, name):
                    kind = type(self).__name__
                    raise InputError(
                        f"options: expected names of attributes of {kind}, which its constructor sets, got {name!r}"
                    )
            self._made = True

    return make


class Report(NamedTuple):
    """What a learner can say about its experts; None for what it does not keep."""

    weights: Floats | None = None
    """The probability that the learner follows each expert in the coming round (K,)."""
    estimates: Floats | None = None
    """The estimated mean loss per round of each expert, abstention costs included (K,); NaN where nothing is known."""


class Snapshot(NamedTuple):
    """What `Learner.restore` needs."""

    round: int
    cost: costs.Cost
    open: dict[str, tuple[int, int]]
    backlog: Backlog
    random: Any
    experts: ExpertSet
    changes: tuple[Change, ...]
    loss: losses.Loss
    kept: Any


class Learner(ABC):
    """An online learner with the option to abstain.

    In every round `decide` takes an input and returns a `Decision`. If a label may come (in the paper's protocol: if it
    predicted), `learn` takes the decision and its label, at once or later, in any order, once. A round without a label
    is learnt by itself: at once if no earlier label is still to come, otherwise after a label of its time has come, so
    that a learner that hears nothing changes nothing. Many threads may use a learner; a lock lets one in at a time.

    To write your own learner, subclass `KernelLearner` for a compiled one. For one in plain Python subclass this class
    and define `choose`, `absorb`, `miss`, `arrays` and `set_arrays`, and `report` if it keeps weights or estimates.
    `abstain.checks.check_learner` tests it against the rules that all learners obey.

    Of the public attributes of a learner you may set ``cost``. The others change in its own methods alone, which hold
    its ``lock``; a constructor sets what it likes.

    Args:
        experts: The experts to choose from.
        cost: The cost of abstaining: a number in [0, 1], one number per round, or a function of x.
        loss: The loss of a prediction: a name in `abstain.losses`, a loss, or a function of predictions and labels.
        seed: The seed of the learner's random numbers; by default every learner draws others.

    Raises:
        InputError: If an argument is of the wrong type or out of range.
    """

    supervised: bool = False
    """Whether the learner stands outside the protocol: it needs every label, also those of rounds that abstained."""
    options: ClassVar[tuple[str, ...]] = ()
    """The names of the constructor's further arguments. Each is an attribute with a plain value."""
    most_rounds: ClassVar[int] = MOST_ROUNDS
    """The most rounds that the learner can count."""
    _not_copied: ClassVar[tuple[str, ...]] = ("lock",)
    _made = False
    """Whether the constructor is done, so that public attributes are closed."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = _then_closed(cls.__init__)  # type: ignore[method-assign]
        LEARNERS.add(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if self._made and name[:1] != "_" and not self.lock._is_owned():  # type: ignore[attr-defined]
            own = getattr(type(self), name, None)
            if not isinstance(own, property) or own.fset is None:
                known = f"{type(self).__name__} has no such attribute"
                if name in ("experts", "loss", "seed", *self.options):
                    known = f"make another learner with {name}=..."
                elif own is not None or name in vars(self):
                    known = "only the learner's own methods change it, holding its lock"
                raise ReadOnlyError(f"{name}: cannot be set, got {shown(value)}; {known}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name[:1] != "_" and self._made:
            raise ReadOnlyError(f"{name}: cannot be deleted")
        object.__delattr__(self, name)

    @_then_closed
    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        if not isinstance(experts, ExpertSet):
            raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
        self.lock = threading.RLock()
        """Held while the learner is used. Hold it to do several things in a row."""
        self._identity = Identity()
        self.experts = experts
        self._take_cost(costs.get(cost))
        self.loss = losses.get(loss)
        self.seed = as_seed(seed)
        self.round = 0
        """The number of decisions made."""
        self._random = np.random.default_rng(own_stream(self.seed))
        self._backlog = Backlog()
        self._changes: tuple[Change, ...] = ()
        """Changes of the experts that open decisions are older than; and the newest one."""
        _alive.add(self)

    # What a learner defines.

    @abstractmethod
    def choose(self, advice: Advice, cost: float) -> Choice:
        """Choose the expert to follow in round ``self.round + 1``.

        `peek` calls it, too: it may draw from ``self.random``, but must change nothing else.

        Args:
            advice: What the experts say on the input, as one row.
            cost: The cost of abstaining in this round.

        Returns:
            The expert, the probability of predicting, and what the learner needs when the label comes.
        """

    @abstractmethod
    def absorb(self, decision: Decision, losses: Array) -> None:
        """Learn from the label of a round.

        Args:
            decision: The decision of that round. Do not rely on more than its round, expert, abstained, cost, abstains
                and carry: nothing else is kept of rounds that wait for their time.
            losses: The loss of each predictor (P,).
        """

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return everything that was learnt, as new arrays by name, for files and copies.

        They must depend on what happened only, not on how: simulated or round by round.
        """

    @abstractmethod
    def set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `arrays` returned.

        Args:
            arrays: The arrays. They may come from a file that somebody changed.

        Raises:
            ValueError: If they cannot be this learner's.
        """

    def commit(self, decision: Decision) -> None:  # noqa: B027 (most learners have nothing to do)
        """Take note of a decision just made, which ``self.round`` counts already. By default nothing is to be done.

        Args:
            decision: The decision.
        """

    def miss(self, decision: Decision) -> None:
        """Learn from a round without its label. By default `drop`.

        It is called for rounds that expect no label, and where a label that was not sure to come did not come.

        Args:
            decision: The decision of that round, of which no more is kept than `absorb` says.
        """
        self.drop(decision)

    def drop(self, decision: Decision) -> None:  # noqa: B027 (most learners have nothing to do)
        """Forget an open decision, whose label was sure to come and did not. By default nothing is to be done."""

    def fits(self, decision: Decision) -> bool:
        """Say whether this learner can have made a decision that was read from JSON.

        Args:
            decision: The decision, with a valid digest.

        Returns:
            False if a part of it is impossible. A learner with a ``carry`` checks that, too.
        """
        experts = self.experts
        if not 0 <= decision.expert < experts.n_experts or not 0.0 <= decision.cost <= 1.0:
            return False
        if not 0.0 <= decision.probability <= 1.0 + 1e-9:
            return False
        try:
            advice = Advice(decision.predictions[np.newaxis], decision.abstains[np.newaxis])
            check_advice(advice, 1, experts.n_predictors, experts.n_rules)
        except InputError:
            return False
        return bool(decision.abstains[experts.rule_of[decision.expert]]) == decision.abstained

    def report(self) -> Report:
        """Report what was learnt about each expert.

        A gate shows it in `Gate.policy`. Define it for a learner that keeps weights or estimates.

        Returns:
            Weights and estimated losses, one number per expert. Either is None, as both are by default, where the
            learner keeps nothing of the kind: `UCBAbs` and `ContExp3Abs` learn by region, not by expert.
        """
        return Report()

    # Which labels come.

    @property
    def chances(self) -> Chances:
        """The probabilities that a label comes after predicting and after abstaining."""
        return _EVERY_LABEL if self.supervised else _IF_PREDICTED

    @property
    def expects(self) -> tuple[bool, bool]:
        """Whether a label may come after predicting, and after abstaining."""
        predicted, abstained = self.chances
        return predicted > 0.0, abstained > 0.0

    def comes(self, first: int, n: int) -> Bools:
        """Draw which labels come in a simulated game.

        Args:
            first: The first round.
            n: The number of rounds.

        Returns:
            Whether the label of each round comes after predicting and after abstaining (n, 2).
        """
        return arrivals(self.chances, self.seed, self.id, first, n)

    # Identity, cost, arguments.

    @property
    def id(self) -> str:
        """The learner's id. Its files and copies have the same."""
        return self._identity.learner

    @property
    def random(self) -> np.random.Generator:
        """The learner's own random numbers, for `choose`."""
        return self._random

    def sign(self, content: dict[str, Any]) -> str:
        """Compute a digest by the key that signs decisions, for what somebody keeps beside a decision.

        Args:
            content: Plain values.

        Returns:
            The digest in hexadecimal.
        """
        return sign(self._identity.key, content)

    @property
    def pending(self) -> tuple[int, ...]:
        """The open rounds, whose label may still be given to `learn`, in increasing order.

        Rounds without a label are none of them, also while they wait to be learnt.
        """
        with self.lock:
            return tuple(sorted(t for t, _ in self._identity.open.values()))

    @property
    def cost(self) -> costs.Cost:
        """The cost of abstaining. A number can be replaced by another, which holds from the coming round on."""
        return self._cost

    @cost.setter
    def cost(self, cost: costs.CostLike) -> None:
        fresh = costs.get(cost)
        if type(fresh) is not costs.Constant or type(self._cost) is not costs.Constant:
            raise InputError(
                f"cost: a number can be set to another number, got {fresh!r} for {self._cost!r}; costs that vary are "
                "given when the learner is made"
            )
        with self.lock:
            self._reprice(fresh)

    def _take_cost(self, cost: costs.Cost) -> None:
        self._cost = cost
        self._price = cost.value if isinstance(cost, costs.Constant) and cost.constant else None
        """The cost of every round, if it is one number."""

    def _reprice(self, cost: costs.Constant) -> None:
        """Change the cost of the coming rounds."""
        self._take_cost(cost)

    def _take_experts(self, experts: ExpertSet) -> None:
        self.experts = experts

    def _options(self) -> dict[str, Any]:
        """The options as they are now, for files."""
        return {name: getattr(self, name) for name in self.options}

    def get_params(self) -> dict[str, Any]:
        """Return the arguments that make an equal learner: ``type(learner)(learner.experts, **params)``.

        Returns:
            The constructor's arguments by name, except the experts.
        """
        cost = self._cost.value if type(self._cost) is costs.Constant else self._cost
        return {"cost": cost, "loss": self.loss, "seed": self.seed, **self._options()}

    @classmethod
    def _make(cls, experts: ExpertSet, params: Mapping[str, Any]) -> Self:
        """Make a learner from what `get_params` returned."""
        return cls(experts, **params)

    def clone(self) -> Self:
        """Make a new learner with the same arguments that has learnt nothing."""
        return self._make(self.experts, self.get_params())

    def __repr__(self) -> str:
        cost = self._cost.value if isinstance(self._cost, costs.Constant) else type(self._cost).__name__
        options = "".join(f", {name}={value!r}" for name, value in self._options().items())
        return f"{type(self).__name__}({self.experts!r}, cost={cost}, loss={self.loss!r}, seed={self.seed}{options})"

    # Rounds.

    def decide(self, x: "ArrayLike | Advice") -> Decision:
        """Play a round.

        Args:
            x: The input (d,), or the experts' advice on it.

        Returns:
            The decision. Its label is to be learnt if the feedback shows it.

        Raises:
            InputError: If x is not an input of these experts. Nothing has changed then.
        """
        with self.lock:
            decision = self.decide_only(x)
            backlog = self._backlog
            if decision.id not in self._identity.open:  # no label will come
                if backlog.unlabelled or backlog.lag > 0 or backlog.ripe is not None or backlog.awaited:
                    backlog.unlabelled.append(kept(decision))
                else:
                    self.miss(decision)
            if backlog.unlabelled:
                self._release()
            return decision

    def decide_only(self, x: "ArrayLike | Advice") -> Decision:
        """Play a round as `decide` does, for a game that lets rounds without a label wait by itself.

        The lock must be held.

        Args:
            x: The input (d,), or the experts' advice on it.

        Returns:
            The decision. If it expects no label, it is nowhere kept.
        """
        advice, cost = self._ask(x)
        before, random = self.round, self._random.bit_generator.state
        try:
            decision = self._play_round(advice, cost)
        except Exception:
            self.round = before
            self._random.bit_generator.state = random
            raise
        if self.chances[decision.abstained] > 0.0:
            self._identity.open[decision.id] = decision.round, decision.expert  # type: ignore[index]
            self._backlog.awaited[decision.round] = None
        return decision

    def peek(self, x: "ArrayLike | Advice") -> Decision:
        """Show what `decide` would do. Nothing changes.

        Args:
            x: The input (d,), or the experts' advice on it.

        Returns:
            A decision without id, which cannot be learnt.

        Raises:
            InputError: If x is not an input of these experts.
        """
        with self.lock:
            advice, cost = self._ask(x)
            random = self._random.bit_generator.state
            try:
                return self._decision(self.choose(advice, cost), advice, cost, self.round + 1, None)
            finally:
                self._random.bit_generator.state = random

    def _ask(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        """Return the experts' advice on one input and its cost, both checked."""
        experts = self.experts
        self._check_room(1)
        if isinstance(x, Advice):
            row, advice = None, x
            check_advice(x, 1, experts.n_predictors, experts.n_rules)
        else:
            row = as_row(x, experts.n_features)
            experts.check_inputs(row)
            advice = experts.advise_block(row)
        price = self._price
        return advice, float(self._cost.of(row, self.round + 1, 1)[0]) if price is None else price

    def _check_room(self, n: int) -> None:
        """Raise an error if so many more rounds cannot be counted."""
        if self.round + n > self.most_rounds:
            raise InputError(f"round: expected at most {self.most_rounds} rounds, got {self.round} and {n} more")

    def _play_round(self, advice: Advice, cost: float) -> Decision:
        """Choose and commit."""
        decision = self._decision(self.choose(advice, cost), advice, cost, self.round + 1, Identity.new_id())
        self.round += 1  # first: if Ctrl-C comes in between, the round counts as decided, and its decision as lost
        self.commit(decision)
        return decision

    def _decision(self, choice: Choice, advice: Advice, cost: float, t: int, name: str | None) -> Decision:
        experts, identity = self.experts, self._identity
        expert, probability = int(choice.expert), float(choice.probability)
        if not 0 <= expert < experts.n_experts or not 0.0 <= probability <= 1.0 + 1e-9:
            raise InputError(
                f"choose: expected an expert below {experts.n_experts} and a probability, "
                f"got {expert} and {probability}"
            )
        observed = choice.observed
        if observed is None:
            chances, predicts = self.chances, min(1.0, probability)
            observed = chances[0] * predicts + chances[1] * (1.0 - predicts)
        predictions = advice.predictions[0]
        predictions = predictions.astype(np.float64 if predictions.dtype == np.longdouble else predictions.dtype)
        abstains = advice.abstains[0].copy()
        abstained = abstains.item(experts.rule_of.item(expert))
        decision = Decision(
            round=t,
            expert=expert,
            abstained=abstained,
            prediction=None if abstained else predictions.item(experts.predictor_of.item(expert)),
            probability=probability,
            cost=cost,
            predictions=frozen(predictions),
            abstains=frozen(abstains),
            carry=frozen(choice.carry),
            id=name,
            learner=identity.learner,
            life=identity.life,
            observed=float(observed),
            explored=choice.explored,
            over_capacity=choice.over_capacity,
        )
        if name is not None:
            object.__setattr__(decision, "_key", identity.key)
        return decision

    # Labels.

    def learn(self, decision: Decision, y: Any) -> None:
        """Learn the label of an open decision.

        Args:
            decision: What `decide` returned, or a copy of it that went through JSON.
            y: The label.

        Raises:
            DecisionError: If the decision is not open: it was learnt or forgotten before, it is another learner's,
                somebody changed it, or its label stays hidden.
            LabelError: If the loss cannot judge the label.
        """
        with self.lock:
            now, change = self._check_open(decision)
            values = self.loss(decision.predictions[np.newaxis], self.loss.labels([y]))[0]
            if change is not None:
                values = changes.gathered(values, change.predictors, 0)
            # Closed first: if Ctrl-C comes in between, the label is lost, not learnt twice.
            entry = self._identity.open.pop(str(decision.id))
            try:
                self._close(now, values)
            except Exception:
                self._identity.open[str(decision.id)] = entry
                raise

    def forget(self, decision: Decision) -> None:
        """Close an open decision whose label will never come.

        Where the feedback says that labels may fail to come, the learner learns that this one did not, and nothing is
        biased. Where it says that they always come, nothing is learnt from the round: if the learner learns from rounds
        that abstain and others are often forgotten, predicting looks better than it is.

        Args:
            decision: What `decide` returned, or a copy of it that went through JSON.

        Raises:
            DecisionError: If the decision is not open; see `learn`.
        """
        with self.lock:
            now, _ = self._check_open(decision)
            self._identity.forget(str(decision.id))
            if self.chances[decision.abstained] < 1.0:
                self._close(now, None)
            else:
                self.drop(now)
                self._backlog.awaited.pop(decision.round, None)
                self._release()

    def forget_rounds(self, rounds: Container[int]) -> int:
        """Close the open decisions of some rounds, as `forget` would, without having them.

        Args:
            rounds: The rounds.

        Returns:
            How many there were.

        Raises:
            InputError: If the feedback says that labels may fail to come, as the learner then has to learn that one did
                not, which takes the decision itself; or if this learner cannot.
        """
        with self.lock:
            if any(0.0 < chance < 1.0 for chance in self.chances) or type(self).drop is not Learner.drop:
                raise InputError("rounds: expected decisions, each by itself, which this learner needs to forget one")
            found = {name: t for name, (t, _) in self._identity.open.items() if t in rounds}
            for name, t in found.items():
                self._identity.forget(name)
                self._backlog.awaited.pop(t, None)
            self._release()
            return len(found)

    def close(self, decision: Decision, y: Any) -> None:
        """Learn the label of an open decision in a simulated game, or that it did not come.

        Args:
            decision: The decision.
            y: The label.
        """
        if self.comes(decision.round, 1)[0, int(decision.abstained)]:
            self.learn(decision, y)
        else:
            self.forget(decision)

    # Rounds that wait.

    def _close(self, decision: Decision, values: Array | None) -> None:
        """Learn from a closed decision, or keep it until it is ripe. ``values``: None if no label came."""
        backlog = self._backlog
        if backlog.ripe is not None and decision.round > backlog.ripe:
            backlog.early[decision.round] = kept(decision), values
            return
        if values is None:
            self.miss(decision)
        else:
            self.absorb(decision, values)
        backlog.heard(decision.round, self.round - decision.round)
        if backlog.unlabelled:
            self._release()

    def _release(self) -> None:
        """Learn the rounds without a label that need not wait any longer."""
        backlog = self._backlog
        while backlog.unlabelled and backlog.may_learn_first(self.round):
            self._learn_first()

    def _learn_first(self) -> None:
        """Learn the oldest round without a label that waits."""
        waiting = self._backlog.unlabelled
        first = waiting.popleft()
        try:
            self.miss(first)
        except Exception:
            waiting.appendleft(first)
            raise

    def ripen(self, last: int) -> None:
        """Learn what is old enough, for somebody who watches the age of rounds, as a gate with a maturity.

        Once this was called, no later round is learnt before a further call says so; a label that comes earlier is
        kept.

        Args:
            last: The last round that is old enough, 0 or less if there is none yet.
        """
        with self.lock:
            backlog = self._backlog
            before = last if backlog.ripe is None else backlog.ripe
            for t in range(max(before, 0) + 1, last + 1) if backlog.early else ():
                if t in backlog.early:
                    backlog.ripe = t - 1
                    self._release()
                    backlog.ripe = t
                    self._close(*backlog.early.pop(t))
            backlog.ripe = max(before, last, 0)
            self._release()

    @property
    def last_heard(self) -> int:
        """The newest round whose label has come, or turned out not to come; 0 before the first."""
        return self._backlog.newest

    @property
    def last_ripe(self) -> int | None:
        """The last round that is old enough to be learnt, as `ripen` was told; None: all rounds are."""
        return self._backlog.ripe

    def catch_up(self) -> None:
        """Learn all rounds without a label that wait, and all labels that were kept, in the order of rounds.

        A simulated game, which says itself when rounds are learnt, begins with it. No round waits for its age then,
        until `ripen` is called again.
        """
        with self.lock:
            backlog = self._backlog
            for t in sorted(backlog.early):
                while backlog.unlabelled and backlog.unlabelled[0].round < t:
                    self._learn_first()
                decision, values = backlog.early.pop(t)
                if values is None:
                    self.miss(decision)
                else:
                    self.absorb(decision, values)
                backlog.heard(t, self.round - t)
            while backlog.unlabelled:
                self._learn_first()
            backlog.ripe = None

    def leave(self, t: int, expert: int, cost: float, abstains: Bools, carry: Array) -> None:
        """Keep a round of a simulated game that was not learnt when the game ended.

        Args:
            t: The round.
            expert: Its expert.
            cost: Its cost.
            abstains: What the rules said (A,).
            carry: What it carries.
        """
        decision = self._waiting_round(t, expert, cost, abstains, carry)
        if self.expects[decision.abstained]:
            self._identity.open[Identity.new_id()] = t, expert
            if t > self._backlog.newest:  # else the label is overdue
                self._backlog.awaited[t] = None
        else:
            self._backlog.unlabelled.append(decision)

    def _waiting_round(self, t: int, expert: int, cost: float, abstains: Bools, carry: Array) -> Decision:
        """Make the decision of a round of which nothing else was kept."""
        if not 0 <= expert < self.experts.n_experts or abstains.shape != (self.experts.n_rules,):
            raise ValueError(f"round {t} that waits does not fit the experts")
        return Decision(
            round=t,
            expert=expert,
            abstained=bool(abstains[self.experts.rule_of[expert]]),
            prediction=None,
            probability=0.0,
            cost=cost,
            predictions=blank(self.experts.n_predictors),
            abstains=frozen(abstains),
            carry=frozen(carry),
            id=None,
            learner=self._identity.learner,
            life=self._identity.life,
            observed=0.0,
            explored=False,
            over_capacity=False,
        )

    def _check_open(self, decision: Decision) -> tuple[Decision, Change | None]:
        """Return an open decision as the experts of today see it, and how they changed; raise if it is not open."""
        self._identity.check(decision, self.chances)
        now, change = self._of_today(decision), changes.since(self._changes, decision.round) if self._changes else None
        if change is not None:
            changes.check_sizes(now, change)
            now = changes.as_of_now(now, change, self._carry_of_now(now, change), self.experts)
        if decision._key is None and not self.fits(now):
            raise DecisionError(f"decision: round {decision.round} does not fit this learner: it was changed")
        return now, change

    def _of_today(self, decision: Decision) -> Decision:
        """Translate a decision from before the options of the learner were changed."""
        return decision

    def _carry_of_now(self, decision: Decision, change: Change) -> Array:
        """Translate what a decision carries from the experts before a change to those of today."""
        return decision.carry

    # Other experts, other games.

    def warm_start(self, X: ArrayLike, y: ArrayLike) -> None:
        """Learn from a table with all its labels before the first round.

        Args:
            X: The inputs (n, d).
            y: The labels (n,).

        Raises:
            InputError: If this learner cannot, or if X and y are not such a table.
        """
        raise InputError(f"warm_start: {type(self).__name__} learns from rounds that it decided on alone")

    def rearrange(self, experts: ExpertSet, predictor_from: ArrayLike, expert_from: ArrayLike) -> None:
        """Go on with other experts, some of which were there before.

        Args:
            experts: The experts from the coming round on.
            predictor_from: The index of each predictor in the set before, or -1 for a new one (P,).
            expert_from: The index of each expert in the set before, or -1 for a new one (K,).

        Raises:
            InputError: If this learner cannot, or if the indices do not fit.
        """
        raise InputError(
            f"rearrange: {type(self).__name__} learns with the experts it was made with alone; those of Exp3Abs and "
            "DoublyRobust may change"
        )

    def _note_change(self, change: Change) -> None:
        """Remember a change while rounds before it are open, and translate those that wait."""
        self._changes = changes.needed((*self._changes, change), self._unlearnt)

        def of_now(one: Decision) -> Decision:
            return changes.as_of_now(one, change, self._carry_of_now(one, change), self.experts)

        self._backlog.translate(of_now, lambda values: changes.gathered(values, change.predictors, 0))

    @property
    def _unlearnt(self) -> tuple[int, ...]:
        """All rounds that may still be learnt."""
        return *self.pending, *self._backlog.rounds()

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """Count the edges of the graph in use for an input; by default those of what the protocol shows.

        Args:
            x: The input (d,), or the experts' advice on it.

        Returns:
            The number of edges between experts, self-loops included.
        """
        with self.lock:
            advice, _ = self._ask(x)
        silent = int(advice.abstains[0][self.experts.rule_of].sum())
        return (self.experts.n_experts - silent) * self.experts.n_experts + silent * silent

    def playing(self, delay: int, later: bool = False) -> Playing:
        """Begin a game of one or more tables with labels ``delay`` rounds late, or, ``later``, when each table says."""
        return PlayingRounds(self, delay)

    def surrogate(self, expert: Ints, y: Array, costs: Floats) -> tuple[Floats, float | None] | None:
        """Compute the loss L~ that the learner plays, where it is not L.

        Args:
            expert: The expert followed in each round (T,).
            y: The labels (T,).
            costs: The costs of abstaining (T,).

        Returns:
            L~ of each round (T,) and its gamma (None: any); None for learners that play L itself.
        """
        return None

    # Copies and files.

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # a copy that shares arrays, but not the number of rounds, would be neither

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: copy.deepcopy(value) for name, value in vars(self).items() if name not in self._not_copied}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._begin_life()
        _alive.add(self)

    def _begin_life(self) -> None:
        """Become a copy: decisions that the original makes from now on are not this learner's."""
        vars(self)["lock"] = threading.RLock()
        self._identity.begin_life(self.round)

    def snapshot(self) -> Snapshot:
        """Take a snapshot for `restore`."""
        with self.lock:
            known, random = dict(self._identity.open), self._random.bit_generator.state
            backlog = self._backlog.copy()
            return Snapshot(
                self.round, self._cost, known, backlog, random, self.experts, self._changes, self.loss, self._keep()
            )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        """Undo everything that happened since a snapshot. Decisions made since cannot be learnt.

        Args:
            snapshot: What `snapshot` returned. It can be restored more than once.
        """
        with self.lock:
            self._identity.begin_life(snapshot.round)
            self._identity.open, self._backlog = dict(snapshot.open), snapshot.backlog.copy()
            self.round, self._changes, self.loss = snapshot.round, snapshot.changes, snapshot.loss
            self._take_cost(snapshot.cost)
            self._random.bit_generator.state = snapshot.random
            if snapshot.experts is not self.experts:
                self._take_experts(snapshot.experts)
            self._bring_back(snapshot.kept)

    def _keep(self) -> Any:
        """Copy everything that was learnt, for `_bring_back`."""
        return self.arrays()

    def _bring_back(self, kept: Any) -> None:
        self.set_arrays(kept)

    def contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Describe the learner for a file.

        Returns:
            A header of plain values, and arrays.
        """
        with self.lock:
            header, arrays = describe(self.experts, self._cost, self.loss, self.seed, self._options())
            identity, pending = self._identity.to_file()
            changed, of_changes = changes.to_file(changes.needed(self._changes, self._unlearnt))
            heard, waiting = self._backlog.to_file(self.experts.n_predictors, self.experts.n_rules)
            header |= {
                "learner": name_of(type(self)),
                **identity,
                "round": self.round,
                "random": self._random.bit_generator.state,
                "changes": changed,
                "heard": heard,
            }
            learnt = {f"state.{name}": array for name, array in self.arrays().items()}
            return header, {**learnt, **arrays, **pending, **waiting, **of_changes}

    def resume(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Go on from what `contents` described, as a copy with its own life.

        Args:
            header: The header of a learner with these arguments.
            arrays: Its arrays.

        Raises:
            ValueError: If the two do not fit together, or not this learner.
        """
        with self.lock:
            last = header["round"]
            if type(last) is not int or not 0 <= last <= self.most_rounds:
                raise ValueError(f"the round is {last!r:.100}")
            self.round, self._identity = last, Identity.from_file(header, arrays, last)
            self._changes = changes.from_file(header["changes"], arrays, self.experts, last)
            self._random.bit_generator.state = header["random"]
            self._backlog = Backlog.from_file(
                header["heard"], arrays, self._waiting_round, self.experts.n_predictors, last, self.loss.binary
            )
            self._backlog.await_labels(self.pending)
            self.set_arrays(
                {name.removeprefix("state."): array for name, array in arrays.items() if name.startswith("state.")}
            )
            if not all(map(self.fits, self._backlog.decisions())):
                raise ValueError("a round that waits does not fit this learner")
            self._identity.begin_life(last)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to one file, which is replaced in one piece; `abstain.load` reads it.

        Args:
            path: The file.

        Raises:
            OSError: If it cannot be written. An old file is then as it was.
        """
        _files.write(path, *self.contents())


_IF_PREDICTED, _EVERY_LABEL = Chances(1.0, 0.0), Chances(1.0, 1.0)
