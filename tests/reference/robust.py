"""Exponential weights with several memories, any feedback and a floor under seeing labels, line by line: on the
estimates of EXP3-ABS, or on doubly robust ones.
"""

import math

import numpy as np

KEPT = 0.9995


def softmax(x):
    weights = np.exp(x - x.max())
    return weights / weights.sum()


def sigmoid(x):
    return 1 / (1 + math.exp(-min(6.0, max(-6.0, x))))


class Memories:
    """Cumulative estimates S of K experts, V and the rate, for each memory; and how much each memory counts."""

    def __init__(self, K, holds, factor=1.0):
        self.K, self.holds, self.factor = K, holds, factor
        self.S, self.V = np.zeros((len(holds), K)), np.zeros(len(holds))
        self.mix, self.scores, self.spread = np.full(len(holds), 1 / len(holds)), np.zeros(len(holds)), 0.0
        self.learnt, self.K_of_rate = 0, K

    def eta(self, j):
        eta = min(1.0, self.factor * math.sqrt(math.log(self.K_of_rate) / (1 + self.V[j])))
        return 2.0 ** (math.floor(8 * math.log2(eta)) / 8) if eta > 0 else 1.0

    def q(self, j):
        return softmax(-self.eta(j) * self.S[j])

    def mixture(self):
        return sum(w * self.q(j) for j, w in enumerate(self.mix))

    def learn(self, estimates, more=0.0):
        """``estimates`` (memories, K) of a round, and what V gets besides their squares."""
        q = np.array([self.q(j) for j in range(len(self.holds))])
        means = (q * estimates).sum(axis=1)
        self.V += (q * estimates**2).sum(axis=1) + more
        self.S += estimates
        self.learnt += 1
        self.K_of_rate = self.K
        for j, n in enumerate(self.holds):
            if n is not None and self.learnt % max(1, n // 64) == 0:
                keep = (1 - 1 / n) ** max(1, n // 64)
                self.S[j] *= keep
                self.V[j] *= keep**2
        if len(self.holds) > 1:
            self.spread = KEPT**2 * self.spread + (self.mix * means**2).sum()
            self.scores = KEPT * self.scores + means
            rate = min(1.0, 2 * math.sqrt(math.log(len(self.holds) + 1) / (1 + self.spread)))
            self.mix = softmax(-rate * self.scores)

    def rearrange(self, expert_from):
        """Newcomers (-1) get the mean weight of all before; the rate follows K from the next round learnt on."""
        rows = []
        for j, S in enumerate(self.S):
            mean = np.exp(-self.eta(j) * (S - S.min())).mean()
            came = S.min() - math.log(mean) / self.eta(j)
            rows.append([S[k] if k >= 0 else came for k in expert_from])
        self.S, self.K = np.array(rows), len(expert_from)


class Shared:
    """Weights of which shares are given away (EXP3.S), one "memory" of all rounds."""

    def __init__(self, K, rate=None):
        self.w, self.V, self.learnt, self.rate, self.holds, self.mix = (
            np.full(K, 1 / K),
            0.0,
            0,
            rate,
            (None,),
            np.ones(1),
        )
        self.K_of_rate = K

    def eta(self, j):
        return self.rate or min(1.0, 2 * math.sqrt(math.log(self.K_of_rate * (self.learnt + 2)) / (1 + self.V)))

    def q(self, j):
        return self.w

    def mixture(self):
        return self.w

    def learn(self, estimates):
        estimate, K = estimates[0], len(self.w)
        w = self.w * np.exp(-self.eta(0) * (estimate - estimate.min()))
        self.V += (self.w * estimate**2).sum()
        self.learnt += 1
        self.K_of_rate = K
        alpha = 1 / (self.learnt + 1)
        self.w = (1 - alpha) * w / w.sum() + alpha / K

    def rearrange(self, expert_from):
        """Newcomers get the mean weight; the rate follows K from the next round learnt on, as do the rounds in it."""
        w = np.array([self.w[k] if k >= 0 else 1 / len(self.w) for k in expert_from])
        self.w = w / w.sum()


class Player:
    """Draws from the mixture, unless the label would be too unlikely to be seen."""

    def __init__(self, game, holds=(None,), chances=(1.0, 0.0), floor=0.0, factor=1.0, shared=False, rate=None):
        self.game, self.chances, self.floor = game, chances, floor
        self.memories = Shared(game.shape[1], rate) if shared else Memories(game.shape[1], holds, factor)

    def weights(self):
        """The probabilities of the experts."""
        return self.memories.mixture()

    def seen(self, t):
        """The probability of predicting, and of seeing the label, before the floor."""
        Q = self.memories.mixture()[~self.game.abstains[t - 1]].sum()
        return Q, self.chances[0] * Q + self.chances[1] * (1 - Q)

    def segments(self, t):
        """The unit interval: (length, expert, forced) from the left; the probabilities of predicting and of seeing."""
        m, abstains = self.memories, self.game.abstains[t - 1]
        order = np.argsort(self.game.rule_of, kind="stable")
        (Q, o), (v_p, v_a) = self.seen(t), self.chances
        masses = [(m.mix[j] * m.q(j)[k], k) for j in range(len(m.holds)) for k in order]
        side = v_a > v_p
        if o >= self.floor or v_p == v_a or not (abstains == side).any():
            return [(mass, k, False) for mass, k in masses], Q, o
        missing, other = (self.floor - o) / abs(v_p - v_a), Q if side else 1 - Q
        mixture = m.mixture()
        heaviest = max((k for k in order if abstains[k] == side), key=lambda k: mixture[k])
        shrunk = (other - missing) / other
        return (
            [(missing, heaviest, True)]
            + [(mass, k, False) for mass, k in masses if abstains[k] == side]
            + [(mass * shrunk, k, False) for mass, k in masses if abstains[k] != side],
            Q - missing if side else Q + missing,
            self.floor,
        )

    def before(self, t, o):
        """What is fixed before the label is seen, with probability o, and needed when it comes."""

    def follows_another(self, fixed, decision):
        """Whether the learner chose between things that are equal but for rounding, and chose another one."""
        return False

    def rearrange(self, game, expert_from):
        """Go on with other experts; in ``game`` newcomers abstain in the rounds before they came."""
        self.game = game
        self.memories.rearrange(expert_from)

    def learn(self, t, o, fixed, seen):
        """EXP3-ABS: round t, whose label was seen with probability o."""
        abstains, loss = self.game.abstains[t - 1], self.game.loss[t - 1]
        estimate = np.where(abstains, loss, loss / o if seen else 0.0)
        self.memories.learn(np.tile(estimate, (len(self.memories.holds), 1)))


class Robust(Player):
    """Doubly robust estimates: predictors' guesses by cells, and a model of the label where there are outcomes."""

    def __init__(self, game, predictor_of, predictors, abstains, outcomes, constants, guard=None, **options):
        super().__init__(game, factor=2.0, **options)
        self.guard = guard
        if guard is not None:
            self.memories = Memories(game.shape[1], (None, None), 2.0)
            self.weigh(np.zeros(2))
        self.of, self.losses, self.c = predictor_of, predictors, constants  # losses (T, P)
        self.abstains, self.outcomes = abstains, outcomes  # (T, A) and (T, P, 2) or None
        P, n_rules = predictors.shape[1], np.bincount(predictor_of, minlength=predictors.shape[1]).max()
        # Labels, what the model expected, what was lost, visits since the last label and up to it, pessimism.
        self.n, self.g, self.l, self.u, self.a, self.b = (np.zeros((P, 4 * n_rules)) for _ in range(6))
        self.v, self.squares, self.lost = np.zeros(P + 1), np.full(P + 1, 1e-8), np.zeros((P, 2))
        self.came = np.zeros(P, int)  # the round after which each predictor came

    def rearrange(self, game, expert_from, t, predictor_from, predictor_of, predictors, abstains, outcomes):
        """After round t. All predictors have as many rules as before."""
        super().rearrange(game, expert_from)
        self.of, self.losses, self.abstains, self.outcomes = predictor_of, predictors, abstains, outcomes
        stay = [max(p, 0) for p in predictor_from]
        new = np.array(predictor_from) < 0
        for name, nothing in (*((one, 0.0) for one in "nglaub"), ("lost", 0.0), ("came", t)):
            kept = getattr(self, name)[stay]
            kept[new] = nothing
            setattr(self, name, kept)
        self.v = np.append(np.where(new, 0.0, self.v[stay]), self.v[-1])
        self.squares = np.append(np.where(new, 1e-8, self.squares[stay]), self.squares[-1])

    def look(self, t, o):
        """The cell of each predictor, if the label is seen with probability o, and f:
        the share of its rules that predict, times the sign it predicts."""
        cells, f, hidden = [], np.zeros(len(self.n) + 1), o < self.c.visible * max(self.chances)
        f[-1] = 1.0
        for p in range(len(self.n)):
            own = self.abstains[t - 1, np.sort(self.game.rule_of[self.of == p])]
            change = np.flatnonzero(own != own[:1])
            cells.append(4 * (change[0] if len(change) else 0) + 2 * (bool(own[0]) if len(own) else 0) + hidden)
            f[p] = (1 - own.mean()) if len(own) else 0.0
            if self.outcomes is not None:
                low, high = self.outcomes[t - 1, p]
                f[p] *= np.sign(low - high)
        return (np.arange(len(self.n)), np.array(cells)), f

    def predicting(self, t):
        """Whether any of its rules predicts, of each predictor."""
        return np.array([bool((~self.game.abstains[t - 1, self.of == p]).any()) for p in range(len(self.n))])

    def model(self, t, f):
        """What each predictor is expected to lose."""
        if self.outcomes is None:
            return np.divide(self.lost[:, 1], self.lost[:, 0], out=np.zeros(len(self.n)), where=self.lost[:, 0] > 0)
        rho = sigmoid(self.v @ f)
        return rho * self.outcomes[t - 1, :, 1] + (1 - rho) * self.outcomes[t - 1, :, 0]

    def fade(self, cell):
        patience = self.c.patience * math.sqrt(self.memories.learnt + 1)
        return np.maximum(0.0, 1 - self.u[cell] / np.minimum(patience, self.c.tries * (self.a[cell] + 1)))

    def before(self, t, o):
        """The guesses m: what the model expects, scaled to what was lost in the cell."""
        cell, f = self.look(t, o)
        n, g, lost, model = self.n[cell], self.g[cell], self.l[cell], self.model(t, f)
        with np.errstate(divide="ignore", invalid="ignore"):
            calm = self.c.calm
            less = model * (n * lost + calm * g) / ((n + calm) * g)
            more = 1 - (1 - model) * (n * (n - lost) + calm * (n - g)) / ((n + calm) * (n - g))
        scaled = np.where(lost < g, less, np.where(lost > g, more, model))
        fade = self.fade(cell)
        return np.clip(fade * n * scaled / (fade * n + self.c.prior), 0.0, 1.0)

    def estimates(self, t, o, m, seen):
        """Of each memory (memories, K), relative to abstaining. The first memory keeps the accounts."""
        loss, rows = self.losses[t - 1], []
        limit = self.c.pessimism * math.sqrt(min(self.memories.learnt, self.c.held) + 1)
        self.more, trusted = np.zeros(len(self.memories.holds)), self.b.sum(axis=1) < limit
        for j in range(1 if self.guard is not None else len(self.memories.holds)):
            D = max(o, self.c.clip * self.memories.eta(j))
            h = o / D
            k = np.where(trusted, 1.0, h)
            x = k * m - self.game.cost[t - 1] + (loss - m) / D * seen
            rows.append(np.where(self.game.abstains[t - 1], 0.0, x[self.of]))
            if h < 1:
                self.more[j] = self.c.clip * h * ((1 - k) * m).max()
                if j == 0:
                    cell, _ = self.look(t, o)
                    debt = np.maximum(0.0, self.b[cell] + (k - h) * m - (1 - h) * (loss / o if seen else 0))
                    self.b[cell] = np.where(self.predicting(t), debt, self.b[cell])
        return np.array(rows)

    def weigh(self, means):
        """The first row against the second, its guard."""
        m = self.memories
        m.spread += m.mix[0] * m.mix[1] * (means[0] - means[1]) ** 2
        m.scores += means
        rate = min(0.5, math.sqrt(math.log(1 / self.guard) / (1 + m.spread)))
        odds = self.guard / (1 - self.guard) * math.exp(rate * (m.scores[0] - m.scores[1]))
        h = odds / (1 + odds)
        m.mix = np.array([(1 - self.guard) * (1 - h), self.guard + (1 - self.guard) * h])

    def learn(self, t, o, m, seen):
        newer, guesses = self.came >= t, (self.n, self.g, self.l, self.u, self.a, self.b, self.lost)
        before = [of_predictors[newer] for of_predictors in guesses]
        self.learn_round(t, o, m, seen)
        for of_predictors, kept in zip(guesses, before, strict=True):
            of_predictors[newer] = kept  # nothing is learnt of predictors from rounds before they came

    def learn_round(self, t, o, m, seen):
        estimates = self.estimates(t, o, m, seen)
        if self.guard is not None:
            x = -self.game.cost[t - 1] + (self.losses[t - 1] / o if seen else 0.0 * self.losses[t - 1])
            estimates = np.vstack([estimates, np.where(self.game.abstains[t - 1], 0.0, x[self.of])])
            means = np.array([self.memories.q(j) @ estimates[1] for j in range(2)])
            mix, spread, scores = self.memories.mix, self.memories.spread, self.memories.scores
            self.memories.learn(estimates, self.more)
            self.memories.mix, self.memories.spread, self.memories.scores = mix, spread, scores
            self.weigh(means)
        else:
            self.memories.learn(estimates, self.more)
        cell, f = self.look(t, o)
        loss, learnt = self.losses[t - 1], self.memories.learnt
        if seen:
            model, fade, weight = self.model(t, f), self.fade(cell), min(1 / o, self.c.most)
            self.n[cell] = fade * self.n[cell] + weight
            self.g[cell] = fade * self.g[cell] + weight * model
            self.l[cell] = fade * self.l[cell] + weight * loss
            self.a[cell] += self.u[cell] + 1
            self.u[cell] = 0
            if self.outcomes is not None:
                low, high = self.outcomes[t - 1].T
                if (low != high).any():
                    positive = (loss == high)[np.argmax(low != high)]
                    gradient = (sigmoid(self.v @ f) - positive) * f
                    self.squares += gradient**2
                    self.v -= self.c.step * gradient / np.sqrt(self.squares)
            self.lost += weight * np.column_stack([np.ones(len(loss)), loss])
        else:
            self.u[cell] += 1
        if self.c.every and learnt % self.c.every == 0:
            for kept in (self.n, self.g, self.l, self.b, self.lost):
                kept *= self.c.keep
            self.squares = np.maximum(1e-8, self.c.keep * self.squares)
