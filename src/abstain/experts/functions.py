"""Experts that are Python functions, or fitted classifiers."""

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

    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        predictions = plain([[h(x) for h in self._predictors] for x in X], "predictors")
        return Advice(predictions, _finite([[r(x) for r in self._rules] for x in X], "rules") <= 0.0)

    def find_subset(self) -> Bools | None:
        return self._subset

    def parameters(self) -> dict[str, Any]:
        return {"rule_subset": self._subset}


def _distinct(functions: list[Any]) -> tuple[list[Any], list[int]]:
    """Return the distinct functions, and the index of each given function among them."""
    unique = {id(function): function for function in functions}
    place = {key: k for k, key in enumerate(unique)}
    return list(unique.values()), [place[id(function)] for function in functions]


def _finite(values: ArrayLike, name: str) -> Floats:
    numbers = as_floats(values, name)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name}: expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    return numbers


def from_functions(pairs: Sequence[tuple[Predictor, Rule]], rule_subset: ArrayLike | None = None) -> Functions:
    """Make experts from pairs of functions (h, r) of one input.

    A function that occurs in several pairs is one predictor or one rule. Rules are numbered as they first occur.

    Args:
        pairs: Pairs (h, r): h maps an input (d,) to a score or a class; r maps it to a margin, and the expert abstains
            if the margin is at most 0.
        rule_subset: True at [i, j] if rule j abstains wherever rule i does; None if you do not know.

    Returns:
        The experts. A learner's file does not hold functions: give the experts to `abstain.load` again.

    Raises:
        InputError: The pairs are not pairs of functions, or the relation does not fit.

    >>> h, confident, always = (lambda x: x[0]), (lambda x: abs(x[0]) - 0.5), (lambda x: 1.0)
    >>> from_functions([(h, confident), (h, always)])
    <functions: 2 experts, 1 predictors, 2 rules>
    """
    return Functions(pairs, rule_subset)


class Estimators(ExpertSet):
    """Each classifier with each threshold; see `from_estimators`."""

    kind = "estimators"
    portable = False

    def __init__(self, models: Sequence[Any], thresholds: ArrayLike) -> None:
        if not isinstance(models, Sequence) or not models:
            raise InputError(f"models: expected one or more fitted classifiers, got {shown(models)}")
        for model in models:
            if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
                raise InputError(f"models: expected fitted classifiers with predict_proba, got {shown(model)}")
        self.models, self.thresholds = list(models), as_thresholds(thresholds)
        n_models, per_model = len(models), len(self.thresholds)
        if n_models * per_model > MOST:
            raise InputError(f"expected at most {MOST} experts, got {n_models} models with {per_model} thresholds each")
        rule = np.arange(n_models * per_model)
        features = getattr(models[0], "n_features_in_", None)
        super().__init__(n_models, len(rule), features, np.column_stack([rule // per_model, rule]))

    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        tables = [self._probabilities(model, X) for model in self.models]
        said = [
            np.asarray(model.classes_)[table.argmax(axis=1)] for model, table in zip(self.models, tables, strict=True)
        ]
        confidence = np.column_stack([table.max(axis=1) for table in tables])
        abstains = confidence[:, :, np.newaxis] <= self.thresholds
        return Advice(np.column_stack(said), abstains.reshape(len(X), -1))

    def _probabilities(self, model: Any, X: Floats) -> Floats:
        table = as_floats(model.predict_proba(X), "predict_proba")
        expected = f"predict_proba: expected probabilities of {len(model.classes_)} classes"
        if table.shape != (len(X), len(model.classes_)):
            raise InputError(f"{expected} for {len(X)} inputs, got shape {table.shape}")
        wrong = ~((table >= 0.0) & (table <= 1.0 + 1e-9))
        if wrong.any():
            raise InputError(f"{expected}, got {table[wrong][0]}")
        return table

    def find_subset(self) -> Bools:
        thresholds = np.tile(self.thresholds, self.n_predictors)
        return nested(np.full(self.n_rules, -np.inf), thresholds, self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        classes = [np.asarray(model.classes_).tolist() for model in self.models]
        return {"thresholds": self.thresholds, "classes": classes}


def from_estimators(models: Sequence[Any], thresholds: ArrayLike) -> Estimators:
    """Make experts from fitted classifiers, such as scikit-learn's: they abstain if the largest probability is at most
    the threshold.

    Expert ``m * n_thresholds + k`` follows model m with threshold k. Predictions are classes: use the loss "zero_one"
    for the classes -1 and +1 and "multiclass" for any others.

    A learner's file does not hold the models: give them again, ``ab.load(path, experts=from_estimators(...))``. If the
    last bits of a model's probabilities for a row depend on how many rows it is asked about at once, `simulate` and
    `decide` may differ on rows that lie on a threshold.

    Args:
        models: Fitted classifiers with ``predict_proba`` and ``classes_``; x holds their features.
        thresholds: The thresholds of every model; a negative one never abstains.

    Returns:
        The experts.

    Raises:
        InputError: A model has no ``predict_proba`` or ``classes_``, or a threshold is not a finite number.

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
