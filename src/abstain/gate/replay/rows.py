"""The rows of a log as the gate and its alternatives see them, in a file: read in slices, several times."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...alternatives.rounds import Rounds
from ...typing import Array, Bools, Floats, Ints
from ..playing import Block
from ..prices import weighed
from .log import SLICE


class Rows:
    """A file of records: what each model's answer is worth and what it loses, and what else is known of the row."""

    def __init__(self, path: Path, n_models: int, *, said: bool, stake: bool, time: bool, due: bool) -> None:
        fields: list[tuple[object, ...]] = [
            ("confidence", "f8", (n_models,)),
            ("losses", "f8", (n_models,)),
            ("row", "i8"),
        ]
        fields += [("said", "f8", (n_models,))] * said + [("stake", "f8")] * stake
        fields += [("time", "i8")] * time + [("due", "i8")] * due + [("class", "u1")]
        self.path, self.dtype, self.n_models = path, np.dtype(fields), n_models
        self.n = 0
        self.cost = 0.0

    def has(self, field: str) -> bool:
        """Whether the records have that field."""
        return field in (self.dtype.names or ())

    def empty(self, n: int) -> Array:
        """Records to be filled in."""
        return np.zeros(n, self.dtype)

    def append(self, records: Array) -> None:
        """Write further rows."""
        with self.path.open("ab") as stream:
            records.tofile(stream)
        self.n += len(records)

    def overwrite(self, begin: int, records: Array) -> None:
        """Write rows again."""
        with self.path.open("r+b") as stream:
            stream.seek(begin * self.dtype.itemsize)
            records.tofile(stream)

    def read(self, begin: int, end: int) -> "Slice":
        """The rows from ``begin`` to before ``end``."""
        size = self.dtype.itemsize
        return Slice(begin, np.fromfile(self.path, self.dtype, end - begin, offset=begin * size), self.cost)

    def mean_wait(self, delay: int) -> float:
        """How many rows later labels come, in the mean, at most all; ``delay`` unless rows say it."""
        if not self.has("due"):
            return float(min(delay, self.n))
        waits = (np.minimum(part.records["due"], self.n) - np.arange(part.begin, part.begin + part.n)
                 for part in self.slices())  # fmt: skip
        return float(sum(int(wait.sum()) for wait in waits) / max(1, self.n))

    def slices(self, begin: int = 0) -> "Iterator[Slice]":
        """Rows from ``begin`` on, some at a time."""
        for start in range(begin, self.n, SLICE):
            yield self.read(start, min(self.n, start + SLICE))


class Slice:
    """Some rows, one after the other."""

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
        """Where models have no answer (n, P)."""
        return np.isnan(self.confidence)

    def block(self, origin: int) -> Block:
        """For the gate, whose first case is row ``origin``."""
        due = self.field("due")
        return Block(self.confidence, self.losses, self.field("said"), self.field("stake"), self.field("time"),
                     None if due is None else due - origin)  # fmt: skip

    def rounds(self) -> Rounds:
        """For the alternatives: no answer is the least confidence, and what is at stake counts."""
        stake = self.field("stake")
        sure = self.confidence if stake is None else weighed(self.confidence, stake[:, np.newaxis])
        return Rounds(np.where(np.isnan(sure), -np.inf, sure), self.losses, np.full(self.n, self._cost))

    def due(self, delay: int) -> Ints:
        """When each label comes, as a number of a row."""
        due = self.field("due")
        return np.arange(self.begin, self.begin + self.n) + delay + 1 if due is None else due
