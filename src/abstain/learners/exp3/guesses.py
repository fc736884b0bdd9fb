"""Guesses of what predictors would lose, and the accounts of how far they may mislead.

Guesses are fixed before a label is seen, and do not depend on who is followed: where nothing is clipped, they bias
nothing. A predictor's *cell* is the pattern in which its own rules abstain on x, as far as its first bit and the first
rule that does otherwise tell it (all of it for rings, balls and thresholds in order), and whether the round's label was
likely to be seen: labels of inputs that are seen anyway say nothing about inputs that are hidden. In every cell the
guess starts at 0 or at what is supposed, is scaled to what the labels seen there say, and fades to 0 where labels fail
to come.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.compiling import inline
from ...typing import Array, Bools, Floats, Ints
from .state import ONE, ZERO

BELIEF = 6.0
"""The largest log-odds the model of the label comes to."""
LEAST_SLOPE = 1e-8
"""What sums of squares begin with, and never fade below: the model divides by their roots."""


class Constants(NamedTuple):
    """What was chosen once, on the tuning seeds (see the ablation in docs/doubly-robust.md)."""

    patience: float  # a guess is gone after so many times sqrt(t) visits without a label ...
    pessimism: float  # so many times sqrt(t) may guesses make a predictor look worse than it is
    tries: float = 10.0  # ... or so many times the visits that the cell had before
    visible: float = 0.8 - 1e-9  # a label is likely to be seen at so many times the largest probability of the feedback
    clip: float = 0.3  # estimates divide by no less than so many times the rate
    prior: float = 4.0  # labels' worth of belief that nothing is lost
    calm: float = 4.0  # labels' worth of belief in the model, before it is scaled to what was lost
    most: float = 10.0  # the largest weight of a label, 1 / o else
    step: float = 0.2  # of the label's model
    held: float = math.inf  # guesses fade like a memory of so many rounds (see `Memory`) ...
    every: int = 0  # ... in steps so many rounds apart ...
    keep: float = 1.0  # ... that keep so much


def constants_for(n_experts: int, by_abstaining: bool, held: float, every: int, keep: float) -> Constants:
    """The constants for so many experts.

    Where labels come by abstaining rather than by predicting, a guess that is too low hides them: there it takes more
    labels to correct the model.
    """
    logarithm, calm = math.log(max(2, n_experts)), 64.0 if by_abstaining else 4.0
    return Constants(6.0 * logarithm, 0.8 * logarithm * logarithm, calm=calm, held=held, every=every, keep=keep)


class Guesses(NamedTuple):
    """What guesses are made of."""

    constants: Constants
    first: Ints  # (P + 1,) where the rules of each predictor begin ...
    rules: Ints  # (K,) ... in this list
    alike: bool  # all predictors have the same rules
    support: Floats  # (cells, P) n: labels seen, weighted
    expected: Floats  # (cells, P) what the model expected to be lost, weighted
    suffered: Floats  # (cells, P) what was lost, weighted
    unseen: Floats  # (cells, P) visits since the last label
    visits: Floats  # (cells, P) visits up to the last label
    account: Floats  # (cells, P) by how much guesses made the predictor look worse than it is, estimated, 0 or more
    debt: Floats  # (P,) the sum of a predictor's accounts
    belief: Floats  # (P + 1,) v: the model of the label
    slopes: Floats  # (P + 1,) sums of the squares of its gradients
    lost: Floats  # (P, 2) labels and losses of a predictor, weighted: the guess where labels have no model
    cell: Ints  # (P,) scratch: the pattern of each predictor; the cell is twice that, plus 1 if labels are hidden
    lean: Floats  # (P,) scratch: the share of its rules that predict; then times the sign it predicts
    trusted: Bools  # (P,) scratch: whether its debt was below the limit before the round

    @property
    def by_cell(self) -> tuple[Floats, ...]:
        """The arrays (cells, P)."""
        return self.support, self.expected, self.suffered, self.unseen, self.visits, self.account


def guesses(predictor_of: Ints, rule_of: Ints, n_predictors: int, constants: Constants) -> Guesses:
    """Nothing seen yet."""
    order = np.lexsort((rule_of, predictor_of))
    counts = np.bincount(predictor_of, minlength=n_predictors)
    rules, n_cells = rule_of[order], 2 * max(1, 2 * int(counts.max()))
    alike = bool((counts == counts[0]).all()) and bool((rules.reshape(n_predictors, -1) == rules[: counts[0]]).all())
    cells = (n_cells, n_predictors)
    return Guesses(
        constants=constants,
        first=np.concatenate([[0], np.cumsum(counts)]),
        rules=rules,
        alike=alike,
        support=np.zeros(cells),
        expected=np.zeros(cells),
        suffered=np.zeros(cells),
        unseen=np.zeros(cells),
        visits=np.zeros(cells),
        account=np.zeros(cells),
        debt=np.zeros(n_predictors),
        belief=np.zeros(n_predictors + 1),
        slopes=np.full(n_predictors + 1, LEAST_SLOPE),
        lost=np.zeros((n_predictors, 2)),
        cell=np.zeros(n_predictors, np.int64),
        lean=np.zeros(n_predictors),
        trusted=np.ones(n_predictors, np.bool_),
    )


def fill_hidden(g: Guesses) -> None:
    """Let what a table with all its labels says of a pattern hold where labels are hidden, too.

    Its inputs were seen whoever predicts. Guesses of 0 there would be taken for evidence that predicting costs nothing.
    """
    for cells in (g.support, g.expected, g.suffered, g.unseen, g.visits):
        cells[1::2] = cells[::2]


SUPPOSED = 64.0
"""Labels' worth of belief in what is supposed before the first label."""


