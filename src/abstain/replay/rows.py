"""The rows of a log as they are played: checked, judged and kept in a file, so that memory holds one slice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..alternatives import Rounds
from ..errors import InputError
from ..gate.frames import Block
from ..gate.prices import weighed
from ..typing import Array, Bools, Floats, Ints
from .classes import STAKE, Judge
from .log import NEVER, SLICE, Slices, check, microseconds, numbers
from .options import Options

if TYPE_CHECKING:
    import polars as pl


class Rows:
    """A file of records: confidence and loss of each model, and what else a row has."""

    def __init__(self, path: Path, n_models: int, *, said: bool, risk: bool, time: bool, due: bool) -> None:
        """``due``: whether rows say themselves when their label arrives."""
        fields: list[tuple[object, ...]] = [
            ("confidence", "f8", (n_models,)),
            ("losses", "f8", (n_models,)),
            ("row", "i8"),
        ]
        fields += [("said", "f8", (n_models,))] * said + [("risk", "f8", (n_models,))] * risk
        fields += [("time", "i8")] * time + [("due", "i8"), ("came", "i8")] * due + [("class", "u1")]
        self.path, self.dtype, self.n_models = path, np.dtype(fields), n_models
        self.n = 0
        self.cost = 0.0

    def has(self, field: str) -> bool:
        """Whether the records have this field."""
        return field in (self.dtype.names or ())

    def empty(self, n: int) -> Array:
        """New records, to be filled in."""
        return np.zeros(n, self.dtype)

    def append(self, records: Array) -> None:
        """Append rows."""
        with self.path.open("ab") as stream:
            records.tofile(stream)
        self.n += len(records)

    def overwrite(self, begin: int, records: Array) -> None:
        """Replace rows."""
        with self.path.open("r+b") as stream:
            stream.seek(begin * self.dtype.itemsize)
            records.tofile(stream)

    def read(self, begin: int, end: int) -> "Slice":
        """The rows from ``begin`` to before ``end``."""
        size = self.dtype.itemsize
        return Slice(begin, np.fromfile(self.path, self.dtype, end - begin, offset=begin * size), self.cost)

    def mean_wait(self, delay: int) -> float:
        """How many rows late labels are learnt on average; ``delay``, unless the rows have times."""
        if not self.has("due"):
            return float(min(delay, self.n))
        waits = (np.minimum(part.records["due"], self.n) - np.arange(part.begin, part.begin + part.n)
                 for part in self.slices())  # fmt: skip
        return float(sum(int(wait.sum()) for wait in waits) / max(1, self.n))

    def slices(self, begin: int = 0) -> "Iterator[Slice]":
        """Rows from ``begin`` on, a slice at a time."""
        for start in range(begin, self.n, SLICE):
            yield self.read(start, min(self.n, start + SLICE))


class Slice:
    """Consecutive rows."""

    def __init__(self, begin: int, records: Array, cost: float) -> None:
        self.begin, self.records = begin, records
        self.n = len(records)
        self.confidence: Floats = np.ascontiguousarray(records["confidence"])
        self.losses: Floats = np.ascontiguousarray(records["losses"])
        self._cost = cost

    def field(self, name: str) -> Array | None:
        """A field of the records, if they have it."""
        names = self.records.dtype.names or ()
        return np.ascontiguousarray(self.records[name]) if name in names else None

    def before(self, row: int) -> "Slice":
        """The rows before that row."""
        return Slice(self.begin, self.records[: max(0, row - self.begin)], self._cost)

    def from_on(self, row: int) -> "Slice":
        """The rows from that row on."""
        skip = min(self.n, max(0, row - self.begin))
        return self if skip == 0 else Slice(self.begin + skip, self.records[skip:], self._cost)

    @property
    def missing(self) -> Bools:
        """Which answers are missing (n, P)."""
        return np.isnan(self.confidence)

    def block(self, origin: int) -> Block:
        """The rows as the gate takes them; its first case is row ``origin``."""
        due = self.field("due")
        return Block(self.confidence, self.losses, self.field("said"), self.field("risk"), self.field("time"),
                     None if due is None else due - origin, self.field("came"))  # fmt: skip

    def rounds(self) -> Rounds:
        """The rows as the alternatives take them: a missing answer has the least confidence, and stakes count."""
        risk = self.field("risk")
        sure = self.confidence if risk is None else weighed(self.confidence, risk)
        return Rounds(np.where(np.isnan(sure), -np.inf, sure), self.losses, np.full(self.n, self._cost))

    def due(self, delay: int) -> Ints:
        """The row before which each label is learnt."""
        due = self.field("due")
        return np.arange(self.begin, self.begin + self.n) + delay + 1 if due is None else due


Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and of how much."""
LEAST_ROWS = 100
_TWICE = "give them an order, as fractions of a second, or use --delay"


