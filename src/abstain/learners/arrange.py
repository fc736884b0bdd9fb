"""Experts laid out in teams, once for all learners that share them."""

from weakref import WeakKeyDictionary

from ..experts import ExpertSet
from ..kernels.layout import Layout, layout
from ..typing import Ints

_arranged: "WeakKeyDictionary[ExpertSet, dict[bool, Layout]]" = WeakKeyDictionary()


def arrange(experts: ExpertSet, rule_of: Ints, by_rule: bool) -> Layout:
    """The experts in teams, by rule or one by one; ``rule_of`` numbers the rules in use."""
    known = _arranged.setdefault(experts, {})
    if by_rule not in known:
        known[by_rule] = layout(experts.predictor_of, rule_of, experts.n_predictors, by_rule)
    return known[by_rule]
