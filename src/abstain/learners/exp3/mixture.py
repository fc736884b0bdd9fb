"""Exponential weights: how they learn the estimates of a round, where rules are shared and where they are not, and how
several memories are mixed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.compiling import inline, kernel, part
from ...kernels.layout import CHUNK
from ...typing import Bools, Floats, Ints
from .state import EIGHT, ETA, FIVE, FOUR, LEARNT, ONE, SEVEN, SIX, THREE, TINY, TWO, ZERO, Memories, total

CHUNK_SIZE = np.uint64(CHUNK)


@inline
def _weighted_squares(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y^2`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = ZERO, last - first
    while i + FOUR <= n:
        a += x[first + i] * (y[i] * y[i])
        b += x[first + i + ONE] * (y[i + ONE] * y[i + ONE])
        c += x[first + i + TWO] * (y[i + TWO] * y[i + TWO])
        d += x[first + i + THREE] * (y[i + THREE] * y[i + THREE])
        i += FOUR
    while i < n:
        a += x[first + i] * (y[i] * y[i])
        i += ONE
    return (a + b) + (c + d)


@inline
def _weighted_shared(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = ZERO, last - first
    while i + FOUR <= n:
        a += x[first + i] * y[i]
        b += x[first + i + ONE] * y[i + ONE]
        c += x[first + i + TWO] * y[i + TWO]
        d += x[first + i + THREE] * y[i + THREE]
        i += FOUR
    while i < n:
        a += x[first + i] * y[i]
        i += ONE
    return (a + b) + (c + d)


@inline
def _moments(x: Floats, first: Any, last: Any, y: Floats) -> tuple[float, float]:
    """`_weighted` and `_weighted_squares` in one go."""
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    i, n = ZERO, last - first
    while i + FOUR <= n:
        k, o, q, r = y[i], y[i + ONE], y[i + TWO], y[i + THREE]
        u, v = x[first + i] * k, x[first + i + ONE] * o
        w, z = x[first + i + TWO] * q, x[first + i + THREE] * r
        a, b, c, d = a + u, b + v, c + w, d + z
        e, f, g, h = e + u * k, f + v * o, g + w * q, h + z * r
        i += FOUR
    while i < n:
        u = x[first + i] * y[i]
        a, e = a + u, e + u * y[i]
        i += ONE
    return (a + b) + (c + d), (e + f) + (g + h)


@inline
def _shrink_team(team: int, j: int, s: Memories) -> tuple[float, float]:
    """Learn the estimates of a predicting team; the sums of weight Lhat, if asked for, and of weight Lhat^2 before."""
    losses, weight, predictor = s.losses[j], s.weight[j], s.layout.predictor
    estimate, shrink = s.estimate, s.shrink
    first, last = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
    mean, squares = 0.0, 0.0
    if s.layout.product:
        for i in range(last - first):
            losses[first + i] += estimate[i]
        if s.mix.size > 1:
            mean, squares = _moments(weight, first, last, estimate)
        elif s.squared:
            squares = _weighted_squares(weight, first, last, estimate)
        for i in range(last - first):
            less = weight[first + i] * shrink[i]
            weight[first + i] = less if less > TINY else 0.0
    else:
        for k in range(first, last):
            p = np.uint64(predictor[k])
            mean += weight[k] * estimate[p]
            squares += weight[k] * (estimate[p] * estimate[p])
            losses[k] += estimate[p]
            less = weight[k] * shrink[p]
            weight[k] = less if less > TINY else 0.0
    s.sums[j, team] = total(weight, first, last)
    s.products[j, team] = np.nan
    return mean, squares


@inline
def learn_shared_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, j: int, s: Memories
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round and count it for those who predict; the means of Lhat and Lhat^2 before, if asked
    for, and the sum of the weights after.

    ``moved`` says whether there are estimates for those who predict, other than 0.
    """
    paid, factor, sums, answered, rule = s.paid[j], s.factor[j], s.sums[j], s.answered[j], s.layout.rule
    before = mean = squares = after = 0.0
    for team in range(paid.size):
        mass = factor[team] * sums[team]
        before += mass
        if abstains[rule[team]]:
            mean += mass * cost
            squares += mass * (cost * cost)
            paid[team] += cost
            less = factor[team] * cheaper
            factor[team] = less if less > TINY else 0.0
        else:
            answered[team] += 1.0
            if moved:
                of_team, of_squares = _shrink_team(team, j, s)
                mean += factor[team] * of_team
                squares += factor[team] * of_squares
        after += factor[team] * sums[team]
    return mean / before, squares / before, after


