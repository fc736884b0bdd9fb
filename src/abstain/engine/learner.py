"""Objects that threads share, and of which there may be copies: by hand, by pickle, by fork."""

import copy
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias
from weakref import WeakSet

import numpy as np
from numpy.typing import ArrayLike

from .. import costs, graphs, losses
from .._core import files
from .._core.registry import Registry, as_plain, name_of
from .._core.validation import as_row, as_seed, own_stream
from ..errors import DecisionError, InputError
from ..experts import Advice, ExpertSet
from ..experts.base import check_advice
from ..typing import Array, Bools, Floats, Ints
from .changes import Change, as_of_now, check_sizes, gathered, needed, since, to_file
from .decision import Choice, Decision, Identity, frozen, sign
from .feedback import Chances, arrivals
from .play import Playing, PlayingRounds

_alive: "WeakSet[Shared]" = WeakSet()


class Shared:
    """Something with a lock and an identity. A copy shares nothing, has a lock that nobody holds, and begins a life."""

    round: int = 0

    def __init__(self) -> None:
        self.lock = threading.RLock()
        """Held by the thread that uses it; hold it to do several things in a row."""
        self._identity = Identity()
        _alive.add(self)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # a copy that shares arrays, but not the number of rounds, would be neither

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            return {name: copy.deepcopy(value) for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._begin_life()
        _alive.add(self)

    def _begin_life(self) -> None:
        """Be a copy from now on: what the other one decides is not this one's."""
        self.lock = threading.RLock()
        self._identity.begin_life(self.round)


def _begin_lives() -> None:
    """In a forked process: no thread is left that could give a lock back, and everything is a copy."""
    for one in list(_alive):
        with suppress(AttributeError):  # one that was never made
            one._begin_life()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_lives)


Seed: TypeAlias = int | np.random.SeedSequence | None


class Defined(Shared, ABC):
    """A learner before it plays."""

    supervised: bool = False
    """Whether it stands outside the protocol: learns from the labels of abstained rounds, too, and needs them all."""
    options: ClassVar[tuple[str, ...]] = ()
    """The names of the constructor's further arguments, each an attribute of plain values."""
    accept_unsigned: bool = False
    """Whether decisions without a digest, as format 1 wrote them, are learnt."""
    _changes: tuple[Change, ...] = ()
    """Of the experts, as far as open decisions are from before them; and the newest."""

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        if not isinstance(experts, ExpertSet):
            raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
        super().__init__()
        self.experts = experts
        self._cost = costs.get(cost)
        self.loss = losses.get(loss)
        self.seed = as_seed(seed)
        self.round = 0
        """The number of decisions made."""
        self._random = np.random.default_rng(own_stream(self.seed))

    # What a kind of learner defines.

    @abstractmethod
    def _choose(self, advice: Advice, cost: float) -> Choice:
        """Whom to follow in round ``self.round + 1``; may draw from ``self._random``, changes nothing else."""

    @abstractmethod
    def _commit(self, decision: Decision) -> None:
        """Take note of a decision just made (``self.round`` counts it); if it abstained, learn, unless supervised."""

    @abstractmethod
    def _absorb(self, decision: Decision, losses: Array) -> None:
        """Learn from the losses (P,) of the predictors in the round of a decision."""

    @abstractmethod
    def _arrays(self) -> dict[str, Array]:
        """All that was learnt, as new arrays, in a form that depends only on what happened."""

    @abstractmethod
    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `_arrays` returned, or raise a `ValueError` if it is nonsense."""

    def _from_format_1(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The arrays of a file of format 1 as `_set_arrays` takes them."""
        return arrays

    def _drop(self, decision: Decision) -> None:
        """An open decision is forgotten."""

    def _miss(self, decision: Decision) -> None:
        """The label of an open decision, which was not sure to come, did not come."""
        self._drop(decision)

    # Which labels come.

    @property
    def chances(self) -> Chances:
        """The probabilities that a label comes after predicting and after abstaining."""
        return Chances(1.0, 1.0 if self.supervised else 0.0)

    @property
    def expects(self) -> tuple[bool, bool]:
        """Whether a label may come after predicting, and after abstaining."""
        chances = self.chances
        return chances.predicted > 0.0, chances.abstained > 0.0

    def comes(self, first: int, n: int) -> Bools:
        """In simulated games: whether the labels of ``n`` rounds from ``first`` on come, after predicting and after
        abstaining (n, 2).
        """
        return arrivals(self.chances, self.seed, self.id, first, n)

    # Who it is, and what abstaining costs.

    @property
    def id(self) -> str:
        """The learner's own; files and copies have the same."""
        return self._identity.learner

    def sign(self, content: dict[str, Any]) -> str:
        """A digest of plain values by the key that signs decisions, for what somebody keeps beside a decision."""
        return sign(self._identity.key, content)

    @property
    def pending(self) -> tuple[int, ...]:
        """The rounds whose label is still to be learnt."""
        with self.lock:
            return tuple(sorted(t for t, _ in self._identity.open.values()))

    @property
    def cost(self) -> costs.Cost:
        """What abstaining costs. A number may be set to another: it holds from the coming round on."""
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

    def _reprice(self, cost: costs.Constant) -> None:
        """The coming rounds have another cost."""
        self._cost = cost

    def _take_experts(self, experts: ExpertSet) -> None:
        self.experts = experts

    # Copies.

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}

    def _fresh_options(self) -> dict[str, Any]:
        """The options as they were given, for a clone."""
        return self._options()

    def clone(self) -> Self:
        """A new learner with the same arguments that has learnt nothing."""
        return self._make(self.experts, self._cost, self.loss, self.seed, self._fresh_options())

    @classmethod
    def _make(cls, experts: ExpertSet, cost: costs.Cost, loss: losses.Loss, seed: Seed, options: Any) -> Self:
        """A new learner from what a learner, or its file, says of itself."""
        return cls(experts, cost=cost, loss=loss, seed=seed, **options)

    def __repr__(self) -> str:
        cost = self._cost.value if isinstance(self._cost, costs.Constant) else type(self._cost).__name__
        options = "".join(f", {name}={value!r}" for name, value in self._options().items())
        return f"{type(self).__name__}({self.experts!r}, cost={cost}, loss={self.loss!r}, seed={self.seed}{options})"

    def _keep(self) -> Any:
        """A copy of all that was learnt, for `_bring_back`."""
        return self._arrays()

    def _bring_back(self, kept: Any) -> None:
        self._set_arrays(kept)