@dataclass
class Facts:
    """What was found in the log while reading it."""

    rows: int
    """Rows of the log."""
    unlabelled: int = 0
    never: int = 0
    """Rows left out because they have no label, and labels without a time, which never arrive."""
    missing: list[int] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    """By model: rows without an answer, lowest and highest confidence."""
    right: list[int] = field(default_factory=list)
    """By model: answers that are not a whole mistake."""
    late: float = 0.0
    """Mean seconds from a case to its label, among labels with a time."""

    def look(self, confidence: Floats, right: Bools) -> None:
        """Count the models' answers, and which of them are not a whole mistake (n, P)."""
        gone = np.isnan(confidence)
        for k, n in enumerate((~gone & right).sum(axis=0)):
            self.right[k] += int(n)
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
        check(rows[column], (values >= 0.0) & ~np.isinf(values), begin, STAKE)
        most = max(most, float(values.max()))
    return most


def prepare(slices: Slices, options: Options, judge: Judge, rows: Rows, progress: Progress) -> Facts:
    """Check the rows and write those with a label to ``rows``."""
    n_models = len(options.models)
    facts = Facts(slices.rows, 0, 0, [0] * n_models, [np.inf] * n_models, [-np.inf] * n_models,
                  [0] * n_models)  # fmt: skip
    times: list[Ints] = []
    last: int | None = None
    for begin, frame in slices:
        records = rows.empty(len(frame))
        records["row"] = np.arange(begin + 1, begin + len(frame) + 1)
        if options.time is not None:
            records["time"] = microseconds(frame[options.time], begin, may_miss=False)
            last = _check_order(frame[options.time], records["time"], last, begin)
        if options.label_time is not None:
            records["came"] = microseconds(frame[options.label_time], begin, may_miss=True)
            text = f"a time not before that of its case (column {options.time})"
            check(frame[options.label_time], records["came"] >= records["time"], begin, text)
        labelled, right = judge.fill(records, frame, begin)
        records = records[labelled]
        facts.unlabelled += len(frame) - len(records)
        facts.look(records["confidence"], right[labelled])
        if rows.has("due"):
            times.append(records["time"].copy())
        if options.label_time is not None:
            comes = records["came"] != NEVER
            facts.never += int((~comes).sum())
            facts.late += float((records["came"] - records["time"])[comes].sum() / 1e6)
        rows.append(records)
        progress("checking", begin + len(frame), slices.rows)
    if options.label_time is not None:
        facts.late /= max(1, rows.n - facts.never)
    if rows.has("due"):
        _count_due(rows, np.concatenate(times), options)
    return facts


def _check_order(column: "pl.Series", times: Ints, last: int | None, begin: int) -> int:
    """Check that times increase after ``last``, the time of the previous row; return the last time."""
    steps = np.diff(times, prepend=times[0] - 1 if last is None else last)
    check(column, steps >= 0, begin, "times in order, none before the row above")
    check(column, steps != 0, begin, "each time once, not that of the row above again; " + _TWICE)
    return int(times[-1])


def _count_due(rows: Rows, times: Ints, options: Options) -> None:
    """Turn times of labels into rows: a label arrives before the first later case at or after its time.

    If there is a maturity, the label is not learnt before its case is old enough: then right after the decision that
    makes it so, before labels that arrive later. A label that has not arrived with the last row is never learnt.
    """
    n, never = len(times), len(times) + 1
    for part in rows.slices():
        row = np.arange(part.begin, part.begin + part.n)
        if options.label_time is None:
            due = row + options.delay + 1
            came = times[np.minimum(row + options.delay, n - 1)]
        else:
            came = part.records["came"]
            due = np.searchsorted(times, came, side="left")
            due = np.where(due == n, np.where((row == n - 1) & (came == times[-1]), n, never), np.maximum(due, row + 1))
        if options.age is not None:
            old = row + (options.age.cases or 0)
            if options.age.span is not None:
                old = np.searchsorted(times, part.records["time"] + options.age.span, side="left")
            came = np.maximum(came, times[np.minimum(old, n - 1)])
            due = np.maximum(due, np.where(old >= n, never, old + 1))
        part.records["due"], part.records["came"] = due, came
        rows.overwrite(part.begin, part.records)


def check_enough(rows: int, log: str) -> None:
    """Raise an error for a log that is too short to score."""
    if rows < LEAST_ROWS:
        raise InputError(f"{log}: expected at least {LEAST_ROWS} rows with a label, got {rows}: too few to score")
