"""Admissible coverings (section 4.2): sets of experts in which everybody updates everybody."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..tables import as_flag
from ..typing import Bools
from .arguments import MOST_EXACT, as_graph, as_shared_graph


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
