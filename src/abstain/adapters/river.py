"""Decisions that wait for their label, found by what they were about."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from river import base, linear_model

from .._core.validation import as_count
from ..capacity import CapacityLike
from ..engine.feedback import chances_of
from ..errors import InputError, shown
from ..gate import Case, Gate
from ..gate.case import ANSWER, REVIEW
from ..learners import DoublyRobust
from . import answering, named


class Open(NamedTuple):
    """A decision, and what the model that was followed held probable."""

    case: Case
    probabilities: dict[Any, float]


def key_of(x: Mapping[Any, Any]) -> Hashable:
    """Equal for equal features, in whatever order.

    >>> key_of({"a": 1, "b": [2]}) == key_of({"b": [2], "a": 1.0})
    True
    """
    try:
        return frozenset(x.items())
    except TypeError:  # a value that cannot be hashed
        return frozenset((name, _frozen(value)) for name, value in x.items())


def _frozen(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)


class OpenCases:
    """At most so many, the oldest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._by_key: OrderedDict[Hashable, Open] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def find(self, x: Mapping[Any, Any]) -> Open | None:
        """The decision that was made on x."""
        return self._by_key.get(key_of(x))

    def take(self, x: Mapping[Any, Any]) -> Open | None:
        """The same, and it is open no longer."""
        return self._by_key.pop(key_of(x), None)

    def add(self, x: Mapping[Any, Any], case: Open) -> Open | None:
        """Keep one; the oldest makes room for it, if there are too many, and is returned."""
        self._by_key[key_of(x)] = case
        return self._by_key.popitem(last=False)[1] if len(self) > self.most else None


class GateClassifier(base.Classifier):
    """River's classifiers behind an `abstain.Gate`: which of them to follow, and from which confidence on, is learnt.

    ``models`` is a dictionary from names to classifiers, or a list of these. ``predict_one`` returns None where a
    person should look; river's metrics then count answered cases alone. ``predict_proba_one`` is what the followed
    model holds probable, also in such cases; it changes nothing. While no model knows anything it is empty.

    ``learn_one`` finds the decision by ``x``, however late it comes, and the models learn, too. Until it comes, the
    same ``x`` gets the same decision again. Without a decision on ``x`` one is made first, unseen. At most
    ``most_open`` decisions wait: then the oldest is forgotten, and the gate learns nothing of it. Put scalers and the
    like into the models, not before the gate: they change ``x`` while they learn, and decisions would not be found.

    In river labels come back for all cases, so ``labels`` is "both"; with "answered" the gate learns nothing from a
    label of a case that was reviewed, the models do. Prices (``cost``, or ``review`` and ``mistake``), ``classes``,
    ``thresholds``, ``capacity`` and ``learner`` are those of `abstain.Gate`; without a price, a review costs a fifth of
    a mistake. The gate itself is ``gate``.

    >>> from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> linear = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    >>> model = GateClassifier({"linear": linear, "bayes": naive_bayes.GaussianNB()}, cost=0.1, seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy(), delay=20)
    Accuracy: 94...%
    >>> print(model.gate)
    answers with linear from confidence 0.72 on, 64 % of cases; 0.0... a case
    """

    def __init__(
        self,
        models: "Mapping[str, Any] | Sequence[Any]",
        cost: float | None = None,
        review: float | None = None,
        mistake: "float | Mapping[Any, float] | None" = None,
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
        self.review = review
        self.mistake = mistake
        self.classes = classes
        self.labels = labels
        self.thresholds = thresholds
        self.capacity = capacity
        self.learner = learner
        self.most_open = most_open
        self.seed = seed
        self._named = _as_models(models)
        price = 0.2 if cost is None and review is None else cost
        self.gate = Gate(
            list(self._named), cost=price, review=review, mistake=mistake, classes=classes, labels=labels,
            thresholds=thresholds, capacity=capacity, learner=learner, seed=seed,
        )  # fmt: skip
        self._open = OpenCases(as_count(most_open, "most_open"))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"models": {"linear": linear_model.LogisticRegression()}}

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self._named.values())

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A fresh one with the same parameters; its models are fresh, too."""
        models = (new_params or {}).get("models", self.models)
        known = models.items() if isinstance(models, Mapping) else enumerate(models)
        fresh: Any = {name: model.clone(include_attributes=include_attributes) for name, model in known}
        params = {**(new_params or {}), "models": fresh if isinstance(models, Mapping) else list(fresh.values())}
        copy: Self = super().clone(params, include_attributes)
        return copy

    # Answers.

    def _ask(self, x: Mapping[Any, Any]) -> dict[str, dict[Any, float]]:
        """What each model holds probable."""
        return {name: model.predict_proba_one(x) for name, model in self._named.items()}

    def _decide(self, x: Mapping[Any, Any]) -> Open:
        """Decide on x, or find what was decided."""
        found = self._open.find(x)
        return self._decide_anew(x) if found is None else found

    def _decide_anew(self, x: Mapping[Any, Any]) -> Open:
        asked = self._ask(x)
        case = self.gate.decide({name: _likeliest(probable) for name, probable in asked.items()})
        made = Open(case, _of_all(asked, case.model) if asked[case.model] else {})
        dropped = self._open.add(x, made)
        if dropped is not None and self._learns(dropped):
            self.gate.forget(dropped.case)
        return made

    def _learns(self, made: Open) -> bool:
        """Whether the gate learns from the label of such a case."""
        return chances_of(self.gate.labels[1])[int(made.case.action == REVIEW)] > 0.0

    def predict_one(self, x: Mapping[Any, Any], **options: Any) -> Any:
        """The answer; None for a review. The decision is kept until its label comes."""
        case = self._decide(x).case
        return case.answer if case.action == ANSWER else None

    def predict_proba_one(self, x: Mapping[Any, Any], **options: Any) -> dict[Any, float]:
        """The probabilities by the model that was followed on x; where nothing was decided, by the heaviest."""
        found = self._open.find(x)
        if found is not None and found.probabilities:
            return dict(found.probabilities)
        asked = self._ask(x)
        return next((_of_all(asked, model) for model in answering(self.gate) if asked[model]), {})

    # Learning.

    def learn_one(self, x: Mapping[Any, Any], y: Any, **options: Any) -> None:
        """Learn the truth of x: the gate does, from what was decided on x, and the models do."""
        if self._open.find(x) is None:
            self._decide_anew(x)
        made = self._open.take(x)
        assert made is not None
        if self._learns(made):
            self.gate.learn(made.case, y)
        for model in self._named.values():
            model.learn_one(x, y, **options)


def _of_all(asked: Mapping[str, Mapping[Any, float]], model: str) -> dict[Any, float]:
    """What a model holds probable; 0 for what only others know."""
    return {**dict.fromkeys((label for probable in asked.values() for label in probable), 0.0), **asked[model]}


def _likeliest(probable: Mapping[Any, float]) -> tuple[Any, float] | None:
    """An answer and its confidence; None if there is none."""
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


try:
    import river  # noqa: F401
except ImportError:
    raise ImportError("abstain.adapters.river: needs river: pip install 'abstain[river]'") from None


__all__ = ["GateClassifier"]
