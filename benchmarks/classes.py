"""Would better guesses pay for several classes? `python -m benchmarks.classes [seeds [setting ...]]` (4 seeds).

DoublyRobust has a model of the label for two classes only. For others its guesses are what predictors lost in their
cells. Three guesses that look at who agrees with whom play beside it, on logs of scikit-learn's digits and on made ones
with many classes, with labels at once and 1,500 rows late. All of them are fixed before the draw. The last column says
what there is to gain: where nothing is clipped, a guess that is always right makes every estimate what it is where all
labels come.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

import abstain as ab
from abstain.instances.models import CLASSES, Answers
from abstain.kernels.compiling import inline
from abstain.learners.exp3.doubly_robust import GUESS, ROBUST, is_hidden
from abstain.learners.exp3.guesses import (
    BELIEF,
    LEAST_SLOPE,
    Guesses,
    forget_some,
    guess,
    learn_guesses,
    look,
    miss,
)
from abstain.learners.exp3.state import LEARNT, LEAST_PROBABILITY, Memories
from abstain.paper.logs.recipes import ModelLog, Noise, Switch, make, recipe
from abstain.typing import Array, Bools, Floats

from .table import show

ROUNDS, DELAYS, DRAWS = 20_000, (0, 1_500), 2
FIRST_SEED, SEEDS = 3_000, 4

# The guesses.

CELLS, VOTE, LOGIT = 0, 1, 2
SHARED = 5
"""Features of `LOGIT` whose weights all predictors share."""


class ModelState(NamedTuple):
    """A `RobustState` whose guesses have another model."""

    memories: Memories
    guesses: Guesses
    kind: int


@inline
def vote(first: Floats, out: Floats, g: Guesses) -> None:
    """What every predictor is expected to lose, if its answer is right by a softmax of votes for all answers, and for
    none of them. ``first[p]`` is the first predictor that gives p's answer.
    """
    n = g.lean.size
    out[:] = 0.0
    for p in range(n):
        out[int(first[p])] += g.belief[p] * g.lean[p]
    top = g.belief[n]
    for p in range(n):
        if first[p] == p:
            top = max(top, out[p])
    total = math.exp(g.belief[n] - top)
    for p in range(n):
        if first[p] == p:
            total += math.exp(out[p] - top)
    for p in range(n):
        out[p] = 1.0 - math.exp(out[p] - top) / total if first[p] == p else out[int(first[p])]


@inline
def learn_vote(first: Floats, expected: Floats, losses: Array, g: Guesses) -> None:
    """A step of Adagrad on the log-loss of the vote."""
    n, none, nobody = g.lean.size, 1.0, 1.0
    for p in range(n):
        right = 1.0 if losses[p] < 0.5 else 0.0
        nobody = min(nobody, 1.0 - right)
        if first[p] == p:
            none -= 1.0 - expected[p]
        step(p, (1.0 - expected[p] - right) * g.lean[p], g)
    step(n, none - nobody, g)


@inline
def step(i: int, slope: float, g: Guesses) -> None:
    """A step of Adagrad for one weight."""
    g.slopes[i] += slope * slope
    g.belief[i] -= g.constants.step * slope / math.sqrt(g.slopes[i])


@inline
def feature(i: int, p: int, first: Floats, g: Guesses) -> float:
    """1; p's own confidence; the share of the others that agree; the confidence of these, and that of the rest."""
    n, value = g.lean.size, 0.0
    if i <= 1:
        return float(g.lean[p]) if i == 1 else 1.0
    for q in range(n):
        agrees = first[q] == first[p]
        if q != p and agrees == (i < SHARED - 1):
            value += 1.0 if i == 2 else g.lean[q]
    return float(value / max(1, n - 1))


@inline
def logit(first: Floats, out: Floats, g: Guesses) -> None:
    """What every predictor is expected to lose, by logistic regressions with shared weights, and two of its own."""
    n = g.lean.size
    for p in range(n):
        odds = g.belief[SHARED + p] + g.belief[SHARED + n + p] * g.lean[p]
        for i in range(SHARED):
            odds += g.belief[i] * feature(i, p, first, g)
        out[p] = 1.0 / (1.0 + math.exp(-min(BELIEF, max(-BELIEF, odds))))


@inline
def learn_logit(first: Floats, expected: Floats, losses: Array, g: Guesses) -> None:
    """A step of Adagrad on the sum of the log-losses."""
    n = g.lean.size
    for i in range(SHARED):
        slope = 0.0
        for p in range(n):
            slope += (expected[p] - losses[p]) * feature(i, p, first, g)
        step(i, slope, g)
    for p in range(n):
        step(SHARED + p, expected[p] - losses[p], g)
        step(SHARED + n + p, (expected[p] - losses[p]) * g.lean[p], g)


@inline
def expect(abstains: Bools, first: Floats, out: Floats, s: Any) -> None:
    """Look at a round, and say what predictors are expected to lose; or split their cells by whether one agrees."""
    g = s.guesses
    look(abstains, g)
    if s.kind == VOTE:
        vote(first, out, g)
    elif s.kind == LOGIT:
        logit(first, out, g)
    else:
        for p in range(g.cell.size):
            g.cell[p] = 2 * g.cell[p] + (feature(2, p, first, g) > 0.0)


