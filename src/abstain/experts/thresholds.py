"""Models' signed scores that are trusted only where they are large."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..kernels import passes
from ..tables import MOST, as_count, as_floats, plain
from ..trust import trusted
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, nested


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
