"""Your own learner in plain Python: epsilon-greedy."""

from collections.abc import Mapping

import numpy as np

import abstain as ab


class EpsilonGreedy(ab.Learner):
    """Follow the least mean loss, but with probability epsilon an expert drawn at random."""

    options = ("epsilon",)

    def __init__(self, experts, *, cost, loss="zero_one", seed=None, epsilon=0.1):  # noqa: ANN001, ANN204
        super().__init__(experts, cost=cost, loss=loss, seed=seed)
        self.epsilon = float(epsilon)
        self.total, self.seen = np.zeros((2, experts.n_experts))

    def choose(self, advice: ab.experts.Advice, cost: float) -> ab.extend.Choice:
        """Choose the expert of the round."""
        predicts = ~advice.abstains[0, self.experts.rule_of]
        means = np.where(self.seen > 0, self.total / np.maximum(self.seen, 1), -np.inf)
        best = int(np.argmin(means))
        drawn = int(self.random.integers(self.experts.n_experts))
        expert = drawn if self.random.random() < self.epsilon else best
        probability = self.epsilon * predicts.mean() + (1 - self.epsilon) * predicts[best]
        return ab.extend.Choice(expert, float(probability), np.zeros(0))

    def miss(self, decision: ab.Decision) -> None:
        """Learn what a round without a label shows: who abstained pays the cost."""
        paid = decision.abstains[self.experts.rule_of]
        self.total[paid] += decision.cost
        self.seen[paid] += 1

    def absorb(self, decision: ab.Decision, losses: np.ndarray) -> None:
        """Learn from a label."""
        abstains = decision.abstains[self.experts.rule_of]
        self.total += np.where(abstains, decision.cost, losses[self.experts.predictor_of])
        self.seen += 1

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what was learnt, for files and copies."""
        return {"total": self.total.copy(), "seen": self.seen.copy()}

    def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Take over what `arrays` returned."""
        self.total, self.seen = np.array(arrays["total"]), np.array(arrays["seen"])
