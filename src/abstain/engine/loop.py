"""The loop over rounds and the single round, written once for all compiled learners.

The functions below are patterns: `compiled` gives a copy of each the learner's own kernels for the names of `Kernels`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..kernels.compiling import inline, inlined, kernel, with_parts
from ..typing import Array, Bools, Floats, Ints


@inline
def note_nothing(t: int, expert: int, abstains: Bools, carry: Array, s: Any) -> None:
    """Record nothing when a decision is made."""


@inline
def count_no_edges(t: int, abstains: Bools, s: Any) -> int:
    """Leave the edges to the engine, which counts those of G^ABS."""
    return 0


@inline
def inform_nothing(x: Floats, abstains: Bools, losses: Array, cost: float, carry: Array, s: Any) -> None:
    """Learn nothing but from rounds that were decided on."""


@inline
def never_full(s: Any) -> bool:
    """The state has room for any number of rounds."""
    return False


@inline
def clear(carry: Array) -> None:
    """What an earlier round left is no part of this one."""
    for c in range(np.uint64(carry.size)):
        carry[c] = 0


class Kernels(NamedTuple):
    """An algorithm: compiled functions of its state s, a NamedTuple of arrays. They allocate nothing.

    In a round, ``t`` counts from 1, ``u`` is uniform in [0, 1), ``x`` is what the learner lets them see of the input
    (`KernelLearner.see`: the features, unless it says otherwise), ``abstains`` says of each rule in use whether it
    abstains, ``losses`` are those of the predictors, and ``carry`` is what the learner wants to know of a round when
    its label comes, perhaps much later.
    """

    choose: Any
    """``choose(t, u, x, abstains, carry, s) -> expert, probability of predicting``; fills carry, changes nothing else
    but scratch."""
    update: Any
    """``update(expert, abstains, losses, seen, cost, carry, s)``: learn from a round, once, with the label or (``seen``
    is false) without: then ``losses`` mean nothing."""
    note: Any = note_nothing
    """``note(t, expert, abstains, carry, s)``: what is to be recorded as soon as a decision is made."""
    edges: Any = count_no_edges
    """``edges(t, abstains, s)``: the size of the graph in use; unless given, that of G^ABS."""
    inform: Any = inform_nothing
    """``inform(x, abstains, losses, cost, carry, s)``: learn from a round that nobody decided on, all labels known."""
    full: Any = never_full
    """``full(s)``: whether there is no room for another round, so that `KernelLearner.grow` has to make some."""


class Late(NamedTuple):
    """The rounds that are not learnt yet, each at a place of its own: a label is still to come, or none will."""

    expert: Ints  # (places,) -1 where no round waits
    abstains: Bools  # (places, A)
    losses: Array  # (places, P)
    cost: Floats  # (places,)
    carry: Array  # (places, size of a carry)
    round: Ints  # (places,)
    expected: Bools  # (places,) whether a label may come ...
    seen: Bools  # (places,) ... and whether it does
    heard: Ints  # (2,) the newest round whose label came, and by how many rounds it was late


class Arrivals(NamedTuple):
    """Where the rounds of a block wait, and whose labels come right after each is decided."""

    place: Ints  # (n,) of each round
    first: Ints  # (n + 1,) where those that come after each round begin ...
    come: Ints  # ... in this list of places


class Rounds(NamedTuple):
    """A block of rounds to play, a row a round."""

    u: Floats
    x: Floats
    abstains: Bools
    losses: Array
    cost: Floats
    comes: Bools  # (n, 2) whether the label comes if the round predicts, and if it abstains; empty: as expected


class Played(NamedTuple):
    """What happened, a row a round."""

    expert: Ints
    abstained: Bools
    loss: Floats
    kept: Floats  # (n, k) the first k numbers that were carried


def room_for(n: int, kept: int = 0) -> Played:
    """Room for what happens in n rounds."""
    return Played(np.empty(n, np.int64), np.empty(n, np.bool_), np.empty(n), np.empty((n, kept)))


class Expects(NamedTuple):
    """Whether a label may come at all."""

    predicted: bool
    abstained: bool


class Pairs(NamedTuple):
    """The predictor and the rule (among those in use) of each expert."""

    predictor: Ints
    rule: Ints


choose: Any = None
update: Any = None
note: Any = None
edges: Any = None
inform: Any = None
full: Any = None
# Placeholders for the kernels, which `compiled` puts in.


def choose_round(t: int, u: float, x: Floats, abstains: Bools, carry: Array, s: Any) -> tuple[int, float]:
    """Choose; nothing is learnt."""
    clear(carry)
    expert, probability = choose(t, u, x, abstains, carry, s)
    return expert, probability


def note_round(t: int, expert: int, abstains: Bools, carry: Array, s: Any) -> None:
    """Take note of a decision."""
    note(t, expert, abstains, carry, s)


def learn_round(
    expert: int, abstains: Bools, losses: Array, seen: bool, cost: float, carry: Array, s: Any
) -> None:  # fmt: skip
    """Learn from a round, with or without its label."""
    update(expert, abstains, losses, seen, cost, carry, s)


def teach(x: Floats, abstains: Bools, losses: Array, cost: Floats, carry: Array, s: Any) -> None:
    """Learn from rows that nobody decided on, as if every label were sure to be seen."""
    for i in range(cost.size):
        clear(carry)
        inform(x[i], abstains[i], losses[i], cost[i], carry, s)


def count_edges(t: int, abstains: Bools, s: Any) -> int:
    """The size of the graph in use."""
    return int(edges(t, abstains, s))


def is_full(s: Any) -> bool:
    """Whether there is no room for another round."""
    return bool(full(s))


def play(
    first: int, t: int, rounds: Rounds, at: Ints, n_edges: Ints, late: Late, arrivals: Arrivals, expects: Expects,
    pairs: Pairs, carry: Array, s: Any, out: Played,
) -> int:  # fmt: skip
    """Play a block from row ``first`` on, row i in round t + i; stop at the row for which there is no room.

    If in row i an expert is chosen that there is not, it returns -1 - i.

    ``at`` holds the 0-based rows before which the edges are to be counted into ``n_edges``. If there are places in
    ``late``, rounds are learnt when ``arrivals`` says, with a label or without: what is not known is not learnt
    earlier.
    """
    checkpoint, delayed = 0, late.expert.size > 0
    for i in range(first, rounds.u.size):
        if full(s):
            return i
        abstains, losses, cost = rounds.abstains[i], rounds.losses[i], rounds.cost[i]
        while checkpoint < at.size and at[checkpoint] <= i:
            if at[checkpoint] == i:
                n_edges[checkpoint] = edges(t + i, abstains, s)
            checkpoint += 1
        clear(carry)
        expert, _ = choose(t + i, rounds.u[i], rounds.x[i], abstains, carry, s)
        if expert < 0 or expert >= pairs.rule.size:
            return -1 - i
        note(t + i, expert, abstains, carry, s)
        abstained = abstains[pairs.rule[expert]]
        out.expert[i] = expert
        out.abstained[i] = abstained
        out.loss[i] = cost if abstained else losses[pairs.predictor[expert]]
        for c in range(out.kept.shape[1]):
            out.kept[i, c] = carry[c]
        expected = expects.abstained if abstained else expects.predicted
        seen = expected
        if rounds.comes.size > 0:
            seen = expected and rounds.comes[i, np.uint64(abstained)]
        if delayed:
            place = arrivals.place[i]
            late.expert[place], late.cost[place], late.seen[place] = expert, cost, seen
            late.round[place], late.expected[place] = t + i, expected
            for a in range(np.uint64(abstains.size)):
                late.abstains[place, a] = abstains[a]
            for p in range(np.uint64(losses.size)):
                late.losses[place, p] = losses[p]
            for c in range(np.uint64(carry.size)):
                late.carry[place, c] = carry[c]
        # This round, if it need not wait, or those whose time has come. The update is compiled in only once.
        j, last = (arrivals.first[i], arrivals.first[i + 1]) if delayed else (0, 0)
        own = not delayed
        carried, waiting = carry, expert
        while own or j < last:
            if not own:
                k = arrivals.come[j]
                waiting, abstains, losses = late.expert[k], late.abstains[k], late.losses[k]
                seen, cost, carried = late.seen[k], late.cost[k], late.carry[k]
                late.expert[k] = -1
                if late.expected[k] and late.round[k] > late.heard[0]:
                    late.heard[0], late.heard[1] = late.round[k], t + i - late.round[k]
                j += 1
            if waiting >= 0:
                update(waiting, abstains, losses, seen, cost, carried, s)
            own = False
    return int(rounds.u.size)


class Compiled(NamedTuple):
    """The patterns with a learner's kernels."""

    choose: Any
    note: Any
    learn: Any
    teach: Any
    edges: Any
    full: Any
    play: Any


@cache
def compiled(kernels: Kernels) -> Compiled:
    """The loop and the single rounds of an algorithm; learners with the same kernels share them."""
    parts = {name: inlined(function) for name, function in kernels._asdict().items()}
    patterns = (choose_round, note_round, learn_round, teach, count_edges, is_full, play)
    return Compiled(*(_with(pattern, parts) for pattern in patterns))


def _with(pattern: Any, parts: dict[str, Any]) -> Any:
    """A pattern with these kernels in it."""
    own = getattr(parts["choose"], "py_func", parts["choose"])
    name = f"{pattern.__name__}_{own.__module__}_{own.__qualname__}".replace(".", "_").replace("<locals>", "local")
    if pattern is play:  # long enough to be worth letting other threads run
        return kernel(with_parts(pattern, parts, f"free_{name}"), nogil=True)
    return kernel(with_parts(pattern, parts, name))