@inline
def guess_by_agreement(x: Floats, abstains: Bools, carry: Floats, s: Any) -> None:
    n = s.guesses.cell.size
    for p in range(n):
        carry[GUESS + n + p] = x[p]
    expected = carry[GUESS + 2 * n : GUESS + (2 * n if s.kind == CELLS else 3 * n)]
    expect(abstains, x, expected, s)
    out, learnt = carry[GUESS : GUESS + n], s.memories.numbers[0, LEARNT]
    guess(0.0, is_hidden(carry, s), learnt, expected, expected, out, s.guesses)


@inline
def revise_by_agreement(abstains: Bools, losses: Any, seen: bool, carry: Floats, s: Any) -> None:
    g, n, learnt, hidden = s.guesses, s.guesses.cell.size, s.memories.numbers[0, LEARNT], is_hidden(carry, s)
    first, expected = carry[GUESS + n : GUESS + 2 * n], carry[GUESS + 2 * n : GUESS + (2 if s.kind == CELLS else 3) * n]
    expect(abstains, first, expected, s)
    if seen:
        learn_guesses(0.0, hidden, learnt, max(carry[0], LEAST_PROBABILITY), losses, expected, expected, g)
        if s.kind == VOTE:
            learn_vote(first, expected, losses, g)
        elif s.kind == LOGIT:
            learn_logit(first, expected, losses, g)
    else:
        miss(hidden, g)
    forget_some(learnt, g)


class Agreeing(ab.DoublyRobust):
    """Cells split by whether another predictor gives the same answer; the first columns of X are the answers."""

    weight_kernels = ROBUST._replace(guess=guess_by_agreement, revise=revise_by_agreement)
    kind: ClassVar[int] = CELLS

    def new_state(self) -> Any:
        """As for `DoublyRobust`, with weights for the model, or room for twice as many cells."""
        memories, g = super().new_state()
        n = self.experts.n_predictors
        size = {CELLS: 0, VOTE: n + 1, LOGIT: SHARED + 2 * n}[self.kind]
        g = g._replace(belief=np.zeros(size), slopes=np.full(size, LEAST_SLOPE))
        if self.kind == CELLS:
            names = "support", "expected", "suffered", "unseen", "visits", "account"
            more: dict[str, Any] = {name: np.repeat(getattr(g, name), 2, axis=0) for name in names}
            g = g._replace(**more)
        return ModelState(memories, g, self.kind)

    def see(self, X: Floats | None, advice: Any, costs: Floats) -> Floats:
        """The first predictor that gives the answer of each (n, P)."""
        assert X is not None
        said = X[:, : self.experts.n_predictors]
        return np.asarray((said[:, :, np.newaxis] == said[:, np.newaxis, :]).argmax(axis=2), np.float64)

    @property
    def n_guessed(self) -> int:
        """The guesses, what `see` lets see, and room."""
        return 3 * self.experts.n_predictors


class Voting(Agreeing):
    """A model of which answer is right."""

    kind = VOTE


class Regressing(Agreeing):
    """A logistic regression of whether a predictor is wrong on its confidence, and on who agrees with it."""

    kind = LOGIT


# The logs.


def digits(like: str, **changes: Any) -> Callable[[int], ModelLog]:
    return lambda seed: make(replace(recipe(like), **changes), ROUNDS, seed, None)


def made(n_classes: int, n_models: int) -> Callable[[int], ModelLog]:
    """Models that err independently, and have a rough idea of when."""

    def draw(seed: int) -> ModelLog:
        rng = np.random.default_rng([seed, n_classes, n_models])
        y, shape = rng.integers(n_classes, size=ROUNDS), (ROUNDS, n_models)
        odds = 1.5 * rng.normal(size=shape) + 1.2 + 0.8 * np.linspace(0.0, 1.0, n_models)
        wrong = rng.random(shape) > 1.0 / (1.0 + np.exp(-odds))
        said = (y[:, np.newaxis] + wrong * rng.integers(1, n_classes, size=shape)) % n_classes
        sure = 1.0 / (1.0 + np.exp(-0.6 * odds - rng.normal(size=shape)))
        return ModelLog(replace(recipe("digits"), name="made", cost=0.2), CLASSES, Answers(said, sure), y)

    return draw


def sabotaged(draw: Callable[[int], ModelLog]) -> Callable[[int], ModelLog]:
    """Half way the best model turns wrong, and is certain; another copies it all the time."""

    def spoil(seed: int) -> ModelLog:
        log, rng, half = draw(seed), np.random.default_rng(seed), ROUNDS // 2
        said, sure, classes = log.answers.predictions.copy(), log.answers.confidence.copy(), np.unique(log.y)
        best = int(log.losses[:half].mean(axis=0).argmin())
        said[half:, best] = (log.y[half:] + 1 + rng.integers(3, size=ROUNDS - half)) % len(classes)
        sure[half:, best] = 1.0 - 0.01 * rng.random(ROUNDS - half)
        copied = Answers(np.column_stack([said, said[:, best]]), np.column_stack([sure, sure[:, best]]))
        return replace(log, answers=copied)

    return spoil


