"""What every threshold of a model would have lost, from rounds in the order of its confidence."""

from ..typing import Floats, Ints
from .jit import kernel


@kernel
def sweep(order: Ints, sure: Floats, lost: Floats, cost: Floats, thresholds: Floats, totals: Floats) -> None:
    """For increasing ``thresholds``, the cost of the rounds at or below each and the losses of those above it.

    ``order`` has the rounds that count, by ``sure``, increasing.
    """
    n, whole = len(order), 0.0
    for i in range(n):
        whole += lost[order[i]]
    silent, gone, i = 0.0, 0.0, 0
    for k in range(len(thresholds)):
        while i < n and sure[order[i]] <= thresholds[k]:
            silent += cost[order[i]]
            gone += lost[order[i]]
            i += 1
        totals[k] = silent + (whole - gone)


@kernel
def merge(old: Ints, place: Ints, fresh: Ints, sure: Floats, out: Ints) -> int:
    """Merge rounds in the order of ``sure``: those of ``old`` that still have a place (not -1), and ``fresh`` ones.

    Returns how many there are in ``out``; equals go by place, as a stable sort has them.
    """
    i, j, n = 0, 0, 0
    while i < len(old) or j < len(fresh):
        if i < len(old) and place[old[i]] < 0:
            i += 1
            continue
        first = j == len(fresh)
        if i < len(old) and not first:
            a, b = place[old[i]], fresh[j]
            first = sure[a] < sure[b] or (sure[a] == sure[b] and a < b)
        if first:
            out[n] = place[old[i]]
            i += 1
        else:
            out[n] = fresh[j]
            j += 1
        n += 1
    return n
