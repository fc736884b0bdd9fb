"""Experts that are pairs of Python functions."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import MOST, as_floats, plain
from ..errors import InputError, shown
from ..typing import Bools, Floats
from .base import Advice, ExpertSet, as_subset, nested
from .columns import as_thresholds

Predictor: TypeAlias = Callable[[Floats], Any]
Rule: TypeAlias = Callable[[Floats], float]


class Functions(ExpertSet):
    """Pairs of functions of one input; see `from_functions`."""

    kind = "functions"
    portable = False

    def __init__(self, pairs: Sequence[tuple[Predictor, Rule]], rule_subset: ArrayLike | None) -> None:
        if not isinstance(pairs, Sequence) or not pairs:
            raise InputError(f"pairs: expected at least one (h, r), got {shown(pairs)}")
        for pair in pairs:
            if not (isinstance(pair, Sequence) and len(pair) == 2 and all(callable(part) for part in pair)):
                raise InputError(f"pairs: expected pairs of functions (h, r), got {shown(pair)}")
        self._predictors, predictor_of = _distinct([h for h, _ in pairs])
        self._rules, rule_of = _distinct([r for _, r in pairs])
        super().__init__(len(self._predictors), len(self._rules), None, np.column_stack([predictor_of, rule_of]))
        self._subset = as_subset(rule_subset, self.n_rules)

    def _advise(self, X: Floats, out: Floats | None = None) -> Advice:
        predictions = plain([[h(x) for h in self._predictors] for x in X], "predictors")
        return Advice(predictions, _finite([[r(x) for r in self._rules] for x in X], "rules") <= 0.0)

    def _find_subset(self) -> Bools | None:
        return self._subset

    def parameters(self) -> dict[str, Any]:
        return {"rule_subset": self._subset}


def _distinct(functions: list[Any]) -> tuple[list[Any], list[int]]:
    """The functions without repetition, and where each is among them."""
    unique = {id(function): function for function in functions}
    place = {key: k for k, key in enumerate(unique)}
    return list(unique.values()), [place[id(function)] for function in functions]


def _finite(values: ArrayLike, name: str) -> Floats:
    numbers = as_floats(values, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def from_functions(pairs: Sequence[tuple[Predictor, Rule]], rule_subset: ArrayLike | None = None) -> Functions:
    """Experts ``(h, r)``: each function takes one input (d,); h gives a score or a class, r <= 0 abstains.

    A function that occurs in several pairs is one predictor or one rule. Rules are numbered as they first occur.

    >>> h, confident, always = (lambda x: x[0]), (lambda x: abs(x[0]) - 0.5), (lambda x: 1.0)
    >>> from_functions([(h, confident), (h, always)])
    <functions: 2 experts, 1 predictors, 2 rules>
    """
    return Functions(pairs, rule_subset)


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
