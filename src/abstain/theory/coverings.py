"""Admissible coverings (section 4.2): sets of experts in which everybody updates everybody."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_flag
from ..errors import InputError, shown
from ..typing import Bools, Floats
from .arguments import MOST_EXACT, as_gaps, as_graph, as_shared_graph, as_stochastic, in_graph, unlikely


def admissible_covering(matrix: ArrayLike, *, exact: bool = False) -> list[list[int]]:
    """A covering of the experts by sets in which everybody updates everybody (section 4.2), with few sets.

    Greedy: each set grows by the experts that fit, in order. With ``exact`` (small K) no covering has fewer sets; the
    one with the least bound is another matter, as it depends on the gaps: `best_covering`.

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
    """An admissible covering of all these graphs at once: of the edges that they share."""
    return admissible_covering(as_shared_graph(matrices), exact=exact)


def first_fit(mutual: Bools, order: Iterable[int]) -> list[list[int]]:
    """Sets of experts that all update each other: each expert joins the first set that it fits, or begins a new one."""
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


def as_covering(covering: Any, n: int) -> list[list[int]]:
    """Sets of the experts 0 to n - 1 in which each occurs."""
    given: Sequence[Any] = list(covering) if isinstance(covering, Iterable) else []
    groups = [list(group) if isinstance(group, Iterable) else [group] for group in given]
    experts = [one for group in groups for one in group]
    known = all(isinstance(one, (int, np.integer)) and 0 <= one < n for one in experts)
    if not known or len(set(experts)) != n:
        raise InputError(f"covering: expected sets that cover the experts 0 to {n - 1}, got {shown(covering)}")
    return groups


def best_covering(deltas: ArrayLike, matrix: ArrayLike) -> list[list[int]]:
    """The admissible covering that minimises theorem 3's ``sum_C max Delta / min Delta^2``, whatever T and beta are.

    Exact if at most `MOST_EXACT` experts have a gap; with more, the best of some that are quickly found. Experts with
    Delta = 0 cost nothing; each is a set of its own.

    Few sets are not the aim: here the covering with the fewest sets, two, is seven times as dear.

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
    """The covering with the least ``sum_C max gap * max looks``; experts with smaller gaps need more ``looks``."""
    order = np.argsort(gaps, kind="stable")
    free, dear = order[gaps[order] == 0.0].tolist(), order[gaps[order] > 0.0]
    among = mutual[np.ix_(dear, dear)]
    if len(dear) <= MOST_EXACT:
        groups = _exact(gaps[dear], looks[dear], among)
    else:
        groups = min(_feasible(gaps[dear], looks[dear], among), key=lambda it: price(it, gaps[dear], looks[dear]))
    return sorted([[one] for one in free] + [sorted(dear[group].tolist()) for group in groups])


def price(groups: list[list[int]], gaps: Floats, looks: Floats) -> float:
    """``sum_C max gap * max looks``, experts without a gap left out."""
    kept = [[one for one in group if gaps[one] > 0.0] for group in groups]
    return float(sum(gaps[group].max() * looks[group].max() for group in kept if group))


# Below experts are in the order of their gaps, the smallest first, so that the first of a set needs the most looks and
# the last has its largest gap.


def _feasible(gaps: Floats, looks: Floats, mutual: Bools) -> Iterator[list[list[int]]]:
    """Coverings for many experts: every expert joins where it costs least, or is alone; and sets as large as fit."""
    yield _greedy(gaps, looks, mutual)
    yield first_fit(mutual, range(len(gaps)))
    yield first_fit(mutual, range(len(gaps) - 1, -1, -1))


def _greedy(gaps: Floats, looks: Floats, mutual: Bools) -> list[list[int]]:
    """Each expert joins the set whose price rises least, or begins one if that costs less: so it is never dearer than
    every expert by itself.
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
    """The cheapest covering of all.

    Of the experts left, the one with the smallest gap is in some set, whose price then depends on its largest gap
    alone. For each expert that may have it, sets to which nobody with a smaller gap could be added suffice: what is
    left over never gets dearer by being less. What is cheapest for those left is worked out once.
    """
    n = len(gaps)
    linked = [sum(1 << other for other in range(n) if other != one and mutual[one, other]) for one in range(n)]
    known: dict[int, tuple[float, int]] = {0: (0.0, 0)}  # of those left: the least price, and the set of the first

    def solve(left: int) -> float:
        if left not in known:
            first = (left & -left).bit_length() - 1
            friends = left & linked[first]
            best = (np.inf, 0)
            for last in [first, *_members(friends)]:
                own = gaps[last] * looks[first]
                if best[1] and own >= best[0]:
                    break  # they are in the order of their gaps: all further ones are as dear by themselves
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
    """The largest sets of candidates that are all linked (Bron and Kerbosch), each once."""
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
    """The size of the largest set of experts none of which updates another; for small K.

    >>> independence_number([[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    2
    """
    edges = as_graph(matrix)
    if len(edges) > MOST_EXACT:
        raise InputError(f"matrix: expected at most {MOST_EXACT} experts, got {len(edges)}")
    return round(_heaviest(edges | edges.T, [1.0] * len(edges), list(range(len(edges)))))


def independence_bound(deltas: ArrayLike, matrix: ArrayLike, T: int, beta: float = 2.5) -> float:
    """A bound on UCB-NT's regret by independent sets of experts; ``matrix`` holds edges of every round.

    Experts are put into layers by their gap, ``2^-(k+1) < Delta <= 2^-k``. A layer costs at most the largest sum, over
    sets of its experts no two of which update each other, of ``16 beta log T / Delta + 2 Delta``; all else ``K beta /
    (beta - 2)``, as in theorem 3. The argument is in the documentation; the idea is Lykouris, Tardos and Wali's (2020).

    The sum is exact in parts of a layer of up to `MOST_EXACT` experts that are linked with each other. In larger parts
    it is bounded by a covering: no set has more than one expert of those who all update each other.

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
    """The experts that are linked with each other, over others or not."""
    new = np.ones(len(linked), np.bool_)
    while new.any():
        found = edge = np.arange(len(linked)) == np.argmax(new)
        while edge.any():
            edge = linked[edge].any(axis=0) & ~found
            found = found | edge
        new &= ~found
        yield np.flatnonzero(found).tolist()


def _at_most(linked: Bools, weights: Floats, among: list[int]) -> float:
    """The largest total weight of experts among these no two of which are linked; no less, if they are many."""
    if len(among) <= MOST_EXACT:
        return _heaviest(linked, weights.tolist(), among)
    heavy_first = sorted(range(len(among)), key=lambda one: -weights[among[one]])
    groups = first_fit(linked[np.ix_(among, among)], heavy_first)
    return float(sum(weights[among[group[0]]] for group in groups))


def _heaviest(linked: Bools, weights: Sequence[float], among: list[int]) -> float:
    """The largest total weight of experts among these no two of which are linked: with the first, or without."""
    if not among:
        return 0.0
    first, rest = among[0], among[1:]
    apart = [other for other in rest if not linked[first, other]]
    most = weights[first] + _heaviest(linked, weights, apart)
    return most if len(apart) == len(rest) else max(most, _heaviest(linked, weights, rest))
