"""How a gate is doing: what it counts while it decides and learns, and what it says of it."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.extras import need
from .._core.validation import is_number
from ..engine import Learner
from ..errors import InputError, LabelWarning, shown
from ..typing import Array, Bools, Floats, Ints
from .alarms import ALARM, KINDS, QUIET, SETTLE, START, Watch
from .answers import NUMBER, REVIEW, Plain, Said, Task
from .case import Case
from .frames import Block, PlayedCases
from .prices import Prices

if TYPE_CHECKING:
    import polars as pl

REPORT = "report"
ON_ALARM = (REPORT, REVIEW)
"""What a gate does with a model in alarm: it says so, or it does not follow the model either."""


def as_on_alarm(value: Any) -> str:
    """Check what a gate is to do with a model in alarm."""
    if not isinstance(value, str) or value not in ON_ALARM:
        raise InputError(f"on_alarm: expected one of {', '.join(ON_ALARM)}, got {shown(value)}")
    return value


NEVER_RIGHT, NEARLY_RIGHT = 50, 20
"""Labels after which a model that was never right is a reason to warn; answers that are nearly right."""


class Totals:
    """Numbers of all cases; each is a float, and sums are made in the order in which things happen."""

    def __init__(self) -> None:
        self.reviewed = self.explored = self.over_capacity = self.muted = 0.0
        self.paid = self.paid_squares = 0.0
        """For reviews, in the user's money."""
        self.labels = self.late = 0.0
        """Labels, and how many cases late they were in all."""
        self.priced = self.lost = self.lost_squares = 0.0
        """Labels of answered cases, and what the answers cost, in the user's money."""

    def review(self, prices: Floats) -> None:
        """Add what reviews cost."""
        self.paid, self.paid_squares = _added(self.paid, prices), _added(self.paid_squares, prices * prices)

    def hear(self, late: Floats, prices: Floats) -> None:
        """Add labels: how many cases late each is, and what answers cost (NaN for a review)."""
        self.labels += len(late)
        self.late = _added(self.late, late)
        known = prices[~np.isnan(prices)]
        self.priced += len(known)
        self.lost, self.lost_squares = _added(self.lost, known), _added(self.lost_squares, known * known)


def _added(total: float, values: Floats) -> float:
    """Add values one after the other, as single cases do."""
    return float(np.cumsum(np.concatenate([[total], values]))[-1])


@dataclass
class Matches:
    """How answers compare with labels."""

    labels: int = 0
    right: int = 0
    """Labels that the answer of at least one model equals."""
    nearly: int = 0
    """Labels that no answer equals, but that differ from one in type, capitals or blanks alone."""
    warned: bool = False

    def see(self, answers: Mapping[str, Plain | None], label: Plain, task: Task) -> str | None:
        """Compare answers with a label; return a reason to warn, once, if there is one."""
        given = {model: answer for model, answer in answers.items() if answer is not None}
        if self.warned or not given:
            return None
        self.labels += 1
        number = task.kind == NUMBER
        if number:
            found = any(abs(float(one) - float(label)) < task.max_error for one in given.values())
        else:
            found = label in given.values()
        if found:
            self.right += 1
            return None
        alike = None if number else next((one for one in given if _folded(given[one]) == _folded(label)), None)
        self.nearly += alike is not None
        self.warned = (alike is not None and self.nearly >= NEARLY_RIGHT) or (
            self.labels >= NEVER_RIGHT and self.right == 0
        )
        if not self.warned:
            return None
        if alike is not None:
            return (
                f"{alike} says {given[alike]!r} where the label is {label!r}, and the like, in {self.nearly} cases: "
                "they differ in type, capitals or blanks alone, and count as mistakes; write both alike"
            )
        why = "every answer is off by max_error or more"
        if not number:
            model, answer = next(iter(given.items()))
            why = f"{model} last said {answer!r} where the label is {label!r}"
        return f"no model was ever right in {self.labels} cases with a label: {why}"


def _folded(value: Plain) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip().casefold()


