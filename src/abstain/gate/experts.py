"""Every model with each of its thresholds, and what their answers lose."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._core.validation import as_floats, trusted
from ..errors import InputError, LabelError
from ..experts import Advice, ExpertSet
from ..experts.base import nested
from ..experts.columns import ALWAYS_ANSWER, ALWAYS_REVIEW
from ..losses import Loss
from ..typing import Array, Bools, Floats

NO_ANSWER = -2.0
"""A confidence below all thresholds."""


class ModelThresholds(ExpertSet):
    """Experts for P models with L thresholds each: expert ``m * L + k`` follows model m where its confidence is above
    its threshold k.

    An input has the confidences of all models (`NO_ANSWER` where there is none), what they say (with two classes a
    negative or a positive number as large as the stake, else 0), and the microseconds since the case before.
    """

    kind = "model thresholds"

    def __init__(self, levels: ArrayLike) -> None:
        table = np.array(as_floats(levels, "thresholds"))
        if table.ndim != 2 or table.size == 0 or not (np.diff(table, axis=1) >= 0.0).all():
            raise InputError("thresholds: expected a row of increasing numbers for every model, got others")
        if not ((table >= ALWAYS_ANSWER) & (table <= ALWAYS_REVIEW)).all():
            raise InputError("thresholds: expected numbers from -1 to 1, got others")
        n, rules = len(table), np.arange(table.size)
        super().__init__(n, table.size, 2 * n + 1, np.column_stack([rules // table.shape[1], rules]))
        self.levels = table

    @trusted
    def advise_rows(self, X: Floats, out: Floats | None = None) -> Advice:
        n, (models, per_model) = len(X), self.levels.shape
        abstains = np.empty((n, models, per_model), np.bool_)
        np.less_equal(X[:, :models, np.newaxis], self.levels, out=abstains)
        return Advice(X[:, models : 2 * models], abstains.reshape(n, -1))

    def find_subset(self) -> Bools:
        return nested(np.full(self.n_rules, -np.inf), self.levels.ravel(), self.predictor_of)

    def parameters(self) -> dict[str, Any]:
        return {"levels": self.levels}


@dataclass(frozen=True)
class ModelLosses(Loss):
    """Losses that were worked out before: the label of a case is what each model's answer loses (P,)."""

    binary: bool = False  # type: ignore[misc]
    """Whether they are all 0 or 1."""
    of_signs: tuple[float, float] | None = None
    """With two classes, what wrongly saying the second loses, and the first."""
    name = "model losses"

    def labels(self, y: ArrayLike) -> Array:
        losses = as_floats(y, "losses", LabelError)
        if losses.ndim != 2 or not ((losses >= 0.0) & (losses <= 1.0)).all():
            raise LabelError("losses: expected a number in [0, 1] for every model, got others")
        return losses.astype(np.uint8) if self.binary else losses

    @trusted
    def values(self, predictions: Array, y: Array) -> Array:
        return y

    def __call__(self, predictions: Array, y: Array) -> Array:
        if y.shape != predictions.shape:
            raise LabelError(f"losses: expected those of {predictions.shape[1]} models, got shape {y.shape}")
        return y

    def outcomes(self, predictions: Array) -> Array | None:
        if self.of_signs is None:
            return None
        positive, negative = np.maximum(predictions, 0.0), np.maximum(-predictions, 0.0)
        return np.stack([self.of_signs[0] * positive, self.of_signs[1] * negative], axis=2)
