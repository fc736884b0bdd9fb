"""The algorithms as the paper prints them, in NumPy: every quantity of every expert or pair, every round."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

BETA = 2.5


def _index(t: int, E: Floats, n: Floats, Q: Floats, cost: float) -> Floats:
    """mu_{j,t-1} - S_{j,t-1} with mu = (E + c n) / Q and S_{j,t-1} = sqrt(2 beta log(t-1) / Q); -inf where Q = 0."""
    width = math.sqrt(2.0 * BETA) * math.sqrt(math.log(t - 1)) if t > 1 else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(Q > 0, (E + cost * n) / Q - width / np.sqrt(Q), -np.inf)


def ucb(abstains: Bools, losses: Floats, cost: float) -> Ints:
    """UCB: algorithm 1 with self-loops. Abstentions and losses are (T, K); returns the experts chosen."""
    T, K = abstains.shape
    E, n, Q = np.zeros(K), np.zeros(K), np.zeros(K)
    chosen = np.empty(T, np.int64)
    for t in range(1, T + 1):
        j = int(np.argmin(_index(t, E, n, Q, cost)))
        chosen[t - 1] = j
        Q[j] += 1
        if abstains[t - 1, j]:
            n[j] += 1
        else:
            E[j] += losses[t - 1, j]
    return chosen


def ucb_gt(abstains: Bools, losses: Floats, cost: float) -> Ints:
    """UCB-GT, algorithm 2 of the paper, with phat_{j,i} for all pairs (K, K) brought up to date each round."""
    T, K = abstains.shape
    E, n, Q = np.zeros(K), np.zeros(K), np.zeros(K)
    phat = np.zeros((K, K))
    chosen = np.empty(T, np.int64)
    for t in range(1, T + 1):
        silent = abstains[t - 1]
        j = int(np.argmin(_index(t, E, n, Q, cost)))
        chosen[t - 1] = j
        gamma = np.sqrt(2.0 * BETA * Q * math.log(t)) / ((K - 1) * max(t - 1, 1))
        update = phat[j] <= gamma
        Q += update
        n += update & silent
        if not silent[j]:
            E += np.where(update & ~silent, losses[t - 1], 0.0)
        # else step (*): the experts that predict are updated as if their loss were 0
        phat *= (t - 1) / t
        phat += np.outer(silent, ~silent) / t
    return chosen
