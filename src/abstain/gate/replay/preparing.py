"""From columns to losses: every value is looked at once, in order."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...typing import Array, Floats, Ints
from .classes import Classes
from .columns import PROBABILITY, VALUE, ModelColumns
from .log import Slices
from .options import Options
from .rows import Rows
from .values import NEVER, blank, check, microseconds, numbers

if TYPE_CHECKING:
    import polars as pl

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and of how much."""
LEAST_ROWS = 100


@dataclass
class Facts:
    """What was seen on the way."""

    rows: int
    """In the log."""
    unlabelled: int = 0
    never: int = 0
    """Rows left out because they have no label, and rows whose label has no time: it never comes."""
    missing: list[int] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    """By model: rows without an answer, the least and the largest confidence."""

    def look(self, confidence: Floats) -> None:
        """Count a model's answers."""
        gone = np.isnan(confidence)
        for k in range(confidence.shape[1]):
            there = confidence[~gone[:, k], k]
            self.missing[k] += len(confidence) - len(there)
            if len(there) > 0:
                self.least[k], self.most[k] = min(self.least[k], there.min()), max(self.most[k], there.max())


def largest(slices: Slices, column: str) -> float:
    """The largest number of a column."""
    most = 0.0
    for begin, rows in slices:
        values = numbers(rows[column], begin)
        _check_stakes(rows[column], values, begin, np.inf)
        most = max(most, float(values.max()))
    return most


def prepare(
    slices: Slices,
    options: Options,
    classes: Classes | None,
    pair: tuple[Any, Any] | None,
    most_stake: float,
    rows: Rows,
    progress: Progress,
) -> Facts:
    """Write the rows that have a label to ``rows``; ``pair`` are the classes, if they are two."""
    n_models = len(options.models)
    facts = Facts(slices.rows, 0, 0, [0] * n_models, [np.inf] * n_models, [-np.inf] * n_models)
    times: list[Ints] = []
    last = np.iinfo(np.int64).min
    for begin, frame in slices:
        records = rows.empty(len(frame))
        records["row"] = np.arange(begin + 1, begin + len(frame) + 1)
        assert options.label is not None
        label, keep = frame[options.label], ~blank(frame[options.label])
        if options.time is not None:
            records["time"] = microseconds(frame[options.time], begin, may_miss=False)
            last = _check_order(frame[options.time], records["time"], last, begin)
        if options.label_time is not None:
            records["due"] = microseconds(frame[options.label_time], begin, may_miss=True)
            text = f"a time not before that of its case (column {options.time})"
            check(frame[options.label_time], records["due"] >= records["time"], begin, text)
        if options.mistake_column is not None:
            stake = numbers(frame[options.mistake_column], begin)
            _check_stakes(frame[options.mistake_column], stake, begin, most_stake)
            records["stake"] = stake / most_stake
        truth = _truth(label, classes, begin)
        for k, model in enumerate(options.models):
            sure, lost, said = _judged(frame, model, classes, pair, truth, options, begin)
            records["confidence"][:, k] = sure
            records["losses"][:, k] = np.where(np.isnan(sure), 0.0, lost)
            if said is not None:
                records["said"][:, k] = said
        if options.mistake_column is not None:
            records["losses"] *= records["stake"][:, np.newaxis]
        if classes is not None:
            records["class"] = classes.codes(truth).to_numpy()  # type: ignore[arg-type]
        records = records[keep]
        facts.unlabelled += len(keep) - len(records)
        if options.label_time is not None:
            times.append(records["time"].copy())
            facts.never += int((records["due"] == NEVER).sum())
        facts.look(records["confidence"])
        rows.append(records)
        progress("checking", begin + len(frame), slices.rows)
    if options.label_time is not None:
        _count_due(rows, np.concatenate([*times, np.zeros(0, np.int64)]))
    return facts


def _truth(label: "pl.Series", classes: Classes | None, begin: int) -> "pl.Series | Floats":
    if classes is not None:
        return classes.values(label)
    truth = numbers(label, begin)
    check(label, ~np.isinf(truth), begin, "a finite number")
    return truth


def _judged(
    frame: "pl.DataFrame",
    model: ModelColumns,
    classes: Classes | None,
    pair: tuple[Any, Any] | None,
    truth: "pl.Series | Floats",
    options: Options,
    begin: int,
) -> tuple[Floats, Array, Floats | None]:
    """A model's confidence, NaN where it has no answer; what its answers lose; which of two classes it says."""
    if model.kind == VALUE:
        assert model.sure is not None
        assert options.most_error is not None
        answer, error = numbers(frame[model.answer], begin), numbers(frame[model.sure], begin)
        check(frame[model.answer], ~np.isinf(answer), begin, "a finite number")
        check(frame[model.sure], ~(error < 0.0) & ~np.isinf(error), begin, "an error of at least 0")
        sure = 1.0 - np.minimum(1.0, error / options.most_error)
        with np.errstate(invalid="ignore"):
            return (
                np.where(np.isnan(answer), np.nan, sure),
                np.minimum(1.0, np.abs(answer - truth) / options.most_error),
                None,
            )
    assert classes is not None
    second = None if pair is None else pair[1]
    if model.kind == PROBABILITY:
        chance = _share(frame[model.answer], begin, "a probability in [0, 1]")
        said = np.where(chance >= 0.5, 1.0, -1.0)
        right = said == np.where((truth == second).fill_null(False).to_numpy(), 1.0, -1.0)  # type: ignore[union-attr]
        return np.maximum(chance, 1.0 - chance), ~right, said
    assert model.sure is not None
    sure = _share(frame[model.sure], begin, "a confidence in [0, 1]")
    answer = classes.values(frame[model.answer])
    wrong = (answer != truth).fill_null(True).to_numpy()
    said = None if second is None else np.where((answer == second).fill_null(False).to_numpy(), 1.0, -1.0)
    return np.where(answer.is_null().to_numpy(), np.nan, sure), wrong, said


def _share(column: "pl.Series", begin: int, expected: str) -> Floats:
    values = numbers(column, begin)
    check(column, np.isnan(values) | ((values >= 0.0) & (values <= 1.0)), begin, expected)
    return values


def _check_stakes(column: "pl.Series", stake: Floats, begin: int, most: float) -> None:
    check(column, (stake > 0.0) & ~np.isinf(stake), begin, "the price of a mistake, above 0")
    check(column, stake <= most, begin, f"at most {most:g}, the largest price of a mistake")


def _check_order(column: "pl.Series", times: Ints, last: int, begin: int) -> int:
    if len(times) == 0:
        return last
    steps = np.diff(times, prepend=last) if last > np.iinfo(np.int64).min else np.diff(times, prepend=times[0] - 1)
    check(column, steps >= 0, begin, "times in order, none before the row above")
    check(column, steps != 0, begin, "each time once, not that of the row above again")
    return int(times[-1])


def _count_due(rows: Rows, times: Ints) -> None:
    """Times of labels as numbers of rows: a label is learnt before the first later case that is not earlier."""
    for part in rows.slices():
        came = part.records["due"]
        due = np.searchsorted(times, came, side="left")
        part.records["due"] = np.maximum(due, np.arange(part.begin, part.begin + part.n) + 1)
        rows.overwrite(part.begin, part.records)


def check_enough(rows: int, log: str) -> None:
    """Refuse a log that says nothing."""
    if rows < LEAST_ROWS:
        raise InputError(f"{log}: expected at least {LEAST_ROWS} rows with a label, got {rows}: too few to score")
