"""Learning from a round."""

from __future__ import annotations

import numpy as np

from .groups import move
from .jit import part
from .state import Game


@part
def _add_losses(cell: int, game: Game) -> None:
    """E += l for the experts of a cell."""
    losses, row, predictor = game.learnt.losses, game.search.row, game.places.predictor
    offset = np.uint64(game.places.start[cell])
    n_slots = np.uint64(game.places.start[cell + 1]) - offset
    if game.places.product:
        for i in range(n_slots):
            losses[offset + i] += row[i]
    else:
        for i in range(n_slots):
            losses[offset + i] += row[predictor[offset + i]]


@part
def _learn_cell(cell: int, seen: bool, step: float, game: Game) -> None:
    """Update one cell, unless its loss stays hidden."""
    if game.abstains[game.places.rule[cell]]:
        game.learnt.paid[cell] += step
    elif seen:
        _add_losses(cell, game)
    elif not game.how.optimistic:  # else step (*) of UCB-GT: as if the loss were 0
        return
    game.learnt.updates[cell] += 1.0


@part
def _learn_singles(seen: bool, step: float, game: Game) -> None:
    """`_learn_cell` for all cells at once where each is one expert with a rule of its own: nothing to branch on."""
    losses, paid, updates = game.learnt.losses, game.learnt.paid, game.learnt.updates
    row, predictor, run = game.search.row, game.places.predictor, game.places.run
    mask, abstains = game.mask, game.abstains
    n_cells = np.uint64(mask.size)
    for c in range(n_cells):
        paid[c] += step if mask[c] & abstains[c] else 0.0
    if seen and 8 * run.size > n_cells:
        for c in range(n_cells):
            losses[c] += (mask[c] & (not abstains[c])) * row[np.uint64(predictor[c])]
    elif seen:  # long runs of one predictor: no gathering, and nothing to add where it was right
        for r in range(run.size - 1):
            offset = np.uint64(run[r])
            loss = row[predictor[offset]]
            if loss != 0:
                for i in range(np.uint64(run[r + 1]) - offset):
                    losses[offset + i] += (mask[offset + i] & (not abstains[offset + i])) * loss
    if seen or game.how.optimistic:
        for c in range(n_cells):
            updates[c] += 1.0 if mask[c] else 0.0
    else:
        for c in range(n_cells):
            updates[c] += 1.0 if mask[c] & abstains[c] else 0.0


@part
def learn(chosen: int, seen: bool, cost: float, game: Game) -> None:
    """Update the cells of ``game.mask`` (or, where it is empty, the one cell ``chosen``) from the round at hand.

    The predictors' losses are in ``search.row``, if the label was ``seen``; an abstaining expert's loss is ``cost``.
    """
    step = 1.0 if game.how.constant else cost
    if game.mask.size == 0:
        total = game.learnt.losses[chosen] + game.how.price * game.learnt.paid[chosen]
        _learn_cell(chosen, seen, step, game)
        move(chosen, total, game)
    elif game.places.single and game.places.own_rules:
        _learn_singles(seen, step, game)
    else:
        for cell in range(game.mask.size):
            if game.mask[cell]:
                _learn_cell(cell, seen, step, game)
                game.search.fresh[cell] = False
