"""How experts lie in the arrays of learners, found once for all learners that share them."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..experts import ExpertSet
from ..kernels.layout import Layout, layout
from ..typing import Ints
from .loop import Pairs

_known: "WeakKeyDictionary[ExpertSet, dict[Any, Any]]" = WeakKeyDictionary()


def rules_in_use(experts: ExpertSet) -> tuple[Ints | None, Pairs]:
    """The rules that experts use (None: all), and the pairs, with rules numbered among those."""
    known = _known.setdefault(experts, {})
    if "rules" not in known:
        used, rule = np.unique(experts.rule_of, return_inverse=True)
        pairs = Pairs(experts.predictor_of.copy(), rule.astype(np.int64))
        known["rules"] = None if len(used) == experts.n_rules else used, pairs
    rules: tuple[Ints | None, Pairs] = known["rules"]
    return rules


def arrange(experts: ExpertSet, by_rule: bool = True) -> Layout:
    """The experts in teams, by rule or one by one."""
    known = _known.setdefault(experts, {})
    if by_rule not in known:
        pairs = rules_in_use(experts)[1]
        known[by_rule] = layout(pairs.predictor, pairs.rule, experts.n_predictors, by_rule)
    teams: Layout = known[by_rule]
    return teams
