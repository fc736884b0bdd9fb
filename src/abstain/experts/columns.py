"""Experts whose advice is in the columns of x."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import MOST, as_count, as_floats, plain, trusted
from ..errors import InputError, shown
from ..kernels import passes
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, as_subset, nested


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


class Constants(ExpertSet):
    """Predictors that always say ``h[i]`` and rules that always say ``r[j]``, on inputs in a box."""

    kind = "constants"

    def __init__(
        self, dim: int, h: ArrayLike, r: ArrayLike, pairs: "str | ArrayLike", low: ArrayLike, high: ArrayLike
    ) -> None:
        self._h, self._r = (np.array(as_floats(values, name)) for values, name in ((h, "h"), (r, "r")))
        for values, name in ((self._h, "h"), (self._r, "r")):
            if values.ndim != 1 or not np.isfinite(values).all():
                raise InputError(f"{name}: expected finite numbers (n,), got {shown(values)}")
        self._pairs = pairs if isinstance(pairs, str) else np.array(plain(pairs, "pairs"))
        dim = as_count(dim, "dim", most=MOST)
        super().__init__(len(self._h), len(self._r), dim, pairs)
        got = f"got {shown(low)} and {shown(high)}"
        try:
            self.low, self.high = (np.broadcast_to(as_floats(end, "domain"), (dim,)) for end in (low, high))
        except ValueError:
            raise InputError(f"domain: expected two ends, numbers or {dim} each, {got}") from None
        if not (np.isfinite(self.low) & np.isfinite(self.high) & (self.low < self.high)).all():
            raise InputError(f"domain: expected finite ends, each low one below its high one, {got}")

    @trusted
    def check_inputs(self, X: Floats) -> None:
        outside = (self.low > X) | (self.high < X)
        if outside.any():
            i, k = np.argwhere(outside)[0]
            expected = f"[{self.low[k]:g}, {self.high[k]:g}]"
            raise InputError(f"x: expected inputs in the domain, {expected} in column {k}, got {X[i, k]} in row {i}")

    @trusted
    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        silent = np.broadcast_to(self._r <= 0.0, (len(X), self.n_rules))
        return Advice(np.tile(self._h, (len(X), 1)), silent)

    @property
    def values(self) -> tuple[Floats, Floats]:
        """(h, r) of each expert."""
        return self._h[self.predictor_of], self._r[self.rule_of]

    def _find_subset(self) -> Bools:
        silent = self._r <= 0.0
        return np.asarray(~silent[:, np.newaxis] | silent[np.newaxis])

    def parameters(self) -> dict[str, Any]:
        return {
            "dim": self.n_features,
            "h": self._h,
            "r": self._r,
            "pairs": self._pairs,
            "low": np.array(self.low),
            "high": np.array(self.high),
        }


ALWAYS_ANSWER, ALWAYS_REVIEW = -1.0, 1.0
"""Every confidence is above the first, none is above the second."""
LARGEST = 0.9995
"""The largest threshold but for the one that never answers."""


def spaced(n: int, least: float) -> Floats:
    """As many thresholds as n says, equally spaced in the logit of the confidence, but for the first and the last.

    >>> spaced(48, 0.5)[[0, 1, 2, -2, -1]].round(3)
    array([-1.   ,  0.54 ,  0.58 ,  0.999,  1.   ])
    """
    low, high = (np.log(p / (1.0 - p)) for p in (least, LARGEST))
    levels = 1.0 / (1.0 + np.exp(-np.linspace(low, high, n)))
    levels[0], levels[-1] = ALWAYS_ANSWER, ALWAYS_REVIEW
    return np.asarray(levels)


def as_thresholds(values: ArrayLike, name: str = "thresholds") -> Floats:
    """Thresholds, or offsets, as an array (n,), n > 0, of finite numbers."""
    given = plain(values, name)
    if given.dtype.kind not in "fiu":
        raise InputError(f"{name}: expected numbers, got {given.dtype}")
    array = np.array(as_floats(given, name))
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError(f"{name}: expected one or more finite numbers, got {shown(values)}")
    return array


class Thresholds(ExpertSet):
    """Every model with every threshold; see `thresholds`."""

    kind = "thresholds"

    def __init__(self, n_models: int, levels: ArrayLike) -> None:
        n_models, levels = as_count(n_models, "n_models", most=MOST), as_thresholds(levels)
        if n_models * len(levels) > MOST:
            raise InputError(
                f"expected at most {MOST} experts, got {n_models} models with {len(levels)} thresholds each"
            )
        rule = np.arange(n_models * len(levels))
        super().__init__(n_models, len(rule), n_models, np.column_stack([rule // len(levels), rule]))
        self.levels = levels

    @trusted
    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        abstains = np.empty((len(X), self.n_rules), np.bool_)
        passes.thresholds(X, self.levels, abstains)
        return Advice(X, abstains)

    def _find_subset(self) -> Bools:
        levels = np.tile(self.levels, self.n_predictors)
        return nested(-levels, levels, self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        return {"n_models": self.n_predictors, "levels": self.levels}


def thresholds(n_models: int, thresholds: ArrayLike) -> Thresholds:
    """Experts for models whose signed scores are the columns of x: abstain where ``|score| <= threshold``.

    Expert ``m * n_thresholds + k`` follows model m with threshold k.

    Args:
        n_models: How many, a column each.
        thresholds: Those of every model; a negative one never abstains.

    >>> experts = thresholds(n_models=2, thresholds=[0.1, 0.5])
    >>> experts.advise(np.array([[0.3, -0.7]])).abstains
    array([[False,  True, False, False]])
    """
    return Thresholds(n_models, thresholds)
