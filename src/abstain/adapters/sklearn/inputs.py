"""What scikit-learn's users hand over: tables, labels, estimators."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...errors import InputError, shown
from ...typing import Array, Floats, Ints
from ..naming import named

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, *, X: Any, reset: bool, skip_check_array: bool) -> None:
        """Names and number of the features: keep them, or check them."""
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)


def note_features(estimator: Any, X: Any, reset: bool) -> None:
    """Keep, or check, the names and the number of the features; the estimators look at the values."""
    if getattr(X, "ndim", 2) != 2:
        raise InputError(
            "X: expected a table (n, d), got another shape. Reshape your data: one row is X.reshape(1, -1)"
        )
    validate_data(estimator, X=X, reset=reset, skip_check_array=True)


def as_estimators(given: Any, random_state: int) -> list[tuple[str, Any]]:
    """Named estimators that have probabilities."""
    if given is None:
        forest = RandomForestClassifier(random_state=random_state)
        given = [("linear", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))), ("forest", forest)]
    if not isinstance(given, (list, tuple)) or not given:
        raise InputError(f"estimators: expected a list of estimators, or of (name, estimator), got {shown(given)}")
    pairs = list(given) if all(isinstance(one, tuple) and len(one) == 2 for one in given) else named(given)
    for name, one in pairs:
        if isinstance(one, type) or not hasattr(one, "predict_proba"):
            raise InputError(
                f"estimators: expected classifiers with predict_proba, got {shown(one)} as {name!r}; "
                "CalibratedClassifierCV gives it one"
            )
    return pairs


def split(y: Array, share: Any) -> tuple[Ints, Ints]:
    """The rows that estimators are fitted on, and those held out for the gate, both in order.

    Of each class its last rows are held out, as in time; every class keeps at least one row to be fitted on.

    >>> [rows.tolist() for rows in split(np.array([0, 0, 1, 0, 1, 0]), 0.5)]
    [[0, 1, 2], [3, 4, 5]]
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 < share < 1.0:
        raise InputError(f"holdout: expected a share of the rows between 0 and 1, got {shown(share)}")
    held = np.zeros(len(y), np.bool_)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        fitted = max(1, round((1.0 - share) * len(rows)))
        held[rows[fitted:]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def probabilities(estimator: Any, X: Any, classes: Array) -> Floats:
    """Of all classes (n, C); 0 for those that the estimator does not know."""
    own = estimator.predict_proba(X)
    if len(estimator.classes_) == len(classes) and (estimator.classes_ == classes).all():
        return np.asarray(own, np.float64)
    table = np.zeros((len(own), len(classes)))
    place = {label: k for k, label in enumerate(classes.tolist())}
    for column, label in zip(np.asarray(own).T, np.asarray(estimator.classes_).tolist(), strict=True):
        if label not in place:
            raise InputError(f"estimators: expected the classes {shown(classes.tolist())}, got one that says {label!r}")
        table[:, place[label]] = column
    return table


def columns(names: Sequence[str], tables: Sequence[Floats], classes: Array) -> dict[str, list[Any]]:
    """What the models say in each row, as `abstain.Gate` takes it."""
    said: dict[str, list[Any]] = {}
    for name, table in zip(names, tables, strict=True):
        said[name] = classes[table.argmax(axis=1)].tolist()
        said[f"{name}_confidence"] = np.clip(table.max(axis=1), 0.0, 1.0).tolist()
    return said
