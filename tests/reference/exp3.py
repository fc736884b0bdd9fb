"""EXP3-ABS, line by line (algorithm 3), and its rates; on cumulative estimates, so that nothing underflows."""

import math

import numpy as np

from .game import Game


class Exp3:
    """The state: cumulative estimates, V, and the rate."""

    def __init__(self, game: Game, eta, ix=0.0, horizon: int | None = None, largest: float = 1.0) -> None:
        self.game, self.eta, self.ix, self.horizon, self.largest = game, eta, ix, horizon, largest
        self.total, self.V, self.matched, self.spent = np.zeros(game.shape[1]), 0.0, 1.0, 0.0

    def rate(self, t: int) -> float:
        log_K, scale = math.log(self.game.shape[1]), self.largest**2 + 1
        if self.eta == "tuned":
            return math.sqrt(2 * log_K / (scale * self.horizon))
        if self.eta == "anytime":
            return math.sqrt(log_K / (scale * t))
        if self.eta == "adaptive":
            eta = min(1.0, math.sqrt(log_K / (1 + self.V)))
            return 2.0 ** (math.floor(8 * math.log2(eta)) / 8) if eta > 0 else 1.0
        if self.eta == "both":
            return self.matched
        return self.eta

    def q(self, t: int) -> np.ndarray:
        """q_t, proportional to exp(-eta_t times the cumulative estimates)."""
        exponent = -self.rate(t) * (self.total - self.total.min())
        weights = np.exp(exponent)
        return weights / weights.sum()

    def probability(self, t: int) -> float:
        """The q_t-mass of the experts that predict."""
        return float(self.q(t)[~self.game.abstains[t - 1]].sum())

    def explored(self, t: int) -> float:
        """What is added to the observation probability of round t, before that round is learnt."""
        return self.rate(t) / 2 if self.ix == "anytime" else self.ix

    def learn(self, t: int, now: int, probability: float, seen: bool, explored: float | None = None) -> None:
        """Learn round t, at round ``now``, with the observation probability of round t."""
        abstains, loss = self.game.abstains[t - 1], self.game.loss[t - 1]
        P = np.where(abstains, 1.0, probability + (self.ix if explored is None else explored))
        estimate, q = np.where(abstains | seen, loss / P, 0.0), self.q(now)
        z, entropy = float((q * estimate**2).sum()), -float((q[q > 0] * np.log(q[q > 0])).sum())
        self.V += z
        step = 1 / (24 + 2 * math.log(self.game.shape[1]))
        self.spent += self.matched * z / 2
        if self.spent >= step * max(entropy, 1e-9) / self.matched:
            self.matched, self.spent = self.matched / (1 + step), 0.0
        self.total += estimate
