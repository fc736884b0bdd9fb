"""Graphs that never change."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..experts import ExpertSet
from ..kernels.ucb import graph as kernels
from ..tables import plain
from .base import Bools, FeedbackGraph, Moment


class SelfLoops(FeedbackGraph):
    """Only the chosen expert is updated: UCB."""

    kernel = kernels.SELF_LOOPS

    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.asarray(np.arange(now.experts.n_experts) == expert)

    def parameters(self) -> dict[str, Any]:
        return {"graph": "self_loops"}


class Complete(FeedbackGraph):
    """Everybody is updated in every round: full information, outside the protocol."""

    kernel = kernels.COMPLETE
    by_rule = True

    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.ones(now.experts.n_experts, np.bool_)

    def parameters(self) -> dict[str, Any]:
        return {"graph": "complete"}


class Subset(FeedbackGraph):
    """G^SUB (section 4.3): i -> j where j abstains wherever i does, so that a choice of i never hides j's loss."""

    kernel = kernels.RELATION
    by_rule = True

    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        rule_of = now.experts.rule_of
        return np.asarray(self.relation(now.experts)[rule_of[expert], rule_of])

    def relation(self, experts: ExpertSet) -> Bools:
        if experts.rule_subset is None:
            raise InputError(
                "graph: 'subset' needs the subset relation between the rules, which is not known for these experts; "
                "give it as rule_subset= when you make them, or use another graph"
            )
        return experts.rule_subset

    def parameters(self) -> dict[str, Any]:
        return {"graph": "subset"}


class Fixed(FeedbackGraph):
    """Any graph, as a matrix (K, K); see `fixed`."""

    kernel = kernels.RELATION

    def __init__(self, edges: ArrayLike) -> None:
        array = plain(edges, "matrix")
        if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
            raise InputError(f"matrix: expected shape (K, K), got {array.shape}")
        if not np.isin(array, (0, 1)).all():
            raise InputError("matrix: expected 0 or 1, False or True, got something else")
        self.edges: Bools = array.astype(np.bool_)

    def out_neighbours(self, expert: int, now: Moment) -> Bools:
        return np.array(self.edges[expert])

    def relation(self, experts: ExpertSet) -> Bools:
        if len(self.edges) != experts.n_experts:
            raise InputError(f"matrix: expected {experts.n_experts} experts, got {len(self.edges)}")
        return self.edges

    def parameters(self) -> dict[str, Any]:
        return {"graph": "fixed", "edges": self.edges}

    def __repr__(self) -> str:
        return f"Fixed({len(self.edges)} experts, {int(self.edges.sum())} edges)"
