"""EXP3-ABS on teams of several experts: those that abstain take a step a team, those that predict a step an expert."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.compiling import inline, kernel
from ...kernels.layout import CHUNK
from ...typing import Bools, Floats, Ints
from .state import ADAPTIVE, ETA, LEARNT, SQUARES, TINY, Memories, WeightState, adaptive, one_of, total


@inline
def _weighted_squares(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y^2`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        a += x[first + i] * (y[i] * y[i])
        b += x[first + i + np.uint64(1)] * (y[i + np.uint64(1)] * y[i + np.uint64(1)])
        c += x[first + i + np.uint64(2)] * (y[i + np.uint64(2)] * y[i + np.uint64(2)])
        d += x[first + i + np.uint64(3)] * (y[i + np.uint64(3)] * y[i + np.uint64(3)])
        i += np.uint64(4)
    while i < n:
        a += x[first + i] * (y[i] * y[i])
        i += np.uint64(1)
    return (a + b) + (c + d)


@inline
def _weighted_shared(x: Floats, first: Any, last: Any, y: Floats) -> float:
    """The sum of ``x y`` by four running sums, in a fixed order."""
    a = b = c = d = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        a += x[first + i] * y[i]
        b += x[first + i + np.uint64(1)] * y[i + np.uint64(1)]
        c += x[first + i + np.uint64(2)] * y[i + np.uint64(2)]
        d += x[first + i + np.uint64(3)] * y[i + np.uint64(3)]
        i += np.uint64(4)
    while i < n:
        a += x[first + i] * y[i]
        i += np.uint64(1)
    return (a + b) + (c + d)


@inline
def _moments(x: Floats, first: Any, last: Any, y: Floats) -> tuple[float, float]:
    """`_weighted` and `_weighted_squares` in one go."""
    a = b = c = d = 0.0
    e = f = g = h = 0.0
    i, n = np.uint64(0), last - first
    while i + np.uint64(4) <= n:
        k, o, q, r = y[i], y[i + np.uint64(1)], y[i + np.uint64(2)], y[i + np.uint64(3)]
        u, v = x[first + i] * k, x[first + i + np.uint64(1)] * o
        w, z = x[first + i + np.uint64(2)] * q, x[first + i + np.uint64(3)] * r
        a, b, c, d = a + u, b + v, c + w, d + z
        e, f, g, h = e + u * k, f + v * o, g + w * q, h + z * r
        i += np.uint64(4)
    while i < n:
        u = x[first + i] * y[i]
        a, e = a + u, e + u * y[i]
        i += np.uint64(1)
    return (a + b) + (c + d), (e + f) + (g + h)


@inline
def _shrink_team(team: int, s: WeightState) -> tuple[float, float]:
    """Learn the estimates of a predicting team; the sums of weight Lhat, if asked for, and of weight Lhat^2 before."""
    losses, weight, predictor = s.losses, s.weight, s.layout.predictor
    estimate, shrink = s.estimate, s.shrink
    first, last = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
    mean, squares = 0.0, 0.0
    if s.layout.product:
        for i in range(last - first):
            losses[first + i] += estimate[i]
        if s.scored:
            mean, squares = _moments(weight, first, last, estimate)
        elif s.rate.kind == ADAPTIVE:
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
    s.sums[team] = total(weight, first, last)
    return mean, squares


@inline
def learn_shared_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, s: WeightState
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round: the means of Lhat and Lhat^2 before, if asked for, the sum of the weights after.

    ``moved`` says whether there are estimates for those who predict, other than 0.
    """
    before = mean = squares = after = 0.0
    for team in range(s.paid.size):
        mass = s.factor[team] * s.sums[team]
        before += mass
        if abstains[s.layout.rule[team]]:
            mean += mass * cost
            squares += mass * (cost * cost)
            s.paid[team] += cost
            less = s.factor[team] * cheaper
            s.factor[team] = less if less > TINY else 0.0
        elif moved:
            of_team, of_squares = _shrink_team(team, s)
            mean += s.factor[team] * of_team
            squares += s.factor[team] * of_squares
        after += s.factor[team] * s.sums[team]
    return mean / before, squares / before, after


