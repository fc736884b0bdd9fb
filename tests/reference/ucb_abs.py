"""UCB-ABS, line by line (Cortes et al. 2019): a dictionary of regions, each with the losses of the predictors there."""

import math

import numpy as np

from .game import Game


class Region:
    """What was learnt where the same experts abstain."""

    def __init__(self, abstains: np.ndarray, predictor_of: np.ndarray) -> None:
        self.silent = np.flatnonzero(abstains)
        self.predicting = {
            p: np.flatnonzero(~abstains & (predictor_of == p)) for p in np.unique(predictor_of[~abstains])
        }
        self.E = dict.fromkeys(self.predicting, 0.0)
        self.n = 0

    def choose(self, t: int, cost: float) -> int:
        """The first expert that predicts with the predictor of least loss, or the first that abstains."""
        if not self.predicting:
            return int(self.silent[0])
        best = min(self.E, key=lambda p: (self.E[p], p))
        if len(self.silent) == 0 or self.n == 0 or self.E[best] / self.n - math.sqrt(5 * math.log(t) / self.n) < cost:
            return int(self.predicting[best][0])
        return int(self.silent[0])

    def learn(self, loss: np.ndarray) -> None:
        """The losses of all experts, of a label that was seen."""
        self.n += 1
        for p, experts in self.predicting.items():
            self.E[p] += loss[experts[0]]


def ucb_abs(game: Game, predictor_of: np.ndarray, delay: int = 0) -> tuple[list[int], list[Region]]:
    """The choices, and the regions in the order they came. Each label is learnt ``delay`` rounds late."""
    regions: dict[tuple[bool, ...], Region] = {}
    chosen, waiting = [], {}
    for t in range(1, game.shape[0] + 1):
        abstains = game.abstains[t - 1]
        region = regions.setdefault(tuple(abstains), Region(abstains, predictor_of))
        chosen.append(region.choose(t, game.cost[t - 1]))
        if not abstains[chosen[-1]]:
            waiting[t] = region
        if t - delay in waiting:
            waiting.pop(t - delay).learn(game.loss[t - delay - 1])
    for t, region in waiting.items():
        region.learn(game.loss[t - 1])
    return chosen, list(regions.values())
