"""The stack behind the combination of models: six logistic regressions that forget, pooled by how well they predict.

For every candidate answer a regression sees, per model, whether the model agrees or differs and the log-odds of its
confidence, and learns whether the candidate is the truth. These are compiled functions on a state of arrays; single
cases and tables use the same ones. The page "Combining models" of the documentation has the formulas.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.compiling import inline, kernel
from ..typing import Floats, Ints

MEMORIES = (1_250, 5_000, 20_000)
"""Labels that the regressions remember ..."""
SPREADS = (0.3, 2.0)
"""... each with these standard deviations of its coefficients, before the first label."""
STEPS = 64
"""In how many steps a regression forgets what it remembers."""
MOST_LOG_ODDS = 7.0
LEAST_SLOPE = 0.02
"""What a label teaches at least, however certain a regression is."""
FADING = 0.999
"""What past losses of a regression count for after each label, when they are weighed."""
MOST_WEIGHT = 3.0
"""The largest weight of a label: it is one over the probability of seeing it, up to this."""
LEAST_CHANCE = 1e-6
"""Losses are computed for probabilities that are no nearer to 0 and 1."""


class Stacks(NamedTuple):
    """S regressions with d = 4 P + 1 features, for P models."""

    theta: Floats  # (S, d) coefficients
    covariance: Floats  # (S, d, d)
    score: Floats  # (S,) the losses, faded
    learnt: Ints  # (1,) labels learnt
    share: Floats  # (S,) weights in the pool; they follow from the scores
    every: Ints  # (S,) labels between two steps of forgetting ...
    keep: Floats  # (S,) ... which keep this share
    precision: Floats  # (S,) of each coefficient before the first label
    mean: Floats  # (d,) coefficients before the first label
    place: Ints  # (2 P + 1,) scratch: features that are not 0 ...
    value: Floats  # (2 P + 1,) ... and their values
    gain: Floats  # (d,) scratch
    target: Floats  # (d,) scratch
    matrix: Floats  # (d, d) scratch
    pooled: Floats  # (candidates,) scratch: the probability of each candidate


@inline
def count_candidates(two: bool, code: Ints) -> int:
    """How many candidates are judged; 0 if no model has an answer. With two classes it is the second one alone."""
    n = 0
    for m in range(code.size):
        n = max(n, code[m] + 1)
    return min(n, 1) if two else n


@inline
def describe(candidate: int, code: Ints, confidence: Floats, s: Any) -> int:
    """Write down which features of a candidate are not 0, and their values; return how many there are."""
    n = 0
    for m in range(code.size):
        if code[m] < 0:
            continue
        sure = confidence[m]
        odds = MOST_LOG_ODDS
        if sure < 1.0:
            odds = min(MOST_LOG_ODDS, max(-MOST_LOG_ODDS, math.log(sure / (1.0 - sure)))) if sure > 0.0 else -odds
        first = 4 * m if code[m] == candidate else 4 * m + 2
        s.place[n], s.value[n] = first, 1.0
        s.place[n + 1], s.value[n + 1] = first + 1, odds
        n += 2
    s.place[n], s.value[n] = s.gain.size - 1, 1.0
    return n + 1


@inline
def sum_up(j: int, n: int, s: Any) -> float:
    """The log-odds that regression j gives to the candidate described."""
    total = 0.0
    for i in range(n):
        total += s.theta[j, s.place[i]] * s.value[i]
    return total


@inline
def sigmoid(odds: float) -> float:
    """The probability with these log-odds."""
    return 1.0 / (1.0 + math.exp(-odds))


@inline
def log_loss(chance: float, hit: bool) -> float:
    """What a probability loses."""
    right = chance if hit else 1.0 - chance
    return -math.log(max(right, LEAST_CHANCE))


@inline
def say(two: bool, code: Ints, confidence: Floats, kinds: Floats, chances: Floats, s: Any) -> tuple[int, float]:
    """The combined answer, the candidate with the least expected price (-1: none), and 1 minus that price.

    ``kinds`` has the price of answering one candidate if another is true; the last column is for truths that are none
    of them. Without kinds (0, 0) all mistakes cost 1. ``chances`` gets what each regression says of each candidate.
    """
    n = count_candidates(two, code)
    if n == 0:
        return -1, 0.0
    for k in range(n):
        size, pooled = describe(1 if two else k, code, confidence, s), 0.0
        for j in range(s.score.size):
            chance = sigmoid(sum_up(j, size, s))
            chances[k, j] = chance
            pooled += s.share[j] * chance
        s.pooled[k] = pooled
    if two:
        first, second = s.pooled[0], 1.0 - s.pooled[0]
        if kinds.size > 0:
            first, second = first * kinds[0, 1], second * kinds[1, 0]
        return (1, 1.0 - second) if second <= first else (0, 1.0 - first)
    best, least = 0, math.inf
    whole = 0.0
    for k in range(n):
        whole += s.pooled[k]
    for k in range(n):
        price = 1.0 - s.pooled[k]
        if kinds.size > 0:
            price = max(0.0, 1.0 - whole) * kinds[k, kinds.shape[1] - 1]
            for other in range(n):
                if other != k:
                    price += s.pooled[other] / max(1.0, whole) * kinds[k, other]
        named = False  # a candidate that only models in alarm name is none
        for m in range(code.size):
            named = named or code[m] == k
        if named and price < least:
            best, least = k, price
    return best, 1.0 - least


@inline
def invert(matrix: Floats) -> None:
    """Invert a symmetric positive definite matrix in place."""
    n = matrix.shape[0]
    for k in range(n):
        pivot = 1.0 / max(matrix[k, k], 1e-12)
        matrix[k, k] = 1.0
        for j in range(n):
            matrix[k, j] *= pivot
        for i in range(n):
            if i != k:
                factor = matrix[i, k]
                matrix[i, k] = 0.0
                for j in range(n):
                    matrix[i, j] -= factor * matrix[k, j]
    for i in range(n):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


@inline
def forget(j: int, s: Any) -> None:
    """Move what regression j knows a step towards what it began with."""
    d, keep, prior = s.gain.size, s.keep[j], (1.0 - s.keep[j]) * s.precision[j]
    theta, a = s.theta[j], s.matrix
    for i in range(d):
        for k in range(d):
            a[i, k] = s.covariance[j, i, k]
    invert(a)
    for i in range(d):
        total = 0.0
        for k in range(d):
            a[i, k] *= keep
            total += a[i, k] * theta[k]
        a[i, i] += prior
        s.target[i] = total + prior * s.mean[i]
    invert(a)
    for i in range(d):
        total = 0.0
        for k in range(d):
            total += a[i, k] * s.target[k]
            s.covariance[j, i, k] = a[i, k]
        theta[i] = total


@inline
def weigh(s: Any) -> None:
    """Compute the weights of the regressions from their scores."""
    least, total = math.inf, 0.0
    for j in range(s.score.size):
        least = min(least, s.score[j])
    for j in range(s.score.size):
        s.share[j] = math.exp(least - s.score[j])
        total += s.share[j]
    for j in range(s.score.size):
        s.share[j] /= total


@inline
def hear(
    two: bool, n: int, code: Ints, confidence: Floats, truth: int, observed: float, chances: Floats, s: Any
) -> None:  # fmt: skip
    """Learn the truth, the number of a candidate or -1 for another, of a case with n candidates judged."""
    if n == 0:
        return
    weight = min(1.0 / max(observed, LEAST_CHANCE), MOST_WEIGHT)
    for j in range(s.score.size):
        s.score[j] *= FADING
    for k in range(n):
        candidate = 1 if two else k
        size, hit = describe(candidate, code, confidence, s), truth == candidate
        for j in range(s.score.size):
            now = log_loss(sigmoid(sum_up(j, size, s)), hit)
            s.score[j] += weight * (0.5 * now + 0.5 * log_loss(chances[k, j], hit))
    for k in range(n):
        candidate = 1 if two else k
        size, hit = describe(candidate, code, confidence, s), truth == candidate
        for j in range(s.score.size):
            chance = sigmoid(sum_up(j, size, s))
            covariance, theta, spread = s.covariance[j], s.theta[j], 0.0
            for i in range(s.gain.size):
                total = 0.0
                for b in range(size):
                    total += covariance[i, s.place[b]] * s.value[b]
                s.gain[i] = total
            for b in range(size):
                spread += s.gain[s.place[b]] * s.value[b]
            slope = weight * max(chance * (1.0 - chance), LEAST_SLOPE)
            shrink = 1.0 / (1.0 + slope * max(spread, 0.0))
            step = weight * ((1.0 if hit else 0.0) - chance) * shrink
            for i in range(s.gain.size):
                theta[i] += step * s.gain[i]
                for b in range(s.gain.size):
                    covariance[i, b] -= slope * shrink * (s.gain[i] * s.gain[b])  # in this order it stays symmetric
    s.learnt[0] += 1
    for j in range(s.score.size):
        if s.learnt[0] % s.every[j] == 0:
            forget(j, s)
    weigh(s)


@kernel
def answer_one(two: bool, code: Ints, confidence: Floats, kinds: Floats, chances: Floats, s: Any) -> tuple[int, float]:
    """The combined answer of one case; see `say`."""
    return say(two, code, confidence, kinds, chances, s)


@kernel
def learn_one(
    two: bool, n: int, code: Ints, confidence: Floats, truth: int, observed: float, chances: Floats, s: Any
) -> None:  # fmt: skip
    """Learn the truth of one case; see `hear`."""
    hear(two, n, code, confidence, truth, observed, chances, s)


@kernel
def weigh_all(s: Any) -> None:
    """Compute the weights of the regressions from their scores."""
    weigh(s)


def new_stacks(n_models: int) -> Stacks:
    """Regressions that have learnt nothing."""
    d, made = 4 * n_models + 1, [(memory, spread) for memory in MEMORIES for spread in SPREADS]
    every = np.array([memory // STEPS for memory, _ in made])
    mean = np.zeros(d)
    mean[1:-1:4], mean[3:-1:4] = 1.0 / n_models, -1.0 / n_models
    precision = np.array([spread**-2 for _, spread in made])
    return Stacks(
        theta=np.tile(mean, (len(made), 1)),
        covariance=np.eye(d) / precision[:, np.newaxis, np.newaxis],
        score=np.zeros(len(made)),
        learnt=np.zeros(1, np.int64),
        share=np.full(len(made), 1.0 / len(made)),
        every=every,
        keep=np.array([(1.0 - 1.0 / memory) ** int(n) for (memory, _), n in zip(made, every, strict=True)]),
        precision=precision,
        mean=mean,
        place=np.zeros(2 * n_models + 1, np.int64),
        value=np.zeros(2 * n_models + 1),
        gain=np.zeros(d),
        target=np.zeros(d),
        matrix=np.zeros((d, d)),
        pooled=np.zeros(max(2, n_models)),
    )