class Deciding(Defined):
    """A learner that decides."""

    def _advise(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        """The advice and the cost for one input, checked."""
        if isinstance(x, Advice):
            check_advice(x, 1, self.experts.n_predictors, self.experts.n_rules)
            return x, float(self._cost.of(None, self.round + 1, 1)[0])
        row = as_row(x, self.experts.n_features)
        self.experts.check_inputs(row)
        return self.experts.advise_block(row), float(self._cost.of(row, self.round + 1, 1)[0])

    def _decision(self, choice: Choice, advice: Advice, cost: float, t: int, name: str | None) -> Decision:
        experts, identity = self.experts, self._identity
        expert, probability = int(choice.expert), float(choice.probability)
        if not 0 <= expert < experts.n_experts or not 0.0 <= probability <= 1.0 + 1e-9:
            raise InputError(
                f"choose: expected an expert below {experts.n_experts} and a probability, "
                f"got {expert} and {probability}"
            )
        predictions = advice.predictions[0]
        if predictions.dtype == np.longdouble:
            predictions = predictions.astype(np.float64)
        abstained = bool(advice.abstains[0, experts.rule_of[expert]])
        decision = Decision(
            round=t,
            expert=expert,
            abstained=abstained,
            prediction=None if abstained else _item(predictions[experts.predictor_of[expert]]),
            probability=probability,
            cost=cost,
            observed=self._observed(choice),
            explored=choice.explored,
            over_capacity=choice.over_capacity,
            predictions=frozen(predictions.copy()),
            abstains=frozen(advice.abstains[0].copy()),
            carry=frozen(choice.carry),
            id=name,
            learner=identity.learner,
            life=identity.life,
        )
        if name is not None:
            object.__setattr__(decision, "_key", identity.key)
        return decision

    def _observed(self, choice: Choice) -> float:
        """The probability of seeing the label, if a choice does not say it."""
        if choice.observed is not None:
            return float(choice.observed)
        chances, predicts = self.chances, min(1.0, float(choice.probability))
        return chances.predicted * predicts + chances.abstained * (1.0 - predicts)

    def decide(self, x: "ArrayLike | Advice") -> Decision:
        """Play a round on the input x (d,), or on the experts' advice for it."""
        with self.lock:
            advice, cost = self._advise(x)
            before, random = self.round, self._random.bit_generator.state
            try:
                decision = self._play_round(advice, cost)
            except Exception:
                self.round = before
                self._random.bit_generator.state = random
                raise
            if self.expects[decision.abstained]:
                self._identity.open[str(decision.id)] = decision.round, decision.expert
            return decision

    def _play_round(self, advice: Advice, cost: float) -> Decision:
        """Choose and commit."""
        decision = self._decision(self._choose(advice, cost), advice, cost, self.round + 1, Identity.new_id())
        self.round += 1  # first: if Ctrl-C comes in between, the round counts as decided, and its decision as lost
        self._commit(decision)
        return decision

    def peek(self, x: "ArrayLike | Advice") -> Decision:
        """What `decide` would do. Nothing changes, and there is nothing to learn: it has no id."""
        with self.lock:
            advice, cost = self._advise(x)
            random = self._random.bit_generator.state
            try:
                return self._decision(self._choose(advice, cost), advice, cost, self.round + 1, None)
            finally:
                self._random.bit_generator.state = random


def _item(value: Any) -> Any:
    """A number or string of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _contents(learner: "Learner") -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays of a learner's file; ``again`` are the options that `load` has to be given again."""
    arrays = {f"state.{name}": array for name, array in learner._arrays().items()}

    def plain(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
        arrays.update({f"{prefix}.{k}": v for k, v in values.items() if isinstance(v, np.ndarray)})
        return {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}

    options, again = {}, []
    for name, value in learner._options().items():
        spec = graphs.spec(value) if isinstance(value, graphs.FeedbackGraph) else None
        if spec is not None:
            options[name] = {"graph": plain(f"options.{name}", spec)}
        elif isinstance(value, np.ndarray) and value.dtype != object:
            arrays[f"options.{name}"] = value
        elif callable(value) or isinstance(value, graphs.FeedbackGraph):
            again.append(name)
        else:
            options[name] = as_plain(value)
    cost: Any = None
    if type(learner.cost) is costs.Constant:
        cost = learner.cost.value
    elif type(learner.cost) is costs.PerRound:
        arrays["cost.values"] = learner.cost.values
        cost = "per round"
    seed, experts = learner.seed, learner.experts
    header = {
        "learner": name_of(type(learner)),
        **learner._identity.header(),
        "round": learner.round,
        "random": learner._random.bit_generator.state,
        "seed": {"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}
        if isinstance(seed, np.random.SeedSequence)
        else (None if seed is None else int(seed)),
        "experts": {
            "kind": name_of(type(experts)),
            "fingerprint": experts.fingerprint,
            "parameters": plain("experts", experts.parameters()) if experts.portable else None,
        },
        "cost": cost,
        "loss": learner.loss.spec(),
        "binary": learner.loss.binary,
        "options": options,
        "again": again,
    }
    if learner._changes:
        header["changes"], of_changes = to_file(needed(learner._changes, learner.pending))
        arrays |= of_changes
    return header, arrays


class Report(NamedTuple):
    """What a learner can say about its experts; None for what it does not keep."""

    weights: Floats | None = None
    """The probability that the learner follows each expert in the coming round (K,)."""
    estimates: Floats | None = None
    """The estimated mean loss per round of each expert, abstention costs included (K,); NaN where nothing is known."""


LEARNERS: "Registry[Learner]" = Registry("learner")


class Learner(Deciding):
    """An online learner with the option to abstain.

    Round after round `decide` takes an input and returns a `Decision`. If no label will come (in the paper's protocol:
    if it abstained), the learner has learnt what it can. Else `learn` takes the decision and its label, at once or
    later, in any order, once. Any number of threads may use a learner: one at a time does, the others wait.

    To write your own, see `KernelLearner` for one that is compiled. For one in plain Python define `_choose`,
    `_commit`, `_absorb`, `_arrays` and `_set_arrays`. `_choose` and `_commit` see the advice only, never the label; the
    losses come to `_absorb`, where the label was seen. Hold it to the rules by `abstain.checks.check_learner`.

    Args:
        experts: Whom to choose from.
        cost: Of abstaining: a number in [0, 1], one a round, or a function of x.
        loss: Of a prediction: a name as in `abstain.losses`, a loss, or a function of label and prediction.
        seed: Of its own random numbers; unless given, every learner draws others.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        LEARNERS.add(cls)

    # Labels.

    def _check_open(self, decision: Decision) -> Decision:
        """The decision, as the experts of now see it, if its label can be learnt; else raise an error."""
        self._identity.check(decision, self.expects, self.accept_unsigned)
        now, change = decision, since(self._changes, decision.round)
        if change is not None:
            check_sizes(decision, change)
            now = as_of_now(decision, change, self._carry_of_now(decision, change), self.experts)
        if decision._key is None and not self._fits(now):
            raise DecisionError(f"decision: round {decision.round} does not fit this learner: it was changed")
        return now

    def _carry_of_now(self, decision: Decision, change: Change) -> Array:
        """What a decision from before a change carries, as the experts of now would have it."""
        return decision.carry

    def _fits(self, decision: Decision) -> bool:
        """Whether a decision can be this learner's."""
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

    def learn(self, decision: Decision, y: Any) -> None:
        """Learn the label of an open decision."""
        with self.lock:
            now = self._check_open(decision)
            labels = self.loss.labels([y])
            losses = self.loss(decision.predictions[np.newaxis], labels)[0]
            change = since(self._changes, decision.round)
            if change is not None:
                losses = gathered(losses, change.predictors, 0)
            # Closed first: if Ctrl-C comes in between, the label is lost, not learnt twice.
            entry = self._identity.open.pop(str(decision.id))
            try:
                self._absorb(now, losses)
            except Exception:
                self._identity.open[str(decision.id)] = entry
                raise

    def forget(self, decision: Decision) -> None:
        """Close an open decision whose label will never come.

        Where the feedback says that labels may fail to come, that one did is learnt, and nothing is biased by it. Where
        it says that they always come, nothing is learnt from the round: if rounds that abstain are learnt from and
        others are often forgotten, predicting looks better than it is.
        """
        with self.lock:
            now = self._check_open(decision)
            self._identity.forget(decision)
            if self.chances[decision.abstained] < 1.0:
                self._miss(now)
            else:
                self._drop(now)

    def close(self, decision: Decision, y: Any) -> None:
        """In simulated games: learn the label of an open decision, or that it did not come."""
        if self.comes(decision.round, 1)[0, int(decision.abstained)]:
            self.learn(decision, y)
        else:
            self.forget(decision)

    def warm_start(self, X: ArrayLike, y: ArrayLike) -> None:
        """Learn from a table with all its labels, before the first round."""
        raise InputError(f"warm_start: {type(self).__name__} learns from rounds that it decided on alone")

    # Experts that come and go.

    def rearrange(self, experts: ExpertSet, predictor_from: ArrayLike, expert_from: ArrayLike) -> None:
        """Go on with other experts, some of whom were there before."""
        raise InputError(
            f"rearrange: {type(self).__name__} learns with the experts it was made with alone; those of Exp3Abs and "
            "DoublyRobust may change"
        )

    def _note_change(self, change: Change) -> None:
        rounds = [t for t, _ in self._identity.open.values()]
        self._changes = needed((*self._changes, change), rounds)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """The size of the graph in use for this input; unless a learner says otherwise, of what the protocol shows."""
        with self.lock:
            advice, _ = self._advise(x)
        silent = int(advice.abstains[0][self.experts.rule_of].sum())
        return (self.experts.n_experts - silent) * self.experts.n_experts + silent * silent

    def report(self) -> Report:
        """Say what was learnt about each expert.

        Define it for a learner of your own that keeps weights or estimates: a gate shows them in `Gate.policy`.

        Returns:
            Weights and estimated losses, one number per expert. Either is None, as both are by default, where the
            learner keeps nothing of the kind: `UCBAbs` and `ContExp3Abs` learn by region, not by expert.
        """
        return Report()

    # Whole tables, for `simulate`.

    def playing(self, delay: int, later: bool = False) -> Playing:
        """A game of one or more tables, round by round unless a learner is compiled. Labels come ``delay`` rounds late;
        with ``later``, when each table says.
        """
        return PlayingRounds(self, delay)

    def surrogate(self, expert: Ints, y: Array, costs: Floats) -> Any:
        """L~ of the rounds (T,) of a game, and its gamma (None: any); None for learners that play L itself."""
        return None

    # Copies and files.

    def snapshot(self) -> tuple[Any, ...]:
        """What `restore` needs to undo all that happens from now on."""
        with self.lock:
            random, known = self._random.bit_generator.state, dict(self._identity.open)
            return self.round, self._cost, known, random, self.experts, self._changes, self._keep()

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Undo all that happened since; what was decided since cannot be learnt. It can be done again."""
        with self.lock:
            self._identity.begin_life(snapshot[0])
            self.round, self._cost, known, self._random.bit_generator.state, experts, self._changes, kept = snapshot
            self._identity.open = dict(known)
            if experts is not self.experts:
                self._take_experts(experts)
            self._bring_back(kept)

    def contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What a file of the learner holds: a header of plain values, and arrays."""
        with self.lock:
            return _contents(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one piece; `abstain.load` reads it."""
        files.write(path, *self.contents())
