"""Learning from a round."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Bools
from ..jit import inline, kernel
from .counts import move
from .graph import ESTIMATED, record
from .state import UCBState


@inline
def _add_losses(team: int, s: UCBState) -> None:
    """E += l for the experts of a team."""
    losses, row, predictor = s.estimates.losses, s.search.row, s.layout.predictor
    offset = np.uint64(s.layout.start[team])
    n_slots = np.uint64(s.layout.start[team + 1]) - offset
    if s.layout.product:
        for i in range(n_slots):
            losses[offset + i] += row[i]
    else:
        for i in range(n_slots):
            losses[offset + i] += row[predictor[offset + i]]


@inline
def _learn_team(team: int, abstains: Bools, seen: bool, step: float, s: UCBState) -> None:
    """Update one team, unless its loss stays hidden."""
    if abstains[s.layout.rule[team]]:
        s.estimates.paid[team] += step
    elif seen:
        _add_losses(team, s)
    elif not s.variant.optimistic:  # else step (*) of UCB-GT: as if the loss were 0
        return
    s.estimates.updates[team] += 1.0


@inline
def _learn_own_rules(mask: Bools, abstains: Bools, seen: bool, step: float, s: UCBState) -> None:
    """`_learn_team` for all teams at once where each is one expert with a rule of its own: nothing to branch on."""
    losses, paid, updates = s.estimates.losses, s.estimates.paid, s.estimates.updates
    row, predictor, run = s.search.row, s.layout.predictor, s.layout.run
    n_teams = np.uint64(mask.size)
    for c in range(n_teams):
        paid[c] += step if mask[c] & abstains[c] else 0.0
    if seen and 8 * run.size > n_teams:
        for c in range(n_teams):
            losses[c] += (mask[c] & (not abstains[c])) * row[np.uint64(predictor[c])]
    elif seen:  # long runs of one predictor: no gathering, and nothing to add where it was right
        for r in range(run.size - 1):
            offset = np.uint64(run[r])
            loss = row[predictor[offset]]
            if loss != 0:
                for i in range(np.uint64(run[r + 1]) - offset):
                    losses[offset + i] += (mask[offset + i] & (not abstains[offset + i])) * loss
    if seen or s.variant.optimistic:
        for c in range(n_teams):
            updates[c] += 1.0 if mask[c] else 0.0
    else:
        for c in range(n_teams):
            updates[c] += 1.0 if mask[c] & abstains[c] else 0.0


@kernel
def note(t: int, expert: int, abstains: Bools, mask: Bools, s: UCBState) -> None:
    """A choice whose label is still to come is open; UCB-GT records who abstained."""
    if s.variant.supervised or not abstains[s.layout.rule[s.layout.team[expert]]]:
        s.estimates.open[expert] += 1
        s.estimates.n_open[0] += 1
    if s.variant.graph == ESTIMATED:
        record(t, abstains, s)


@inline
def _close(expert: int, s: UCBState) -> None:
    """The label of a choice has come, or never will."""
    if s.estimates.open[expert] > 0:
        s.estimates.open[expert] -= 1
        s.estimates.n_open[0] -= 1


@kernel
def close(expert: int, s: UCBState) -> None:
    """`_close`, to be called from Python."""
    _close(expert, s)


@kernel
def update(expert: int, abstains: Bools, losses: Any, seen: bool, cost: float, mask: Bools, s: UCBState) -> None:
    """Update the teams of ``mask`` (or, where it is empty, the chosen expert's) from a round.

    ``losses`` are those of the predictors, if the label was ``seen``; an abstaining expert's loss is ``cost``.
    """
    chosen, step = s.layout.team[expert], 1.0 if s.variant.counted else cost
    if seen:
        _close(expert, s)
        row = s.search.row
        if mask.size == 0:  # the chosen expert's predictor is all that is asked for
            own = s.layout.predictor[s.layout.start[chosen]]
            row[own] = losses[own]
        else:
            for p in range(np.uint64(losses.size)):
                row[p] = losses[p]
    if mask.size == 0:
        total = s.estimates.losses[chosen] + s.variant.price * s.estimates.paid[chosen]
        _learn_team(chosen, abstains, seen, step, s)
        move(chosen, total, s)
    elif s.layout.alone and s.layout.own_rules:
        _learn_own_rules(mask, abstains, seen, step, s)
    else:
        for team in range(mask.size):
            if mask[team]:
                _learn_team(team, abstains, seen, step, s)
                s.search.fresh[team] = False
