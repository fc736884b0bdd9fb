"""Experts laid out in cells, once for all learners that share them."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..experts import ExpertSet
from ..kernels import state

_arranged: "WeakKeyDictionary[ExpertSet, dict[bool, tuple[Any, ...]]]" = WeakKeyDictionary()


def arrange(experts: ExpertSet, by_rule: bool) -> tuple[NDArray[np.int64], state.Layout, NDArray[np.int64]]:
    """The rules that are used, the experts in cells, and the cell of each expert; made once for a set."""
    known = _arranged.setdefault(experts, {})
    if by_rule not in known:
        used, rule_of = np.unique(experts.rule_of, return_inverse=True)
        places = state.layout(experts.predictor_of, rule_of, experts.n_predictors, by_rule)
        cell_of = np.empty(experts.n_experts, np.int64)
        cell_of[places.expert] = np.repeat(np.arange(len(places.rule)), np.diff(places.start))
        known[by_rule] = used, places, cell_of
    return known[by_rule]
