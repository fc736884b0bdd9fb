"""What a gate saved over a period: its realised price, and the price of policies that were not followed.

The estimator is that of `abstain replay` on a gate's own cases (`abstain.replay.rows`): exact where labels are there,
doubly robust where the label was seen with a known probability, bounds where nothing identifies the price. Losses are
in the user's money here, at the prices that hold now.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, shown
from ..gate.answers import ANSWER, NUMBER, REVIEW, Labels, Plain, Said, Task
from ..gate.prices import Prices
from ..replay.options import Options
from ..replay.play import ALWAYS, GATE, TODAY, Cuts, Medians, PolicySums, blocks
from ..replay.policies import intervals, policy_name
from ..replay.rows import LEAST_ROWS, Facts, Guesses, Rows, Slice, _estimate
from ..typing import Array, Bools, Floats, Ints
from .hosted import ASSUMED, labels_of, prices_of
from .problems import Invalid, StoreUnavailable
from .store import StoreError

if TYPE_CHECKING:
    from .service import Service
    from .store import CaseRecord

EXACT, ESTIMATED, BOUNDS = "exact", "estimated", "bounds"
"""How well a price is known: every label is there; an estimate with an interval; only its lowest and highest value."""
SETTLED = 0.95
"""Cases count as settled once they are older than this share of the delays; the rest waits for labels ..."""
ALL_LABELS = 0.95
"""... and if this share of the settled cases has a label, no weights are needed."""
MOST_POINTS, CASES_A_POINT = 60, 100
"""Points of a curve over time, at most, and cases that each stands for, at least."""
SEED = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """A decided case, as far as prices need it."""

    at: float
    """When it was decided, in seconds."""
    mode: str
    action: str
    """What was done: in shadow mode, by the caller."""
    answer: Any
    model: str | None
    threshold: float | None
    probability: float
    """The probability of answering, before the draw."""
    answers: Mapping[str, Any]
    """What each model said, as in the request."""
    stake: float | None
    label: Any
    """None if no label has come; a correction counts instead of the label."""
    label_at: float | None
    """When it came, in seconds."""
    label_source: str | None = None
    """Where it came from, if somebody said so."""

    @classmethod
    def of(cls, record: "CaseRecord") -> "Scored":
        """The case that the store has."""
        asked, reply = json.loads(record.request), json.loads(record.reply)
        label = record.label if record.correction is None else record.correction
        return cls(
            record.at, record.mode, record.action, reply["answer"], reply["model"], reply["threshold"],
            reply["probability"], asked["answers"], asked.get("stake"), None if label is None else json.loads(label),
            record.label_at, None if record.label_source == ASSUMED else record.label_source,
        )  # fmt: skip


@dataclass(frozen=True)
class Priced:
    """A way to decide, and its price per case over the settled cases."""

    kind: str
    """gate (what was done), today, policy (another model and threshold), always, review."""
    name: str
    """In words: "gbm above 0.85"."""
    model: str | None
    threshold: float | None
    price: float
    """The price per case; the middle of lowest and highest, if labels are missing."""
    lowest: float
    highest: float
    """The price per case if every missing label favours the policy, and if none does."""
    reviewed: float
    """The share of cases sent to review."""
    known: str
    """exact, estimated or bounds."""
    saved: float | None = None
    """What the gate saved per case against it; None for the gate itself."""
    saved_low: float | None = None
    saved_high: float | None = None
    """The 95 % interval of that, with what missing labels may change; None if there are too few cases."""


@dataclass(frozen=True)
class OverTime:
    """Means over consecutive cases."""

    at: list[float] = field(default_factory=list)
    """When the first case of each stretch was decided."""
    price: dict[str, list[float | None]] = field(default_factory=dict)
    """By the name of the policy: the price per case; None where labels are still to come."""
    reviewed: list[float] = field(default_factory=list)
    followed: dict[str, list[float]] = field(default_factory=dict)
    """By model: the share of cases in which it was followed."""
    threshold: list[float | None] = field(default_factory=list)
    """The median threshold; reviewing everything counts as 1, answering everything as 0."""


@dataclass(frozen=True)
class Savings:
    """The meter over a period."""

    cases: int
    settled: int
    """Cases that are old enough for their labels to be there; prices are theirs."""
    labelled: int
    """Settled cases with a label."""
    effective: float | None
    """With probabilities of seeing labels: how many labels, all equally likely, would tell as much."""
    since: float | None
    until: float | None
    """When the first and the last settled case were decided."""
    review_price: float
    delay: float | None
    """The median time from a case to its label, in seconds."""
    baseline: Priced | None
    """What the saving is measured against: today's threshold, or the policy that was asked for."""
    saved: float | None
    saved_low: float | None
    saved_high: float | None
    """The whole saving over the settled cases, and its 95 % interval."""
    policies: list[Priced] = field(default_factory=list)
    """The gate first, then the baseline, each model alone, and reviewing everything."""
    over_time: OverTime = field(default_factory=OverTime)


