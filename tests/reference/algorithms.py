"""The paper's stochastic algorithms, line by line. Rounds are counted from 1, as in the paper; arrays from 0."""

import math
from collections.abc import Callable

import numpy as np

from .game import Estimates, Game, pick


def index(est: Estimates, t: int, beta: float) -> np.ndarray:
    """mu_{j,t-1} - S_{j,t-1}, S_{j,t-1} = sqrt(2 beta log(t-1) / Q_{j,t-1}); never observed: minus infinity."""
    result = np.full(len(est.Q), -np.inf)
    seen = est.Q > 0
    if seen.any():
        width = math.sqrt(2 * beta) * math.sqrt(math.log(t - 1))
        result[seen] = est.sums()[seen] / est.Q[seen] - width / np.sqrt(est.Q[seen])
    return result


def play(
    game: Game, choose: Callable, neighbours: Callable, update: Callable, delay: int, supervised: bool = False
) -> tuple[list[int], list[int]]:
    """The protocol: receive x_t, choose, then update when the label comes; if the choice abstains, without, but then.

    ``choose`` is told how many choices of each expert are still to be learnt, ``neighbours(t, I)`` is N_t(I),
    ``update(t, I, N, seen)`` learns from round t. Returns the choices and the numbers of edges of each round's graph.
    """
    T, K = game.shape
    chosen, edges, waiting = [], [], {}
    open_choices = np.zeros(K)
    for t in range(1, T + 1):
        if game.count_edges:
            edges.append(sum(int(neighbours(t, j).sum()) for j in range(K)))
        I = choose(t, open_choices)  # noqa: E741
        chosen.append(I)
        waiting[t] = I, neighbours(t, I), supervised or not game.abstains[t - 1, I]
        open_choices[I] += 1
        if t - delay in waiting:
            open_choices[waiting[t - delay][0]] -= 1
            update(t - delay, *waiting.pop(t - delay))
    for t in sorted(waiting):
        update(t, *waiting[t])
    return chosen, edges


def observe(game: Game, est: Estimates, t: int, i: int, seen: bool) -> bool:
    """Update i by its loss L(xi_i, z_t), if it is known; say whether it was."""
    if game.abstains[t - 1, i]:
        est.add(i, t - 1, None)
    elif seen:
        est.add(i, t - 1, game.loss[t - 1, i])
    else:
        return False
    return True


def ucb_nt(game: Game, graph: Callable, beta: float, delay: int = 0, u=None, supervised: bool = False):
    """Algorithm 1, for any out-neighbourhoods ``graph(t, j, est)``."""
    est = Estimates(game)

    def choose(t, open_choices):
        return pick(index(est, t, beta), None if u is None else u[t - 1], open_choices)

    def update(t, I, N, seen):  # noqa: E741
        for j in np.flatnonzero(N):
            observe(game, est, t, j, seen)

    def neighbours(t, j):
        return graph(t, j, est).copy()

    return est, *play(game, choose, neighbours, update, delay, supervised)


def ucb_gt(game: Game, beta: float, delay: int = 0, u=None):
    """Algorithm 2: the graph is N_t(j) = {i : phat_{j,i}^{t-1} <= gamma_{i,t-1}}."""
    est = Estimates(game)
    K = game.shape[1]

    def choose(t, open_choices):
        return pick(index(est, t, beta), None if u is None else u[t - 1], open_choices)

    def neighbours(t, j):
        past = slice(0, t - 1)
        # both sides times (t-1): at t = 1 the graph is complete; times (K-1): K = 1 has no threshold
        times = (game.abstains[past, j, None] & ~game.abstains[past]).sum(axis=0)
        return (K - 1) * times <= np.sqrt(2 * beta * est.Q * math.log(t))

    def update(t, I, N, seen):  # noqa: E741
        for i in np.flatnonzero(N):
            if not observe(game, est, t, i, seen):
                est.add(i, t - 1, 0.0)  # step (*): I_t abstains, i predicts

    return est, *play(game, choose, neighbours, update, delay)


def full_supervision(game: Game, delay: int = 0, u=None):
    """FS: the least total loss, every label being seen."""
    est = Estimates(game)
    everybody = np.ones(game.shape[1], bool)

    def choose(t, open_choices):
        return pick(est.sums(), None if u is None else u[t - 1])

    def update(t, I, N, seen):  # noqa: E741
        for i in np.flatnonzero(N):
            observe(game, est, t, i, seen)

    return est, *play(game, choose, lambda t, j: everybody, update, delay, supervised=True)


def graph_of(word: str, game: Game, relation: np.ndarray | None = None) -> Callable:
    """The out-neighbourhoods by their definitions, between experts."""
    K = game.shape[1]
    if word == "self_loops":
        return lambda t, j, est: np.arange(K) == j
    if word == "complete":
        return lambda t, j, est: np.ones(K, bool)
    if word == "relation":
        return lambda t, j, est: relation[j]
    assert word == "abstention"
    return lambda t, j, est: game.abstains[t - 1] if game.abstains[t - 1, j] else np.ones(K, bool)
