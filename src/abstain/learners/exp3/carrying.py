"""What memories hold, and what stays of it when the experts change: carried over to a fresh state."""

import numpy as np

from ...engine.changes import Change, gathered
from ...typing import Floats, Ints
from .guesses import Guesses
from .state import ETA, LEARNT, Memories, Memory

STEPS = 64
"""The past fades in so many steps a memory: weights are made anew in each."""


def fading(memories: tuple[int | None, ...]) -> Memory:
    """The memories that hold so many rounds: a step keeps ``(1 - 1/n)^(rounds between steps)``."""
    every = [0 if n is None else max(1, n // STEPS) for n in memories]
    keep = [1.0 if n is None else (1.0 - 1.0 / n) ** e for n, e in zip(memories, every, strict=True)]
    return Memory(np.array(every), np.array(keep))


def rounds_held(memory: Memory, learnt: float) -> Floats:
    """How many of the rounds learnt each memory still holds (C,): all of them, less what has faded."""
    held = np.full(len(memory.every), learnt)
    for j, (every, keep) in enumerate(zip(memory.every, memory.keep, strict=True)):
        if every > 0:
            steps, rest = divmod(learnt, every)
            held[j] = rest + every * keep * (1.0 - keep**steps) / (1.0 - keep)
    return held


def sums_of(s: Memories) -> tuple[Floats, Floats]:
    """What every expert lost while predicting, and what it paid while abstaining, in each memory (C, K)."""
    lost, paid = np.empty_like(s.losses), np.empty_like(s.losses)
    lost[:, s.layout.expert] = s.losses
    paid[:, s.layout.expert] = np.repeat(s.paid, np.diff(s.start), axis=1)
    return lost, paid


def rounds_answered(s: Memories) -> Floats:
    """In how many of the rounds learnt every group predicted, or every slot where no two experts share a rule."""
    return s.answered + s.recent if s.layout.alone else s.answered


def by_slot(of_groups: Floats, s: Memories) -> Floats:
    """Spread what is counted once for a group over its slots (C, K)."""
    return of_groups if s.layout.alone else np.repeat(of_groups, np.diff(s.start), axis=1)


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
    carry_over_counts(old, fresh, origin, came)
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


def carry_over_counts(old: Memories, fresh: Memories, origin: Ints, came: Floats) -> None:
    """Fill what a fresh state counts; ``origin`` is the expert before in each of its slots. Newcomers missed all
    rounds, and what they begin with (C, 1) is no estimate.
    """
    n, held = len(old.layout.expert), rounds_held(old.memory, float(old.numbers[0, LEARNT]))[:, np.newaxis]
    slot_of = np.empty(n, np.int64)
    slot_of[old.layout.expert] = np.arange(n)
    stay = origin >= 0
    slots = np.where(stay, slot_of[origin], -1)
    fresh.offset[:], fresh.missed[:] = gathered(old.offset, slots, came), gathered(old.missed, slots, held)
    fresh.agreed[:] = old.agreed
    for of_old, of_fresh in ((rounds_answered(old), fresh.answered), (old.beyond, fresh.beyond)):
        if of_fresh.size > 0:
            values = gathered(by_slot(of_old, old), slots, 0.0)
            if fresh.layout.alone:
                of_fresh[:] = values
            else:
                team = np.repeat(np.arange(of_fresh.shape[1]), np.diff(fresh.start))
                of_fresh[:, team[stay]] = values[:, stay]


def carry_over_weights(weights: Floats, fresh: Memories, expert_from: Ints) -> None:
    """Fill the weights of a fresh state of which shares are given: a newcomer's is the mean of all before."""
    origin = expert_from[fresh.layout.expert]
    kept = np.where(origin >= 0, weights[origin], 1.0 / len(weights))
    fresh.weight[:] = kept * (len(kept) / kept.sum())
    fresh.sums[:] = np.add.reduceat(fresh.weight, fresh.start[:-1], axis=1)


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
            for of_old, of_fresh in zip(old.by_cell, fresh.by_cell, strict=True):
                of_fresh[:n_cells, p] = of_old[:n_cells, q]
            fresh.debt[p] = old.debt[q]
        fresh.belief[p], fresh.slopes[p], fresh.lost[p] = old.belief[q], old.slopes[q], old.lost[q]
    fresh.belief[-1], fresh.slopes[-1] = old.belief[-1], old.slopes[-1]
