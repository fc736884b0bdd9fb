"""Graphs that never change."""

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..experts import ExpertSet
from ..kernels.ucb import graph as kernels
from ..trust import trusted
from ..typing import Bools
from .base import FeedbackGraph, Moment, as_edges


class SelfLoops(FeedbackGraph):
    """Only the chosen expert is updated: UCB."""

    kernel = kernels.SELF_LOOPS

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.asarray(np.arange(now.experts.n_experts) == expert)


class Complete(FeedbackGraph):
    """Everybody is updated in every round: full information, outside the protocol."""

    kernel = kernels.COMPLETE
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.ones(now.experts.n_experts, np.bool_)


class Subset(FeedbackGraph):
    """G^SUB (section 4.3): i -> j where j abstains wherever i does, so that a choice of i never hides j's loss."""

    kernel = kernels.RELATION
    by_rule = True

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        rule_of = now.experts.rule_of
        return np.asarray(self.relation(now.experts)[rule_of[expert], rule_of])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools:
        if experts.rule_subset is None:
            raise InputError(
                "graph: 'subset' needs the subset relation between the rules, which is not known for these experts; "
                "give it as rule_subset= when you make them, or use another graph"
            )
        return experts.rule_subset


class Fixed(FeedbackGraph):
    """Any graph, as a matrix (K, K); see `fixed`."""

    kernel = kernels.RELATION

    def __init__(self, edges: ArrayLike) -> None:
        self.edges = as_edges(edges)

    @trusted
    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.array(self.edges[expert])

    @trusted
    def relation(self, experts: ExpertSet) -> Bools:
        if len(self.edges) != experts.n_experts:
            raise InputError(f"matrix: expected {experts.n_experts} experts, got {len(self.edges)}")
        return self.edges

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.edges)} experts, {int(self.edges.sum())} edges)"
