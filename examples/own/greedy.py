"""Epsilon-greedy in plain Python: a learner of one's own."""

from collections.abc import Mapping

import numpy as np

import abstain as ab


class EpsilonGreedy(ab.Learner):
    """Follow the least mean loss, but with probability epsilon anybody."""

    options = ("epsilon",)

    def __init__(self, experts, *, cost, loss="zero_one", seed=None, epsilon=0.1):  # noqa: ANN001, ANN204
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.epsilon = float(epsilon)
        self.total, self.seen = np.zeros((2, experts.n_experts))

    def choose(self, advice: ab.experts.Advice, cost: float) -> ab.extend.Choice:
        predicts = ~advice.abstains[0, self.experts.rule_of]
        means = np.where(self.seen > 0, self.total / np.maximum(self.seen, 1), -np.inf)
        best = int(np.argmin(means))
        anybody = int(self._random.integers(self.experts.n_experts))
        expert = anybody if self._random.random() < self.epsilon else best
        probability = self.epsilon * predicts.mean() + (1 - self.epsilon) * predicts[best]
        return ab.extend.Choice(expert, float(probability), np.zeros(0))

    def commit(self, decision: ab.Decision) -> None:
        if decision.abstained:  # no label will come; whoever abstained here pays the cost
            paid = decision.abstains[self.experts.rule_of]
            self.total[paid] += decision.cost
            self.seen[paid] += 1

    def absorb(self, decision: ab.Decision, losses: np.ndarray) -> None:
        abstains = decision.abstains[self.experts.rule_of]
        self.total += np.where(abstains, decision.cost, losses[self.experts.predictor_of])
        self.seen += 1

    def arrays(self) -> dict[str, np.ndarray]:
        return {"total": self.total.copy(), "seen": self.seen.copy()}

    def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.total, self.seen = np.array(arrays["total"]), np.array(arrays["seen"])