class Table:
    """Cases as arrays, one row per case in the order of the decisions. The last column is what was done.

    Args:
        cases: The cases.
        prices: What reviews and mistakes cost.
        now: The time by which labels had to be there, in seconds.
        labels: Which labels the gate sees, as in `Gate`.
    """

    def __init__(self, cases: Sequence[Scored], prices: Prices, now: float, labels: Any) -> None:
        self.models = list(dict.fromkeys(name for case in cases for name in case.answers))
        self._number = {name: k for k, name in enumerate(self.models)}
        self.prices = prices
        self.max_error = prices.task.max_error if prices.task.kind == NUMBER else None
        n, self.done = len(cases), len(self.models)
        maker = Rows(Path(), self.done + 1, said=False, risk=True, time=False, due=False, partly=True, decided=True,
                     observed=True)  # fmt: skip
        self.records: Array = maker.empty(n)
        self.at: Floats = np.array([case.at for case in cases], np.float64)
        self.threshold: Floats = np.array([_level(case.threshold) for case in cases], np.float64)
        self.followed: Ints = np.array([self._number.get(case.model or "", -1) for case in cases], np.int64)
        self.records["decided"] = [self.done if case.action == ANSWER else -1 for case in cases]
        self.records["labelled"] = [case.label is not None for case in cases]
        self.records["risk"] = np.array([self._whole(case) for case in cases], np.float64).reshape(n, 1)
        self._codes: dict[Plain, int] = {}
        read = [self._read(case) for case in cases]
        for k, name in enumerate(("confidence", "answer", "losses")):
            self.records[name] = np.array([one[k] for one in read], np.float64).reshape(n, self.done + 1)
        came = [None if case.label is None else case.label_at for case in cases]
        delay = np.array([np.nan if b is None else max(0.0, b - c.at) for b, c in zip(came, cases, strict=True)])
        self.delay = None if np.isnan(delay).all() else float(np.nanmedian(delay))
        self.settled = self._settled(delay, now)
        kinds = Labels(labels)
        answering = np.array([case.probability for case in cases], np.float64)
        paused = np.array([case.mode == "paused" for case in cases], np.bool_)
        observed = kinds.after[ANSWER] * answering + kinds.after[REVIEW] * (1.0 - answering)
        counts = np.array([case.label is not None and kinds.counts(case.label_source, case.action) for case in cases])
        self._estimate(np.where(paused, 0.0, observed), kinds, counts.astype(np.bool_))

    def _whole(self, case: Scored) -> float:
        stake = 1.0 if case.stake is None else case.stake
        return max(float(price.at(stake)) for price in [self.prices.other, *self.prices.by_kind.values()])

    def _read(self, case: Scored) -> tuple[list[float], list[float], list[float]]:
        """Confidences, answers as numbers, and losses of the models, and of what was done."""
        task, full, unit = self.prices.task, self.prices.full, self.prices.unit
        stake = 1.0 if case.stake is None else case.stake
        size = self.done + 1
        sure, answer, lost = [math.nan] * size, [0.0] * size, [0.0] * size
        said = {self._number[name]: said_of(task, given) for name, given in case.answers.items() if given is not None}
        if case.action == ANSWER:
            followed = said.get(self._number.get(case.model or "", -1))
            said[self.done] = Said(case.answer, 1.0 if followed is None else followed.confidence)
        true = None if case.label is None else task.label(case.label)
        for k, one in said.items():
            sure[k] = one.confidence
            answer[k] = (
                float(one.answer) if task.kind == NUMBER else self._codes.setdefault(one.answer, len(self._codes))
            )
            if true is not None:
                lost[k] = full(one.answer, true, stake) * unit
        return sure, answer, lost

    def _settled(self, delay: Floats, now: float) -> int:
        """How many cases are older than nearly all delays, of answers and of reviews."""
        answered = self.records["decided"] >= 0
        late = [np.quantile(known, SETTLED) for which in (answered, ~answered) if len(known := _there(delay[which]))]
        if not late or (self.records["labelled"] == 1).all():
            return len(delay)
        return int(np.searchsorted(np.maximum.accumulate(self.at), now - max(late), side="right"))

    def _estimate(self, observed: Floats, kinds: Labels, counts: Bools) -> None:
        """Estimate the losses that policies are charged with where labels are missing.

        Where labels are drawn, one that came otherwise (a complaint, say, where answers are audited) is no draw.
        """
        import polars as pl

        records = self.records[: self.settled]
        there = records["labelled"] == 1
        self.chance: Floats = observed[: self.settled]
        if len(records) and there.mean() >= ALL_LABELS:
            self.chance = np.ones(len(records))
        self.weighed: Bools = (self.chance > 0.0) & (self.chance < 1.0)
        labelled = there & (counts[: self.settled] | ~self.weighed)
        which = kinds.given if kinds.given in ("answered", "reviewed") else "both"
        options = Options(labels=str(which), decided="decided", observed="observed")
        self.facts = Facts(len(records), guesses=Guesses(self.done + 1))
        counted = records.copy()
        counted["labelled"] = labelled
        self.counted = Slice(0, counted, 0.0)
        _estimate(self.counted, pl.DataFrame({"observed": self.chance}), options, self.facts)
        # What the draw of the labels adds to the variance of each loss, by the guess of how likely a mistake is: few
        # labels with large weights would make the observed spread too small.
        worst = self.counted.paid().worst
        guess = Guesses(self.done + 1).make(records, worst, labelled)
        chance = np.where(self.weighed, self.chance, 1.0)[:, np.newaxis]
        self.variance: Floats = (1.0 / chance - 1.0) * worst**2 * guess * (1.0 - guess)

    def number(self, model: str) -> int:
        """The number of a model.

        Raises:
            InputError: If no case of the period has an answer of it.
        """
        if model not in self._number:
            raise InputError(f"model: expected one of {', '.join(self.models)}, got {shown(model)}")
        return self._number[model]

    def chosen(self, model: int, threshold: float) -> Ints:
        """Which model answers if one is followed from a threshold on; -1 for a review."""
        sure = self.records["confidence"][: self.settled, model]
        return np.where(sure > threshold, model, -1)