@inline
def mean_of_shared_rules(abstains: Bools, j: int, s: Memories) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    weight, factor, sums, estimate, layout = s.weight[j], s.factor[j], s.sums[j], s.estimate, s.layout
    mean = everybody = 0.0
    for team in range(factor.size):
        everybody += factor[team] * sums[team]
        if not abstains[layout.rule[team]]:
            first, last = np.uint64(layout.start[team]), np.uint64(layout.start[team + 1])
            if layout.product:
                mean += factor[team] * _weighted_shared(weight, first, last, estimate)
            else:
                of_team = 0.0
                for k in range(first, last):
                    of_team += weight[k] * estimate[np.uint64(layout.predictor[k])]
                mean += factor[team] * of_team
    return mean / everybody


@inline
def predicting(abstains: Bools, j: int, s: Memories) -> float:
    """The sum of the weights of those who predict, by as many running sums as a chunk has slots."""
    weight, sums = s.weight[j], s.scratch
    first, n, size = ZERO, np.uint64(weight.size), CHUNK_SIZE
    for i in range(min(size, n)):
        sums[i] = 0.0
    while first + FOUR * size <= n:
        for i in range(size):
            a, b, c, d = first + i, first + size + i, first + TWO * size + i, first + THREE * size + i
            x, y, z, v = weight[a], weight[b], weight[c], weight[d]
            two = (0.0 if abstains[a] else x) + (0.0 if abstains[b] else y)
            sums[i] += two + ((0.0 if abstains[c] else z) + (0.0 if abstains[d] else v))
        first += FOUR * size
    while first < n:
        for i in range(min(size, n - first)):
            x = weight[first + i]
            sums[i] += 0.0 if abstains[first + i] else x
        first += size
    return total(sums, ZERO, min(size, n))


@inline
def _weighted_own(squared: bool, run: Ints, abstains: Bools, cost: float, j: int, s: Memories) -> float:
    """The sum of weight Lhat, or of weight Lhat^2."""
    weight, terms, estimate, predictor = s.weight[j], s.scratch, s.estimate, s.layout.predictor
    of_cost = cost * cost if squared else cost
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        lost = estimate[np.uint64(predictor[first])]
        of_loss = lost * lost if squared else lost
        for i in range(np.uint64(run[r + ONE]) - first):
            terms[first + i] = weight[first + i] * (of_cost if abstains[first + i] else of_loss)
    return total(terms, ZERO, np.uint64(terms.size))


@inline
def _learn_runs(run: Ints, abstains: Bools, cost: float, cheaper: float, j: int, s: Memories) -> None:
    """Learn where slots of one predictor lie next to each other: nothing to gather."""
    losses, weight, predictor, estimate, shrink = s.losses[j], s.weight[j], s.layout.predictor, s.estimate, s.shrink
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        n = np.uint64(run[r + ONE]) - first
        p = np.uint64(predictor[first])
        lost, keep = estimate[p], shrink[p]
        for i in range(n):
            losses[first + i] += cost if abstains[first + i] else lost
        for i in range(n):
            less = weight[first + i] * (cheaper if abstains[first + i] else keep)
            weight[first + i] = less if less > TINY else 0.0


@inline
def _learn_scattered(abstains: Bools, cost: float, cheaper: float, j: int, s: Memories) -> None:
    """Learn where they do not: gather first, so that the rest is vector instructions."""
    losses, weight, gathered, predictor = s.losses[j], s.weight[j], s.scratch, s.layout.predictor
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(weight.size)
    for k in range(n):
        gathered[k] = estimate[np.uint64(predictor[k])]
    for k in range(n):
        lost = gathered[k]
        losses[k] += cost if abstains[k] else lost
    for k in range(n):
        gathered[k] = shrink[np.uint64(predictor[k])]
    for k in range(n):
        keep = gathered[k]
        less = weight[k] * (cheaper if abstains[k] else keep)
        weight[k] = less if less > TINY else 0.0


