"""What a model's answers are worth and what they lose: classes, probabilities or numbers against labels."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...typing import Array, Bools, Floats
from .classes import Classes
from .columns import PROBABILITY, ModelColumns
from .options import Options
from .values import check, numbers

if TYPE_CHECKING:
    import polars as pl


class Judged(NamedTuple):
    """A model's answers in some rows."""

    confidence: Floats
    """NaN where it has none."""
    loss: Floats | Bools
    said: Floats | None = None
    """With two classes, -1 for the first and +1 for the second."""


class Judge:
    """Compares answers with labels."""

    def __init__(self, options: Options, classes: Classes | None, pair: tuple[Any, Any] | None) -> None:
        """``classes`` are None for numbers; ``pair`` are the classes, if they are two."""
        self._options, self._classes = options, classes
        self._second = None if pair is None else pair[1]

    def fill(self, records: Array, frame: "pl.DataFrame", begin: int) -> Bools:
        """Write down confidences and losses, which the stake scales, and the class of each row; which rows have a
        label.
        """
        assert self._options.label is not None
        label = frame[self._options.label]
        if self._classes is None:
            truth = numbers(label, begin)
            check(label, ~np.isinf(truth), begin, "a finite number")
            judged = [self._number(frame, model, truth, begin) for model in self._options.models]
            labelled = ~np.isnan(truth)
        else:
            true = self._classes.values(label)
            records["class"] = self._classes.codes(true).to_numpy()
            judged = [self._class(frame, model, true, begin) for model in self._options.models]
            labelled = true.is_not_null().to_numpy()
        for k, one in enumerate(judged):
            records["confidence"][:, k] = one.confidence
            records["losses"][:, k] = np.where(np.isnan(one.confidence), 0.0, one.loss)
            if one.said is not None:
                records["said"][:, k] = one.said
        if self._options.mistake_column is not None:
            records["losses"] *= records["stake"][:, np.newaxis]
        return labelled

    def _number(self, frame: "pl.DataFrame", model: ModelColumns, truth: Floats, begin: int) -> Judged:
        most = self._options.most_error
        assert model.sure is not None
        assert most is not None
        answer, error = numbers(frame[model.answer], begin), numbers(frame[model.sure], begin)
        check(frame[model.answer], ~np.isinf(answer), begin, "a finite number")
        check(frame[model.sure], ~(error < 0.0) & ~np.isinf(error), begin, "an error of at least 0")
        sure = np.where(np.isnan(answer), np.nan, 1.0 - np.minimum(1.0, error / most))
        return Judged(sure, np.minimum(1.0, np.abs(answer - truth) / most))

    def _class(self, frame: "pl.DataFrame", model: ModelColumns, truth: "pl.Series", begin: int) -> Judged:
        assert self._classes is not None
        if model.kind == PROBABILITY:
            chance = _share(frame[model.answer], begin, "a probability in [0, 1]")
            said = np.where(chance >= 0.5, 1.0, -1.0)
            return Judged(np.maximum(chance, 1.0 - chance), said != self._sign(truth), said)
        assert model.sure is not None
        sure = _share(frame[model.sure], begin, "a confidence in [0, 1]")
        answer = self._classes.values(frame[model.answer])
        wrong = (answer != truth).fill_null(True).to_numpy()
        sure = np.where(answer.is_null().to_numpy(), np.nan, sure)
        return Judged(sure, wrong, None if self._second is None else self._sign(answer))

    def _sign(self, classes: "pl.Series") -> Floats:
        return np.where((classes == self._second).fill_null(False).to_numpy(), 1.0, -1.0)


def _share(column: "pl.Series", begin: int, expected: str) -> Floats:
    values = numbers(column, begin)
    check(column, np.isnan(values) | ((values >= 0.0) & (values <= 1.0)), begin, expected)
    return values