def said_of(task: Task, given: Mapping[str, Any]) -> Said:
    """What a model said, from its answer as a request has it; the gate has checked it."""
    if given.get("probability") is not None:
        assert task.classes is not None
        p = float(given["probability"])
        return Said(task.classes[int(p >= 0.5)], max(p, 1.0 - p))
    if task.kind == NUMBER:
        return Said(given["answer"], 1.0 - min(1.0, float(given["error"]) / task.max_error))
    return Said(given["answer"], float(given["confidence"]))


def _level(threshold: float | None) -> float:
    return 1.0 if threshold is None else min(1.0, max(0.0, threshold))


def _there(values: Floats) -> Floats:
    return values[~np.isnan(values)]


class _Meter:
    """Charges policies on the settled cases of a table."""

    def __init__(self, table: Table, points: Cuts) -> None:
        self._table, self._n = table, table.settled
        self._part = Slice(0, table.records[: self._n], 0.0)
        self._scored = blocks(0, self._n)
        self._points = points
        self._paid = table.counted.paid()
        self._losses = table.counted.charged(self._paid)
        self._whole: Floats = table.records["risk"][: self._n, 0]
        self._hidden = table.counted.open * self._whole
        self._labelled: Bools = self._part.labelled
        self._done: Ints = table.records["decided"][: self._n]
        # What was done knew whether the label would be seen: its price is known, and no estimate holds for it.
        open_ = np.where(self._labelled, 0.0, self._whole)
        self._gate = self._charge(self._done, self._part.losses, open_)

    def _charge(self, chosen: Ints, losses: Floats, hidden: Floats) -> PolicySums:
        sums, reviewed = PolicySums(self._points, self._scored), chosen < 0
        lost = np.where(reviewed, self._table.prices.review, losses[np.arange(self._n), np.maximum(chosen, 0)])
        sums.add(0, lost, reviewed, np.zeros(self._n), np.where(reviewed, 0.0, hidden))
        return sums

    def gate(self, name: str) -> tuple[Priced, PolicySums]:
        """The price of what was done."""
        known = EXACT if self._gate.hidden.sum() == 0.0 else BOUNDS
        return self._row(GATE, name, None, None, self._gate, known), self._gate

    def price(
        self, kind: str, name: str, chosen: Ints, pair: tuple[str | None, float | None]
    ) -> tuple[Priced, PolicySums]:
        """The price of a policy, given by the model that answers in each case, -1 for a review."""
        table, n = self._table, self._n
        sums = self._charge(chosen, self._losses, self._hidden)
        weighed = table.weighed & (chosen >= 0)
        known = BOUNDS if sums.hidden.sum() > 0.0 else ESTIMATED if weighed.any() else EXACT
        # The gate minus the policy. Where both gave the same answer, both made the same mistake or none.
        same = table.counted.open_pairs(self._done, chosen, self._paid, table.max_error)
        free = (np.where(chosen >= 0, self._hidden, 0.0),
                np.where((self._done >= 0) & ~self._labelled, self._whole, 0.0))  # fmt: skip
        down, up = (np.where(table.weighed, other, one) for one, other in zip(same, free, strict=True))
        moved = np.zeros((2, self._scored.n))
        for into, values in zip(moved, (down, up), strict=True):
            self._scored.add(into, values, 0)
        plain = self._gate.blocks - sums.blocks
        ends = plain - moved[0], plain + moved[1]
        saved = 0.0 - float((ends[0] + ends[1]).sum() / 2 / n)  # no "-0.0"
        low = high = None
        if n >= LEAST_ROWS:
            spread = intervals(ends[0][None], ends[1][None], np.ones((1, self._scored.n)), self._scored.sizes, SEED)
            drawn = 1.96 * math.sqrt(table.variance[np.arange(n), np.maximum(chosen, 0)][weighed].sum()) / n
            low = -max(float(spread.high[0]), float(ends[1].sum() / n) + drawn)
            high = -min(float(spread.low[0]), float(ends[0].sum() / n) - drawn)
        return self._row(kind, name, *pair, sums, known, saved, low, high), sums

    def _row(
        self, kind: str, name: str, model: str | None, threshold: float | None, sums: PolicySums, known: str,
        saved: float | None = None, low: float | None = None, high: float | None = None,
    ) -> Priced:  # fmt: skip
        lowest, reviewed, _ = sums.means
        open_ = float(sums.hidden.sum() / self._n)
        return Priced(kind, name, model, threshold, lowest + open_ / 2, lowest, lowest + open_, reviewed, known, saved,
                      low, high)  # fmt: skip