@inline
def _add_up(j: int, s: Memories) -> None:
    """The sum of each chunk: four weights to a lane, then the lanes.

    The compiler unrolls short loops instead of using vectors: it must not know the number of lanes.
    """
    weight, sums, lanes = s.weight[j], s.sums[j], s.lanes
    one = np.uint64(lanes.shape[1])
    two, three, first = TWO * one, THREE * one, ZERO
    for c in range(lanes.shape[0]):
        lane = lanes[c]
        for k in range(one):
            i = first + k
            lane[k] = (weight[i] + weight[i + one]) + (weight[i + two] + weight[i + three])
        first += CHUNK_SIZE
    for c in range(lanes.shape[0]):
        x = lanes[c]
        a = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
        sums[c] = a + (((x[8] + x[9]) + (x[10] + x[11])) + ((x[12] + x[13]) + (x[14] + x[15])))
    if lanes.shape[0] < sums.size:
        sums[sums.size - 1] = total(weight, first, np.uint64(weight.size))


@inline
def _count_answers(abstains: Bools, j: int, s: Memories) -> None:
    """Count a round for those who predict: up to 128 rounds in bytes, which are faster than numbers."""
    recent = s.recent[j]
    for slot in range(np.uint64(recent.size)):
        recent[slot] += 0 if abstains[slot] else 1
    # A memory that fades sums at once: sums of fractions depend on the order.
    if s.memory.every[j] > 0 or int(s.numbers[j, LEARNT]) & 127 == 127:
        answered = s.answered[j]
        for slot in range(np.uint64(recent.size)):
            answered[slot] += float(recent[slot])
            recent[slot] = 0


@inline
def learn_own_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, j: int, s: Memories
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round: the means of Lhat and Lhat^2 before, if asked for, the sum of the weights after.

    The round is counted for those who predict. If not ``moved``, all predictors are alike: their estimates are 0.
    """
    _count_answers(abstains, j, s)
    sums, run, scored = s.sums[j], s.layout.run if moved else s.whole, s.mix.size > 1
    n_sums = np.uint64(sums.size)
    mean = squares = 0.0
    if s.squared or scored:
        before = total(sums, ZERO, n_sums)
        if s.squared:
            squares = _weighted_own(True, run, abstains, cost, j, s) / before
        if scored:
            mean = _weighted_own(False, run, abstains, cost, j, s) / before
    if 8 * (run.size - 1) > s.weight.shape[1]:
        _learn_scattered(abstains, cost, cheaper, j, s)
    else:
        _learn_runs(run, abstains, cost, cheaper, j, s)
    _add_up(j, s)
    for chunk in range(n_sums):
        s.products[j, chunk] = np.nan
    return mean, squares, total(sums, ZERO, n_sums)


@inline
def mean_of_own_rules(abstains: Bools, j: int, s: Memories) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    sums = s.sums[j]
    return _weighted_own(False, s.layout.run, abstains, 0.0, j, s) / total(sums, ZERO, np.uint64(sums.size))


REMAKE, REMAKE_SIGNED = 1024, 64
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12. Where estimates may be negative,
weights may grow, by a factor of exp(13/3) a round at most: one that counts as 0 must not be missed when it has grown.
"""
SMALL, LARGE = 1e-9, 1e100
"""Sums of the weights, K at first, below and above which they are made anew."""
SCORES_KEPT = 0.9995
"""What is kept of the memories' scores in a round: the best of them may change, too."""


@part
def remake(j: int, s: Memories) -> None:
    """Make the weights of a memory from the cumulative estimates: the best expert's is 1, so that nothing overflows."""
    losses, paid, weights, factor, sums = s.losses[j], s.paid[j], s.weight[j], s.factor[j], s.sums[j]
    start, alone, eta, n_groups = s.start, s.layout.alone, s.numbers[j, ETA], paid.size
    base = np.inf
    for group in range(n_groups):
        low = np.inf
        for slot in range(start[group], start[group + 1]):
            low = min(low, losses[slot])
        sums[group], factor[group] = low, low + paid[group]  # for the time being
        base = min(base, factor[group])
    s.base[j, 0] = base
    for group in range(n_groups):
        first, last = start[group], start[group + 1]
        low = base if alone else sums[group]
        for slot in range(first, last):
            weight = math.exp(-eta * (losses[slot] - low))
            weights[slot] = weight if weight > TINY else 0.0
        sums[group] = total(weights, np.uint64(first), np.uint64(last))
        of_group = 1.0 if alone else math.exp(-eta * (factor[group] - base))
        factor[group] = of_group if of_group > TINY else 0.0
        s.products[j, group] = np.nan


