"""Doubly robust weights with a stacker as one more expert, line by line."""

import math

import numpy as np

from .robust import Robust


class Stacked(Robust):
    """The stacker has a sum of estimates of its own and begins with half of the weight."""

    stack = 0.0

    def share(self):
        """The stacker's weight against that of all experts, which begin with 1 each."""
        eta, S = self.memories.eta(0), self.memories.S[0]
        least = min(S.min(), self.stack)
        own, others = len(S) * math.exp(-eta * (self.stack - least)), np.exp(-eta * (S - least)).sum()
        return own / (own + others)

    def weights(self):
        return (1 - self.share()) * self.memories.mixture()

    def follow(self, t):
        """Whom the stacker follows, what that one is expected to lose, and whether it was a close call.

        It follows the one of those who predict that is expected to lose least, if that is below the cost; else the
        first that abstains; where nobody does, the best of those who predict.
        """
        abstains, cost = self.game.abstains[t - 1], self.game.cost[t - 1]
        order = np.argsort(self.game.rule_of, kind="stable")
        _, f = self.look(t, 1.0)
        expected = self.model(t, f)[self.of]
        silent, loud = [k for k in order if abstains[k]], [k for k in order if not abstains[k]]
        best = min(loud, key=lambda k: expected[k], default=None)
        predicts = loud and expected[best] < cost
        expert = best if predicts or not silent else silent[0]
        edges = [np.inf] + [abs(expected[k] - cost) for k in loud]
        edges += [abs(expected[k] - expected[best]) for k in loud if self.of[k] != self.of[best]]
        return expert, expected[expert], min(edges) < 1e-9

    def before(self, t, o):
        """The guesses; the predictor that the stacker follows (-1: it abstains) and what that is expected to lose."""
        expert, expected, self.close = self.follow(t)
        silent = self.game.abstains[t - 1, expert]
        return np.append(super().before(t, o), [-1, np.nan] if silent else [self.of[expert], expected])

    def follows_another(self, fixed, decision):
        return self.close and fixed[-2] != decision.carry[-2]

    def segments(self, t):
        """The stacker comes first."""
        expert, _, _ = self.follow(t)
        others, Q, _ = super().segments(t)
        share = self.share()
        predicts = (1 - share) * Q + share * (not self.game.abstains[t - 1, expert])
        own = [(share, expert, False)]
        return own + [((1 - share) * mass, k, False) for mass, k, _ in others], predicts, predicts

    def learn(self, t, o, fixed, seen):
        share, eta, V = self.share(), self.memories.eta(0), self.memories.V[0]
        p, guess, own = int(fixed[-2]), fixed[-1], 0.0
        if p >= 0:
            own = guess - self.game.cost[t - 1]
            own += (self.losses[t - 1, p] - guess) / max(o, self.c.clip * eta) * seen
        super().learn(t, o, fixed[:-2], seen)
        squares = self.memories.V[0] - V - self.more[0]  # of the experts, as if there were no others
        self.memories.V[0] = V + self.more[0] + (1 - share) * squares + share * own**2
        self.stack += own
