"""Exponential weights of another set of experts: who stays keeps what it has, who comes gets the mean weight."""

import numpy as np

from ..engine.changes import Change, gathered
from ..kernels.exp3.guesses import Guesses
from ..kernels.exp3.state import ETA, Memories
from ..typing import Floats, Ints


def sums_of(s: Memories) -> tuple[Floats, Floats]:
    """What every expert lost while predicting, and what it paid while abstaining, in each memory (C, K)."""
    lost, paid = np.empty_like(s.losses), np.empty_like(s.losses)
    lost[:, s.layout.expert] = s.losses
    paid[:, s.layout.expert] = np.repeat(s.paid, np.diff(s.start), axis=1)
    return lost, paid


def mean_weight(sums: Floats, eta: Floats) -> Floats:
    """The cumulative estimate of each memory (C,) whose weight is the mean of the weights of the sums (C, K).

    >>> sums = np.array([[1.0, 1e9], [0.0, 2.0]])
    >>> np.allclose(np.exp(-0.5 * mean_weight(sums, np.full(2, 0.5))), np.exp(-0.5 * sums).mean(axis=1), rtol=1e-14)
    True
    """
    low = sums.min(axis=1)
    means = np.exp(-eta[:, np.newaxis] * (sums - low[:, np.newaxis])).mean(axis=1)  # 1 / K at least
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(eta > 0.0, low - np.log(means) / eta, sums.mean(axis=1)))


def carry_over_sums(old: Memories, fresh: Memories, expert_from: Ints) -> None:
    """Fill the sums of a fresh state; its rates are in place."""
    lost, paid = sums_of(old)
    came = mean_weight(lost + paid, fresh.numbers[:, ETA])[:, np.newaxis]
    origin = expert_from[fresh.layout.expert]
    if fresh.layout.alone:
        fresh.losses[:] = gathered(lost + paid, origin, came)
        return
    team = np.repeat(np.arange(fresh.paid.shape[1]), np.diff(fresh.start))
    stay = origin >= 0
    fresh.paid[:, team[stay]] = paid[:, origin[stay]]
    fresh.losses[:] = np.where(stay, lost[:, origin], came - fresh.paid[:, team])
    # Where losses cannot be negative, those of newcomers to a team that paid much must not be, either.
    too_much = np.clip(-np.minimum.reduceat(fresh.losses, fresh.start[:-1], axis=1), 0.0, fresh.paid)
    fresh.paid[:] -= too_much
    fresh.losses[:] += too_much[:, team]


def carry_over_guesses(old: Guesses, fresh: Guesses, old_rules: Ints, fresh_rules: Ints, change: Change) -> None:
    """Fill the guesses of a fresh state. A predictor whose own rules are others than before has other cells: there it
    starts anew. The rules are those in the lists of the two states, as the experts number them.
    """
    n_cells = min(len(old.support), len(fresh.support))
    for p, q in enumerate(change.predictors.tolist()):
        if q < 0:
            continue
        own = change.rules[fresh_rules[fresh.first[p] : fresh.first[p + 1]]]
        if np.array_equal(own, old_rules[old.first[q] : old.first[q + 1]]):
            for of_old, of_fresh in zip(_cells(old), _cells(fresh), strict=True):
                of_fresh[:n_cells, p] = of_old[:n_cells, q]
        fresh.belief[p], fresh.slopes[p], fresh.lost[p] = old.belief[q], old.slopes[q], old.lost[q]
    fresh.belief[-1], fresh.slopes[-1] = old.belief[-1], old.slopes[-1]


def _cells(g: Guesses) -> tuple[Floats, Floats, Floats]:
    return g.support, g.residual, g.unseen
