"""The base class of feedback graphs, and what a graph may know of a round."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._core.registry import Registry, parameters_of
from .._core.validation import plain, trusted
from ..errors import InputError, shown
from ..experts import ExpertSet
from ..typing import Bools, Ints

SELF_LOOPS, COMPLETE, RELATION, ABSTENTION, ESTIMATED, GIVEN = range(6)
"""Compiled graphs: RELATION is a fixed matrix, ESTIMATED is UCB-GT's; GIVEN is not compiled but asked in Python."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What is known when a learner asks for the graph of a round; `learner.moment(x)` makes one."""

    experts: ExpertSet
    """The learner's experts."""
    round: int
    """The round t, counted from 1."""
    abstains: Bools
    """Whether each rule abstains on x_t (A,)."""
    updates: Ints
    """How often each expert was updated before the round, Q_{i,t-1} (K,)."""
    beta: float
    """The learner's beta, the width of its confidence bounds."""
    disagreements: Ints | None = None
    """``[j, i]``: in how many rounds before t rule j abstained and rule i predicted (A, A); None unless the graph needs
    it."""


class FeedbackGraph(ABC):
    """A feedback graph, possibly different in every round: which experts are updated if one is chosen.

    To write your own, define `out_neighbours`, and `observe` if the graph depends on the past in a way that `Moment`
    does not show. An edge to an expert with a hidden loss updates nothing. The graph may keep any state; copies and
    pickles of a learner include it. A learner's file includes the graph if it holds the arguments of its constructor
    under their names and nothing else, or if `parameters` returns them; otherwise give it to `abstain.load` again.

    >>> class Newcomers(FeedbackGraph):
    ...     '''Every choice also updates the experts with fewer than ten updates.'''
    ...     def out_neighbours(self, expert, now):
    ...         updated = now.updates < 10
    ...         updated[expert] = True
    ...         return updated
    """

    kernel: ClassVar[int] = GIVEN
    """Which compiled graph this is; leave it for your own."""
    by_rule: ClassVar[bool] = False
    """Whether the edges depend only on the experts' rules."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds.add(cls)

    @abstractmethod
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        """Return which experts are updated if ``expert`` is chosen, N_t(expert).

        Args:
            expert: The chosen expert.
            now: What is known at this round.

        Returns:
            Whether each expert is updated (K,).
        """

    @trusted  # noqa: B027 (most graphs have nothing to do)
    def observe(self, now: Moment, expert: int) -> None:
        """Learn from a round; called after ``expert`` was chosen.

        Args:
            now: What was known at this round.
            expert: The chosen expert.
        """

    @trusted
    def n_edges(self, now: Moment) -> int:
        """Count the edges at this round, self-loops included.

        Args:
            now: What is known at this round.

        Returns:
            The number of edges.
        """
        return int(self.matrix(now).sum())

    @trusted
    def matrix(self, now: Moment) -> Bools:
        """Return the whole graph; only sensible for small K.

        Args:
            now: What is known at this round.

        Returns:
            Row i (K, K) holds the out-neighbours of expert i.
        """
        return np.array([self.out_neighbours(expert, now) for expert in range(now.experts.n_experts)])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools | None:
        """Return the matrix of a graph that never changes.

        Args:
            experts: The learner's experts.

        Returns:
            The edges between rules (A, A) if `by_rule`, else between experts (K, K); None if the graph changes.

        Raises:
            InputError: The graph does not fit these experts.
        """
        return None

    def parameters(self) -> dict[str, Any] | None:
        """Return the constructor's arguments that make the graph again.

        Returns:
            Names and values: arrays, numbers, strings and tuples of them; None if the graph must be given to
            `abstain.load` again.
        """
        return parameters_of(self, arrays=True)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


kinds: Registry[FeedbackGraph] = Registry("graph")
"""All classes of graphs, including those that users define."""


def as_edges(matrix: ArrayLike) -> Bools:
    """Check a graph given as a matrix (K, K) of 0 and 1."""
    values = plain(matrix, "matrix")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) == 0:
        raise InputError(f"matrix: expected shape (K, K), got {values.shape}")
    wrong = ~np.isin(values, (0, 1)) if values.dtype.kind in "biuf" else np.ones_like(values, np.bool_)
    if wrong.any():
        raise InputError(f"matrix: expected 0 and 1, or False and True, got {shown(values[wrong][0].item())}")
    return values.astype(np.bool_)