LOGS: dict[str, Callable[[int], ModelLog]] = {
    "digits": digits("digits"),
    "digits, outage": digits("digits, outage"),
    "digits, noise": digits("digits", name="digits, noise", drift=Noise(0.8)),
    "digits, switch": digits("digits", name="digits, switch", drift=Switch()),
    "digits, more blur": digits("digits", name="digits, blurred", blur=1.2, cost=0.25),
    "100 classes, 5 models": made(100, 5),
    "20 classes, 8 models": made(20, 8),
    "digits, sabotage": sabotaged(digits("digits")),
    "100 classes, sabotage": sabotaged(made(100, 5)),
}
LOOKED_AT = ("digits", "100 classes, 5 models")
"""The logs on which the guesses were first compared, with other seeds; means are of the other logs."""
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "adaptive": {"memory": "adaptive", "min_observe": 0.005},
    "audits": {"feedback": (0.05, 1.0)},
}
LEARNERS: dict[str, Callable[..., ab.Learner]] = {
    "cell means": ab.DoublyRobust,
    "cells split": Agreeing,
    "vote": Voting,
    "regressions": Regressing,
    "all labels": lambda experts, **options: ab.DoublyRobust(experts, **{**options, "feedback": "both"}),
}


def play(log: ModelLog, kind: Callable[..., ab.Learner], delay: int, seed: int, options: dict[str, Any]) -> float:
    """The loss per row after the first tenth."""
    losses = []
    for draw in range(DRAWS):
        learner = kind(log.experts, cost=log.recipe.cost, loss=log.loss, seed=DRAWS * seed + draw, **options)
        losses.append(ab.simulate(learner, log.inputs, log.y, delay=delay).loss[ROUNDS // 10 :].mean())
    return float(np.mean(losses))


def squared_errors(log: ModelLog, seed: int) -> list[float]:
    """Of the guesses in the last tenth, after the labels of all rows before, for every learner but the last."""
    cut, losses, errors = ROUNDS - ROUNDS // 10, log.losses, []
    for kind in list(LEARNERS.values())[:-1]:
        learner = kind(log.experts, cost=log.recipe.cost, loss=log.loss, seed=seed)
        ab.simulate(learner, log.inputs[:cut], log.y[:cut])
        carried = np.array([learner.decide(x).carry for x in log.inputs[cut:]])
        errors.append(float(((carried[:, GUESS : GUESS + losses.shape[1]] - losses[cut:]) ** 2).mean()))
    return errors


def changes(found: Floats) -> list[str]:
    """By how many per cent each learner differs from the first, and the standard error over seeds."""
    relative = 100.0 * (found[:, 1:] / found[:, :1] - 1.0)
    errors = relative.std(axis=0, ddof=1) / np.sqrt(len(relative)) if len(relative) > 1 else np.full(4, np.nan)
    return [f"{mean:+.1f} ({error:.1f})" for mean, error in zip(relative.mean(axis=0), errors, strict=True)]


def main(seeds: int, settings: tuple[str, ...]) -> None:
    found: dict[tuple[str, str, int], list[list[float]]] = {}
    errors: dict[str, list[list[float]]] = {}
    for name, draw in LOGS.items():
        for seed in range(FIRST_SEED, FIRST_SEED + seeds):
            log = draw(seed)
            errors.setdefault(name, []).append(squared_errors(log, seed))
            for setting in settings:
                for delay in DELAYS:
                    runs = [play(log, kind, delay, seed, SETTINGS[setting]) for kind in LEARNERS.values()]
                    found.setdefault((setting, name, delay), []).append(runs)
    for setting in settings:
        games = {game[1:]: np.array(runs) for game, runs in found.items() if game[0] == setting}
        rows = [[f"{name}{', late' * (delay > 0)}", f"{runs[:, 0].mean():.4f}", *changes(runs)]
                for (name, delay), runs in games.items()]  # fmt: skip
        others = [100.0 * (runs[:, 1:] / runs[:, :1] - 1.0).mean(axis=0)
                  for (name, _), runs in games.items() if name not in LOOKED_AT]  # fmt: skip
        for label, middle in (("mean of the other logs", np.mean), ("median", np.median)):
            rows.append([label, "", *(f"{value:+.1f}" for value in middle(others, axis=0))])
        show(f"{setting}: loss per row after the first tenth, and changes in per cent", ["log", *LEARNERS], rows)
    rows = [[name, *(f"{error:.3f}" for error in np.mean(of_log, axis=0))] for name, of_log in errors.items()]
    show("Squared errors of the guesses in the last tenth", ["log", *list(LEARNERS)[:-1]], rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS, tuple(sys.argv[2:]) or tuple(SETTINGS))
