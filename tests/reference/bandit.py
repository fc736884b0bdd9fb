"""EXP3 with bandit feedback, line by line (Auer et al. 2002): only the loss of the expert followed is seen."""

import math

import numpy as np

from .game import Game


class Bandit:
    """The state: cumulative estimates."""

    def __init__(self, game: Game, eta, horizon: int | None = None) -> None:
        self.game, self.eta, self.horizon = game, eta, horizon
        self.total = np.zeros(game.shape[1])

    def rate(self, t: int) -> float:
        K = self.game.shape[1]
        if self.eta == "tuned":
            return math.sqrt(2 * math.log(K) / (K * self.horizon))
        return math.sqrt(math.log(K) / (K * t)) if self.eta == "anytime" else self.eta

    def q(self, t: int) -> np.ndarray:
        """q_t, proportional to exp(-eta_t times the cumulative estimates)."""
        weights = np.exp(-self.rate(t) * (self.total - self.total.min()))
        return weights / weights.sum()

    def learn(self, t: int, expert: int, probability: float) -> None:
        """Learn round t, in which the expert was followed with this probability."""
        self.total[expert] += self.game.loss[t - 1, expert] / probability