def suppose(abstains: Bools, losses: Floats, model: float, g: Guesses) -> None:
    """Begin with a belief in what predictors lose (n, P) where their rules abstain like this (n, A); the model of the
    label expects them to lose ``model``.
    """
    for p in range(g.cell.size):
        own = abstains[:, g.rules[g.first[p] : g.first[p + 1]]]
        if own.size == 0:  # no expert follows it
            continue
        cells = 2 * (2 * (own != own[:, :1]).argmax(axis=1) + own[:, 0])
        for cell in (cells, cells + 1):
            g.support[cell, p] = g.visits[cell, p] = SUPPOSED
            g.expected[cell, p], g.suffered[cell, p] = SUPPOSED * model, SUPPOSED * losses[:, p]


@inline
def look(abstains: Bools, g: Guesses) -> None:
    """Find the pattern of every predictor and the share of its rules that predict."""
    n = g.cell.size
    for p in range(1 if g.alike else n):
        first, last = g.first[p], g.first[p + 1]
        start = last > first and abstains[g.rules[first]]
        other, predicting = 0, 0
        for i in range(first, last):
            silent = abstains[g.rules[i]]
            predicting += not silent
            if other == 0 and silent != start:
                other = i - first
        g.cell[p], g.lean[p] = 2 * other + start, predicting / max(1, last - first)
    if g.alike:
        for p in range(1, n):
            g.cell[p], g.lean[p] = g.cell[0], g.lean[0]


@inline
def believe(low: Floats, high: Floats, g: Guesses) -> float:
    """The model's probability of the label +1; predictors lose ``low`` if it is -1, ``high`` if it is +1."""
    n = np.uint64(g.lean.size)
    for p in range(n):
        g.lean[p] *= (high[p] < low[p]) - 1.0 * (high[p] > low[p])
    odds = g.belief[n]
    for p in range(n):
        odds += g.belief[p] * g.lean[p]
    return 1.0 / (1.0 + math.exp(-min(BELIEF, max(-BELIEF, odds))))


@inline
def _model(p: Any, rho: float, low: Floats, high: Floats, g: Guesses) -> float:
    """What the model of the label says a predictor loses; without one, what it lost so far."""
    if low.size > 0:
        return float(rho * high[p] + (1.0 - rho) * low[p])
    return float(g.lost[p, 1] / g.lost[p, 0]) if g.lost[p, 0] > 0.0 else 0.0


@inline
def _fade(j: Any, p: Any, patience: float, g: Guesses) -> float:
    """What is left of a guess since the last label."""
    return float(max(0.0, 1.0 - g.unseen[j, p] / min(patience, g.constants.tries * (g.visits[j, p] + 1.0))))


@inline
def _scaled(value: float, j: Any, p: Any, g: Guesses) -> float:
    """What the model expects, scaled so that in this cell it was right on average so far."""
    n, expected, suffered, calm = g.support[j, p], g.expected[j, p], g.suffered[j, p], g.constants.calm
    if suffered < expected:
        return float(value * ((n * suffered + calm * expected) / ((n + calm) * expected)))
    if suffered > expected:
        missing = n - expected
        return float(1.0 - (1.0 - value) * ((n * (n - suffered) + calm * missing) / ((n + calm) * missing)))
    return value