@kernel
def remake_all(s: Memories) -> None:
    """Make the weights of every memory anew."""
    for j in range(s.mix.size):
        remake(j, s)


FAR = 200.0
"""If the rate times an estimate is more, weights may shrink to nothing."""


@inline
def spared(abstains: Bools, eta: float, cost: float, cheaper: float, share: float | None, s: Memories) -> float:
    """``exp(-eta cost)`` for those who abstain. Weights that cannot be made anew must not all shrink to nothing: then
    this and `shrink` are relative to the expert who lost least, which changes all weights by the same factor.
    """
    if share is None:
        return cheaper
    estimate, shrink, layout = s.estimate, s.shrink, s.layout
    most = cost
    for p in range(np.uint64(estimate.size)):
        most = max(most, estimate[p])
    if eta * most <= FAR:
        return cheaper
    least = np.inf
    for group in range(s.start.size - 1):
        for slot in range(s.start[group], s.start[group + 1]):
            silent = abstains[slot if layout.alone else layout.rule[group]]
            least = min(least, cost if silent else estimate[layout.predictor[slot]])
    for p in range(np.uint64(estimate.size)):
        shrink[p] = math.exp(-eta * max(0.0, estimate[p] - least))
    return math.exp(-eta * max(0.0, cost - least))


@inline
def settle(j: int, due: bool, after: float, share: float | None, s: Memories) -> None:
    """Make the weights anew if that is due; or give everybody a share: ``w <- (1 - alpha) w + alpha W / K``, scaled so
    that the sum is K. ``after`` is the sum W.
    """
    if share is None:
        if due or after < SMALL or after > LARGE:
            remake(j, s)
        return
    weight, factor, sums, learnt = s.weight[j], s.factor[j], s.sums[j], s.numbers[j, LEARNT]
    alpha = share / (learnt + share)
    scale, anew = (1.0 - alpha) * (weight.size / after), learnt % s.renew == 0.0
    for group in range(sums.size):
        first, last, keep = np.uint64(s.start[group]), np.uint64(s.start[group + 1]), scale * factor[group]
        for i in range(last - first):
            weight[first + i] = keep * weight[first + i] + alpha
        sums[group] = total(weight, first, last) if anew else keep * sums[group] + alpha * (last - first)
        factor[group] = 1.0


