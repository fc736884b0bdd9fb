"""Learning from a round."""

from __future__ import annotations

import numpy as np

from .choose import look_again, look_roughly
from .groups import Groups, move
from .jit import part
from .state import Bools, Estimates, Layout, Search


@part
def _add_losses(cell: int, places: Layout, learnt: Estimates, search: Search) -> None:
    """E += l for the experts of a cell."""
    losses, row, predictor = learnt.losses, search.row, places.predictor
    offset = np.uint64(places.start[cell])
    n_slots = np.uint64(places.start[cell + 1]) - offset
    if places.product:
        for i in range(n_slots):
            losses[offset + i] += row[i]
    else:
        for i in range(n_slots):
            losses[offset + i] += row[predictor[offset + i]]


@part
def _learn_cell(
    cell: int, abstains: bool, seen: bool, optimistic: bool, step: float,
    places: Layout, learnt: Estimates, search: Search,
) -> None:  # fmt: skip
    """Update one cell, unless its loss stays hidden."""
    if abstains:
        learnt.paid[cell] += step
    elif seen:
        _add_losses(cell, places, learnt, search)
    elif not optimistic:  # else step (*) of UCB-GT: as if the loss were 0
        return
    learnt.updates[cell] += 1.0


@part
def _learn_singles(
    mask: Bools, abstains: Bools, seen: bool, optimistic: bool, step: float,
    places: Layout, learnt: Estimates, search: Search,
) -> None:  # fmt: skip
    """`_learn_cell` for all cells at once where each is one expert with a rule of its own: nothing to branch on."""
    losses, paid, updates, row, predictor = learnt.losses, learnt.paid, learnt.updates, search.row, places.predictor
    n_cells = np.uint64(mask.size)
    for c in range(n_cells):
        paid[c] += (mask[c] & abstains[c]) * step
    if seen and 8 * places.run.size > n_cells:
        for c in range(n_cells):
            losses[c] += (mask[c] & (not abstains[c])) * row[np.uint64(predictor[c])]
    elif seen:  # long runs of one predictor: no gathering, and nothing to add where it was right
        for r in range(places.run.size - 1):
            offset = np.uint64(places.run[r])
            loss = row[predictor[offset]]
            if loss != 0:
                for i in range(np.uint64(places.run[r + 1]) - offset):
                    losses[offset + i] += (mask[offset + i] & (not abstains[offset + i])) * loss
    if seen or optimistic:
        for c in range(n_cells):
            updates[c] += mask[c]
    else:
        for c in range(n_cells):
            updates[c] += mask[c] & abstains[c]


@part
def learn(
    chosen: int, mask: Bools, abstains: Bools, seen: bool, optimistic: bool, cost: float,
    constant: bool, price: float, sums: bool, places: Layout, learnt: Estimates, search: Search, grouped: Groups,
) -> None:  # fmt: skip
    """Update the cells of ``mask`` (or, where it is empty, the one cell ``chosen``) from a round.

    The predictors' losses are in ``search.row``, if the label was ``seen``; an abstaining expert's loss is ``cost``.
    """
    step = 1.0 if constant else cost
    if mask.size == 0:
        total = learnt.losses[chosen] + price * learnt.paid[chosen]
        _learn_cell(chosen, abstains[places.rule[chosen]], seen, optimistic, step, places, learnt, search)
        move(chosen, total, price, learnt, grouped)
    elif places.single and places.own_rules:
        _learn_singles(mask, abstains, seen, optimistic, step, places, learnt, search)
        look_roughly(price, sums, learnt, search)
    else:
        for cell in range(mask.size):
            if mask[cell]:
                _learn_cell(cell, abstains[places.rule[cell]], seen, optimistic, step, places, learnt, search)
                search.fresh[cell] = False
                if places.single:
                    look_again(cell, price, sums, places, learnt, search)