@inline
def guess(rho: float, hidden: int, learnt: float, low: Floats, high: Floats, out: Floats, g: Guesses) -> None:
    """The guesses of all predictors, in their cells; ``learnt`` rounds were learnt before."""
    patience = g.constants.patience * math.sqrt(learnt + 1.0)
    for p in range(np.uint64(g.cell.size)):
        j = np.uint64(2 * g.cell[p] + hidden)
        support = _fade(j, p, patience, g) * g.support[j, p]
        value = support * _scaled(_model(p, rho, low, high, g), j, p, g) / (support + g.constants.prior)
        out[p] = min(1.0, max(0.0, value))


@inline
def limit(learnt: float, g: Guesses) -> float:
    """The debt from which on a predictor's estimates lean on the guess no more."""
    return g.constants.pessimism * math.sqrt(min(learnt, g.constants.held) + 1.0)


@inline
def trust(largest: float, g: Guesses) -> None:
    """Note whose debt is below the limit, before the round is entered into the accounts."""
    for p in range(np.uint64(g.debt.size)):
        g.trusted[p] = g.debt[p] < largest


@inline
def charge(p: Any, hidden: int, more: float, g: Guesses) -> None:
    """Enter by how much an estimate made a predictor look worse than it is into its account."""
    j = np.uint64(2 * g.cell[p] + hidden)
    before = g.account[j, p]
    g.account[j, p] = max(0.0, before + more)
    g.debt[p] += g.account[j, p] - before


@inline
def miss(hidden: int, g: Guesses) -> None:
    """No label came."""
    for p in range(np.uint64(g.cell.size)):
        g.unseen[np.uint64(2 * g.cell[p] + hidden), p] += 1.0


@inline
def learn_guesses(
    rho: float, hidden: int, learnt: float, seen: float, losses: Array, low: Floats, high: Floats, g: Guesses
) -> None:  # fmt: skip
    """A label came, which was seen with probability ``seen``."""
    patience = g.constants.patience * math.sqrt(learnt + 1.0)
    weight = min(1.0 / seen, g.constants.most)
    for p in range(np.uint64(g.cell.size)):
        j = np.uint64(2 * g.cell[p] + hidden)
        fade = _fade(j, p, patience, g)
        g.support[j, p] = fade * g.support[j, p] + weight
        g.expected[j, p] = fade * g.expected[j, p] + weight * _model(p, rho, low, high, g)
        g.suffered[j, p] = fade * g.suffered[j, p] + weight * losses[p]
        g.visits[j, p] += g.unseen[j, p] + 1.0
        g.unseen[j, p] = 0.0
    if low.size == 0:
        for p in range(np.uint64(g.cell.size)):
            g.lost[p, 0] += weight
            g.lost[p, 1] += weight * losses[p]


@inline
def learn_label(rho: float, losses: Array, low: Floats, high: Floats, g: Guesses) -> None:
    """A step of Adagrad on the log-loss of the model; the label is told by what a predictor lost."""
    n = np.uint64(g.lean.size)
    telling = ZERO  # the first predictor that loses more by one label than by the other
    while telling < n and high[telling] == low[telling]:
        telling += ONE
    if telling == n:
        return
    positive = abs(losses[telling] - high[telling]) < abs(losses[telling] - low[telling])
    slope = rho - 1.0 if positive else rho
    for p in range(n):
        along = slope * g.lean[p]
        g.slopes[p] += along * along
    for p in range(n):
        g.belief[p] -= g.constants.step * (slope * g.lean[p]) / math.sqrt(g.slopes[p])
    g.slopes[n] += slope * slope
    g.belief[n] -= g.constants.step * slope / math.sqrt(g.slopes[n])


@inline
def forget_some(learnt: float, g: Guesses) -> None:
    """Let guesses and accounts fade like a memory."""
    if g.constants.every > 0 and learnt % g.constants.every == 0.0:
        for j in range(g.support.shape[0]):
            for p in range(g.cell.size):
                g.support[j, p] *= g.constants.keep
                g.expected[j, p] *= g.constants.keep
                g.suffered[j, p] *= g.constants.keep
                g.account[j, p] *= g.constants.keep
        for p in range(g.cell.size):
            g.lost[p, 0] *= g.constants.keep
            g.lost[p, 1] *= g.constants.keep
            g.debt[p] *= g.constants.keep
        for p in range(g.slopes.size):
            g.slopes[p] = max(LEAST_SLOPE, g.slopes[p] * g.constants.keep)
