"""How a log is made: a set, three models fitted on its first rows, and what changes on the way."""

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ... import datasets, experts, losses
from ..._core.extras import need
from ...errors import FileError, InputError
from ...experiments import Keyed, MissingDataError
from ...experts import ExpertSet
from ...experts.columns import spaced
from ...instances.models import BINARY, CLASSES, NUMBERS, Answers, answers
from ...losses import Loss
from ...typing import Array, Floats, Ints

FILES = {"elevation": "covtype", "diabetes": "digits"}
"""The set that is here if, and only if, this source is; others are sets themselves."""
_SCALES = {"elevation": 500.0, "diabetes": 300.0}
"""The error that counts as a whole mistake."""


class Rows(NamedTuple):
    """X (n, d) and y (n,) in the order of the source."""

    X: Floats
    y: Array
    task: str


def read(source: str, data: str | None) -> Rows:
    """The rows of a source: a set of two classes; "digits", ten classes; "diabetes" and "elevation", numbers.

    Elevation, in metres, is the first column of covtype, told from the others.
    """
    if source in ("digits", "diabetes"):
        X, y = getattr(need("sklearn.datasets", source, "sklearn"), f"load_{source}")(return_X_y=True)
        return Rows(X, y, CLASSES) if source == "digits" else Rows(X, y / _SCALES[source], NUMBERS)
    try:
        X, y = datasets.load(FILES.get(source, source), scale=None, data=data)
    except (FileError, InputError) as error:
        if datasets.info(FILES.get(source, source), data=data).found is None:
            raise MissingDataError(FILES.get(source, source), str(error)) from None
        raise
    if source == "elevation":
        return Rows(np.ascontiguousarray(X[:, 1:]), X[:, 0] / _SCALES[source], NUMBERS)
    return Rows(X, y, BINARY)


TENTH = 0.1
LAST = 0.9
"""Slow changes go on from the first tenth to here."""


@dataclass(frozen=True)
class Still(Keyed):
    """Nothing: rows in random order. Other kinds change one of the steps in which a log is made."""

    moves: ClassVar[bool] = False

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        """The rows the models are fitted on, and those of the rounds: again and again where there are too few."""
        order = rng.permutation(len(X))
        return order[:fit], enough(rng, order[fit:], n)

    def views(self, n_features: int) -> tuple[Ints, Ints, Ints]:
        """The columns each model sees."""
        return (np.arange(n_features),) * 3

    def inputs(self, rng: np.random.Generator, X: Floats) -> Floats:
        """What the models are shown in the rounds."""
        return X

    def answers(self, rng: np.random.Generator, said: Answers, task: str) -> Answers:
        """What they are heard to say."""
        return said

    def labels(self, rng: np.random.Generator, y: Array, task: str) -> Array:
        """What turns out to be true."""
        return y


@dataclass(frozen=True)
class Recorded(Still):
    """The rows in the order they were recorded; the models are fitted on the first ones."""

    moves: ClassVar[bool] = True

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        return np.arange(fit), np.arange(fit, min(len(X), fit + n))


@dataclass(frozen=True)
class Population(Still):
    """Models fitted where a column is below its median slowly meet rows from above it."""

    column: int
    moves: ClassVar[bool] = True

    def rows(self, rng: np.random.Generator, X: Floats, fit: int, n: int) -> tuple[Ints, Ints]:
        order = rng.permutation(len(X))
        low = X[order, self.column] <= np.median(X[:, self.column])
        below, above = order[low], order[~low]
        new = rng.random(n) < slowly(n)
        rows = np.empty(n, np.int64)
        rows[new] = enough(rng, above, int(new.sum()))
        rows[~new] = enough(rng, below[fit:], int((~new).sum()))
        return below[:fit], rows


@dataclass(frozen=True)
class Noise(Still):
    """Labels that slowly become random, at last in so large a share of the rounds."""

    share: float
    moves: ClassVar[bool] = True

    def labels(self, rng: np.random.Generator, y: Array, task: str) -> Array:
        hit = rng.random(len(y)) < self.share * slowly(len(y))
        return np.where(hit, rng.permutation(y), y)


