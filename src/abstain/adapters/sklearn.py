"""The gate as a classifier of scikit-learn."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

try:
    from sklearn.base import ClassifierMixin, clone
except ImportError:
    raise ImportError('abstain.adapters.sklearn needs scikit-learn: pip install "abstain[sklearn]"') from None
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, assert_all_finite, check_random_state, indexable
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from ..capacity import CapacityLike
from ..errors import AbstainError, InputError, shown
from ..experts.columns import ALWAYS_REVIEW
from ..gate import Gate
from ..gate.frames import table_of
from ..learners import DoublyRobust
from ..typing import Array, Bools, Floats, Ints
from . import COST, named

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, *, X: Any, reset: bool, skip_check_array: bool) -> None:
        """Keep, or check, the names and the number of the features."""
        estimator._check_feature_names(X, reset=reset)
        estimator._check_n_features(X, reset=reset)


__all__ = ["GateClassifier"]


def note_features(estimator: Any, X: Any, reset: bool) -> None:
    """Keep, or check, the names and the number of the features; the estimators check the values."""
    if getattr(X, "ndim", 2) != 2:
        raise InputError(
            f"X: expected a table (n, d), got shape {X.shape}. Reshape your data: one row is X.reshape(1, -1)"
        )
    validate_data(estimator, X=X, reset=reset, skip_check_array=True)


def as_estimators(given: Any, random_state: int) -> list[tuple[str, Any]]:
    """Return named estimators; raise an `InputError` unless all have probabilities."""
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
    """Return the rows to fit the estimators on, and those held out for the gate, both in order.

    The last rows of each class are held out; every class keeps at least one row to fit on.

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
    """Return the probabilities of all classes (n, C); 0 for those that the estimator does not know."""
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
    """Return what the models say in each row, as columns for `abstain.Gate`."""
    said: dict[str, list[Any]] = {}
    for name, table in zip(names, tables, strict=True):
        said[name] = classes[table.argmax(axis=1)].tolist()
        said[f"{name}_confidence"] = np.clip(table.max(axis=1), 0.0, 1.0).tolist()
    return said