def measure(
    cases: Sequence[Scored],
    prices: Prices,
    *,
    now: float,
    labels: Any = "both",
    today: Sequence[Any] | None = None,
    asked: tuple[str, float | None] | None = None,
) -> Savings:
    """Price what a gate did over a period, and what other policies would have cost.

    Args:
        cases: The cases of the period, in the order of the decisions.
        prices: What reviews and mistakes cost.
        now: The end of the period or the present, in seconds; labels later than that are still awaited.
        labels: Which labels the gate sees, as in `Gate`.
        today: The model and threshold in use before the gate; None as the threshold reviews every case.
        asked: Another model and threshold to compare with, instead of ``today``.

    Returns:
        The meter. If the gate decided any of the cases, it is about these; else about what others did while the gate
        watched. Terms of the estimate are unbiased given the past, so that its error is a martingale: blocks of it are
        uncorrelated however the gate adapted. The interval is the wider one of a bootstrap of blocks, and of the
        martingale's variance with guesses of how likely mistakes are.

    Raises:
        InputError: If ``asked`` is of a model that no case has.
    """
    live = [case for case in cases if case.mode == "live"]
    cases = live or [case for case in cases if case.mode == "shadow"] or cases
    table = Table(cases, prices, now, labels)
    n, pair = table.settled, asked or (None if today is None else (str(today[0]), today[1]))
    if asked is not None and cases:
        table.number(asked[0])
    if pair is not None and pair[0] not in table.models:
        pair = None
    points = _points(len(cases))
    rows: list[tuple[Priced, PolicySums]] = []
    baseline = None
    if n > 0:
        meter = _Meter(table, points)
        rows.append(meter.gate("the gate" if live else "what was done"))
        if pair is not None:
            level = 1.0 if pair[1] is None else pair[1]
            name = policy_name(pair[0], level, prices.task.max_error if prices.task.kind == NUMBER else None)
            kind = TODAY if asked is None else "policy"
            rows.append(meter.price(kind, name, table.chosen(table.number(pair[0]), level), pair))
            baseline = rows[-1][0]
        for k, model in enumerate(table.models):
            rows.append(meter.price(ALWAYS, f"{model} alone", table.chosen(k, -1.0), (model, -1.0)))
        rows.append(meter.price(REVIEW, "review everything", np.full(n, -1), (None, None)))
    ends = (baseline.saved, baseline.saved_low, baseline.saved_high) if baseline is not None else (None, None, None)
    whole = [None if one is None else one * n for one in ends]
    return Savings(
        cases=len(cases),
        settled=n,
        labelled=int((table.records["labelled"][:n] == 1).sum()),
        effective=table.facts.effective if table.weighed.any() else None,
        since=float(table.at[0]) if n else None,
        until=float(table.at[n - 1]) if n else None,
        review_price=prices.review,
        delay=table.delay,
        baseline=baseline,
        saved=whole[0],
        saved_low=whole[1],
        saved_high=whole[2],
        policies=[row for row, _ in rows],
        over_time=_over_time(table, points, rows),
    )


