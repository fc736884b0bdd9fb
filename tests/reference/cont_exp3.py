"""ContEXP3-ABS, line by line (algorithm 4): a list of balls, each with an EXP3-ABS on a list of pairs (h, r)."""

import math

import numpy as np


def f(a, gamma):
    if abs(a) <= gamma:
        return (gamma + a) / (2 * gamma)
    return 1.0 if a >= 0 else 0.0


def surrogate(h, r, y, c, gamma):
    if r <= -gamma:
        return c
    if r < 0:
        return 1 + (1 - c) / gamma * r
    if r < gamma:
        return 1 - (1 - f(-y * h, gamma)) / gamma * r
    return f(-y * h, gamma)


def pairs_of(learner):
    """The cover of the action square, and the gamma of the surrogate; the three actions are within L~ = L for any."""
    if learner.actions == "three":
        return [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)], 0.5
    n = max(2, math.ceil(math.sqrt(2) / learner.epsilon))
    centres = [1 - (2 * k + 1) / n for k in range(n)]
    return [(h, r) for h in centres for r in centres], learner.gamma


class Instance:
    """An EXP3-ABS on the pairs, with its own cumulative estimates, V and number of rounds."""

    def __init__(self, pairs, gamma, rate):
        self.pairs, self.gamma, self.rate = pairs, gamma, rate
        self.total, self.V, self.visits = np.zeros(len(pairs)), 0.0, 0

    def q(self):
        weights = np.exp(-self.rate(self) * (self.total - self.total.min()))
        return weights / weights.sum()

    def probability(self):
        return sum(q for q, (_, r) in zip(self.q(), self.pairs, strict=True) if r > 0)

    def learn(self, y, c, probability):
        """``y`` is None where the label was not seen."""
        estimate = np.zeros(len(self.pairs))
        for k, (h, r) in enumerate(self.pairs):
            if r <= 0:
                estimate[k] = surrogate(h, r, 0, c, self.gamma)
            elif y is not None:
                estimate[k] = surrogate(h, r, y, c, self.gamma) / probability
        self.V += (self.q() * estimate**2).sum()
        self.total += estimate


DISTANCES = {
    "euclidean": lambda a, b: math.sqrt(sum((u - v) ** 2 for u, v in zip(a, b, strict=True))),
    "cityblock": lambda a, b: sum(abs(u - v) for u, v in zip(a, b, strict=True)),
    "chebyshev": lambda a, b: max(abs(u - v) for u, v in zip(a, b, strict=True)),
}


class ContExp3:
    """The state: centres and their instances."""

    def __init__(self, epsilon, pairs, gamma, rate, metric="euclidean"):
        self.epsilon, self.distance = epsilon, DISTANCES[metric]
        self.new = lambda: Instance(pairs, gamma, rate)
        self.centres, self.instances = [], []

    def active(self, x):
        """The place of the instance for x, new if no ball holds it."""
        if all(self.distance(x, centre) > self.epsilon for centre in self.centres):
            self.centres.append(tuple(x))
            self.instances.append(self.new())
        return int(np.argmin([self.distance(x, centre) for centre in self.centres]))


def rate_of(learner):
    """The rate as the documentation gives it."""
    log_K = math.log(len(pairs_of(learner)[0]))
    spread = 2 if learner.actions == "grid" else learner.cost.largest**2 + 1

    def rate(instance):
        if learner.eta == "adaptive":
            eta = min(1.0, math.sqrt(log_K / (1 + instance.V)))
            return 2.0 ** (math.floor(8 * math.log2(eta)) / 8) if eta > 0 else 1.0
        if learner.eta == "anytime":
            return math.sqrt(log_K / (spread * (instance.visits + 1)))
        return learner.eta

    return rate
