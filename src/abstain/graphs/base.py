"""Feedback graphs: whose losses are used to update whom.

An edge i -> j at round t says: if expert i is chosen, expert j is updated from this round. For a guarantee the graph of
round t may depend on what came before t, not on x_t (theorem 3; the bias problem of section 4.1 is what happens else).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..experts import ExpertSet
from ..kernels.ucb.graph import GIVEN

Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Moment:
    """What is known when the graph of a round is asked for; `learner.moment(x)` makes one."""

    experts: ExpertSet
    round: int
    """t, from 1 on."""
    abstains: Bools
    """Whether each rule abstains on x_t (A,)."""
    updates: NDArray[np.int64]
    """Q_{i,t-1} of each expert (K,)."""
    beta: float
    disagreements: NDArray[np.int64] | None = None
    """``[j, i]``: in how many rounds before t rule j abstained and rule i predicted (A, A); only if the graph needs
    it."""


class FeedbackGraph(ABC):
    """A feedback graph, possibly different in every round.

    To write your own, define `out_neighbours`, and `observe` if it depends on the past in a way that `Moment` does not
    show. It may keep any state of its own (it is copied along when a learner is copied or pickled; `save` leaves it
    out). An edge to an expert whose loss stays hidden updates nothing.

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

    @abstractmethod
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        """N_t(expert): whether each expert is updated (K,) if ``expert`` is chosen at this moment."""

    def observe(self, now: Moment, expert: int) -> None:  # noqa: B027 (most graphs have nothing to do)
        """Called after ``expert`` was chosen at this moment: the place to learn from the past."""

    def n_edges(self, now: Moment) -> int:
        """The number of edges at this moment, self-loops included."""
        return int(self.matrix(now).sum())

    def matrix(self, now: Moment) -> Bools:
        """The graph itself (K, K), row i the out-neighbours of expert i; for small K."""
        return np.array([self.out_neighbours(expert, now) for expert in range(now.experts.n_experts)])

    def relation(self, experts: ExpertSet) -> Bools | None:
        """The matrix of a graph that never changes, between rules if `by_rule`, or a clear error if it does not fit."""
        return None

    def parameters(self) -> dict[str, Any] | None:
        """What `abstain.load` needs to make the graph again; None if it cannot."""
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
