"""What Python calls for one round. The game comes as a plain tuple, see `state.flat`."""

from __future__ import annotations

from typing import Any

from .choose import choose
from .graph import neighbours, record
from .jit import jit, part
from .learn import learn
from .state import Disagreements, Estimates, Game, Groups, Layout, Search, Settings


@part
def whole(f: Any) -> Game:
    """The game again, its parts in the order of their fields."""
    return Game(
        Settings(f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]),
        Layout(f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15]),
        Estimates(f[16], f[17], f[18]),
        Search(f[19], f[20], f[21], f[22], f[23], f[24], f[25], f[26], f[27]),
        Groups(f[28], f[29], f[30], f[31]),
        Disagreements(f[32], f[33], f[34], f[35]),
        f[36],
        f[37],
        f[38],
        f[39],
    )


@jit
def choose_round(t: int, u: float, flat: Any) -> tuple[int, int]:
    """The (cell, slot) to follow at round t; its out-neighbours go into ``game.mask``. Nothing is learnt."""
    game = whole(flat)
    cell, slot = choose(t, u, game)
    neighbours(t, cell, game, game.mask)
    return cell, slot


@jit
def record_round(t: int, flat: Any) -> None:
    """Take note of round t's abstentions."""
    record(t, whole(flat))


@jit
def learn_round(cell: int, seen: bool, cost: float, flat: Any) -> None:
    """Learn from a round in which ``cell`` was chosen, with or without its label."""
    learn(cell, seen, cost, whole(flat))
