"""What all learners share: the protocol, late labels, copies, files."""

import copy
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import costs, files, losses
from ..decision import Bools, Decision, frozen
from ..errors import DecisionError, InputError
from ..experts import Advice, ExpertSet
from ..experts.base import check_advice
from ..tables import as_row, as_seed, own_stream
from .describe import describe

Seed: TypeAlias = int | np.random.SeedSequence | None


class Choice(NamedTuple):
    """Whom to follow in a round."""

    expert: int
    probability: float
    neighbours: Bools
    place: int = 0


class Learner(ABC):
    """An online learner with the option to abstain.

    Round after round `decide` takes an input and returns a `Decision`. If it abstained, the cost is paid and the
    learner has learnt what it can. If not, `learn` takes the decision and its label, at once or later, in any order,
    once.

    To write your own, define `_choose`, `_commit`, `_absorb`, `_arrays` and `_set_arrays`; hold it to the rules by
    `abstain.checks.check_learner`. `_choose` and `_commit` see the advice only, never the label; the
    losses come to `_absorb`, in rounds that predicted.
    """

    supervised: bool = False
    """Whether it stands outside the protocol: learns from the labels of abstained rounds, too, and needs them all."""
    options: ClassVar[tuple[str, ...]] = ()
    """The names of the constructor's further arguments, each an attribute of plain values."""

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        if not isinstance(experts, ExpertSet):
            raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
        self.experts = experts
        self.cost = costs.get(cost)
        self.loss = losses.get(loss)
        self.seed = as_seed(seed)
        self.round = 0
        """The number of decisions made."""
        self.id = uuid.uuid4().hex
        self._pending: set[int] = set()
        self._random = np.random.default_rng(own_stream(self.seed))

    # What a kind of learner defines.

    @abstractmethod
    def _choose(self, advice: Advice, cost: float) -> Choice:
        """Whom to follow in round ``self.round + 1``; may draw from ``self._random``, changes nothing else."""

    @abstractmethod
    def _commit(self, decision: Decision) -> None:
        """Take note of a decision just made (``self.round`` counts it); if it abstained, learn, unless supervised."""

    @abstractmethod
    def _absorb(self, decision: Decision, losses: NDArray[Any]) -> None:
        """Learn from the losses (P,) of the predictors in the round of a decision."""

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray[Any]]:
        """All that was learnt, as new arrays, in a form that depends only on what happened."""

    @abstractmethod
    def _set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what `_arrays` returned."""

    # The protocol.

    @property
    def pending(self) -> tuple[int, ...]:
        """The rounds whose label is still to be learnt."""
        return tuple(sorted(self._pending))

    def _advise(self, x: "ArrayLike | Advice") -> tuple[Advice, float]:
        """The advice and the cost for one input, checked."""
        if isinstance(x, Advice):
            check_advice(x, 1, self.experts.n_predictors, self.experts.n_rules)
            return x, float(self.cost.of(None, self.round + 1, 1)[0])
        row = as_row(x, self.experts.n_features)
        self.experts.check_inputs(row)
        return self.experts.advise_block(row), float(self.cost.of(row, self.round + 1, 1)[0])

    def _decision(self, choice: Choice, advice: Advice, cost: float) -> Decision:
        experts = self.experts
        abstained = bool(advice.abstains[0, experts.rule_of[choice.expert]])
        return Decision(
            round=self.round + 1,
            expert=choice.expert,
            abstained=abstained,
            prediction=None if abstained else advice.predictions[0, experts.predictor_of[choice.expert]].item(),
            probability=choice.probability,
            cost=cost,
            learner=self.id,
            predictions=frozen(advice.predictions[0].copy()),
            abstains=frozen(advice.abstains[0].copy()),
            neighbours=frozen(choice.neighbours),
            place=choice.place,
        )

    def decide(self, x: "ArrayLike | Advice") -> Decision:
        """Play a round on the input x (d,), or on the experts' advice for it."""
        advice, cost = self._advise(x)
        before, state = self.round, self._random.bit_generator.state
        try:
            decision = self._decision(self._choose(advice, cost), advice, cost)
            self.round += 1  # first: if Ctrl-C comes in between, the round counts as decided, and its decision as lost
            self._commit(decision)
        except Exception:
            self.round = before
            self._random.bit_generator.state = state
            raise
        if self.supervised or not decision.abstained:
            self._pending.add(self.round)
        return decision

    def peek(self, x: "ArrayLike | Advice") -> Decision:
        """What `decide` would do; nothing changes."""
        advice, cost = self._advise(x)
        state = self._random.bit_generator.state
        try:
            return self._decision(self._choose(advice, cost), advice, cost)
        finally:
            self._random.bit_generator.state = state

    def _check_open(self, decision: Decision) -> None:
        if not isinstance(decision, Decision):
            raise DecisionError(f"decision: expected a Decision, got {type(decision).__name__}")
        if decision.learner != self.id:
            raise DecisionError(f"decision: expected one of learner {self.id}, got one of {decision.learner}")
        if decision.round not in self._pending:
            if decision.abstained and not self.supervised:
                raise DecisionError(f"decision: round {decision.round} abstained, so its label stays hidden")
            raise DecisionError(f"decision: round {decision.round} is not open: it was learnt or forgotten before")
        if not self._fits(decision):
            raise DecisionError(f"decision: round {decision.round} does not fit this learner: it was changed")

    def _fits(self, decision: Decision) -> bool:
        """Whether a decision can be this learner's."""
        experts = self.experts
        if not 0 <= decision.expert < experts.n_experts or not 0.0 <= decision.cost <= 1.0:
            return False
        advice = Advice(decision.predictions[np.newaxis], decision.abstains[np.newaxis])
        try:
            check_advice(advice, 1, experts.n_predictors, experts.n_rules)
        except InputError:
            return False
        return bool(decision.abstains[experts.rule_of[decision.expert]]) == decision.abstained

    def learn(self, decision: Decision, y: Any) -> None:
        """Learn the label of an open decision."""
        self._check_open(decision)
        labels = self.loss.labels([y])
        losses = self.loss(decision.predictions[np.newaxis], labels)[0]
        self._pending.discard(decision.round)  # first: if Ctrl-C comes in between, the label is lost, not learnt twice
        try:
            self._absorb(decision, losses)
        except Exception:
            self._pending.add(decision.round)
            raise

    def forget(self, decision: Decision) -> None:
        """Drop an open decision whose label will never come; nothing is learnt from its round.

        Where rounds that abstain are learnt from and others are often forgotten, predicting looks better than it is.
        """
        self._check_open(decision)
        self._pending.discard(decision.round)

    def n_edges(self, x: "ArrayLike | Advice") -> int:
        """The size of the graph in use for this input; unless a learner says otherwise, of what the protocol shows."""
        advice, _ = self._advise(x)
        silent = int(advice.abstains[0][self.experts.rule_of].sum())
        return (self.experts.n_experts - silent) * self.experts.n_experts + silent * silent

    def _surrogate(self, expert: NDArray[np.int64], y: NDArray[Any], costs: NDArray[np.float64]) -> Any:
        """L~ of the rounds (T,) of a game, and its gamma (None: any); None for learners that play L itself."""
        return None

    # Copies and files.

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}

    def _fresh_options(self) -> dict[str, Any]:
        """The options as they were given, for a clone."""
        return self._options()

    def clone(self) -> Self:
        """A new learner with the same arguments that has learnt nothing."""
        return self._make(self.experts, self.cost, self.loss, self.seed, self._fresh_options())

    @classmethod
    def _make(cls, experts: ExpertSet, cost: costs.Cost, loss: losses.Loss, seed: Seed, options: Any) -> Self:
        """A new learner from what a learner, or its file, says of itself."""
        return cls(experts, cost=cost, loss=loss, seed=seed, **options)

    def __copy__(self) -> "Learner":
        return copy.deepcopy(self)  # a copy that shares arrays, but not the number of rounds, would be neither

    def __repr__(self) -> str:
        cost = self.cost.value if isinstance(self.cost, costs.Constant) else type(self.cost).__name__
        options = "".join(f", {name}={value!r}" for name, value in self._options().items())
        return f"{type(self).__name__}({self.experts!r}, cost={cost}, loss={self.loss!r}, seed={self.seed}{options})"

    def _keep(self) -> Any:
        """A copy of all that was learnt, for `_bring_back`."""
        return self._arrays()

    def _bring_back(self, kept: Any) -> None:
        self._set_arrays(kept)

    def _snapshot(self) -> tuple[Any, ...]:
        """What `_restore` needs to undo all that happens from now on."""
        return self.round, set(self._pending), self._random.bit_generator.state, self._keep()

    def _restore(self, snapshot: tuple[Any, ...]) -> None:
        self.round, self._pending, self._random.bit_generator.state, kept = snapshot
        self._bring_back(kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one piece; `abstain.load` reads it."""
        header, arrays = describe(self)
        files.write(path, header, arrays)