class Monitor:
    """What a gate counts, to say how it is doing.

    Args:
        n_models: How many models there are.
        task: How they answer.
    """

    def __init__(self, n_models: int, task: Task) -> None:
        self._task = task
        self.watch = Watch(n_models, task.max_error if task.kind == NUMBER else 0.0)
        self.totals = Totals()
        self.matches = Matches()

    # One case.

    def decided(self, said: Sequence[Said | None], case: Case, muted: bool) -> None:
        """Count a case."""
        totals = self.totals
        totals.muted += muted
        totals.explored += case.explored
        totals.over_capacity += case.over_capacity
        if case.action == REVIEW:
            totals.reviewed += 1
            totals.paid += case.review_price
            totals.paid_squares += case.review_price * case.review_price
        sure = [math.nan if one is None else one.confidence for one in said]
        if self._task.kind == NUMBER:
            numbers = [math.nan if one is None else float(one.answer) for one in said]
        else:
            known: dict[Plain, int] = {}
            numbers = [math.nan if one is None else known.setdefault(one.answer, len(known)) for one in said]
        self.watch.add(sure, numbers)

    def known(self, case: Case, models: Sequence[str]) -> list[str | None]:
        """Return the models of today; None for those that came after a case, also if their name is one of it."""
        return [None if case.round <= self.watch.born(m) else name for m, name in enumerate(models)]

    def heard(
        self, case: Case, true: Plain, losses: Sequence[float], models: Sequence[str], now: int, unit: float
    ) -> None:
        """Count a label, with the models' losses in full; warn if labels and answers do not fit."""
        totals = self.totals
        totals.labels += 1
        totals.late += now - case.round
        of_model = dict(zip(case.answers, losses, strict=True))
        if case.action != REVIEW:
            price = of_model[case.model] * unit
            totals.priced += 1
            totals.lost += price
            totals.lost_squares += price * price
        given = case.answers
        learnt = {name: min(1.0, loss) for name, loss in of_model.items()}
        self.watch.hear(case.round, [math.nan if given.get(one) is None else learnt[one] for one in models])
        reason = self.matches.see(given, true, self._task)
        if reason is not None:
            warnings.warn(reason, LabelWarning, stacklevel=3)

    # Many cases.

    def learn(self, block: Block) -> None:
        """Take the cases of a log for the past of the models."""
        self.watch.learn(*self._seen(block))

    def playing(self, learner: Learner, delay: int) -> PlayedLabels:
        """Return what counts the cases of a game, with labels ``delay`` cases late unless blocks say when they come."""
        return PlayedLabels(self, learner, delay)

    def _seen(self, block: Block) -> tuple[Floats, Floats]:
        """Return confidences and numbers of answers; NaN where there is none, or nothing is known."""
        said = block.said if block.answer is None else block.answer
        missing = np.isnan(block.confidence)
        if said is None:
            said = np.full(missing.shape, np.nan)
        return np.ascontiguousarray(block.confidence), np.where(missing, np.nan, said)

    # Other models, copies, files.

    def rearrange(self, model_from: Sequence[int]) -> Monitor:
        """Return the monitor of other models, by the numbers they had; -1 for a new one."""
        other = copy.copy(self)
        other.watch = self.watch.rearranged(model_from)
        return other

    def copy(self) -> Monitor:
        """Copy it."""
        other = copy.copy(self)
        other.watch, other.totals, other.matches = self.watch.copy(), copy.copy(self.totals), copy.copy(self.matches)
        return other

    def to_file(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Describe it as plain values and arrays."""
        cases, arrays = self.watch.to_file()
        return {"cases": cases, "totals": dict(vars(self.totals)), "matches": list(vars(self.matches).values())}, arrays

    @classmethod
    def from_file(cls, n_models: int, task: Task, kept: Any, arrays: dict[str, Array]) -> Monitor:
        """Read what `to_file` wrote; raise a `ValueError` if it cannot be that of so many models."""
        made = cls(n_models, task)
        made.watch = Watch.from_file(n_models, made.watch.scale, kept["cases"], arrays)
        totals, (*matches, warned) = kept["totals"], kept["matches"]
        if totals.keys() != vars(made.totals).keys():
            raise InputError(f"health: expected {', '.join(vars(made.totals))}, got {shown(totals)}")
        if not all(is_number(one) and 0.0 <= one < math.inf for one in totals.values()):
            raise InputError(f"health: expected totals of 0 or more, got {shown(totals)}")
        if len(matches) != 3 or not all(type(n) is int and n >= 0 for n in matches) or type(warned) is not bool:
            raise InputError(f"health: expected counts of labels, got {shown(kept['matches'])}")
        vars(made.totals).update({name: float(one) for name, one in totals.items()})
        made.matches = Matches(matches[0], matches[1], matches[2], warned)
        return made


LONGEST = 4_096
"""Rows of a table that are played at once, at most, if alarms are obeyed."""


class PlayedLabels:
    """Counts the cases of a game of whole tables, and their labels when they come, as single cases would be counted."""

    def __init__(self, monitor: Monitor, learner: Learner, delay: int) -> None:
        self._monitor, self._learner, self._delay = monitor, learner, delay
        self._origin, self._played = learner.round, 0
        models = len(monitor.watch.models)
        self._due, self._came, self._row = (np.zeros(0, np.int64) for _ in range(3))
        self._price, self._losses = np.zeros(0), np.zeros((0, models))

    def stretches(self, block: Block) -> Iterator[tuple[slice, Bools]]:
        """Watch a block; yield stretches of its rows, and which models are muted. `count` follows each.

        A stretch ends where labels may end an alarm. While there is none, it is longer.
        """
        watch, first, end = self._monitor.watch, 0, 0
        sure, said = self._monitor._seen(block)
        muted = np.zeros(sure.shape, np.bool_)
        while end < len(sure):
            rows = slice(end, min(len(sure), end + watch.coming))
            muted[rows] = watch.add_all(sure[rows], said[rows])
            end = rows.stop
            if watch.any or end == len(sure) or muted[rows].any() or end - first >= LONGEST:
                yield slice(first, end), muted[first:end]
                first = end

    def count(self, block: Block, rows: slice, played: PlayedCases, muted: Bools | None, prices: Prices) -> None:
        """Count a stretch of a block, and the labels that come; ``played``: what the gate did in these rows."""
        totals, n, reviewed = self._monitor.totals, rows.stop - rows.start, played.reviewed
        totals.reviewed += int(reviewed.sum())
        totals.explored += int(played.explored.sum())
        totals.over_capacity += int(played.over_capacity.sum())
        totals.muted += 0 if muted is None else int(muted.any(axis=1).sum())
        totals.review(np.full(int(reviewed.sum()), prices.review))
        row, before = np.arange(self._played, self._played + n), self._monitor.watch.cases - n
        come = self._learner.comes(self._origin + self._played + 1, n)[np.arange(n), reviewed.astype(np.int64)]
        due = row + self._delay + 1 if block.due is None else block.due[rows]
        came = np.zeros(n, np.int64) if block.came is None else block.came[rows]
        losses = np.where(np.isnan(block.confidence[rows]), np.nan, np.minimum(1.0, block.losses[rows]))
        price = np.where(reviewed, np.nan, played.loss * prices.unit)
        for name, values in (("due", due), ("came", came), ("row", row), ("price", price), ("losses", losses)):
            setattr(self, f"_{name}", np.concatenate([getattr(self, f"_{name}"), values[come]]))
        self._keep(np.lexsort((self._row, self._came, self._due)))
        cases, heard = before, 0
        while cases < before + n:  # as single cases would do it
            step = min(before + n, cases + SETTLE - cases % SETTLE) - cases
            cases, self._played = cases + step, self._played + step
            heard = self._hear(heard, self._played - 1)
            self._monitor.watch.settle(cases)
            heard = self._hear(heard, self._played)
        if heard > 0:
            totals.hear((self._due - self._row - 1)[:heard].astype(np.float64), self._price[:heard])
            self._keep(slice(heard, None))

    def _hear(self, heard: int, last: int) -> int:
        """Count the labels that come before case ``last``, of which so many were heard; return how many are now."""
        upto = max(heard, int(np.searchsorted(self._due, last, side="right")))
        self._monitor.watch.hear_all(self._origin + self._row[heard:upto] + 1, self._losses[heard:upto])
        return upto

    def _keep(self, which: Ints | slice) -> None:
        """Keep some of the cases whose labels are to come, in this order."""
        for name in ("due", "came", "row", "price", "losses"):
            setattr(self, f"_{name}", getattr(self, f"_{name}")[which])


class ModelHealth(NamedTuple):
    """How a model is doing. "Past" is the last whole block of its own cases; None: nothing is known yet."""

    model: str
    answers: float | None
    """The share of cases that it answered, of the last 100 or so ..."""
    answers_past: float | None
    """... and in its past."""
    agreement: float | None
    """How often it agrees with another model, on average over the others, of the last 100 cases or so ..."""
    agreement_past: float | None
    """... and in its past."""
    confidence: float | None
    """Its mean confidence in the last 100 answers or so ..."""
    confidence_past: float | None
    """... and in its past."""
    labels: int
    """Cases of the model with a label, up to 1,000 ..."""
    loss: float | None
    """... and its mean loss in them, thresholds or not, relative to `Gate.unit`, at most 1 each."""
    alarm: str | None
    """What it does otherwise than before; None if it is not in alarm."""
    since: int | None
    """The number of the case with which the alarm began."""


@dataclass(frozen=True)
class Health:
    """How a gate was doing at one moment: numbers, a frame and sentences."""

    models: tuple[ModelHealth, ...]
    cases: int
    """Cases decided."""
    reviewed: float | None
    """The share of cases that were sent to review ..."""
    explored: float | None
    """... that were answered, or reviewed, only to see the label ..."""
    over_capacity: float | None
    """... and that were answered only because no capacity was left."""
    muted: int
    """Cases in which a model was left out because it was in alarm."""
    labels: int
    """Labels that came."""
    delay: float | None
    """How many cases late they were, on average."""
    pending: int
    """Open cases, whose label may still come ..."""
    oldest: int | None
    """... how many cases ago the oldest of them was decided ..."""
    median_age: float | None
    """... and the median of these ages."""
    price: float | None
    """The realised price per case, in your money; None as long as no label of an answered case has come."""
    price_interval: tuple[float, float] | None
    """An interval that contains the expected price with a probability of about 95 %."""
    memory: Mapping[int | None, float] = field(default_factory=dict)
    """How much each memory of the learner counts, by the cases it holds (None: all)."""
    false_alarms: float = 1.0 / QUIET
    """At most this is the probability of a false alarm per quiet case, of all models together."""

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of the models in alarm."""
        return tuple(one.model for one in self.models if one.alarm is not None)

    def frame(self) -> pl.DataFrame:
        """Return the models as a frame.

        Returns:
            A frame with one row per model and the columns of `ModelHealth`.

        Raises:
            ImportError: If Polars is not installed.
        """
        need("polars", "gate.health().frame", "cli")
        import polars as pl

        types: dict[str, Any] = dict.fromkeys(ModelHealth._fields, pl.Float64)
        types |= {"model": pl.String, "alarm": pl.String, "labels": pl.Int64, "since": pl.Int64}
        return pl.DataFrame(self.models, schema=types, orient="row")

    @property
    def sentences(self) -> tuple[str, ...]:
        """The same in words, the most urgent first."""
        if self.cases == 0:
            return ("No case was decided yet.",)
        found = [self._alarm(one) for one in self.models if one.alarm is not None]
        if not found:
            found.append("No model is in alarm.")
        shares = f"{_percent(self.reviewed)} of {self.cases:,} cases were reviewed"
        if self.explored:
            shares += f", {_percent(self.explored)} were decided for the sake of the label"
        if self.over_capacity:
            shares += f", {_percent(self.over_capacity)} were answered because no capacity was left"
        found.append(shares + ".")
        if self.muted:
            found.append(f"In {self.muted:,} cases a model in alarm was left out.")
        if self.price is not None and self.price_interval is not None:
            low, high = self.price_interval
            found.append(f"A case cost {self.price:.3g} on average (95 %: {low:.3g} to {high:.3g}).")
        found.append(self._labels())
        short = sum(weight for held, weight in self.memory.items() if held is not None and held <= 1_000)
        if short > 0.5:
            found.append(f"The last 1,000 cases count for {_percent(short)} of what was learnt: something changed.")
        return tuple(found)

    def _alarm(self, one: ModelHealth) -> str:
        parts = []
        for kind, now, past in (
            ("answers", one.answers, one.answers_past),
            ("agreement", one.agreement, one.agreement_past),
            ("mean confidence", one.confidence, one.confidence_past),
        ):
            if now is not None and past is not None:
                parts.append(f"{kind} {now:.2f}, {past:.2f} before")
        return f"{one.model} {one.alarm} since case {one.since:,} ({'; '.join(parts)})."

    def _labels(self) -> str:
        if self.labels == 0:
            came = "No label has come yet"
        else:
            late = "at once" if not self.delay else f"{self.delay:,.0f} cases late on average"
            came = f"{self.labels:,} {'label has' if self.labels == 1 else 'labels have'} come, {late}"
        if self.pending == 0:
            return f"{came}; none is awaited."
        if self.pending == 1:
            return f"{came}; 1 case is open, {self.oldest:,} cases old."
        return (
            f"{came}; {self.pending:,} cases are open, the oldest of them for {self.oldest:,} cases, half of them for "
            f"{self.median_age:,.0f} or more."
        )

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def _percent(share: float | None) -> str:
    return f"{100.0 * (share or 0.0):.3g} %"


def health_of(monitor: Monitor, models: Sequence[str], learner: Learner) -> Health:
    """Say how a gate is doing; its lock is held."""
    watch, totals = monitor.watch, monitor.totals
    cases, pending = learner.round, learner.pending
    ages: Ints = cases - np.array(pending, np.int64)
    price = interval = None
    n = max(1, cases)
    if totals.priced > 0 or (cases > 0 and totals.reviewed == cases):
        share, seen = totals.reviewed / n, max(1.0, totals.priced)
        review = totals.paid / max(1.0, totals.reviewed)
        squares = totals.paid_squares / max(1.0, totals.reviewed)
        price = share * review + (1.0 - share) * totals.lost / seen
        spread = max(0.0, share * squares + (1.0 - share) * totals.lost_squares / seen - price * price)
        known = cases if share == 1.0 else seen / (1.0 - share)
        half = 1.96 * math.sqrt(spread / known)
        interval = max(0.0, price - half), price + half
    return Health(
        models=tuple(_model(watch, m, name) for m, name in enumerate(models)),
        cases=cases,
        reviewed=None if cases == 0 else totals.reviewed / n,
        explored=None if cases == 0 else totals.explored / n,
        over_capacity=None if cases == 0 else totals.over_capacity / n,
        muted=int(totals.muted),
        labels=int(totals.labels),
        delay=None if totals.labels == 0 else totals.late / totals.labels,
        pending=len(pending),
        oldest=None if len(ages) == 0 else int(ages.max()),
        median_age=None if len(ages) == 0 else float(np.median(ages)),
        price=price,
        price_interval=interval,
        memory=dict(getattr(learner, "memory_weights", {})),
    )


def _model(watch: Watch, m: int, name: str) -> ModelHealth:
    values = {kind: _known(*pair) for kind, pair in watch.now_and_past(m).items()}
    kinds, (labels, loss) = int(watch.models[m, ALARM]), watch.loss(m)
    does = " and ".join(text for bit, text in KINDS.items() if kinds & bit) or None
    return ModelHealth(
        name,
        *values["answers"],
        *values["agreement"],
        *values["confidence"],
        labels=labels,
        loss=loss,
        alarm=does,
        since=None if does is None else int(watch.models[m, START]),
    )


def _known(now: float, past: float) -> tuple[float | None, float | None]:
    return None if math.isnan(now) else float(now), None if math.isnan(past) else float(past)
