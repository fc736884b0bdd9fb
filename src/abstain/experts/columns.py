"""Experts that read their advice from the columns of x, and experts that are constant."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import MOST, as_count, as_floats, plain, trusted
from ..errors import InputError, shown
from ..kernels import passes
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, as_subset, nested


class Columns(ExpertSet):
    """Predictions in the first columns of x, margins in the columns after them; see `from_columns`."""

    kind = "columns"

    def __init__(
        self, n_predictors: int, n_rules: int, pairs: "str | ArrayLike", rule_subset: ArrayLike | None
    ) -> None:
        n_predictors = as_count(n_predictors, "n_predictors", most=MOST)
        n_rules = as_count(n_rules, "n_rules", most=MOST)
        super().__init__(n_predictors, n_rules, n_predictors + n_rules, pairs)
        self._subset = as_subset(rule_subset, n_rules)

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        return Advice(np.ascontiguousarray(X[:, : self.n_predictors]), X[:, self.n_predictors :] <= 0.0)

    def find_subset(self) -> Bools | None:
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
    """Make experts that read predictions and margins from x: rule a abstains if its margin is at most 0.

    Args:
        n_predictors: The number of predictions, which are the first columns of x.
        n_rules: The number of margins, which are the columns after the predictions.
        pairs: "product" (each predictor with each rule), "aligned" (predictor k with rule k) or an array of
            (predictor, rule).
        rule_subset: True at [i, j] if rule j abstains wherever rule i does; None if you do not know.

    Returns:
        The experts, for inputs with ``n_predictors + n_rules`` columns.

    Raises:
        InputError: A number is not a positive integer, or the pairs or the relation do not fit.

    >>> experts = from_columns(n_predictors=2, n_rules=1)
    >>> advice = experts.advise(np.array([[1.0, -1.0, 0.0]]))
    >>> advice.predictions, advice.abstains
    (array([[ 1., -1.]]), array([[ True]]))
    """
    return Columns(n_predictors, n_rules, pairs, rule_subset)


class Constants(ExpertSet):
    """Predictors that always say ``h[i]`` and rules that always say ``r[j]``, on inputs in a box.

    Args:
        dim: The number of features.
        h: The score of each predictor.
        r: The margin of each rule: it abstains everywhere if the margin is at most 0, else never.
        pairs: "product", "aligned" or an array of (predictor, rule), as in `from_columns`.
        low: The lower end of the box: a number, or one for each feature.
        high: The upper end of the box: a number, or one for each feature.

    Raises:
        InputError: A value is not a finite number, or an upper end is not above its lower end.
    """

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
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        h, silent = self._h[np.newaxis], (self._r <= 0.0)[np.newaxis]
        return Advice(h.repeat(len(X), axis=0), silent.repeat(len(X), axis=0))

    @property
    def values(self) -> tuple[Floats, Floats]:
        """The score h and the margin r of each expert, two arrays (K,)."""
        return self._h[self.predictor_of], self._r[self.rule_of]

    def find_subset(self) -> Bools:
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
"""Thresholds that every confidence exceeds, and that none does."""
LARGEST = 0.9995
"""The largest threshold below the one that never answers."""


def spaced(n: int, least: float) -> Floats:
    """Return n thresholds, equally spaced in the logit of the confidence except for the first and the last.

    >>> spaced(48, 0.5)[[0, 1, 2, -2, -1]].round(3)
    array([-1.   ,  0.54 ,  0.58 ,  0.999,  1.   ])
    """
    low, high = (np.log(p / (1.0 - p)) for p in (least, LARGEST))
    thresholds = 1.0 / (1.0 + np.exp(-np.linspace(low, high, n)))
    thresholds[0], thresholds[-1] = ALWAYS_ANSWER, ALWAYS_REVIEW
    return np.asarray(thresholds)


def as_thresholds(values: ArrayLike, name: str = "thresholds") -> Floats:
    """Check thresholds, or offsets: one or more finite numbers, as an array (n,)."""
    given = plain(values, name)
    if given.dtype.kind not in "fiu":
        raise InputError(f"{name}: expected numbers, got {given.dtype}")
    array = np.array(as_floats(given, name))
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all():
        raise InputError(f"{name}: expected one or more finite numbers, got {shown(values)}")
    return array


class Thresholds(ExpertSet):
    """Each model with each threshold; see `thresholds`."""

    kind = "thresholds"

    def __init__(self, n_models: int, thresholds: ArrayLike) -> None:
        n_models, self.thresholds = as_count(n_models, "n_models", most=MOST), as_thresholds(thresholds)
        per_model = len(self.thresholds)
        if n_models * per_model > MOST:
            raise InputError(f"expected at most {MOST} experts, got {n_models} models with {per_model} thresholds each")
        rule = np.arange(n_models * per_model)
        super().__init__(n_models, len(rule), n_models, np.column_stack([rule // per_model, rule]))

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        abstains = np.empty((len(X), self.n_rules), np.bool_)
        passes.thresholds(X, self.thresholds, abstains)
        return Advice(X, abstains)

    def find_subset(self) -> Bools:
        widths = np.tile(self.thresholds, self.n_predictors)
        return nested(-widths, widths, self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        return {"n_models": self.n_predictors, "thresholds": self.thresholds}


def thresholds(n_models: int, thresholds: ArrayLike) -> Thresholds:
    """Make experts for models with signed scores: they abstain if ``|score| <= threshold``.

    Expert ``m * n_thresholds + k`` follows model m with threshold k.

    Args:
        n_models: The number of models; column m of x is the score of model m.
        thresholds: The thresholds of every model; a negative one never abstains.

    Returns:
        The experts, for inputs with ``n_models`` columns.

    Raises:
        InputError: ``n_models`` is not a positive integer, or a threshold is not a finite number.

    >>> experts = thresholds(n_models=2, thresholds=[0.1, 0.5])
    >>> experts.advise(np.array([[0.3, -0.7]])).abstains
    array([[False,  True, False, False]])
    """
    return Thresholds(n_models, thresholds)