@dataclass(frozen=True)
class Switch(Still):
    """Half way the even columns break (they come from other rows, as after a wrong join); the second model lives on all
    columns, the others on the odd ones only.
    """

    moves: ClassVar[bool] = True

    def views(self, n_features: int) -> tuple[Ints, Ints, Ints]:
        odd = np.arange(1, n_features, 2)
        return odd, np.arange(n_features), odd

    def inputs(self, rng: np.random.Generator, X: Floats) -> Floats:
        broken, half = X.copy(), len(X) // 2
        broken[half:, ::2] = X[half + rng.permutation(len(X) - half), ::2]
        return broken


@dataclass(frozen=True)
class Outage(Still):
    """From 45 to 55 % of the time the second model answers at random and is certain of it."""

    moves: ClassVar[bool] = True

    def answers(self, rng: np.random.Generator, said: Answers, task: str) -> Answers:
        predictions, confidence, n = said.predictions.copy(), said.confidence.copy(), len(said.confidence)
        out = slice(9 * n // 20, 11 * n // 20)
        size = out.stop - out.start
        # One of the classes, or a number the model said on some other input.
        predictions[out, 1] = rng.choice([-1, 1] if task == BINARY else said.predictions[:, 1], size)
        confidence[out, 1] = 1.0 - 0.01 * rng.random(size)
        return Answers(predictions, confidence)


def slowly(n: int) -> Floats:
    """From 0 up to the end of the first tenth to 1 at nine tenths (n,)."""
    return np.clip((np.arange(n) / n - TENTH) / (LAST - TENTH), 0.0, 1.0)


def enough(rng: np.random.Generator, rows: Ints, n: int) -> Ints:
    """The first n of these rows; drawn with replacement where there are fewer."""
    return rows[:n] if n <= len(rows) else rng.choice(rows, n)


@dataclass(frozen=True)
class Recipe(Keyed):
    """How a log is made."""

    name: str
    source: str
    cost: float
    drift: Still
    fit: int
    """Rows the models are fitted on."""
    rounds: int
    blur: float = 0.0
    """Noise on the inputs, in standard deviations of each: small sets are asked for the same rows many times."""

    @property
    def dataset(self) -> str:
        """The set whose file it needs."""
        return FILES.get(self.source, self.source)


_ALL = (
    Recipe("covtype", "covtype", 0.2, Still(), 10_000, 40_000),
    Recipe("higgs", "higgs", 0.2, Still(), 10_000, 40_000),
    Recipe("ijcnn", "ijcnn", 0.15, Still(), 8_000, 40_000),
    Recipe("cod-rna", "cod-rna", 0.15, Still(), 10_000, 40_000),
    Recipe("digits", "digits", 0.15, Still(), 600, 20_000, blur=0.7),
    Recipe("elevation", "elevation", 0.15, Still(), 9_000, 40_000),
    Recipe("covtype, population", "covtype", 0.2, Population(0), 10_000, 40_000),
    Recipe("skin, noise", "skin", 0.2, Noise(0.8), 8_000, 40_000),
    Recipe("higgs, switch", "higgs", 0.2, Switch(), 10_000, 40_000),
    Recipe("cifar, switch", "cifar", 0.15, Switch(), 4_000, 20_000, blur=0.1),
    Recipe("cod-rna, outage", "cod-rna", 0.15, Outage(), 10_000, 40_000),
    Recipe("elevation, outage", "elevation", 0.15, Outage(), 9_000, 40_000),
    Recipe("eye, recorded", "eye", 0.2, Recorded(), 3_000, 11_000),
)
_SHIPPED = (
    Recipe("breast-cancer", "breast-cancer", 0.15, Still(), 200, 20_000, blur=0.5),
    Recipe("diabetes, noise", "diabetes", 0.2, Noise(0.8), 200, 20_000, blur=0.2),
    Recipe("digits, outage", "digits", 0.15, Outage(), 600, 20_000, blur=0.7),
)

RECIPES = {recipe.name: recipe for recipe in (*_ALL, *_SHIPPED)}
LOGS = tuple(recipe.name for recipe in _ALL)
"""Those of the study."""
SHIPPED = ("digits", *(recipe.name for recipe in _SHIPPED))
"""Those that need no file: made of sets that come with scikit-learn."""


def recipe(name: str) -> Recipe:
    """The recipe of that name."""
    if name not in RECIPES:
        raise InputError(f"log: expected one of {'; '.join(RECIPES)}, got {name!r}")
    return RECIPES[name]


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
