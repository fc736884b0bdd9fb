"""Three models of scikit-learn for every task, with the confidence of each: what logs are made of."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.extras import need
from ..typing import Array, Floats, Ints

BINARY, CLASSES, NUMBERS = "binary", "classes", "numbers"


class Answers(NamedTuple):
    """What the models say in each round."""

    predictions: Array
    """(n, P): a class, or a number."""
    confidence: Floats
    """(n, P), in [0, 1]: one minus the loss the model expects of its answer."""


def answers(task: str, X: Floats, y: Array, inputs: Floats, views: Sequence[Ints], seed: int) -> Answers:
    """Fit the models on X and y, and let them answer all inputs.

    One thread: sums in another order would make another log.

    Args:
        task: `BINARY`, `CLASSES` or `NUMBERS`.
        X: What the models are fitted on (m, d).
        y: Its labels (m,).
        inputs: What they answer (n, d).
        views: The columns that each model sees.
        seed: Seeds the models' own draws.

    Returns:
        Answers and confidences.

    Raises:
        InputError: If scikit-learn is not installed.
    """
    threadpool_limits = need("threadpoolctl", "the models of a log", "sklearn").threadpool_limits
    answer: Callable[..., tuple[Array, Floats]] = _numbers if task == NUMBERS else _classes
    with threadpool_limits(1):
        made = _models(task, seed)
        told = [answer(model, X[:, at], y, inputs[:, at], seed) for model, at in zip(made, views, strict=True)]
    return Answers(np.column_stack([one[0] for one in told]), np.column_stack([one[1] for one in told]))


def _models(task: str, seed: int) -> tuple[Any, Any, Any]:
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, pipeline, preprocessing

    def scaled(model: Any) -> Any:
        return pipeline.make_pipeline(preprocessing.StandardScaler(), model)

    if task == NUMBERS:
        boosting = ensemble.HistGradientBoostingRegressor(max_iter=60, random_state=seed)
        return scaled(linear_model.Ridge()), boosting, scaled(neighbors.KNeighborsRegressor(15))
    boosting = ensemble.HistGradientBoostingClassifier(max_iter=60, random_state=seed)
    return scaled(linear_model.LogisticRegression(max_iter=2_000)), boosting, scaled(naive_bayes.GaussianNB())


def _classes(model: Any, X: Floats, y: Array, inputs: Floats, seed: int) -> tuple[Array, Floats]:
    """The likeliest class and its probability."""
    chances = model.fit(X, y).predict_proba(inputs)
    return model.classes_[chances.argmax(axis=1)], np.clip(chances.max(axis=1), 0.0, 1.0)


def _numbers(model: Any, X: Floats, y: Array, inputs: Floats, seed: int) -> tuple[Array, Floats]:
    """The number, and one minus the error to expect, which another model learns from a third of the rows."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    cut = 2 * len(X) // 3
    model.fit(X[:cut], y[:cut])
    errors = np.minimum(np.abs(model.predict(X[cut:]) - y[cut:]), 1.0)
    of_errors = HistGradientBoostingRegressor(max_iter=40, random_state=seed).fit(X[cut:], errors)
    return model.predict(inputs), 1.0 - np.clip(of_errors.predict(inputs), 0.0, 1.0)
