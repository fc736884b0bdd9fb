"""The gate as a classifier of river."""

import math
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

try:
    from river import base, linear_model
except ImportError:
    raise ImportError('abstain.adapters.river needs river: pip install "abstain[river]"') from None

from .._core.validation import as_count
from ..capacity import CapacityLike
from ..errors import InputError, shown
from ..gate import Case, Gate
from ..gate.answers import ANSWER
from ..learners import DoublyRobust
from . import COST, named

__all__ = ["GateClassifier"]


class Open(NamedTuple):
    """A decision that waits for its label, and the probabilities by the model that was followed."""

    case: Case
    probabilities: dict[Any, float]


class OpenCases:
    """At most ``most`` decisions that wait for their label, found by what they were about; the oldest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._by_key: OrderedDict[Hashable, Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, x: Mapping[Any, Any]) -> Open | None:
        """Return the open decision on x, if there is one."""
        return self._by_key.get(key_of(x))

    def take(self, x: Mapping[Any, Any]) -> Open | None:
        """Return the open decision on x, and drop it."""
        return self._by_key.pop(key_of(x), None)

    def add(self, x: Mapping[Any, Any], case: Open) -> Open | None:
        """Keep a decision. If there are too many now, drop and return the oldest."""
        self._by_key[key_of(x)] = case
        return self._by_key.popitem(last=False)[1] if len(self) > self.most else None


def key_of(x: Mapping[Any, Any]) -> Hashable:
    """Return a key that is equal for equal features, in any order; NaN equals NaN.

    >>> key_of({"a": 1, "b": [2], "c": float("nan")}) == key_of({"c": float("nan"), "b": [2], "a": 1.0})
    True
    """
    return frozenset((name, _hashable(value)) for name, value in x.items())


_NAN = ("not a number",)


def _hashable(value: Any) -> Hashable:
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return _NAN
    try:
        hash(value)
    except TypeError:
        return repr(value)
    found: Hashable = value
    return found


class GateClassifier(base.Classifier):
    """River's classifiers behind an `abstain.Gate`, which learns which of them to follow, and from which confidence on.

    ``predict_one`` returns None if a person should look; river's metrics then count only answered cases.
    ``learn_one`` finds its decision by ``x``, however late it comes, and the models learn, too. The same ``x`` gets the
    same decision again until its label comes. A label for an ``x`` without a decision makes the gate decide on the
    spot, and learn from it. Put scalers into the models, not before the gate: they change ``x`` while they learn, and
    decisions would not be found.

    Args:
        models: A dictionary from names to classifiers, or a list of classifiers.
        cost: The price of a review if a mistake costs 1; 0.2 if no price is given.
        review_price: The price of a review, in your money.
        mistake_price: The price of a mistake, or prices by kind, as in `abstain.Gate`.
        classes: The possible answers, if they are known.
        labels: Which labels the gate learns from, as in `abstain.Gate`. In river all labels come back, so it is "both";
            with "answered" the gate ignores the labels of reviewed cases, but the models learn from them.
        thresholds: The thresholds of each model, as in `abstain.Gate`.
        capacity: A limit on reviews, as in `abstain.Gate`.
        learner: The learner inside, as in `abstain.Gate`.
        most_open: How many decisions wait for a label at most. The gate forgets the oldest if there are more.
        seed: The seed of the gate's random numbers.

    Raises:
        InputError: If an argument is out of range.

    Attributes:
        gate: The gate itself.

    >>> from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> linear = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    >>> model = GateClassifier({"linear": linear, "bayes": naive_bayes.GaussianNB()}, cost=0.1, seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy(), delay=20)
    Accuracy: 94...%
    >>> print(model.gate)
    answers with linear above confidence 0.72, 64 % of cases; 0.0... per case
    """

    def __init__(
        self,
        models: "Mapping[str, Any] | Sequence[Any]",
        cost: float | None = None,
        review_price: float | None = None,
        mistake_price: "float | Mapping[Any, float] | None" = None,
        classes: Sequence[Any] | None = None,
        labels: "str | tuple[float, float]" = "both",
        thresholds: Any = 48,
        capacity: CapacityLike = None,
        learner: Any = DoublyRobust,
        most_open: int = 100_000,
        seed: int | None = None,
    ) -> None:
        self.models = models
        self.cost = cost
        self.review_price = review_price
        self.mistake_price = mistake_price
        self.classes = classes
        self.labels = labels
        self.thresholds = thresholds
        self.capacity = capacity
        self.learner = learner
        self.most_open = most_open
        self.seed = seed
        self._named = _as_models(models)
        self.gate = Gate(
            list(self._named), cost=COST if cost is None and review_price is None else cost, review_price=review_price,
            mistake_price=mistake_price, classes=classes, labels=labels, thresholds=thresholds, capacity=capacity,
            learner=learner, on_alarm="report", seed=seed,  # models that learn on the way change by themselves
        )  # fmt: skip
        self._open = OpenCases(as_count(most_open, "most_open"))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"models": {"linear": linear_model.LogisticRegression()}}

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self._named.values())

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a classifier with the same parameters and fresh models that has learnt nothing.

        Args:
            new_params: Parameters that shall be others.
            include_attributes: Whether the models keep what they learnt.
        """
        models = (new_params or {}).get("models", self.models)
        known = models.items() if isinstance(models, Mapping) else enumerate(models)
        fresh: Any = {name: model.clone(include_attributes=include_attributes) for name, model in known}
        params = {**(new_params or {}), "models": fresh if isinstance(models, Mapping) else list(fresh.values())}
        copy: Self = super().clone(params, include_attributes)
        return copy

    # Answers.

    def _ask(self, x: Mapping[Any, Any]) -> dict[str, dict[Any, float]]:
        """Return the probabilities of the classes by each model."""
        return {name: model.predict_proba_one(x) for name, model in self._named.items()}

    def _decide(self, x: Mapping[Any, Any]) -> Open:
        """Return the open decision on x, or make one."""
        found = self._open.find(x)
        return self._decide_anew(x) if found is None else found

    def _decide_anew(self, x: Mapping[Any, Any]) -> Open:
        asked = self._ask(x)
        case = self.gate.decide({name: _likeliest(probable) for name, probable in asked.items()})
        made = Open(case, _of_all(asked, case.model) if asked[case.model] else {})
        dropped = self._open.add(x, made)
        if dropped is not None and self.gate._labels.after[dropped.case.action] > 0.0:
            self.gate.forget(dropped.case)
        return made

    def predict_one(self, x: Mapping[Any, Any], **options: Any) -> Any:
        """Decide on x. The decision is kept until its label comes.

        Args:
            x: The features.
            **options: Ignored; river passes some.

        Returns:
            The answer; None for a review.
        """
        case = self._decide(x).case
        return case.answer if case.action == ANSWER else None

    def predict_proba_one(self, x: Mapping[Any, Any], **options: Any) -> dict[Any, float]:
        """Return the probabilities by the model that was followed on x. Nothing changes.

        Args:
            x: The features.
            **options: Ignored; river passes some.

        Returns:
            The probability of each class, for reviewed cases, too; by the heaviest model if there is no decision on x,
            and empty if no model knows anything yet.
        """
        found = self._open.find(x)
        if found is not None and found.probabilities:
            return dict(found.probabilities)
        asked = self._ask(x)
        return next((_of_all(asked, model) for model in self.gate._policy().answering() if asked[model]), {})

    # Learning.

    def learn_one(self, x: Mapping[Any, Any], y: Any, **options: Any) -> None:
        """Learn the true class of x: the gate learns from its decision on x, and the models learn.

        Args:
            x: The features.
            y: The true class.
            **options: Passed on to the models.
        """
        if self._open.find(x) is None:
            self._decide_anew(x)
        made = self._open.take(x)
        assert made is not None
        if self.gate._labels.after[made.case.action] > 0.0:
            self.gate.learn(made.case, y)
        for model in self._named.values():
            model.learn_one(x, y, **options)


def _of_all(asked: Mapping[str, Mapping[Any, float]], model: str) -> dict[Any, float]:
    """Return the probabilities by a model; 0 for classes that only others know."""
    return {**dict.fromkeys((label for probable in asked.values() for label in probable), 0.0), **asked[model]}


def _likeliest(probable: Mapping[Any, float]) -> tuple[Any, float] | None:
    """Return the likeliest class and its probability; None if there is none."""
    if not probable:
        return None
    answer = max(probable, key=probable.__getitem__)
    return answer, min(1.0, max(0.0, float(probable[answer])))


def _as_models(given: Any) -> dict[str, Any]:
    models = (
        dict(given) if isinstance(given, Mapping) else dict(named(given)) if isinstance(given, (list, tuple)) else {}
    )
    if not models:
        raise InputError(f"models: expected a dictionary from names to classifiers, or a list, got {shown(given)}")
    for name, model in models.items():
        if isinstance(model, type) or not hasattr(model, "predict_proba_one"):
            raise InputError(
                f"models: expected river's classifiers, with predict_proba_one, got {shown(model)} as {name!r}"
            )
    return models
