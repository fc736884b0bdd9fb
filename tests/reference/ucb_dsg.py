"""UCB-DSG, line by line (Cortes et al. 2020, algorithm 1 and the constants of its appendix B), between experts."""

import math

import numpy as np

from .game import Game, pick


def a(t: int, delta: float, K: int) -> float:
    """a_t(delta)."""
    return 4 * math.sqrt(math.log(2 * K**2 * t * (t + 1) * (1 + math.log(4 * t + 1)) / delta))


def delta(t: int, K: int) -> float:
    """delta_t."""
    return 1 / (K * t**3)


class DSG:
    """What the algorithm keeps: mu as a sum, Q, U, nu as a sum."""

    def __init__(self, game: Game, slack: float, loss_slack: float) -> None:
        self.game, self.slack, self.loss_slack = game, slack, loss_slack
        K = game.shape[1]
        self.K, self.Q, self.U = K, np.ones(K), np.ones(K)
        self.sum, self.paid, self.nu = np.zeros(K), np.zeros(K), np.zeros((K, K))  # nu[j, i]

    def shows(self, s: int, i: int, j: int) -> bool:
        """Whether j is in N_s(i): i predicts, or j abstains."""
        return not self.game.abstains[s - 1, i] or bool(self.game.abstains[s - 1, j])

    def means(self) -> np.ndarray:
        return (self.sum + self.paid) / self.Q

    def index(self, t: int) -> np.ndarray:
        """mu_{t-1} - S_{t-1}."""
        if t == 1:
            return self.means()
        S = self.slack * (88 * a(t - 1, delta(t - 1, self.K), self.K) + 34 + math.sqrt(2 * math.log(self.K * t)))
        return self.means() - S / np.sqrt(self.Q)

    def hides(self, t: int, i: int, j: int) -> float:
        """1 - phat_{i,j}^{t-1}."""
        hidden = self.game.abstains[: t - 1, i] & ~self.game.abstains[: t - 1, j]
        return hidden.sum() / (t - 1)

    def theta(self, t: int, j: int) -> float:
        """theta_{j,t-1}."""
        term = self.slack * a(t - 1, delta(t - 1, self.K) / 4, self.K)
        Q, U = self.Q[j] + 1, self.U[j] + 1
        return min(2 - 2 * math.sqrt(U / Q) - term / math.sqrt(Q), 1 - 2 * term / math.sqrt(Q))

    def epsilon(self, t: int, j: int) -> float:
        """epsilon_{j,t-1}."""
        return self.loss_slack * (a(t - 1, delta(t - 1, self.K) / 4, self.K) + 1) / math.sqrt(self.U[j] + 1)

    def round(self, t: int, i: int) -> list[tuple[bool, bool, float]]:
        """For each j whether it is in the estimated N_t(i), C_{j,t}, and 1 - phat_{i,j}^{t-1}."""
        if t == 1:
            return [(True, True, 0.0)] * self.K
        rows = []
        for j in range(self.K):
            hidden = self.hides(t, i, j)
            rows.append((1 - hidden >= self.theta(t, j), 1 - hidden >= 1 - self.epsilon(t, j), hidden))
        return rows

    def update(self, t: int, I: int, rows: list[tuple[bool, bool, float]]) -> None:  # noqa: E741
        loss, abstains = self.game.loss[t - 1], self.game.abstains[t - 1]
        for j, (neighbour, _, hidden) in enumerate(rows):
            if neighbour:
                self.Q[j] += 1
                if abstains[j]:
                    self.paid[j] += loss[j]
                elif self.shows(t, I, j):
                    self.sum[j] += loss[j]
                elif hidden > 0:
                    self.sum[j] += min(self.nu[j, I] / self.U[j] / hidden, 1)
        for j, (_, trusted, _) in enumerate(rows):
            if trusted:
                self.U[j] += 1
                for i in range(self.K):
                    if not self.shows(t, i, j) and self.shows(t, I, j):
                        self.nu[j, i] += loss[j]


def ucb_dsg(
    game: Game, slack: float, loss_slack: float, delay: int = 0, u: np.ndarray | None = None
) -> tuple[DSG, list[int], list[int]]:
    """Play; every round is learnt ``delay`` rounds late. Returns what was learnt, choices and edges of each round."""
    dsg = DSG(game, slack, loss_slack)
    chosen, edges, waiting = [], [], {}
    for t in range(1, game.shape[0] + 1):
        if game.count_edges:
            edges.append(sum(row[0] for j in range(dsg.K) for row in dsg.round(t, j)))
        I = pick(dsg.index(t), None if u is None else u[t - 1])  # noqa: E741
        chosen.append(I)
        waiting[t] = (I, dsg.round(t, I))
        if t - delay in waiting:
            dsg.update(t - delay, *waiting.pop(t - delay))
    for t, (I, rows) in waiting.items():  # noqa: E741
        dsg.update(t, I, rows)
    return dsg, chosen, edges
