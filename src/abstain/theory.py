"""What the theorems promise: bounds on regret, and the coverings of feedback graphs they speak of."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError, shown
from .graphs.base import as_edges
from .learners.balls import radius
from .tables import as_flag, as_floats, as_number, is_number
from .typing import Bools, Floats

MOST_EXACT = 16
"""The largest number of experts for which the exact searches are meant: their time grows exponentially."""

_LEAST, _LARGEST = 1e-100, 1e100
"""Numbers beyond any use, and so far from overflow that every bound is finite."""


def _as_size(value: Any, name: str) -> float:
    """A number of rounds, experts or features."""
    return as_number(value, name, f"a number from 1 to {_LARGEST:g}", lambda size: 1.0 <= size <= _LARGEST)


def exp3_abs_bound(T: int, K: int, cost: float, eta: float | str | None = None) -> float:
    """Theorem 1: the expected regret of EXP3-ABS on any sequence is at most this.

    ``log K / eta + eta T (c^2 + 1) / 2`` for a number; ``sqrt(2 (c^2 + 1) T log K)`` for the tuned rate (None or
    "tuned"); ``2 sqrt((c^2 + 1) T log K)`` for "anytime"; for "adaptive", with ``S = 1 + (c^2 + 1) T``,
    ``(2^(1/8) + (1 + sqrt(2)) / 2) sqrt(S log K) + 2^(1/8) log K + (1 + c) log2 S`` (proved in the documentation).

    >>> round(exp3_abs_bound(10_000, 2000, 0.2), 1)
    397.6
    """
    rounds, log_experts = _as_size(T, "T"), math.log(_as_size(K, "K"))
    cost = as_number(cost, "cost", "a number in [0, 1]", lambda c: 0.0 <= c <= 1.0)
    spread = (cost**2 + 1.0) * rounds
    if is_number(eta) and _LEAST <= eta <= _LARGEST:
        return log_experts / float(eta) + float(eta) * spread / 2.0
    word = eta if isinstance(eta, str) else "tuned" if eta is None else ""
    if word == "tuned":
        return math.sqrt(2.0 * spread * log_experts)
    if word == "anytime":
        return 2.0 * math.sqrt(spread * log_experts)
    if word == "adaptive":
        rounded, summed = 2.0**0.125, (1.0 + math.sqrt(2.0)) / 2.0
        doublings = (1.0 + cost) * math.log2(1.0 + spread)
        of_squares = math.sqrt((1.0 + spread) * log_experts)
        return float((rounded + summed) * of_squares + rounded * log_experts + doublings)
    expected = f"'tuned', 'anytime', 'adaptive' or a positive number ({_LEAST:g} to {_LARGEST:g})"
    raise InputError(f"eta: expected {expected}, got {shown(eta)}")


def cont_exp3_abs_epsilon(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    return radius(*_as_cover(T, d, gamma))


def cont_exp3_abs_rate(T: int, d: int, gamma: float = 1.0) -> float:
    """The rate of theorem 2, ``T^((d+1)/(d+2)) gamma^(-d/(d+2))``, without constants, logarithms and M*_T(gamma)."""
    rounds, dim, width = _as_cover(T, d, gamma)
    return float(rounds ** ((dim + 1) / (dim + 2)) * width ** (-dim / (dim + 2)))


def _as_cover(T: int, d: int, gamma: float) -> tuple[Any, Any, float]:
    width = as_number(gamma, "gamma", f"a number in (0, 1], at least {_LEAST:g}", lambda g: _LEAST <= g <= 1.0)
    return _as_size(T, "T"), _as_size(d, "d"), width


def close_calls(margins: ArrayLike, gamma: float) -> int:
    """M*_T(gamma) of theorem 2: in how many rounds ``|r*(x_t)| <= gamma``, given the margins r*(x_t) (T,)."""
    width = as_number(gamma, "gamma", "a number that is not negative", lambda g: g >= 0.0)
    values = as_floats(margins, "margins")
    if values.ndim != 1 or np.isnan(values).any():
        raise InputError(f"margins: expected one number a round, got {shown(margins)}")
    return int((np.abs(values) <= width).sum())


def _as_graph(matrix: ArrayLike) -> Bools:
    """A graph in which everybody updates themselves."""
    edges = as_edges(matrix)
    if not edges.diagonal().all():
        raise InputError("matrix: expected every expert to update itself, got 0 on the diagonal")
    return edges


def admissible_covering(matrix: ArrayLike, *, exact: bool = False) -> list[list[int]]:
    """A covering of the experts by sets in which everybody updates everybody (section 4.2), with few sets.

    Greedy: each set grows by the experts that fit, in order. With ``exact`` (small K) no covering has fewer sets.

    >>> admissible_covering([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    [[0, 1], [2]]
    """
    edges = _as_graph(matrix)
    mutual = edges & edges.T
    n = len(edges)
    exact = as_flag(exact, "exact")
    if exact and n > MOST_EXACT:
        raise InputError(f"exact: expected at most {MOST_EXACT} experts, got {n}")
    greedy: list[list[int]] = []
    for expert in range(n):
        fitting = next((group for group in greedy if mutual[expert, group].all()), None)
        if fitting is None:
            greedy.append([expert])
        else:
            fitting.append(expert)
    return _fewest(mutual, greedy) if exact else greedy


def _fewest(mutual: Bools, best: list[list[int]]) -> list[list[int]]:
    """The covering with the fewest sets, by putting each expert into every set that it fits, or a new one."""
    n, current = len(mutual), list[list[int]]()

    def place(expert: int) -> None:
        nonlocal best
        if len(current) >= len(best):
            return
        if expert == n:
            best = [group.copy() for group in current]
            return
        for group in current:
            if mutual[expert, group].all():
                group.append(expert)
                place(expert + 1)
                group.pop()
        current.append([expert])
        place(expert + 1)
        current.pop()

    place(0)
    return best


def shared_covering(matrices: Iterable[ArrayLike], *, exact: bool = False) -> list[list[int]]:
    """An admissible covering of all these graphs at once: of the edges that they share."""
    if not isinstance(matrices, Iterable):
        raise InputError(f"matrices: expected graphs, got {shown(matrices)}")
    graphs = [_as_graph(matrix) for matrix in matrices]
    if len({len(graph) for graph in graphs}) != 1:
        sizes = [len(graph) for graph in graphs]
        raise InputError(f"matrices: expected at least one graph, all of as many experts, got {shown(sizes)}")
    return admissible_covering(np.logical_and.reduce(graphs), exact=exact)


def _as_stochastic(deltas: ArrayLike, T: int, beta: float) -> tuple[Floats, float, float]:
    """The gaps, log T and beta of a bound for the stochastic game."""
    gaps = as_floats(deltas, "deltas")
    if gaps.ndim != 1 or len(gaps) == 0 or not ((gaps == 0.0) | ((gaps >= _LEAST) & (gaps <= 1.0))).all():
        raise InputError(f"deltas: expected gaps, each 0 or a number from {_LEAST:g} to 1, got {shown(deltas)}")
    width = as_number(beta, "beta", f"a number above 2, at most {_LARGEST:g}", lambda b: 2.0 < b <= _LARGEST)
    return gaps, math.log(_as_size(T, "T")), width


def _as_covering(covering: Sequence[Sequence[int]], n: int) -> list[list[int]]:
    """Sets of the experts 0 to n - 1 in which each occurs."""
    given = covering if isinstance(covering, Iterable) else ()
    groups = [list(group) if isinstance(group, Iterable) else [group] for group in given]
    experts = [one for group in groups for one in group]
    known = all(isinstance(one, (int, np.integer)) and 0 <= one < n for one in experts)
    if not known or len(set(experts)) != n:
        raise InputError(f"covering: expected sets that cover the experts 0 to {n - 1}, got {shown(covering)}")
    return groups


def ucb_nt_bound(deltas: ArrayLike, covering: Sequence[Sequence[int]], T: int, beta: float = 2.5) -> float:
    """Theorem 3 with its proof's constants: ``sum_C max Delta / min Delta^2 8 beta log T + K beta / (beta - 2)``.

    ``covering`` must be admissible for the graph of every round; for UCB it is every expert by itself. Experts with
    Delta = 0 leave their sets first: following them costs nothing.

    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], [[0, 1, 2]], 1000))
    291
    """
    gaps, log_rounds, beta = _as_stochastic(deltas, T, beta)
    total = len(gaps) * beta / (beta - 2.0)
    for group in _as_covering(covering, len(gaps)):
        positive = gaps[group][gaps[group] > 0.0]
        if len(positive) > 0:
            total += positive.max() / positive.min() ** 2 * 8.0 * beta * log_rounds
    return float(total)


def independence_number(matrix: ArrayLike) -> int:
    """The size of the largest set of experts none of which updates another; for small K.

    >>> independence_number([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    2
    """
    edges = _as_graph(matrix)
    return round(_heaviest(edges | edges.T, [1.0] * len(edges), list(range(len(edges)))))


def _heaviest(linked: Bools, weights: Sequence[float], among: list[int]) -> float:
    """The largest total weight of experts among these no two of which are linked: with the first, or without."""
    if len(linked) > MOST_EXACT:
        raise InputError(f"matrix: expected at most {MOST_EXACT} experts, got {len(linked)}")
    if not among:
        return 0.0
    first, rest = among[0], among[1:]
    apart = [other for other in rest if not linked[first, other]]
    most = weights[first] + _heaviest(linked, weights, apart)
    return most if len(apart) == len(rest) else max(most, _heaviest(linked, weights, rest))


def independence_bound(deltas: ArrayLike, matrix: ArrayLike, T: int, beta: float = 2.5) -> float:
    """A bound on UCB-NT's regret by independent sets of experts, for small K; ``matrix`` holds edges of every round.

    Experts are put into layers by their gap, ``2^-(k+1) < Delta <= 2^-k``. A layer costs at most the largest sum, over
    sets of its experts no two of which update each other, of ``16 beta log T / Delta + 2 Delta``; all else ``K beta /
    (beta - 2)``, as in theorem 3. The argument is in the documentation; the idea is Lykouris, Tardos and Wali's (2020).

    >>> round(independence_bound([0.0, 0.5, 0.5], np.ones((3, 3)), 1000))
    569
    """
    gaps, log_rounds, beta = _as_stochastic(deltas, T, beta)
    edges = _as_graph(matrix)
    if len(gaps) != len(edges):
        raise InputError(f"matrix: expected {len(gaps)} experts, as many as gaps, got {len(edges)}")
    positive = gaps > 0.0
    costs = np.zeros(len(gaps))
    costs[positive] = 16.0 * beta * log_rounds / gaps[positive] + 2.0 * gaps[positive]
    part, power = np.frexp(gaps)  # gap = part * 2^power, part in [1/2, 1)
    layer = np.where(part == 0.5, 1 - power, -power)
    total = len(gaps) * beta / (beta - 2.0)
    for k in np.unique(layer[positive]):
        among = np.flatnonzero(positive & (layer == k)).tolist()
        total += _heaviest(edges & edges.T, costs.tolist(), among)
    return float(total)