def _points(n: int) -> Cuts:
    k = max(1, min(MOST_POINTS, n // CASES_A_POINT, n))
    return Cuts(np.arange(k + 1) * n // k)


def _over_time(table: Table, points: Cuts, rows: list[tuple[Priced, PolicySums]]) -> OverTime:
    """Means over stretches of cases; prices end with the settled ones."""
    if len(table.at) == 0:
        return OverTime()
    whole = points.edges[1:] <= table.settled
    sizes = points.sizes.astype(np.float64)
    medians = np.full(points.n, np.nan)
    levels = Medians(points, medians)
    levels.add(0, table.threshold)
    levels.close()
    followed = {}
    for k, model in enumerate(table.models):
        sums = np.zeros(points.n)
        points.add(sums, table.followed == k, 0)
        followed[model] = (sums / sizes).tolist()
    reviewed = np.zeros(points.n)
    points.add(reviewed, table.records["decided"] < 0, 0)
    return OverTime(
        at=table.at[points.edges[:-1]].tolist(),
        price={row.name: _gaps(np.where(whole, sums.loss / sizes, np.nan)) for row, sums in rows},
        reviewed=(reviewed / sizes).tolist(),
        followed=followed,
        threshold=_gaps(medians),
    )


def _gaps(values: Floats) -> list[float | None]:
    return [None if np.isnan(one) else one for one in values.tolist()]


async def savings_of(
    service: "Service",
    name: str,
    *,
    now: float,
    since: float | None = None,
    until: float | None = None,
    asked: tuple[str, float | None] | None = None,
) -> Savings:
    """Measure a gate of the service.

    Args:
        service: The gates.
        name: The gate.
        now: The present, in seconds.
        since: The period's begin, in seconds; None: the first case.
        until: The period's end, not included; None: the last case.
        asked: A model and a threshold to compare with, instead of the gate's ``today``.

    Returns:
        The meter.

    Raises:
        Invalid: If no case of the period has an answer of the model.
        StoreUnavailable: If the store cannot be read.
    """
    settings = (await service.gate(name)).settings

    def read() -> Savings:
        cases = [Scored.of(record) for record in service.store.decided(name, since, until)]
        return measure(cases, prices_of(settings), now=now, labels=labels_of(settings), today=settings.get("today"),
                       asked=asked)  # fmt: skip

    try:
        return await asyncio.to_thread(read)
    except StoreError as error:
        raise StoreUnavailable(str(error)) from error
    except InputError as error:
        raise Invalid.at("model", str(error).removeprefix("model: ")) from None
