"""What all learners share: the protocol, late labels, threads, copies, files."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import files
from ..errors import DecisionError, InputError
from ..experts import Advice, ExpertSet
from ..experts.base import check_advice
from ..registry import Registry
from ..typing import Array, Floats, Ints
from .changes import Change, as_of_now, check_sizes, gathered, needed, since
from .deciding import Deciding
from .decision import Decision
from .play import Playing, PlayingRounds
from .saving import contents

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
            return contents(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file, in one piece; `abstain.load` reads it."""
        files.write(path, *self.contents())
