"""Making a log."""

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ... import experts, losses
from ...experts import ExpertSet
from ...experts.columns import spaced
from ...losses import Loss
from ...typing import Array, Floats
from .models import Answers, answers
from .recipes import Recipe
from .rows import BINARY, CLASSES, read

THRESHOLDS = 48
"""For each model, from a half on."""


@dataclass(frozen=True, eq=False)
class ModelLog:
    """What the models said in n rounds, and what was true."""

    recipe: Recipe
    task: str
    answers: Answers
    y: Array

    @cached_property
    def losses(self) -> Floats:
        """What each model loses if its answer is used (n, P)."""
        return np.asarray(self.loss(self.answers.predictions, self.loss.labels(self.y)), np.float64)

    @cached_property
    def loss(self) -> Loss:
        """How answers are judged."""
        if self.task == CLASSES:
            return losses.multiclass(np.unique(self.y).tolist())
        return losses.get("zero_one" if self.task == BINARY else "absolute")

    @cached_property
    def experts(self) -> ExpertSet:
        """Every model with each of its thresholds."""
        n_models = self.answers.confidence.shape[1]
        if self.task == BINARY:
            return experts.thresholds(n_models, spaced(THRESHOLDS, 0.5))
        rule = np.arange(n_models * THRESHOLDS)
        return experts.from_columns(n_models, len(rule), np.column_stack([rule // THRESHOLDS, rule]))

    @cached_property
    def inputs(self) -> Floats:
        """What these experts are shown: signed confidences, or answers and margins."""
        said, sure = self.answers
        if self.task == BINARY:
            return np.asarray(said * sure)
        margins = sure[:, :, np.newaxis] - spaced(THRESHOLDS, 0.5)
        return np.column_stack([said.astype(np.float64), margins.reshape(len(sure), -1)])


def make(recipe: Recipe, rounds: int, seed: int, data: str | None) -> ModelLog:
    """The log of a recipe, in so many rounds at most; the same for the same seed. Another log has other numbers."""
    rng = np.random.default_rng([seed, zlib.crc32(recipe.name.encode())])
    rows, drift = read(recipe.source, data), recipe.drift
    fit, stream = drift.rows(rng, rows.X, recipe.fit, min(rounds, recipe.rounds))
    blurred = [_blur(rng, rows.X[at], recipe.blur) for at in (fit, stream)]
    shown = drift.inputs(rng, blurred[1])
    state = int(rng.integers(2**31))
    said = answers(rows.task, blurred[0], rows.y[fit], shown, drift.views(rows.X.shape[1]), state)
    said = drift.answers(rng, said, rows.task)
    return ModelLog(recipe, rows.task, said, drift.labels(rng, rows.y[stream], rows.task))


def _blur(rng: np.random.Generator, X: Floats, blur: float) -> Floats:
    return X + blur * X.std(axis=0) * rng.standard_normal(X.shape) if blur > 0.0 else X
