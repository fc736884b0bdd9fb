"""Rounds: an input comes, an expert is chosen, a decision is made."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..experts import Advice
from ..experts.base import check_advice
from ..tables import as_row
from .choice import Choice
from .decision import Decision, frozen
from .defined import Defined
from .identity import Identity


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
            forced=choice.forced,
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
