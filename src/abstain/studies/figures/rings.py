"""The paper's experts as we read it, and what the number of edges of UCB-GT's graph comes from."""

import math
from typing import NamedTuple

from ..study import Study


class Rings(NamedTuple):
    """Experts of each of so many predictors with each of so many rings, played for so many rounds."""

    n_predictors: int
    n_rings: int
    rounds: int

    @property
    def n_experts(self) -> int:
        """K."""
        return self.n_predictors * self.n_rings

    @property
    def edges_die_at_once(self) -> bool:
        """Whether UCB-GT's threshold, times K - 1 and t - 1, stays below one co-occurrence, for at most T updates."""
        return math.sqrt(5.0 * self.rounds * math.log(self.rounds)) < self.n_experts - 1


def rings_of(study: Study | None) -> Rings | None:
    """The experts of a study; None if they are others, or it is not known."""
    if study is None or study.experts.kind != "hyperplanes" or study.scale != "maxabs":
        return None
    made = study.experts.make(1, 0)
    given = study.experts.options
    if given.get("regions", "rings") != "rings" or given.get("always_predict", False):
        return None
    return Rings(made.n_predictors, made.n_rules, study.rounds)


def of_edges(rings: Rings | None) -> str:
    """Why the graph has as many edges as it has; nothing where that is not so."""
    if rings is None or not rings.edges_die_at_once:
        return ""
    return (
        f"At K = {rings.n_experts:,} and T = {rings.rounds:,} UCB-GT's threshold stays below one co-occurrence, so an "
        f"edge lives until its first violation, and with m empty rings the graph has {rings.n_predictors**2:,} "
        f"({rings.n_rings - 1} m + {rings.n_rings}) edges."
    )
