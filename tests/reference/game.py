"""A game written out as arrays with a column for every expert: what the library takes pains never to build."""

from dataclasses import dataclass

import numpy as np

import abstain as ab


@dataclass
class Game:
    """T rounds of K experts: whether each abstains, its loss (the cost where it abstains), the costs."""

    abstains: np.ndarray  # (T, K)
    loss: np.ndarray  # (T, K) L(xi_j, z_t)
    cost: np.ndarray  # (T,)
    constant: bool
    rule_of: np.ndarray  # (K,)
    count_edges: bool = True  # costs K times the rest

    @property
    def shape(self):
        return self.loss.shape


def written_out(learner, X, y) -> Game:
    """The game a learner is about to play on a table."""
    experts = learner.experts
    advice = experts.advise(np.asarray(X, float))
    cost = learner.cost.of(np.asarray(X, float), 1, len(X))
    abstains = advice.abstains[:, experts.rule_of]
    losses = learner.loss(advice.predictions, learner.loss.labels(y)).astype(float)[:, experts.predictor_of]
    return Game(
        abstains, np.where(abstains, cost[:, None], losses), cost, isinstance(learner.cost, ab.costs.Constant),
        experts.rule_of,
    )  # fmt: skip


class Estimates:
    """E, n and Q of each expert; where costs vary, the sum of the costs stands for c*n."""

    def __init__(self, game: Game) -> None:
        K = game.shape[1]
        self.game = game
        self.E, self.n, self.Q, self.C = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K)

    def add(self, i: int, t: int, loss: float | None) -> None:
        """Update expert i from round t; ``loss`` is None where it abstained."""
        self.Q[i] += 1
        if loss is not None:
            self.E[i] += loss
        else:
            self.n[i] += 1
            self.C[i] = self.game.cost[t] * self.n[i] if self.game.constant else self.C[i] + self.game.cost[t]

    def sums(self) -> np.ndarray:
        return self.E + self.C

    def means(self) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return self.sums() / self.Q


def pick(index: np.ndarray, u: float | None, open_choices: np.ndarray | None = None) -> int:
    """The lowest number of the least index, or the one at the fraction u of the tied.

    Of the experts never observed, whose index is minus infinity, those with the fewest open choices come first.
    """
    tied = np.flatnonzero(index == index.min())
    if index.min() == -np.inf and open_choices is not None:
        tied = tied[open_choices[tied] == open_choices[tied].min()]
    return int(tied[0] if u is None else tied[int(u * len(tied))])