class GateClassifier(ClassifierMixin, _BaseComposition):  # type: ignore[misc]
    """Classifiers behind an `abstain.Gate`, which learns which of them to follow, and from which confidence on.

    ``fit`` fits the estimators on a part of the rows; the gate learns from what they say on the others, in order.
    ``predict`` draws nothing and changes nothing: it follows the model and the threshold with the largest weight.
    ``decide`` is the gate's own: it draws, keeps within the capacity, and returns cases that can be learnt.

    Args:
        estimators: A list of classifiers with ``predict_proba``, or of pairs of a name and a classifier; a linear model
            and a forest if none are given.
        cost: The price of a review if a mistake costs 1; 0.2 if no price is given.
        review_price: The price of a review, in your money.
        mistake_price: The price of a mistake, or prices by kind, as in `abstain.Gate`.
        abstain_label: What ``predict`` returns for cases that should be reviewed; with None it always answers.
        prefit: Whether the estimators are fitted already; then the gate learns from all rows of ``fit``.
        holdout: The share of the rows of each class, the last ones, that the gate learns from.
        labels: Which labels come back, as in `abstain.Gate`.
        thresholds: The thresholds of each model, as in `abstain.Gate`.
        capacity: A limit on reviews, as in `abstain.Gate`.
        learner: The learner inside, as in `abstain.Gate`.
        random_state: The seed of the gate and the default estimators.

    Attributes:
        gate_: The gate itself.
        estimators_: The fitted estimators.
        classes_: The classes.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    >>> model = GateClassifier(models, cost=0.1, abstain_label=-1).fit(X[:400], y[:400])
    >>> model.predict(X[400:410])
    array([ 0,  1,  1,  1,  1,  1, -1,  1,  0,  1])
    """

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        cost: float | None = None,
        review_price: float | None = None,
        mistake_price: "float | Mapping[Any, float] | None" = None,
        abstain_label: Any = None,
        prefit: bool = False,
        holdout: float = 0.3,
        labels: "str | tuple[float, float]" = "answered",
        thresholds: Any = 48,
        capacity: CapacityLike = None,
        learner: Any = DoublyRobust,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cost = cost
        self.review_price = review_price
        self.mistake_price = mistake_price
        self.abstain_label = abstain_label
        self.prefit = prefit
        self.holdout = holdout
        self.labels = labels
        self.thresholds = thresholds
        self.capacity = capacity
        self.learner = learner
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters.

        Args:
            deep: Whether to return those of named estimators, too.
        """
        return dict(self._get_params("estimators", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters.

        Args:
            **params: Their values; those of named estimators as ``name__parameter``.

        Returns:
            The classifier itself.
        """
        self._set_params("estimators", **params)
        return self

    # Learning.

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the estimators on a part of the rows; the gate learns from the others.

        Args:
            X: The features (n, d).
            y: The classes (n,).

        Returns:
            The classifier itself.

        Raises:
            InputError: If a parameter is out of range, or y does not fit X.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, classes: Any) -> Self:
        y = self._targets(X, y)
        note_features(self, X, reset=True)
        (table,) = indexable(X)
        rng = check_random_state(self.random_state)
        named = as_estimators(self.estimators, rng.randint(2**31 - 1))
        self._validate_names([name for name, _ in named])
        self.classes_ = np.unique(y if classes is None else classes)
        if not np.isin(y, self.classes_).all():
            unknown = y[~np.isin(y, self.classes_)][0]
            raise InputError(f"y: expected labels among the classes, got {shown(unknown)}")
        if len(self.classes_) < 2:
            raise InputError(f"y: expected two classes or more, got {len(self.classes_)} class")
        every = np.arange(len(y))
        fitted, held = (every[:0], every) if self.prefit else split(y, self.holdout)
        self.estimators_ = [
            one if self.prefit else clone(one).fit(_safe_indexing(table, fitted), y[fitted]) for _, one in named
        ]
        self.gate_ = self._new_gate([name for name, _ in named], rng.randint(2**31 - 1))
        if len(held) > 0:
            self._warm(_safe_indexing(table, held), y[held])
        return self

    def _new_gate(self, names: list[str], seed: int) -> Gate:
        cost = COST if self.cost is None and self.review_price is None else self.cost
        return Gate(
            names, cost=cost, review_price=self.review_price, mistake_price=self.mistake_price,
            classes=self.classes_.tolist(), labels=self.labels, thresholds=self.thresholds, capacity=self.capacity,
            learner=self.learner, seed=seed,
        )  # fmt: skip

    def _warm(self, X: Any, y: Array) -> None:
        self.gate_.warm_start({**self._said(X), "label": y.tolist()})

    def _targets(self, X: Any, y: Any) -> Array:
        if y is None:
            raise InputError("y: expected labels: requires y to be passed, but the target y is None")
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        if len(y) == 0 or len(y) != _num_samples(X):
            raise InputError(f"y: expected a label for each of {_num_samples(X)} rows, one or more, got {len(y)}")
        return np.asarray(y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Let the gate learn from more labelled rows; the estimators stay. The first call fits, if `fit` did not.

        Before the first `decide` the gate learns from all labels. After it, the gate decides on the rows one after the
        other, and learns the labels that come back according to ``labels``.

        Args:
            X: The features (n, d).
            y: The classes (n,).
            classes: All classes, for the first call; those in y unless given.

        Returns:
            The classifier itself.

        Raises:
            InputError: If y does not fit X.
        """
        if not hasattr(self, "gate_"):
            return self._fit(X, y, classes)
        y = self._targets(X, y)
        if self.gate_.round == 0:
            self._warm(X, y)
            return self
        block = self.gate_._as_block({**self._said(X), "label": y.tolist()})
        with self.gate_._playing() as play:
            play(block)
        return self

    # Answers.

    def _tables(self, X: Any) -> list[Floats]:
        """Return the probabilities by each estimator."""
        check_is_fitted(self)
        note_features(self, X, reset=False)
        return [probabilities(one, X, self.classes_) for one in self.estimators_]

    def _said(self, X: Any) -> dict[str, list[Any]]:
        return columns(self.gate_.models, self._tables(X), self.classes_)

    def _follow(self, X: Any) -> tuple[Floats, Bools]:
        """Return the probabilities by the model with the largest weight, and which rows are below its threshold."""
        tables, policy = self._tables(X), self.gate_._policy()
        threshold = policy.rows()[0].threshold
        table = tables[policy.models.index(policy.answering()[0])]
        return table, table.max(axis=1) <= (ALWAYS_REVIEW if threshold is None else threshold)

    def predict(self, X: Any) -> Array:
        """Predict with the model and the threshold of the largest weight. Nothing is drawn, nothing changes.

        Args:
            X: The features (n, d).

        Returns:
            The classes (n,); ``abstain_label``, unless it is None, for rows that should be reviewed.
        """
        table, reviewed = self._follow(X)
        best = table.argmax(axis=1)
        if self.abstain_label is None:
            return np.asarray(self.classes_[best])
        labels = np.append(self.classes_, self.abstain_label)
        own = np.asarray(self.abstain_label).dtype.kind
        if {own, labels.dtype.kind} != {self.classes_.dtype.kind}:  # a text beside numbers: both stay what they are
            labels = np.array([*self.classes_.tolist(), self.abstain_label], object)
        return np.asarray(labels[np.where(reviewed, len(self.classes_), best)])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities by the model that `predict` follows, for rows that should be reviewed, too.

        Args:
            X: The features (n, d).

        Returns:
            The probabilities of the classes (n, C).
        """
        return self._follow(X)[0]

    def decide(self, X: Any) -> Any:
        """Decide on the rows, one after the other, like `abstain.Gate.decide_many`.

        Args:
            X: The features (n, d).

        Returns:
            A frame with one row per case: of pandas, with the index of X, if X is a frame of pandas; else of Polars.

        Raises:
            ImportError: If a frame of Polars is to be returned, and Polars is not installed.
        """
        check_is_fitted(self)
        if type(X).__module__.split(".")[0] == "pandas":
            import pandas as pd

            return pd.DataFrame(table_of(self.gate_._decide_rows(self._said(X))), index=X.index)
        return self.gate_.decide_many(self._said(X))

    def learn(self, cases: Any, y: Iterable[Any], source: str | None = None) -> Self:
        """Learn the true labels of cases. If one cannot be learnt, none is.

        Args:
            cases: A frame that `decide` returned, some of its rows, or a list of cases.
            y: Their labels. None leaves a case open.
            source: Where the labels come from, as in `abstain.Gate.learn`.

        Returns:
            The classifier itself.

        Raises:
            InputError: If there are not as many labels as cases.
            DecisionError: If a case is not open.
            LabelError: If a label is none of the classes.
        """
        check_is_fitted(self)
        listed = list(cases["case"] if hasattr(cases, "columns") else cases)
        labels = list(y)
        if len(listed) != len(labels):
            raise InputError(f"y: expected a label for each of {len(listed)} cases, got {len(labels)}")
        with self.gate_._all_or_nothing():
            for i, (case, label) in enumerate(zip(listed, labels, strict=True)):
                try:
                    if label is not None:
                        self.gate_.learn(case, label, source)
                except AbstainError as error:
                    raise type(error)(f"row {i}: {error}") from None
        return self