@inline
def mean_of_shared_rules(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    mean = everybody = 0.0
    for team in range(s.paid.size):
        everybody += s.factor[team] * s.sums[team]
        if not abstains[s.layout.rule[team]]:
            first, last = np.uint64(s.layout.start[team]), np.uint64(s.layout.start[team + 1])
            if s.layout.product:
                mean += s.factor[team] * _weighted_shared(s.weight, first, last, s.estimate)
            else:
                of_team = 0.0
                for k in range(first, last):
                    of_team += s.weight[k] * s.estimate[np.uint64(s.layout.predictor[k])]
                mean += s.factor[team] * of_team
    return mean / everybody


@inline
def predicting(abstains: Bools, s: WeightState) -> float:
    """The sum of the weights of those who predict, by as many running sums as a chunk has slots."""
    weight, sums = s.weight, s.scratch
    first, n, size = np.uint64(0), np.uint64(weight.size), np.uint64(CHUNK)
    for i in range(min(size, n)):
        sums[i] = 0.0
    while first + np.uint64(4) * size <= n:
        for i in range(size):
            a, b, c, d = first + i, first + size + i, first + np.uint64(2) * size + i, first + np.uint64(3) * size + i
            x, y, z, v = weight[a], weight[b], weight[c], weight[d]
            two = (0.0 if abstains[a] else x) + (0.0 if abstains[b] else y)
            sums[i] += two + ((0.0 if abstains[c] else z) + (0.0 if abstains[d] else v))
        first += np.uint64(4) * size
    while first < n:
        for i in range(min(size, n - first)):
            x = weight[first + i]
            sums[i] += 0.0 if abstains[first + i] else x
        first += size
    return total(sums, np.uint64(0), min(size, n))


@inline
def _weighted_own(squared: bool, run: Ints, abstains: Bools, cost: float, s: WeightState) -> float:
    """The sum of weight Lhat, or of weight Lhat^2."""
    weight, terms, estimate, predictor = s.weight, s.scratch, s.estimate, s.layout.predictor
    of_cost = cost * cost if squared else cost
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        lost = estimate[np.uint64(predictor[first])]
        of_loss = lost * lost if squared else lost
        for i in range(np.uint64(run[r + np.uint64(1)]) - first):
            terms[first + i] = weight[first + i] * (of_cost if abstains[first + i] else of_loss)
    return total(terms, np.uint64(0), np.uint64(terms.size))


@inline
def _learn_runs(run: Ints, abstains: Bools, cost: float, cheaper: float, s: WeightState) -> None:
    """Learn where slots of one predictor lie next to each other: nothing to gather."""
    losses, weight = s.losses, s.weight
    for r in range(np.uint64(run.size - 1)):
        first = np.uint64(run[r])
        n = np.uint64(run[r + np.uint64(1)]) - first
        p = np.uint64(s.layout.predictor[first])
        lost, keep = s.estimate[p], s.shrink[p]
        for i in range(n):
            losses[first + i] += cost if abstains[first + i] else lost
        for i in range(n):
            less = weight[first + i] * (cheaper if abstains[first + i] else keep)
            weight[first + i] = less if less > TINY else 0.0


@inline
def _learn_scattered(abstains: Bools, cost: float, cheaper: float, s: WeightState) -> None:
    """Learn where they do not: gather first, so that the rest is vector instructions."""
    losses, weight, gathered, predictor = s.losses, s.weight, s.scratch, s.layout.predictor
    estimate, shrink, n = s.estimate, s.shrink, np.uint64(s.weight.size)
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
def _add_up(s: WeightState) -> None:
    """The sum of each chunk: four weights to a lane, then the lanes.

    The compiler unrolls short loops instead of using vectors: it must not know the number of lanes.
    """
    weight, one = s.weight, np.uint64(s.lanes.shape[1])
    two, three, first = np.uint64(2) * one, np.uint64(3) * one, np.uint64(0)
    for c in range(s.lanes.shape[0]):
        lane = s.lanes[c]
        for j in range(one):
            i = first + j
            lane[j] = (weight[i] + weight[i + one]) + (weight[i + two] + weight[i + three])
        first += np.uint64(CHUNK)
    for c in range(s.lanes.shape[0]):
        x = s.lanes[c]
        a = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
        s.sums[c] = a + (((x[8] + x[9]) + (x[10] + x[11])) + ((x[12] + x[13]) + (x[14] + x[15])))
    if s.lanes.shape[0] < s.sums.size:
        s.sums[s.sums.size - 1] = total(weight, first, np.uint64(weight.size))


@inline
def learn_own_rules(
    abstains: Bools, moved: bool, cost: float, cheaper: float, s: WeightState
) -> tuple[float, float, float]:  # fmt: skip
    """Learn the estimates of a round: the means of Lhat and Lhat^2 before, if asked for, the sum of the weights after.

    If not ``moved``, all predictors are alike: their estimates are 0.
    """
    run, n_sums = s.layout.run if moved else s.whole, np.uint64(s.sums.size)
    mean = squares = 0.0
    if s.rate.kind == ADAPTIVE or s.scored:
        before = total(s.sums, np.uint64(0), n_sums)
        if s.rate.kind == ADAPTIVE:
            squares = _weighted_own(True, run, abstains, cost, s) / before
        if s.scored:
            mean = _weighted_own(False, run, abstains, cost, s) / before
    if 8 * (run.size - 1) > s.weight.size:
        _learn_scattered(abstains, cost, cheaper, s)
    else:
        _learn_runs(run, abstains, cost, cheaper, s)
    _add_up(s)
    return mean, squares, total(s.sums, np.uint64(0), n_sums)


@inline
def mean_of_own_rules(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates, 0 for those who abstain."""
    return _weighted_own(False, s.layout.run, abstains, 0.0, s) / total(s.sums, np.uint64(0), np.uint64(s.sums.size))


REMAKE, REMAKE_SIGNED = 1024, 64
"""Rounds after which weights are made anew: rounding errors then stay below 1e-12. Where estimates may be negative,
weights may grow, by a factor of exp(10/3) a round at most: one that counts as 0 must not be missed when it has grown.
"""
SMALL, LARGE = 1e-9, 1e100
"""Sums of the weights, K at first, below and above which they are made anew."""
SCORES_KEPT = 0.9995
"""What is kept of the memories' scores in a round: the best of them may change, too."""


@kernel
def remake(s: WeightState) -> None:
    """Make the weights from the cumulative estimates: the best expert's is 1, so that nothing over- or underflows."""
    eta, n_groups = s.numbers[ETA], s.paid.size
    base = np.inf
    for group in range(n_groups):
        low = np.inf
        for slot in range(s.start[group], s.start[group + 1]):
            low = min(low, s.losses[slot])
        s.sums[group], s.factor[group] = low, low + s.paid[group]  # for the time being
        base = min(base, s.factor[group])
    s.base[0] = base
    for group in range(n_groups):
        first, last = s.start[group], s.start[group + 1]
        low = base if s.layout.alone else s.sums[group]
        for slot in range(first, last):
            weight = math.exp(-eta * (s.losses[slot] - low))
            s.weight[slot] = weight if weight > TINY else 0.0
        s.sums[group] = total(s.weight, np.uint64(first), np.uint64(last))
        factor = 1.0 if s.layout.alone else math.exp(-eta * (s.factor[group] - base))
        s.factor[group] = factor if factor > TINY else 0.0


@kernel
def remake_all(s: Memories) -> None:
    """Make the weights of every memory anew."""
    for j in range(s.mix.size):
        remake(one_of(s, j))


@inline
def learn(
    abstains: Bools, moved: bool, cost: float, cheaper: float, aside: float, square: float, renew: int, every: int,
    keep: float, s: WeightState,
) -> float:  # fmt: skip
    """Learn the estimates of a round, in `estimate` and (as factors of the weights) `shrink`; their mean before.

    ``cheaper`` is the factor of those who abstain and pay ``cost``; ``aside`` the mass of an expert that is not among
    these, and ``square`` that of its estimate; weights are made anew every ``renew`` rounds.
    """
    if s.layout.alone:
        mean, squares, after = learn_own_rules(abstains, moved, cost, cheaper, s)
    else:
        mean, squares, after = learn_shared_rules(abstains, moved, cost, cheaper, s)
    s.numbers[LEARNT] += 1.0
    old, anew = s.numbers[ETA], s.numbers[LEARNT] % renew == 0.0
    if s.rate.kind == ADAPTIVE:
        s.numbers[SQUARES] += (1.0 - aside) * squares + aside * square
    if every > 0 and s.numbers[LEARNT] % every == 0.0:
        anew = True
        s.numbers[SQUARES] *= keep * keep
        for slot in range(np.uint64(s.losses.size)):
            s.losses[slot] *= keep
        for group in range(np.uint64(s.paid.size)):
            s.paid[group] *= keep
    if s.rate.kind == ADAPTIVE:
        s.numbers[ETA] = adaptive(s.rate.log_experts, s.numbers[SQUARES])
    if anew or s.numbers[ETA] != old or after < SMALL or after > LARGE:
        remake(s)
    return mean


@inline
def mean_estimate(abstains: Bools, s: WeightState) -> float:
    """The mean of the estimates in `estimate`, 0 for those who abstain."""
    return mean_of_own_rules(abstains, s) if s.layout.alone else mean_of_shared_rules(abstains, s)


@inline
def weigh_guard(s: Memories) -> None:
    """Weigh the first row against the second, its guard: ``(1 - w0) h + w0`` for the guard, with odds h / (1 - h) of
    ``w0 / (1 - w0) exp(rate (score - score of the guard))``.
    """
    ahead = s.means[0] - s.means[1]
    s.spread[0] += s.mix[0] * s.mix[1] * (ahead * ahead)
    s.scores[0] += s.means[0]
    s.scores[1] += s.means[1]
    rate = min(0.5, math.sqrt(-math.log(s.guard) / (1.0 + s.spread[0])))
    odds = math.exp(min(700.0, max(-700.0, rate * (s.scores[0] - s.scores[1])))) * s.guard / (1.0 - s.guard)
    s.mix[0] = (1.0 - s.guard) / (1.0 + odds)
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
