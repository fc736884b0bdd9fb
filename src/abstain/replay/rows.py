"""The rows of a log as they are played: checked, judged and kept in a file, so that memory holds one slice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..alternatives.thresholds import Rounds
from ..errors import InputError
from ..gate.frames import Block
from ..gate.prices import weighed
from ..typing import Array, Bools, Floats, Ints
from .classes import STAKE, Judge
from .kinds import Kinds
from .log import NEVER, SLICE, Slices, Times, blank, check, month_first, named, numbers
from .options import Options

if TYPE_CHECKING:
    import polars as pl


class Rows:
    """A file of records: confidence and loss of each model, and what else a row has."""

    def __init__(
        self, path: Path, n_models: int, *, said: bool, risk: bool, time: bool, due: bool, truth: bool = False,
        kinds: int = 0, partly: bool = False, by_kind: Kinds | None = None, decided: bool = False,
        observed: bool = False, passed: bool = False,
    ) -> None:  # fmt: skip
        """Make an empty file.

        Args:
            path: The file.
            n_models: How many models there are.
            said: Whether there are two classes, and rows say which of them each model gave.
            risk: Whether there are stakes, and rows have what a mistake of each model would cost.
            time: Whether rows have times.
            due: Whether rows say themselves when their label arrives.
            truth: Whether rows have the number of the true class.
            kinds: Of how many answers rows have the prices by kind of mistake; 0: none have.
            partly: Whether labels are missing.
            by_kind: The prices, if labels are missing and prices depend on them.
            decided: Whether rows say what was decided at the time.
            observed: Whether rows have the probability that their label would be seen.
            passed: Whether rows have the time since the row before, in microseconds.
        """
        fields: list[tuple[object, ...]] = [
            ("confidence", "f8", (n_models,)),
            ("losses", "f8", (n_models,)),
            ("answer", "f8", (n_models,)),
            ("row", "i8"),
        ]
        fields += [("said", "f8", (n_models,))] * said + [("risk", "f8", (n_models,))] * risk
        fields += [("truth", "i8")] * truth + [("kinds", "f8", (kinds, kinds + 1))] * (kinds > 0)
        fields += [("time", "i8")] * time + [("due", "i8"), ("came", "i8")] * due + [("class", "u1")]
        fields += [("passed", "i8")] * passed
        fields += [("labelled", "u1"), ("weight", "f8")] * partly + [("decided", "i8")] * decided
        fields += [("stake", "f8")] * (risk and by_kind is not None)
        fields += [("observed", "f8"), ("guess", "f8", (n_models,))] * (observed and partly)
        self.path, self.dtype, self.n_models, self.by_kind = path, np.dtype(fields), n_models, by_kind
        self.n = 0
        self.cost = 0.0
        self.never = np.iinfo(np.int64).max
        """The row before which labels are learnt that do not arrive in time."""

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
        records = np.fromfile(self.path, self.dtype, end - begin, offset=begin * size)
        return Slice(begin, records, self.cost, self.by_kind)

    def mean_wait(self, delay: int) -> float:
        """How many rows late labels are learnt on average; ``delay``, unless the rows have times.

        Labels that the log does not have do not count.
        """
        if not self.has("due"):
            return float(min(delay, self.n))
        total, count = 0, 0
        for part in self.slices():
            wait = np.minimum(part.records["due"], self.n) - np.arange(part.begin, part.begin + part.n)
            total, count = total + int(wait[part.labelled].sum()), count + int(part.labelled.sum())
        return total / max(1, count)

    def slices(self, begin: int = 0) -> "Iterator[Slice]":
        """Rows from ``begin`` on, a slice at a time."""
        for start in range(begin, self.n, SLICE):
            yield self.read(start, min(self.n, start + SLICE))


class Paid(NamedTuple):
    """What answers cost (n, P): one column per model, and perhaps one more for a combination."""

    answers: Floats
    losses: Floats
    """By the label; 0 where there is none."""
    worst: Floats
    """The most that they may lose."""
    guess: Floats | None = None
    """Guesses of the losses, if there are estimates."""

    def of(self, codes: Ints) -> Floats:
        """The number of each answer of a policy, given by the model that answers; NaN for a review (n,)."""
        return np.where(codes < 0, np.nan, self.answers[np.arange(len(codes)), np.maximum(codes, 0)])


class Slice:
    """Consecutive rows."""

    def __init__(self, begin: int, records: Array, cost: float, by_kind: Kinds | None = None) -> None:
        self.begin, self.records = begin, records
        self.n = len(records)
        self.confidence: Floats = np.ascontiguousarray(records["confidence"])
        self.losses: Floats = np.ascontiguousarray(records["losses"])
        self.cost, self._by_kind = cost, by_kind
        self._stake: Floats = records["stake"] if "stake" in (records.dtype.names or ()) else np.ones(self.n)

    def field(self, name: str) -> Array | None:
        """A field of the records, if they have it."""
        names = self.records.dtype.names or ()
        return np.ascontiguousarray(self.records[name]) if name in names else None

    def before(self, row: int) -> "Slice":
        """The rows before that row."""
        return self._part(self.begin, slice(max(0, row - self.begin)))

    def with_label(self) -> "Slice":
        """The rows that have a label."""
        return self._part(self.begin, self.labelled)

    def from_on(self, row: int) -> "Slice":
        """The rows from that row on."""
        skip = min(self.n, max(0, row - self.begin))
        return self if skip == 0 else self._part(self.begin + skip, slice(skip, None))

    def _part(self, begin: int, rows: "slice | Bools") -> "Slice":
        return Slice(begin, self.records[rows], self.cost, self._by_kind)

    @property
    def missing(self) -> Bools:
        """Which answers are missing (n, P)."""
        return np.isnan(self.confidence)

    def block(self, origin: int) -> Block:
        """The rows as the gate takes them; its first case is row ``origin``."""
        due = self.field("due")
        return Block(self.confidence, self.losses, self.field("said"), self.field("risk"), self.field("time"),
                     None if due is None else due - origin, self.field("came"), self.records["answer"],
                     self.field("truth"), self.field("kinds"))  # fmt: skip

    @property
    def labelled(self) -> Bools:
        """Which rows have a label (n,)."""
        known = self.field("labelled")
        return np.ones(self.n, np.bool_) if known is None else known.astype(np.bool_)

    def rounds(self, *, scored: bool = False, weigh: bool = True) -> Rounds:
        """The rows as the alternatives take them: a missing answer has the least confidence.

        With ``scored``, losses are what answers are charged with: estimates, where there are some. With ``weigh``,
        stakes count in confidences; without, they are what the models said, and the rounds have the risks.
        """
        risk = self.field("risk")
        sure = self.confidence if risk is None or not weigh else weighed(self.confidence, risk)
        losses = self.charged(self.paid()) if scored else self.losses
        sure = np.where(np.isnan(sure), -np.inf, sure)
        answers = np.ascontiguousarray(self.records["answer"])
        return Rounds(sure, losses, np.full(self.n, self.cost), answers, self.field("passed"),
                      None if weigh else risk)  # fmt: skip

    def paid(self) -> Paid:
        """What the models' answers cost."""
        answers = np.ascontiguousarray(self.records["answer"])
        return Paid(answers, self.losses, self.worst(np.where(self.missing, np.nan, answers)), self.field("guess"))

    def worst(self, answers: Floats) -> Floats:
        """The most that answers (n, ...) may lose; they count only if prices depend on the kind of mistake."""
        rows = (slice(None),) + (np.newaxis,) * (answers.ndim - 1)
        if self._by_kind is not None:
            return self._by_kind.worst(answers, self._stake[rows])
        risk = self.field("risk")
        return np.broadcast_to(np.ones(self.n)[rows] if risk is None else risk[:, 0][rows], answers.shape)

    @property
    def open(self) -> Floats:
        """How often the loss of a label that is not there counts (n,); 0 where it is there."""
        return np.where(self.labelled, 0.0, self.records["weight"])

    @property
    def unknown(self) -> Bools:
        """Rows of which only bounds are known, for some answer at least (n,)."""
        return np.asarray((self.open[:, np.newaxis] * self.paid().worst > 0.0).any(axis=1))

    def charged(self, paid: Paid, weight: Floats | None = None) -> Floats:
        """What answers are charged with: estimates, where there are guesses. ``weight`` is that of the rows' labels
        unless another is given.
        """
        if paid.guess is None:
            return paid.losses
        weight = (self.records["weight"] if weight is None else weight)[:, np.newaxis]
        return np.where(weight == 1.0, paid.losses, paid.guess + weight * (paid.losses - paid.guess))

    def mistaken(self, paid: Paid, weight: Floats | None = None) -> Floats:
        """How likely each answer is a mistake, as `charged` estimates it; a mistake that costs nothing is none."""
        assert paid.guess is not None
        whole = np.where(paid.worst > 0.0, paid.worst, 1.0)
        wrong = paid.losses / whole if self._by_kind is None else np.where(paid.losses > 0.0, 1.0, 0.0)
        return self.charged(paid._replace(losses=wrong, guess=paid.guess / whole), weight)

    def open_pairs(
        self, one: Ints, other: Ints, paid: Paid, max_error: float | None = None, own: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """How far a label that is not there may move the difference of two policies, down and up (n,).

        Policies are given by the model that answers in each row, -1 for a review. Rows that both answer alike are
        sure, whatever the truth is: in both, the same mistake is made or not. ``own`` says how often losses of ``one``
        count, if it is what was decided, which is paid as it was; the same label then moves both by as much, unless an
        estimate weighs it otherwise.
        """
        first, second, others = paid.of(one), paid.of(other), self.open
        own = others if own is None else own
        if self._by_kind is not None:
            least, most = self._by_kind.apart(first, second, self._stake, own, others)
            return -least, most
        gap = np.where(first == second, 0.0, 1.0) if max_error is None else np.abs(first - second) / max_error
        own, others = (np.where(codes < 0, 0.0, w * paid.worst[:, 0]) for codes, w in ((one, own), (other, others)))
        both = np.where((one < 0) | (other < 0), 0.0, np.minimum(own, others) * (1.0 - np.fmin(1.0, gap)))
        return others - both, own - both

    def ends(self, one: Ints, other: Ints, paid: Paid, max_error: float | None = None) -> tuple[Floats, Floats]:
        """The least and the largest difference of two policies in each row (n,), by its label or by all there could be.

        Policies are given as in `open_pairs`; no estimate is in them, nor a label that the feedback did not show.
        """
        records, at = self.records.copy(), np.arange(self.n)
        seen = self.labelled & (records["weight"] > 0.0)
        records["labelled"], records["weight"] = seen, 1.0
        lost = np.where(seen[:, np.newaxis], paid.losses, 0.0)
        first, second = (np.where(codes < 0, self.cost, lost[at, np.maximum(codes, 0)]) for codes in (one, other))
        down, up = Slice(self.begin, records, self.cost, self._by_kind).open_pairs(one, other, paid, max_error)
        return first - second - down, first - second + up

    @property
    def decided(self) -> Ints:
        """The model whose answer was used (n,); -1 for a review, and where it had no answer."""
        decided = self.records["decided"]
        return np.where(self.missing[np.arange(self.n), np.maximum(decided, 0)], -1, decided)

    def audited(self, labels: object) -> Floats | None:
        """The weights of labels of what was decided (n,), if audits of answers show them at random; None otherwise."""
        if not isinstance(labels, tuple) or not 0.0 < labels[0] < 1.0 or self.field("guess") is None:
            return None
        return np.where(self.labelled, 1.0 / labels[0], 0.0)

    def noise(self, one: Ints | None, other: Ints, paid: Paid, labels: object) -> tuple[Floats, Floats, Floats]:
        """The variance of the difference of two policies' estimates in each row, as the residuals show it and as the
        guesses have it, and the largest term there can be (n,).

        Policies are given as in `open_pairs`; None for what was decided, which is known, or audited by ``labels``.
        """
        chance = np.where(self.records["observed"] > 0.0, self.records["observed"], 1.0)
        guess, worst = paid.guess, np.where(paid.worst > 0.0, paid.worst, 1.0)
        assert guess is not None

        def of(codes: Ints) -> tuple[Floats, Floats, Floats]:
            """What the label adds to the guess, its standard deviation by the guess, and the most that it may be."""
            answered, at = codes >= 0, (np.arange(self.n), np.maximum(codes, 0))
            whole, p = np.where(answered, paid.worst[at], 0.0), np.clip(guess[at] / worst[at], 0.0, 1.0)
            return np.where(answered, paid.losses[at] - guess[at], 0.0), whole * np.sqrt(p * (1.0 - p)), whole

        off, spread, whole = of(other)
        if one is not None:
            first, wide, largest = of(one)
            off, same = first - off, paid.of(one) == paid.of(other)
            # The same label of the same answer: only the guesses differ, if they are those of two models.
            parts = wide + spread, np.maximum(whole, largest)
            spread, whole = (np.where(same, np.abs(off), part) for part in parts)
        shows = (self.records["observed"] > 0.0) & (self.records["weight"] > 0.0) & self.labelled
        shown = np.where(shows, (1.0 - chance) / chance**2, 0.0) * off**2
        guessed = (1.0 / chance - 1.0) * spread**2
        most = np.where(chance < 1.0, whole / chance, 0.0)
        if one is None and isinstance(labels, tuple) and 0.0 < labels[0] < 1.0:
            decided, p = self.decided, labels[0]
            mine, spread, whole = of(decided)
            same = (paid.of(decided) == paid.of(other)) & (self.records["observed"] == p)
            gap, wide, largest = np.abs(mine - off), (1.0 - p) / p**2 * self.labelled, np.maximum(most, whole / p)
            shown = np.where(same, wide * gap**2, shown + wide * mine**2)
            guessed = np.where(same, (1.0 / p - 1.0) * gap**2, guessed + (1.0 / p - 1.0) * spread**2)
            most = np.where(same, gap / p, largest)
        return shown, guessed, most

    def due(self, delay: int) -> Ints:
        """The row before which each label is learnt."""
        due = self.field("due")
        return np.arange(self.begin, self.begin + self.n) + delay + 1 if due is None else due


Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and of how much."""
LEAST_ROWS = 100


class Guesses:
    """What answers of like confidence lost in earlier rows, by model; to begin with, one minus the confidence."""

    BINS, ROWS = 20, 256

    def __init__(self, n_models: int) -> None:
        self._n, self._lost = np.zeros((2, n_models, self.BINS))

    def make(self, records: Array, worst: Floats, labelled: Bools) -> Floats:
        """Guess the losses of each row, relative to the worst mistake (n, P), and learn from those seen."""
        sure = np.nan_to_num(records["confidence"])
        bins = np.minimum((sure * self.BINS).astype(np.int64), self.BINS - 1)
        lost = records["losses"] / np.where(worst > 0.0, worst, 1.0)
        found = np.empty(sure.shape)
        there = ~np.isnan(records["confidence"]) & labelled[:, np.newaxis]
        for begin in range(0, len(sure), self.ROWS):
            rows = slice(begin, begin + self.ROWS)
            for k, at in enumerate(bins[rows].T):
                before = 2.0 * (1.0 - sure[rows, k])
                found[rows, k] = (self._lost[k, at] + before) / (self._n[k, at] + 2.0)
                seen = there[rows, k]
                self._n[k] += np.bincount(at[seen], minlength=self.BINS)
                self._lost[k] += np.bincount(at[seen], lost[rows, k][seen], self.BINS)
        return found


class Delays:
    """How late the labels of each class come, counted in steps of about two per cent."""

    STEPS, LARGEST = 100, 9
    LEAST, APART = 50, 0.25
    """Labels of a class to say anything, and the gap between two distributions that is worth a warning."""

    def __init__(self, n_classes: int) -> None:
        self._counts = np.zeros((n_classes, self.STEPS * self.LARGEST + 1), np.int64)

    def add(self, seconds: Floats, classes: Ints) -> None:
        """Count labels by how late they come, and by class."""
        at = np.ceil(self.STEPS * np.log10(np.maximum(1.0, seconds))).astype(np.int64)
        np.add.at(self._counts, (classes, np.minimum(at, self._counts.shape[1] - 1)), 1)

    def quantile(self, which: "int | None", share: float) -> float:
        """The seconds within which this share of the labels of a class, or of all, come: rounded up."""
        counts = self._counts.sum(axis=0) if which is None else self._counts[which]
        at = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
        return float(10.0 ** (at / self.STEPS))

    def apart(self) -> tuple[int, int] | None:
        """The classes whose labels come earliest and latest, if labels of one class come clearly earlier."""
        known = np.flatnonzero(self._counts.sum(axis=1) >= self.LEAST)
        if len(known) < 2:
            return None
        reached = np.cumsum(self._counts[known], axis=1) / self._counts[known].sum(axis=1, keepdims=True)
        gaps = np.max(reached[:, np.newaxis] - reached, axis=2)
        early, late = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        return (int(known[early]), int(known[late])) if gaps[early, late] >= self.APART else None


@dataclass
class Facts:
    """What was found in the log while reading it."""

    rows: int
    """Rows of the log."""
    unlabelled: int = 0
    never: int = 0
    """Rows without a label, and labels without a time, which never arrive."""
    missing: list[int] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    """By model: rows without an answer, lowest and highest confidence."""
    right: list[int] = field(default_factory=list)
    """By model: answers that are not a whole mistake."""
    late: float = 0.0
    """Mean seconds from a case to its label, among labels with a time."""

    wrong: list[int] = field(default_factory=list)
    """By model: answers that are a whole mistake, in rows with a label."""
    unsure: list[int] = field(default_factory=list)
    """By model: rows with an answer, but without a confidence."""
    weights: tuple[float, float] = 0.0, 0.0
    """With probabilities of seeing a label: the sums of one over them, and of the squares, where labels were seen."""
    hidden: int = 0
    """With such probabilities: rows of which only bounds are known."""
    lost: int = 0
    """Those among them whose label should have come."""
    shown: Floats = field(default_factory=lambda: np.zeros(3))
    """Where such probabilities are below 1: their sum, the variance of the number of labels, and that number."""
    guesses: Guesses = field(default_factory=lambda: Guesses(1))
    delays: Delays = field(default_factory=lambda: Delays(1))
    """With times of labels: how late they come, by class."""

    @property
    def effective(self) -> float:
        """How many labels, if all were equally likely to be seen, would tell as much as those that were."""
        return self.weights[0] ** 2 / self.weights[1] if self.weights[1] > 0.0 else 0.0

    def look(self, confidence: Floats, right: Bools, labelled: Bools) -> None:
        """Count the models' answers, and which of them are not a whole mistake (n, P)."""
        gone = np.isnan(confidence)
        for k, known in enumerate((~gone & labelled[:, np.newaxis]).T):
            self.right[k] += int((known & right[:, k]).sum())
            self.wrong[k] += int((known & ~right[:, k]).sum())
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
    """Check the rows and write them to ``rows``."""
    n_models = len(options.models)
    facts = Facts(slices.rows, 0, 0, [0] * n_models, [np.inf] * n_models, [-np.inf] * n_models,
                  [0] * n_models, wrong=[0] * n_models, unsure=[0] * n_models, guesses=Guesses(n_models),
                  delays=Delays(256))  # fmt: skip
    times: list[Ints] = []
    last: int | None = None
    dates = [column for column in (options.time, options.label_time) if column is not None]
    clock = Times(month_first((frame for _, frame in slices), dates) if dates else None)
    for begin, frame in slices:
        records = rows.empty(len(frame))
        records["row"] = np.arange(begin + 1, begin + len(frame) + 1)
        if options.time is not None:
            records["time"] = clock.read(frame[options.time], begin, may_miss=False)
            before = records["time"][0] if last is None else last
            last = _check_order(frame[options.time], records["time"], last, begin)
            if rows.has("passed"):
                records["passed"] = np.diff(records["time"], prepend=before)
        if options.label_time is not None:
            records["came"] = clock.read(frame[options.label_time], begin, may_miss=True)
            text = f"a time not before that of its case (column {options.time})"
            check(frame[options.label_time], records["came"] >= records["time"], begin, text)
        labelled, right = judge.fill(records, frame, begin)
        facts.unlabelled += len(frame) - int(labelled.sum())
        facts.look(records["confidence"], right, labelled)
        for k, model in enumerate(options.models):
            if model.sure is not None:
                facts.unsure[k] += int((~blank(frame[model.answer]) & blank(frame[model.sure])).sum())
        if rows.has("labelled"):
            records["labelled"], records["weight"] = labelled, 1.0
            records["losses"][~labelled] = 0.0
        if options.decided is not None:
            records["decided"] = judge.decided(frame, begin)
        if rows.has("observed"):
            _estimate(Slice(begin, records, rows.cost, rows.by_kind), frame, options, facts)
        if options.by_time:
            times.append(records["time"].copy())
        if options.label_time is not None:
            comes = labelled & (records["came"] != NEVER)
            facts.never += int((labelled & ~comes).sum())
            seconds = (records["came"] - records["time"])[comes] / 1e6
            facts.late += float(seconds.sum())
            facts.delays.add(seconds, records["class"][comes])
        rows.append(records)
        progress("checking", begin + len(frame), slices.rows)
    if options.label_time is not None:
        facts.late /= max(1, rows.n - facts.unlabelled - facts.never)
    if rows.has("due"):
        _count_due(rows, np.concatenate(times) if times else np.arange(rows.n), options)
    return facts


def _estimate(part: Slice, frame: "pl.DataFrame", options: Options, facts: Facts) -> None:
    """Fill in what doubly robust estimates of losses need where the label was seen with a known probability.

    The estimate is ``m + 1[seen] (l - m) / o``, with the probability o that the label is seen, and a guess m of the
    loss l that knows earlier rows only. It is unbiased, however o came from the past, for every policy that does not
    know whether the label was seen. Where o is 0, or a label that was to be seen is not there, only bounds are known.
    """
    assert options.observed is not None
    records, column = part.records, frame[options.observed]
    chance = numbers(column, part.begin)
    check(column, np.isnan(chance) | ((chance >= 0.0) & (chance <= 1.0)), part.begin, "a probability in [0, 1]")
    chance = np.nan_to_num(chance)
    labelled, shows = records["labelled"] == 1, records["labelled"] == 1
    if options.decided is not None:
        shows = {"answered": records["decided"] >= 0, "reviewed": records["decided"] < 0}.get(
            str(options.labels), labelled
        )
        shows = shows | (chance == 1.0)
        if isinstance(options.labels, tuple):  # whether a label comes is drawn: none is missing
            shows = labelled
    known, open_ = chance > 0.0, np.where(chance > 0.0, chance, 1.0)
    weight = np.where(known & shows, 1.0 / open_, np.where(known, 0.0, 1.0))
    worst = part.paid().worst
    records["observed"], records["weight"] = chance, weight
    records["guess"] = np.where(known[:, np.newaxis], worst * facts.guesses.make(records, worst, labelled), 0.0)
    used = weight[known & shows & labelled]
    facts.shown += np.array([chance, chance * (1.0 - chance), shows])[:, known & (chance < 1.0)].sum(axis=1)
    facts.weights = facts.weights[0] + float(used.sum()), facts.weights[1] + float((used**2).sum())
    facts.hidden += int(part.unknown.sum())
    facts.lost += int((part.unknown & known).sum())


def _check_order(column: "pl.Series", times: Ints, last: int | None, begin: int) -> int:
    """Check that times do not decrease after ``last``, the time of the previous row; return the last time."""
    steps = np.diff(times, prepend=times[0] if last is None else last)
    check(column, steps >= 0, begin, "times in order, none before the row above")
    return int(times[-1])


def _count_due(rows: Rows, times: Ints, options: Options) -> None:
    """Turn times of labels into rows: a label arrives before the first later case at or after its time.

    If there is a maturity, the label is not learnt before its case is old enough: then right after the decision that
    makes it so, before labels that arrive later. A label that has not arrived with the last row is never learnt.
    """
    n, never = len(times), len(times) + 1
    rows.never = never
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
        # A row without a label is not learnt at all: half of what it says would mislead.
        part.records["due"], part.records["came"] = np.where(part.labelled, due, never), came
        rows.overwrite(part.begin, part.records)


def without_label(slices: Slices, column: str) -> int:
    """How many rows have no label."""
    import polars as pl

    whole = pl.scan_parquet(slices.path, glob=False).select(named(column))
    return sum(int(blank(whole.slice(begin, SLICE).collect()[column]).sum()) for begin in range(0, slices.rows, SLICE))


def check_enough(rows: int, log: str) -> None:
    """Raise an error for a log that is too short to score."""
    if rows < LEAST_ROWS:
        raise InputError(f"{log}: expected at least {LEAST_ROWS} rows with a label, got {rows}: too few to score")
