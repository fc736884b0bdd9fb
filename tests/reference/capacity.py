"""A capacity, line by line: a bucket of tokens in exact fractions and a price, around a twin of exponential weights."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

DAY = 86_400 * 10**6


class Limited:
    """A `Player` that may follow those who abstain in some rounds only; ``passed`` (T,) are cases, or microseconds."""

    def __init__(self, player, capacity, passed):
        self.player, self.capacity, self.passed = player, capacity, passed
        game = player.game
        player.game = self.game = replace(game, loss=game.loss.copy(), cost=game.cost.copy())
        if capacity.share is None:
            self.rate = Fraction(capacity.per_day, DAY)
        else:
            self.rate = Fraction(int(Fraction(repr(capacity.share)) * 10**9), 10**9)
        self.tokens, self.price, self.overdraft, self.empty = Fraction(capacity.burst), 0.0, 0, {}

    def __getattr__(self, name):
        if name == "player":  # of a copy in the making
            raise AttributeError(name)
        return getattr(self.player, name)

    def earned(self, t):
        return min(Fraction(self.capacity.burst), self.rate * int(self.passed[t - 1]))

    def filled(self, t):
        return min(Fraction(self.capacity.burst), self.tokens + self.earned(t))

    def segments(self, t):
        """(length, experts one of whom is followed, forced for the label, over capacity) from the left; Q and o."""
        abstains = self.game.abstains[t - 1]
        cost = min(1.0, self.game.cost[t - 1] + self.price)  # each round is looked at once
        self.game.cost[t - 1], self.game.loss[t - 1, abstains] = cost, cost
        self.empty[t] = self.filled(t) < 1 and not abstains.all()
        player = self.player
        floor = player.floor
        if self.filled(t) < 1:
            player.floor = 0.0
        segments, predicts, o = player.segments(t)
        player.floor = floor
        if not self.empty[t]:
            return [(length, {k}, forced, False) for length, k, forced in segments], predicts, o
        instead = [
            (length, self.instead_of(k, t) if abstains[k] else {k}, False, bool(abstains[k]))
            for length, k, _ in segments
        ]
        return instead, 1.0, player.chances[0]

    def instead_of(self, k, t):
        """Whoever predicts in place of k; more than one where weights are tied but for rounding."""
        weights, of, predicts = self.player.weights(), self.predictor_of, ~self.game.abstains[t - 1]
        models = {of[k]}
        if not predicts[of == of[k]].any():
            totals = {p: weights[of == p].sum() for p in set(of[predicts])}
            models = {p for p, total in totals.items() if total >= max(totals.values()) - 1e-9}
        found = set()
        for p in models:
            own = np.flatnonzero((of == p) & predicts)
            found |= set(own[weights[own] >= weights[own].max() - 1e-9])
        return found

    def note(self, t, reviewed):
        self.tokens, taken = self.filled(t), 0
        if reviewed and self.tokens >= 1:
            self.tokens, taken = self.tokens - 1, 1
        elif reviewed:
            assert self.game.abstains[t - 1].all()
            self.overdraft += 1
        self.price = max(0.0, self.price + self.capacity.step * (taken - float(self.earned(t))))

    def learn(self, t, o, fixed, seen):
        if not (self.empty[t] and o == 0.0):
            self.player.learn(t, o, fixed, seen)
