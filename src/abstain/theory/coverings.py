"""Admissible coverings (section 4.2): sets of experts that all update each other; and independent sets."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_flag, as_floats, as_number
from ..errors import InputError, shown
from ..graphs.base import as_edges
from ..typing import Bools, Floats

MOST_EXACT = 16
"""The largest number of experts for exact searches: their time grows exponentially."""

LEAST, LARGEST = 1e-100, 1e100
"""Numbers outside this range have no use; inside it every bound is finite."""


def as_size(value: Any, name: str) -> float:
    """Check a number of rounds, experts or features."""
    return as_number(value, name, f"a number from 1 to {LARGEST:g}", lambda size: 1.0 <= size <= LARGEST)


def as_graph(matrix: ArrayLike) -> Bools:
    """Check a graph in which every expert updates itself."""
    edges = as_edges(matrix)
    if not edges.diagonal().all():
        raise InputError("matrix: expected every expert to update itself, got 0 on the diagonal")
    return edges


def as_shared_graph(matrices: Iterable[ArrayLike]) -> Bools:
    """Return the edges that all these graphs share."""
    if not isinstance(matrices, Iterable):
        raise InputError(f"matrices: expected graphs, got {shown(matrices)}")
    graphs = [as_graph(matrix) for matrix in matrices]
    if len({len(graph) for graph in graphs}) != 1:
        sizes = [len(graph) for graph in graphs]
        raise InputError(f"matrices: expected one or more graphs with the same number of experts, got {shown(sizes)}")
    return np.asarray(np.logical_and.reduce(graphs))


def as_gaps(deltas: ArrayLike) -> Floats:
    """Check the gaps of the experts; some may be 0."""
    gaps = as_floats(deltas, "deltas")
    if gaps.ndim != 1 or len(gaps) == 0 or not ((gaps == 0.0) | ((gaps >= LEAST) & (gaps <= 1.0))).all():
        raise InputError(f"deltas: expected gaps, each 0 or a number from {LEAST:g} to 1, got {shown(deltas)}")
    return gaps


def as_stochastic(deltas: ArrayLike, T: int, beta: float) -> tuple[Floats, float, float]:
    """Check the arguments of a bound for the stochastic game; return the gaps, log T and beta."""
    width = as_number(
        beta, "beta", f"a number above 1/2, at most {LARGEST:g}", lambda b: 0.5 < b <= LARGEST and 2.0 * b > 1.0
    )
    return as_gaps(deltas), math.log(as_size(T, "T")), width


def in_graph(gaps: Floats, matrix: ArrayLike) -> Bools:
    """Check the graph of the experts with these gaps."""
    edges = as_graph(matrix)
    if len(gaps) != len(edges):
        raise InputError(f"matrix: expected {len(gaps)} experts, as many as gaps, got {len(edges)}")
    return edges


def unlikely(n_experts: int, beta: float) -> float:
    """Return what the rounds cost in which an estimate is further off than its width, for all experts together.

    For beta > 2 it is ``K beta / (beta - 2)``, as in the paper's proof; below, ``K 2 beta / (2 beta - 1)`` by
    Hoeffding's inequality for losses in [0, 1], as the documentation proves.
    """
    return n_experts * (beta / (beta - 2.0) if beta > 2.0 else 2.0 * beta / (2.0 * beta - 1.0))


def admissible_covering(matrix: ArrayLike, *, exact: bool = False) -> list[list[int]]:
    """Cover the experts by few sets in which all update each other (section 4.2).

    The search is greedy: each expert in turn joins the first set that it fits. The covering with the least bound is
    another one, because it depends on the gaps: see `best_covering`.

    Args:
        matrix: The graph (K, K): true at [i, j] if choosing expert i updates expert j.
        exact: Whether to find the fewest sets, for at most `MOST_EXACT` experts.

    Returns:
        The sets of experts.

    Raises:
        InputError: The matrix is not a graph with all self-loops, or too large for the exact search.

    >>> admissible_covering([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    [[0, 1], [2]]
    """
    edges = as_graph(matrix)
    mutual = edges & edges.T
    n = len(edges)
    exact = as_flag(exact, "exact")
    if exact and n > MOST_EXACT:
        raise InputError(f"exact: expected at most {MOST_EXACT} experts, got {n}")
    greedy = first_fit(mutual, range(n))
    return _fewest(mutual, greedy) if exact else greedy


def shared_covering(matrices: Iterable[ArrayLike], *, exact: bool = False) -> list[list[int]]:
    """Cover the experts by sets that are admissible in all these graphs at once.

    Args:
        matrices: The graphs, each (K, K).
        exact: Whether to find the fewest sets, for at most `MOST_EXACT` experts.

    Returns:
        The sets of experts.

    Raises:
        InputError: The graphs differ in size, or are no graphs.
    """
    return admissible_covering(as_shared_graph(matrices), exact=exact)


def first_fit(mutual: Bools, order: Iterable[int]) -> list[list[int]]:
    """Return sets of experts that all update each other: each expert joins the first set it fits, or starts one."""
    groups: list[list[int]] = []
    fits = np.zeros((len(mutual), len(mutual)), np.bool_)  # [group, expert]
    for expert in order:
        group = int(np.argmax(fits[: len(groups), expert])) if groups else 0
        if groups and fits[group, expert]:
            groups[group].append(expert)
            fits[group] &= mutual[expert]
        else:
            fits[len(groups)] = mutual[expert]
            groups.append([expert])
    return groups


def _fewest(mutual: Bools, best: list[list[int]]) -> list[list[int]]:
    """Return the covering with the fewest sets: try each expert in every set that it fits and in a new one."""
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


def as_covering(covering: Any, n: int) -> list[list[int]]:
    """Check sets of the experts 0 to n - 1 that together hold each of them."""
    given: Sequence[Any] = list(covering) if isinstance(covering, Iterable) else []
    groups = [list(group) if isinstance(group, Iterable) else [group] for group in given]
    experts = [one for group in groups for one in group]
    known = all(isinstance(one, (int, np.integer)) and 0 <= one < n for one in experts)
    if not known or len(set(experts)) != n:
        raise InputError(f"covering: expected sets that cover the experts 0 to {n - 1}, got {shown(covering)}")
    return groups


def best_covering(deltas: ArrayLike, matrix: ArrayLike) -> list[list[int]]:
    """Find the admissible covering that minimises theorem 3's ``sum_C max Delta / min Delta^2``, whatever T and beta.

    It is exact if at most `MOST_EXACT` experts have a gap, else the best of a few that are quick to find. Experts with
    Delta = 0 cost nothing; each forms a set alone. Few sets are not the aim: in the first example below the covering
    with the fewest sets, two, is seven times as expensive.

    Args:
        deltas: The gap of each expert (K,).
        matrix: The graph (K, K), with the edges that all rounds share.

    Returns:
        The sets of experts.

    Raises:
        InputError: A gap is not 0 or a number in (0, 1], or the matrix does not fit.

    >>> best_covering([0.0, 0.1, 0.11, 1.0, 1.0], [[1] * 5] * 5)
    [[0], [1, 2], [3, 4]]
    >>> best_covering([0.0, 0.1, 0.11, 1.0, 1.0], np.eye(5))
    [[0], [1], [2], [3], [4]]
    """
    gaps = as_gaps(deltas)
    edges = in_graph(gaps, matrix)
    with np.errstate(divide="ignore"):
        return cheapest_covering(gaps, 1.0 / gaps / gaps, edges & edges.T)


def cheapest_covering(gaps: Floats, looks: Floats, mutual: Bools) -> list[list[int]]:
    """Return the covering with the least ``sum_C max gap * max looks``; smaller gaps need more ``looks``."""
    order = np.argsort(gaps, kind="stable")
    free, costly = order[gaps[order] == 0.0].tolist(), order[gaps[order] > 0.0]
    among = mutual[np.ix_(costly, costly)]
    if len(costly) <= MOST_EXACT:
        groups = _exact(gaps[costly], looks[costly], among)
    else:
        groups = min(
            _feasible(gaps[costly], looks[costly], among), key=lambda it: price(it, gaps[costly], looks[costly])
        )
    return sorted([[one] for one in free] + [sorted(costly[group].tolist()) for group in groups])


def price(groups: list[list[int]], gaps: Floats, looks: Floats) -> float:
    """Return ``sum_C max gap * max looks``, without the experts that have no gap."""
    kept = [[one for one in group if gaps[one] > 0.0] for group in groups]
    return float(sum(gaps[group].max() * looks[group].max() for group in kept if group))


# Below, experts are sorted by their gaps, so that the first of a set needs the most looks and the last has the largest
# gap.


def _feasible(gaps: Floats, looks: Floats, mutual: Bools) -> Iterator[list[list[int]]]:
    """Yield coverings for many experts: one greedy in price, two with sets as large as possible."""
    yield _greedy(gaps, looks, mutual)
    yield first_fit(mutual, range(len(gaps)))
    yield first_fit(mutual, range(len(gaps) - 1, -1, -1))


def _greedy(gaps: Floats, looks: Floats, mutual: Bools) -> list[list[int]]:
    """Put each expert into the set with the least rise in price, or into a new one if that is cheaper. The result is
    never more expensive than every expert alone.
    """
    n = len(gaps)
    groups: list[list[int]] = []
    fits, top, need = np.zeros((n, n), np.bool_), np.zeros(n), np.zeros(n)
    for expert in range(n):
        here = slice(len(groups))
        rise = np.where(fits[here, expert], (gaps[expert] - top[here]) * need[here], np.inf)
        group = int(np.argmin(rise)) if groups else 0
        if groups and rise[group] <= gaps[expert] * looks[expert]:
            groups[group].append(expert)
            fits[group] &= mutual[expert]
        else:
            group = len(groups)
            groups.append([expert])
            fits[group], need[group] = mutual[expert], looks[expert]
        top[group] = gaps[expert]
    return groups


def _exact(gaps: Floats, looks: Floats, mutual: Bools) -> list[list[int]]:
    """Return the cheapest covering of all.

    Of the experts left, the one with the smallest gap is in some set, and the price of that set depends only on its
    largest gap. For each expert that may have it, maximal sets suffice, because fewer experts left over never cost
    more. The cheapest covering of each rest is computed once.
    """
    n = len(gaps)
    linked = [sum(1 << other for other in range(n) if other != one and mutual[one, other]) for one in range(n)]
    known: dict[int, tuple[float, int]] = {0: (0.0, 0)}  # experts left -> the least price, and the first one's set

    def solve(left: int) -> float:
        if left not in known:
            first = (left & -left).bit_length() - 1
            friends = left & linked[first]
            best = (np.inf, 0)
            for last in [first, *_members(friends)]:
                own = gaps[last] * looks[first]
                if best[1] and own >= best[0]:
                    break  # sorted by gaps: all further sets cost at least as much
                pair = (1 << first) | (1 << last)
                for rest in _cliques(friends & linked[last] & ((1 << last) - 1), linked):
                    total = own + solve(left & ~(pair | rest))
                    best = min(best, (total, pair | rest))
            known[left] = best
        return known[left][0]

    left, groups = (1 << n) - 1, []
    while left:
        solve(left)
        groups.append(list(_members(known[left][1])))
        left &= ~known[left][1]
    return groups


def _members(bits: int) -> Iterator[int]:
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def _cliques(candidates: int, linked: list[int], done: int = 0) -> Iterator[int]:
    """Yield the maximal sets of candidates that are all linked (Bron and Kerbosch), each once."""
    if not candidates:
        if not done:
            yield 0
        return
    pivot = max(_members(candidates | done), key=lambda one: (candidates & linked[one]).bit_count())
    for one in _members(candidates & ~linked[pivot]):
        for rest in _cliques(candidates & linked[one], linked, done & linked[one]):
            yield (1 << one) | rest
        candidates &= ~(1 << one)
        done |= 1 << one


def independence_number(matrix: ArrayLike) -> int:
    """Compute the size of the largest set of experts of which none updates another.

    Args:
        matrix: The graph (K, K), for at most `MOST_EXACT` experts.

    Returns:
        The size.

    Raises:
        InputError: The matrix is not a graph with all self-loops, or too large.

    >>> independence_number([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    2
    """
    edges = as_graph(matrix)
    if len(edges) > MOST_EXACT:
        raise InputError(f"matrix: expected at most {MOST_EXACT} experts, got {len(edges)}")
    return round(_heaviest(edges | edges.T, [1.0] * len(edges), list(range(len(edges)))))


def independence_bound(deltas: ArrayLike, matrix: ArrayLike, T: int, beta: float = 2.5) -> float:
    """Bound UCB-NT's regret by independent sets of experts.

    Experts are put into layers by their gap, ``2^-(k+1) < Delta <= 2^-k``. A layer costs at most the largest sum of
    ``16 beta log T / Delta + 2 Delta`` over sets of its experts of which no two update each other; all else costs
    ``K beta / (beta - 2)``, as in theorem 3. The documentation has the argument; the idea is due to Lykouris, Tardos
    and Wali (2020).

    The sum is exact for connected parts of a layer of up to `MOST_EXACT` experts. In larger parts a covering bounds
    it: an independent set has at most one expert of each set of the covering.

    Args:
        deltas: The gap of each expert (K,).
        matrix: The graph (K, K), with the edges that all rounds share.
        T: The number of rounds.
        beta: The width of the confidence bounds, above 1/2.

    Returns:
        The bound on the expected regret.

    Raises:
        InputError: An argument is out of range, or the matrix does not fit.

    >>> round(independence_bound([0.0, 0.5, 0.5], np.ones((3, 3)), 1000))
    569
    >>> round(independence_bound([0.0] + [0.5] * 2000, np.ones((2001, 2001)), 1000) - 5 * 2001)
    554
    """
    gaps, log_rounds, beta = as_stochastic(deltas, T, beta)
    edges = in_graph(gaps, matrix)
    positive = gaps > 0.0
    costs = np.zeros(len(gaps))
    costs[positive] = 16.0 * beta * log_rounds / gaps[positive] + 2.0 * gaps[positive]
    part, power = np.frexp(gaps)  # gap = part * 2^power, part in [1/2, 1)
    layer = np.where(part == 0.5, 1 - power, -power)
    total = unlikely(len(gaps), beta)
    for k in np.unique(layer[positive]):
        of_layer = np.flatnonzero(positive & (layer == k))
        linked = (edges & edges.T)[np.ix_(of_layer, of_layer)]
        total += sum(_at_most(linked, costs[of_layer], one) for one in _parts(linked))
    return float(total)


def _parts(linked: Bools) -> Iterator[list[int]]:
    """Yield the connected components."""
    new = np.ones(len(linked), np.bool_)
    while new.any():
        found = edge = np.arange(len(linked)) == np.argmax(new)
        while edge.any():
            edge = linked[edge].any(axis=0) & ~found
            found = found | edge
        new &= ~found
        yield np.flatnonzero(found).tolist()


def _at_most(linked: Bools, weights: Floats, among: list[int]) -> float:
    """Return the largest total weight of experts of which no two are linked, or an upper bound if there are many."""
    if len(among) <= MOST_EXACT:
        return _heaviest(linked, weights.tolist(), among)
    heavy_first = sorted(range(len(among)), key=lambda one: -weights[among[one]])
    groups = first_fit(linked[np.ix_(among, among)], heavy_first)
    return float(sum(weights[among[group[0]]] for group in groups))


def _heaviest(linked: Bools, weights: Sequence[float], among: list[int]) -> float:
    """Return the largest total weight of experts of which no two are linked: with the first, or without it."""
    if not among:
        return 0.0
    first, rest = among[0], among[1:]
    apart = [other for other in rest if not linked[first, other]]
    most = weights[first] + _heaviest(linked, weights, apart)
    return most if len(apart) == len(rest) else max(most, _heaviest(linked, weights, rest))
