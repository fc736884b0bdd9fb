"""What the theorems promise: bounds on regret, and the coverings of feedback graphs they speak of."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .learners.balls import radius
from .tables import is_number, plain

MOST_EXACT = 16
"""The largest number of experts for which the exact searches are meant: their time grows exponentially."""


def exp3_abs_bound(T: int, K: int, cost: float, eta: float | str | None = None) -> float:
    """Theorem 1: the expected regret of EXP3-ABS on any sequence is at most this.

    ``log K / eta + eta T (c^2 + 1) / 2`` for a number; ``sqrt(2 (c^2 + 1) T log K)`` for the tuned rate (None or
    "tuned"); ``2 sqrt((c^2 + 1) T log K)`` for "anytime"; for "adaptive", with ``S = 1 + (c^2 + 1) T``,
    ``(2^(1/8) + (1 + sqrt(2)) / 2) sqrt(S log K) + 2^(1/8) log K + (1 + c) log2 S`` (proved in the documentation).

    >>> round(exp3_abs_bound(10_000, 2000, 0.2), 1)
    397.6
    """
    if not 1 <= T < math.inf or not 1 <= K < math.inf or not 0.0 <= cost <= 1.0:
        raise InputError(f"expected T >= 1, K >= 1 and cost in [0, 1], got {T}, {K} and {cost}")
    spread = (cost**2 + 1.0) * T
    if eta is None or eta == "tuned":
        return math.sqrt(2.0 * spread * math.log(K))
    if eta == "anytime":
        return 2.0 * math.sqrt(spread * math.log(K))
    if eta == "adaptive":
        rounded, summed = 2.0**0.125, (1.0 + math.sqrt(2.0)) / 2.0
        doublings = (1.0 + cost) * math.log2(1.0 + spread)
        of_squares = math.sqrt((1.0 + spread) * math.log(K))
        return float((rounded + summed) * of_squares + rounded * math.log(K) + doublings)
    if is_number(eta) and 0.0 < float(eta) < math.inf:
        return math.log(K) / float(eta) + float(eta) * spread / 2.0
    raise InputError(f"eta: expected 'tuned', 'anytime', 'adaptive' or a positive number, got {eta!r}")


def cont_exp3_abs_epsilon(T: int, d: int, gamma: float = 1.0) -> float:
    """The radius of theorem 2, ``T^(-1/(2+d)) gamma^(2/(2+d))``, its hidden constant taken as 1."""
    _check_cover(T, d, gamma)
    return radius(T, d, gamma)


def cont_exp3_abs_rate(T: int, d: int, gamma: float = 1.0) -> float:
    """The rate of theorem 2, ``T^((d+1)/(d+2)) gamma^(-d/(d+2))``, without constants, logarithms and M*_T(gamma)."""
    _check_cover(T, d, gamma)
    return float(T ** ((d + 1) / (d + 2)) * gamma ** (-d / (d + 2)))


def _check_cover(T: int, d: int, gamma: float) -> None:
    if not 1 <= T < math.inf or not 1 <= d < math.inf or not 0.0 < gamma <= 1.0:
        raise InputError(f"expected T >= 1, d >= 1 and gamma in (0, 1], got {T}, {d} and {gamma}")


def close_calls(margins: ArrayLike, gamma: float) -> int:
    """M*_T(gamma) of theorem 2: in how many rounds ``|r*(x_t)| <= gamma``, given the margins r*(x_t) (T,)."""
    if not gamma >= 0.0:
        raise InputError(f"gamma: expected a number that is not negative, got {gamma!r}")
    return int((np.abs(plain(margins)) <= gamma).sum())


def _as_graph(matrix: ArrayLike) -> NDArray[np.bool_]:
    """A graph in which everybody updates themselves."""
    values = plain(matrix, "matrix")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) == 0:
        raise InputError(f"matrix: expected shape (K, K), got {values.shape}")
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise InputError("matrix: expected 0 and 1, or False and True, got others")
    edges = values.astype(np.bool_)
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


def _fewest(mutual: NDArray[np.bool_], best: list[list[int]]) -> list[list[int]]:
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
    graphs = [_as_graph(matrix) for matrix in matrices]
    if not graphs:
        raise InputError("matrices: expected at least one graph, got none")
    return admissible_covering(np.logical_and.reduce(graphs), exact=exact)


def _as_gaps(deltas: ArrayLike, T: int, beta: float) -> NDArray[np.float64]:
    gaps = np.asarray(plain(deltas), np.float64)
    if not beta > 2.0 or not 1 <= T < math.inf or gaps.ndim != 1 or not ((gaps >= 0.0) & (gaps <= 1.0)).all():
        raise InputError(f"expected beta > 2, T >= 1 and gaps in [0, 1], got {beta}, {T} and {deltas!r}")
    return gaps


def ucb_nt_bound(deltas: ArrayLike, covering: Sequence[Sequence[int]], T: int, beta: float = 2.5) -> float:
    """Theorem 3 with its proof's constants: ``sum_C max Delta / min Delta^2 8 beta log T + K beta / (beta - 2)``.

    ``covering`` must be admissible for the graph of every round; for UCB it is every expert by itself. Experts with
    Delta = 0 leave their sets first: following them costs nothing.

    >>> round(ucb_nt_bound([0.0, 0.5, 0.5], [[0, 1, 2]], 1000))
    291
    """
    gaps = _as_gaps(deltas, T, beta)
    if sorted({expert for group in covering for expert in group}) != list(range(len(gaps))):
        raise InputError(f"covering: expected to cover the experts 0 to {len(gaps) - 1}, got {covering!r}")
    total = len(gaps) * beta / (beta - 2.0)
    for group in covering:
        positive = gaps[list(group)][gaps[list(group)] > 0.0]
        if len(positive) > 0:
            total += positive.max() / positive.min() ** 2 * 8.0 * beta * math.log(T)
    return float(total)


def independence_number(matrix: ArrayLike) -> int:
    """The size of the largest set of experts none of which updates another; for small K.

    >>> independence_number([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    2
    """
    edges = _as_graph(matrix)
    return round(_heaviest(edges | edges.T, [1.0] * len(edges), list(range(len(edges)))))


def _heaviest(linked: NDArray[np.bool_], weights: Sequence[float], among: list[int]) -> float:
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
    gaps, edges = _as_gaps(deltas, T, beta), _as_graph(matrix)
    if len(gaps) != len(edges):
        raise InputError(f"matrix: expected {len(gaps)} experts, as many as gaps, got {len(edges)}")
    positive = gaps > 0.0
    costs = np.zeros(len(gaps))
    costs[positive] = 16.0 * beta * math.log(T) / gaps[positive] + 2.0 * gaps[positive]
    part, power = np.frexp(gaps)  # gap = part * 2^power, part in [1/2, 1)
    layer = np.where(part == 0.5, 1 - power, -power)
    total = len(gaps) * beta / (beta - 2.0)
    for k in np.unique(layer[positive]):
        among = np.flatnonzero(positive & (layer == k)).tolist()
        total += _heaviest(edges & edges.T, costs.tolist(), among)
    return float(total)
