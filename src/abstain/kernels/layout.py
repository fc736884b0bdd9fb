"""Where experts lie in the arrays of a learner.

Experts that are always updated together form a *team* and share their counts: for a graph between rules a team is all
experts of one rule, for a graph between experts every expert is a team of its own. The experts of a team lie next to
each other in *slots*.
"""

from typing import NamedTuple

import numpy as np

from ..typing import Ints

CHUNK = 64
"""Teams, or experts, searched or summed together."""


class Layout(NamedTuple):
    """Which expert sits where; never changes."""

    start: Ints  # (G + 1,) the first slot of each team
    predictor: Ints  # (K,) of each slot
    expert: Ints  # (K,) of each slot, increasing within a team
    team: Ints  # (K,) of each expert
    rule: Ints  # (G,) of each team
    run: Ints  # (R + 1,) where runs of slots with one predictor begin
    alone: bool  # every team is one expert
    product: bool  # every team has all predictors, in order
    own_rules: bool  # team i is all experts of rule i


def layout(predictor_of: Ints, rule_of: Ints, n_predictors: int, by_rule: bool) -> Layout:
    """Lay out experts in teams, by rule or one by one; ``rule_of`` must use every rule from 0 on."""
    n_experts = len(rule_of)
    team = rule_of if by_rule else np.arange(n_experts)
    expert = np.argsort(team, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(team))])
    predictor = predictor_of[expert]
    n_teams = len(start) - 1
    whole_teams = bool(np.all(np.diff(start) == n_predictors))
    product = whole_teams and bool(np.all(predictor == np.tile(np.arange(n_predictors), n_teams)))
    return Layout(
        start=start,
        predictor=predictor,
        expert=expert,
        team=np.array(team),
        rule=rule_of[expert[start[:-1]]],
        run=np.append(np.flatnonzero(np.diff(predictor, prepend=-1)), n_experts),
        alone=n_teams == n_experts,
        product=product,
        own_rules=by_rule or bool(np.array_equal(rule_of, np.arange(n_experts))),
    )
