"""Kinds."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._core.registry import Registry, parameters_of
from .._core.validation import plain, trusted
from ..errors import InputError
from ..experts import ExpertSet
from ..typing import Bools, Ints

SELF_LOOPS, COMPLETE, RELATION, ABSTENTION, ESTIMATED, GIVEN = range(6)
"""The kinds of graph: RELATION is a fixed matrix between teams, ESTIMATED is UCB-GT's, GIVEN comes from outside."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What is known when the graph of a round is asked for; `learner.moment(x)` makes one."""

    experts: ExpertSet
    round: int
    """t, from 1 on."""
    abstains: Bools
    """Whether each rule abstains on x_t (A,)."""
    updates: Ints
    """Q_{i,t-1} of each expert (K,)."""
    beta: float
    disagreements: Ints | None = None
    """``[j, i]``: in how many rounds before t rule j abstained and rule i predicted (A, A); only if the graph needs
    it."""


class FeedbackGraph(ABC):
    """A feedback graph, possibly different in every round.

    To write your own, define `out_neighbours`, and `observe` if it depends on the past in a way that `Moment` does not
    show. It may keep any state of its own, which is copied along when a learner is copied or pickled. It is part of a
    learner's file if it holds the arguments of its constructor under their names and nothing else, or if `parameters`
    says what makes it again; else give it again to `abstain.load`. An edge to an expert whose loss stays hidden
    updates nothing.

    >>> class Newcomers(FeedbackGraph):
    ...     '''Everybody hears of the experts updated fewer than ten times.'''
    ...     def out_neighbours(self, expert, now):
    ...         heard = now.updates < 10
    ...         heard[expert] = True
    ...         return heard
    """

    kernel: ClassVar[int] = GIVEN
    """Which compiled graph this is, if any (`kernels.graph`)."""
    by_rule: ClassVar[bool] = False
    """Whether the edges depend on the experts' rules alone."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds.add(cls)

    @abstractmethod
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        """N_t(expert): whether each expert is updated (K,) if ``expert`` is chosen at this moment."""

    @trusted  # noqa: B027 (most graphs have nothing to do)
    def observe(self, now: Moment, expert: int) -> None:
        """Called after ``expert`` was chosen at this moment: the place to learn from the past."""

    @trusted
    def n_edges(self, now: Moment) -> int:
        """The number of edges at this moment, self-loops included."""
        return int(self.matrix(now).sum())

    @trusted
    def matrix(self, now: Moment) -> Bools:
        """The graph itself (K, K), row i the out-neighbours of expert i; for small K."""
        return np.array([self.out_neighbours(expert, now) for expert in range(now.experts.n_experts)])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools | None:
        """The matrix of a graph that never changes, between rules if `by_rule`, or a clear error if it does not fit."""
        return None

    def parameters(self) -> dict[str, Any] | None:
        """What makes the graph again: the constructor's arguments, as arrays, numbers, strings and tuples of them; None
        if it is to be given again to `abstain.load`.
        """
        return parameters_of(self, arrays=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


kinds: Registry[FeedbackGraph] = Registry("graph")
"""All graphs there are, users' own among them."""


def as_edges(matrix: ArrayLike) -> Bools:
    """A graph as a matrix (K, K) of 0 and 1, checked."""
    values = plain(matrix, "matrix")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) == 0:
        raise InputError(f"matrix: expected shape (K, K), got {values.shape}")
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise InputError("matrix: expected 0 and 1, or False and True, got others")
    return values.astype(np.bool_)
