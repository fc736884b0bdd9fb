"""The stack that combines models, in plain NumPy: as docs/combining.md writes it down."""

import numpy as np

MEMORIES, SPREADS = (1250, 5000, 20000), (0.3, 2.0)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class Regression:
    """A logistic regression that forgets."""

    def __init__(self, n_models, memory, spread):
        self.memory = memory
        self.mean = np.zeros(4 * n_models + 1)
        self.mean[1:-1:4], self.mean[3:-1:4] = 1.0 / n_models, -1.0 / n_models
        self.precision = np.eye(len(self.mean)) / spread**2
        self.theta, self.C = self.mean.copy(), np.linalg.inv(self.precision)
        self.score, self.learnt = 0.0, 0

    def chance(self, phi):
        return sigmoid(self.theta @ phi)

    def learn(self, phi, target, w):
        p = sigmoid(self.theta @ phi)
        h = w * max(p * (1.0 - p), 0.02)
        g = self.C @ phi
        k = 1.0 / (1.0 + h * phi @ g)
        self.theta = self.theta + w * (target - p) * k * g
        self.C = self.C - h * k * np.outer(g, g)

    def forget(self):
        self.learnt += 1
        every = self.memory // 64
        if self.learnt % every == 0:
            keep = (1.0 - 1.0 / self.memory) ** every
            A = np.linalg.inv(self.C)
            new = keep * A + (1.0 - keep) * self.precision
            self.theta = np.linalg.solve(new, keep * A @ self.theta + (1.0 - keep) * self.precision @ self.mean)
            self.C = np.linalg.inv(new)


class Stack:
    """All regressions, pooled; answers are numbers of candidates, or None."""

    def __init__(self, n_models, two):
        self.two = two
        self.parts = [Regression(n_models, memory, spread) for memory in MEMORIES for spread in SPREADS]

    def features(self, candidate, answers, confidence):
        phi = []
        for answer, sure in zip(answers, confidence, strict=True):
            with np.errstate(divide="ignore"):
                z = np.clip(np.log(sure) - np.log1p(-sure), -7.0, 7.0)
            agrees, differs = answer is not None and answer == candidate, answer is not None and answer != candidate
            phi += [agrees, agrees * z, differs, differs * z]
        return np.array([*phi, 1.0], float)

    def candidates(self, answers):
        given = [answer for answer in answers if answer is not None]
        return ([1] if given else []) if self.two else sorted(set(given))

    def say(self, answers, confidence, price=None):
        """The answer, 1 minus its expected price, and what each part says of each candidate."""
        judged = self.candidates(answers)
        if not judged:
            return None, 0.0, np.zeros((0, len(self.parts)))
        scores = np.array([part.score for part in self.parts])
        share = np.exp(scores.min() - scores)
        share /= share.sum()
        chances = np.array(
            [[part.chance(self.features(c, answers, confidence)) for part in self.parts] for c in judged]
        )
        pooled = dict(zip(judged, chances @ share, strict=True))
        if self.two:
            pooled[0] = 1.0 - pooled[1]
        if price is None and not self.two:
            expected = {c: 1.0 - p for c, p in pooled.items()}
        else:
            price = (lambda said, true: 1.0) if price is None else price
            whole = 1.0 if self.two else sum(pooled.values())
            expected = {
                c: max(0.0, 1.0 - whole) * price(c, None)
                + sum(p / max(1.0, whole) * price(c, other) for other, p in pooled.items() if other != c)
                for c in pooled
            }
        best = min(sorted(expected, reverse=self.two), key=lambda c: expected[c])
        return best, 1.0 - expected[best], chances

    def learn(self, answers, confidence, truth, observed, chances):
        judged = self.candidates(answers)
        if not judged:
            return
        w = min(1.0 / observed, 3.0)
        described = [(self.features(c, answers, confidence), float(c == truth)) for c in judged]
        for s, part in enumerate(self.parts):
            part.score *= 0.999
            for (phi, hit), said in zip(described, chances, strict=True):
                for p in (sigmoid(part.theta @ phi), said[s]):
                    part.score -= 0.5 * w * np.log(max(p if hit else 1.0 - p, 1e-6))
            for phi, hit in described:
                part.learn(phi, hit, w)
            part.forget()
