"""Experts whose advice is in the columns of x."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..tables import MOST, as_count
from ..trust import trusted
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, as_subset


class Columns(ExpertSet):
    """Predictions in the first columns of x, margins in those after; see `from_columns`."""

    kind = "columns"

    def __init__(
        self, n_predictors: int, n_rules: int, pairs: "str | ArrayLike", rule_subset: ArrayLike | None
    ) -> None:
        n_predictors = as_count(n_predictors, "n_predictors", most=MOST)
        n_rules = as_count(n_rules, "n_rules", most=MOST)
        super().__init__(n_predictors, n_rules, n_predictors + n_rules, pairs)
        self._subset = as_subset(rule_subset, n_rules)

    @trusted
    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        return Advice(np.ascontiguousarray(X[:, : self.n_predictors]), X[:, self.n_predictors :] <= 0.0)

    def _find_subset(self) -> Bools | None:
        return self._subset

    def parameters(self) -> dict[str, Any]:
        return {
            "n_predictors": self.n_predictors,
            "n_rules": self.n_rules,
            "pairs": np.column_stack([self.predictor_of, self.rule_of]),
            "rule_subset": self._subset,
        }


def from_columns(
    n_predictors: int, n_rules: int, pairs: "str | ArrayLike" = "product", rule_subset: ArrayLike | None = None
) -> Columns:
    """Experts that read predictions and margins from x: rule a abstains where its margin is <= 0.

    Args:
        n_predictors: How many of the first columns are predictions.
        n_rules: How many of the columns after them are margins.
        pairs: "product" (each predictor with each rule), "aligned" (predictor k with rule k) or an array of
            (predictor, rule).
        rule_subset: Where [i, j] is true, rule j abstains wherever rule i does.

    >>> experts = from_columns(n_predictors=2, n_rules=1)
    >>> advice = experts.advise(np.array([[1.0, -1.0, 0.0]]))
    >>> advice.predictions, advice.abstains
    (array([[ 1., -1.]]), array([[ True]]))
    """
    return Columns(n_predictors, n_rules, pairs, rule_subset)
