"""The admissible covering with the least bound (theorem 3's minimum)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from ..typing import Bools, Floats
from .arguments import MOST_EXACT, as_gaps, in_graph
from .coverings import first_fit


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