@inline
def learn_by_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, j: int, lanes: Floats | None, shared: Ints | None,
    s: Memories,
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round where rules are shared, or where every expert has its own."""
    mean = squares = after = 0.0
    if shared is not None:  # one of the two is None, and what is under it is not compiled
        mean, squares, after = learn_shared_rules(abstains, moved, cost, cheaper, j, s)
    if lanes is not None:
        mean, squares, after = learn_own_rules(abstains, moved, cost, cheaper, j, s)
    return mean, squares, after


@inline
def count_prices(abstains: Bools, j: int, bucket: Any, s: Memories) -> None:
    """Count the price of a capacity for those who were charged it."""
    if bucket is None:
        return
    beyond, extra, alone, rule = s.beyond[j], s.extra[0], s.layout.alone, s.layout.rule
    for i in range(np.uint64(beyond.size)):
        beyond[i] += 0.0 if abstains[i if alone else np.uint64(rule[i])] == s.relative else extra


@inline
def fade_all(keep: float, j: int, s: Memories) -> None:
    """Keep a part of all sums of a memory."""
    for sums in (s.losses[j], s.paid[j], s.answered[j], s.beyond[j], s.offset[j], s.missed[j]):
        for i in range(np.uint64(sums.size)):
            sums[i] *= keep


@inline
def shrink_estimates(eta: float, s: Memories) -> None:
    """``exp(-eta Lhat)`` of every predictor, into `shrink`: by one exponential where estimates are 0 or one number, as
    those of losses in {0, 1} are.
    """
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(s.estimate.size)
    first = ZERO
    while first < n and estimate[first] == 0.0:
        first += ONE
    most_common = estimate[first] if first < n else 0.0
    others = 0
    for p in range(n):
        others += (estimate[p] != 0.0) & (estimate[p] != most_common)
    of_it = math.exp(-eta * most_common)
    for p in range(n):
        shrink[p] = 1.0 if estimate[p] == 0.0 else of_it
    if others > 0:
        for p in range(n):
            shrink[p] = math.exp(-eta * estimate[p])


@inline
def _weighted_beside(x: Floats, y: Floats, first: Any, last: Any) -> float:
    """The sum of ``x y`` over the same places of both, by eight running sums, in a fixed order."""
    a = b = c = d = e = f = g = h = 0.0
    i = first
    while i + EIGHT <= last:
        a += x[i] * y[i]
        b += x[i + ONE] * y[i + ONE]
        c += x[i + TWO] * y[i + TWO]
        d += x[i + THREE] * y[i + THREE]
        e += x[i + FOUR] * y[i + FOUR]
        f += x[i + FIVE] * y[i + FIVE]
        g += x[i + SIX] * y[i + SIX]
        h += x[i + SEVEN] * y[i + SEVEN]
        i += EIGHT
    while i < last:
        a += x[i] * y[i]
        i += ONE
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inline
def entropy(j: int, s: Any) -> float:
    """The entropy of memory j's weights, ``-sum q log q``, at least 0.

    ``-log q`` is the rate times an expert's cumulative estimate beyond the base, plus the logarithm of the sum of the
    weights: nothing but sums of products, of which those of groups that learnt nothing are known.
    """
    m = s.memories
    paid, factor, sums, products, base = m.paid[j], m.factor[j], m.sums[j], m.products[j], m.base[j, 0]
    everybody = beyond = 0.0
    for group in range(sums.size):
        if math.isnan(products[group]):
            first, last = np.uint64(m.start[group]), np.uint64(m.start[group + 1])
            products[group] = _weighted_beside(m.weight[j], m.losses[j], first, last)
        everybody += factor[group] * sums[group]
        beyond += factor[group] * (products[group] + sums[group] * (paid[group] - base))
    return max(0.0, math.log(everybody) + float(m.numbers[j, ETA]) * (beyond / everybody))


@inline
def mean_estimate(abstains: Bools, j: int, lanes: Floats | None, shared: Ints | None, s: Memories) -> float:
    """The mean of the estimates in `estimate`, 0 for those who abstain."""
    mean = 0.0
    if shared is not None:
        mean = mean_of_shared_rules(abstains, j, s)
    if lanes is not None:
        mean = mean_of_own_rules(abstains, j, s)
    return mean


@inline
def weigh_guard(guard: float, s: Memories) -> None:
    """Weigh the first row against the second, its guard: ``(1 - w0) h + w0`` for the guard, with odds h / (1 - h) of
    ``w0 / (1 - w0) exp(rate (score - score of the guard))``.
    """
    ahead = s.means[0] - s.means[1]
    s.spread[0] += s.mix[0] * s.mix[1] * (ahead * ahead)
    s.scores[0] += s.means[0]
    s.scores[1] += s.means[1]
    rate = min(0.5, math.sqrt(-math.log(guard) / (1.0 + s.spread[0])))
    odds = math.exp(min(700.0, max(-700.0, rate * (s.scores[0] - s.scores[1])))) * guard / (1.0 - guard)
    s.mix[0] = (1.0 - guard) / (1.0 + odds)
    s.mix[1] = 1.0 - s.mix[0]


@inline
def weigh(s: Memories) -> None:
    """Weigh the memories by what they achieve: ``mix`` proportional to ``exp(-rate score)``."""
    n = s.mix.size
    spread = 0.0
    for j in range(n):
        spread += s.mix[j] * (s.means[j] * s.means[j])
    s.spread[0] = SCORES_KEPT * SCORES_KEPT * s.spread[0] + spread
    rate = min(1.0, 2.0 * math.sqrt(math.log(n + 1.0) / (1.0 + s.spread[0])))
    least = np.inf
    for j in range(n):
        s.scores[j] = SCORES_KEPT * s.scores[j] + s.means[j]
        least = min(least, s.scores[j])
    everything = 0.0
    for j in range(n):
        s.mix[j] = math.exp(-rate * (s.scores[j] - least))
        everything += s.mix[j]
    for j in range(n):
        s.mix[j] /= everything
