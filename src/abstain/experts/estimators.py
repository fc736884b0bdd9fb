"""Fitted classifiers that are trusted only where they are certain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from ..tables import MOST, as_floats
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, nested
from .thresholds import as_thresholds


class Estimators(ExpertSet):
    """Every classifier with every threshold; see `from_estimators`."""

    kind = "estimators"
    portable = False

    def __init__(self, models: Sequence[Any], levels: ArrayLike) -> None:
        if not isinstance(models, Sequence) or not models:
            raise InputError(f"models: expected one or more fitted classifiers, got {shown(models)}")
        for model in models:
            if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
                raise InputError(f"models: expected fitted classifiers with predict_proba, got {shown(model)}")
        self.models, self.levels = list(models), as_thresholds(levels)
        if len(models) * len(self.levels) > MOST:
            raise InputError(
                f"expected at most {MOST} experts, got {len(models)} models with {len(self.levels)} thresholds each"
            )
        rule = np.arange(len(models) * len(self.levels))
        features = getattr(models[0], "n_features_in_", None)
        super().__init__(len(models), len(rule), features, np.column_stack([rule // len(self.levels), rule]))

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        tables = [self._probabilities(model, X) for model in self.models]
        said = [
            np.asarray(model.classes_)[table.argmax(axis=1)] for model, table in zip(self.models, tables, strict=True)
        ]
        confidence = np.column_stack([table.max(axis=1) for table in tables])
        abstains = confidence[:, :, np.newaxis] <= self.levels
        return Advice(np.column_stack(said), abstains.reshape(len(X), -1))

    def _probabilities(self, model: Any, X: Floats) -> Floats:
        table = as_floats(model.predict_proba(X), "predict_proba")
        if table.shape != (len(X), len(model.classes_)) or not ((table >= 0.0) & (table <= 1.0 + 1e-9)).all():
            raise InputError(f"predict_proba: expected probabilities of {len(model.classes_)} classes, got others")
        return table

    def _find_subset(self) -> Bools:
        levels = np.tile(self.levels, self.n_predictors)
        return nested(np.full(self.n_rules, -np.inf), levels, self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        return {"levels": self.levels, "classes": [np.asarray(model.classes_).tolist() for model in self.models]}


def from_estimators(models: Sequence[Any], thresholds: ArrayLike) -> Estimators:
    """Experts for fitted classifiers as scikit-learn's: x are their features, and they abstain where the largest of
    their probabilities is <= threshold.

    Expert ``m * n_thresholds + k`` follows model m with threshold k; a negative threshold never abstains. Predictions
    are classes: the loss "zero_one" is for classes -1 and +1, "multiclass" for any other.

    A file of a learner does not hold the models: give them again, ``ab.load(path, experts=from_estimators(...))``.
    Where a model's probabilities for a row depend in their last bits on how many rows it is asked about at once,
    `simulate` may differ from `decide` on rows that lie on a threshold.

    >>> class Sign:
    ...     classes_ = np.array([-1, 1])
    ...     def predict_proba(self, X):
    ...         p = 1.0 / (1.0 + np.exp(-X[:, 0]))
    ...         return np.column_stack([1.0 - p, p])
    >>> experts = from_estimators([Sign()], thresholds=[-1.0, 0.8])
    >>> advice = experts.advise(np.array([[0.5], [-3.0]]))
    >>> advice.predictions.tolist(), advice.abstains.tolist()
    ([[1], [-1]], [[False, True], [False, False]])
    """
    return Estimators(models, thresholds)
