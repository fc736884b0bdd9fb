"""The results of a replay: policies with their intervals, values over time, curves of risk and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..gate.experts import threshold_text
from ..typing import Array, Bools, Floats, Ints
from .play import (
    ALL,
    ALWAYS,
    DECIDED,
    GATE,
    HINDSIGHT,
    OWN,
    REVIEW,
    RIVALS,
    STACK,
    TODAY,
    TUNED,
    Outcome,
)
from .rows import Rows


@dataclass(frozen=True)
class Policy:
    """A row of the table: a way to decide, and its cost on the scored rows."""

    kind: str
    """gate, decided, today, tuned, retuned-own, stack, retuned-all, hindsight, review, always."""
    name: str
    """In words: "tuned: gbm above 0.85", "always gbm"."""
    loss: float
    """Mean loss per scored row; the middle between lowest and highest, if labels are missing."""
    reviewed: float
    """Share of the scored rows sent to review."""
    mistakes: float
    """Share of the scored rows answered wrongly, as far as labels tell; for numbers, with an answer that cost more than
    a review."""
    difference: float | None
    """Loss minus the loss of the baseline (today's threshold, or tuned); None for the baseline itself."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference. It has what missing labels may change, and the gate's own luck."""
    lowest: float | None = None
    highest: float | None = None
    """The mean loss if every label that is missing favours the policy, and if none does."""
    share: float | None = None
    share_low: float | None = None
    share_high: float | None = None
    """The difference relative to the baseline's loss, and its 95 % interval; None if labels are missing."""
    most_mistakes: float | None = None
    """The share of mistakes if every label that is missing shows one; ``mistakes`` has none of them."""

    @property
    def known(self) -> bool:
        """Whether the loss is known, or estimated; otherwise only its bounds are."""
        return self.lowest is None or self.highest is None or self.highest - self.lowest < 1e-9

    def beyond(self, share: float | None) -> bool:
        """Whether it reviews more than the capacity ``share``, beyond what its bucket holds at first."""
        free = (GATE, TUNED, OWN, ALL, STACK)
        return share is not None and self.kind not in free and self.reviewed > share


@dataclass(frozen=True)
class Versus:
    """The policy of the verdict compared with a rival."""

    kind: str
    name: str
    difference: float
    """Its loss minus the rival's."""
    low: float
    high: float
    """The 95 % interval."""
    share: float | None
    share_low: float | None
    share_high: float | None
    """The same relative to the rival's loss."""


@dataclass(frozen=True)
class Stretch:
    """The shortest stretch of the log that carries nearly all of a saving, or of a loss."""

    begin: str
    end: str
    """In words: a day, or "row 12,000"."""
    rows: int
    part: float
    """Its share of the scored rows."""
    carried: float
    """The share of the whole saving in it; above 1, if the rest lost."""
    at_start: bool = False
    """Whether it begins with the first scored rows."""


@dataclass(frozen=True)
class Saved:
    """What was saved in a part of the scored rows."""

    begin: str
    rows: int
    saved: float
    """The baseline's losses minus the policy's, added up."""


@dataclass(frozen=True)
class Timeline:
    """All rows, the first tenth included, in up to 200 pieces."""

    row: list[int]
    """First row of each piece."""
    time: list[str] | None
    """Its time, if the log has times."""
    loss: dict[str, list[float]]
    """By policy kind (gate, tuned, retuned-own, ...): mean loss."""
    reviewed: dict[str, list[float]]
    """The same: share reviewed."""
    model: dict[str, list[float]]
    """By model name: share of cases in which the gate followed it."""
    threshold: list[float]
    """The median threshold followed (always review counts as 1, always answer as 0)."""
    answered: dict[str, list[float]]
    """By model name: share of cases in which the model had an answer."""


@dataclass(frozen=True)
class Curve:
    """Risk and coverage of a model on the scored rows: the mean loss among its surest answers."""

    model: str
    coverage: list[float]
    risk: list[float]


@dataclass(frozen=True)
class Replay:
    """A log, played in time order."""

    log: str
    command: str
    rows: int
    scored_rows: int
    first: int
    """Rows before the scored ones."""
    task: str
    labels: str
    delay: str
    """In words: "2,000 rows late", "from the columns t and seen"."""
    models: list[str]
    cost: float
    """Cost of a review relative to the largest mistake."""
    unit: str
    """Unit of prices, "" or "EUR"."""
    price: float
    """What a loss of 1 is: the price of the largest mistake; with stakes it may be less."""
    capacity: str | None
    """In words: "8 % of cases, bursts of 200"."""
    share: float | None
    policies: list[Policy]
    timeline: Timeline
    curves: list[Curve]
    operating: tuple[float, float]
    """Coverage and risk of the gate on scored rows."""
    mistakes: list[tuple[str, int, int, int]]
    """Class (or "other"), rows, mistakes of the verdict's policy, of the baseline; at most 20 classes."""
    verdict: str
    notes: list[str]
    """What is worth knowing: missing answers, labels no model gives, ..."""
    unknown: list[str]
    """What the gate did not know: labels never seen or late, cases no model answered, over_capacity, explored."""
    warnings: list[str] = field(default_factory=list)
    """What the user almost certainly did not intend: a model that is never right, say."""
    beside: list[str] = field(default_factory=list)
    """The notes that belong to the verdict."""
    left_out: int = 0
    """Rows without a label: then losses have bounds."""
    baseline: str = TUNED
    lead: str = GATE
    """The kinds of the policy that others are compared with, and of the policy that the verdict is about."""
    rivals: list[Versus] = field(default_factory=list)
    runs: int = 1
    """How many gates were played."""
    stretch: Stretch | None = None
    saved: list[Saved] = field(default_factory=list)
    """What was saved, by day, or in ten parts of the log."""
    effective: float | None = None
    """With probabilities of seeing labels: the effective number of labels."""
    days: float | None = None
    """Days between the first and the last scored row, if the log has times."""
    period: str = ""
    """The days of the first and the last row, if the log has dates."""
    next: list[str] = field(default_factory=list)
    """What to do now."""
    stakes: bool = False
    """Whether mistakes have different prices."""
    max_error: float | None = None
    """For numbers: the error that counts as a whole mistake."""


RESAMPLES = 2_000
_AT_A_TIME = 100


class Spread(NamedTuple):
    """Ends of 95 % intervals: of differences per row, and of the same relative to the other policy's loss."""

    low: Floats
    high: Floats
    share_low: Floats
    share_high: Floats


def intervals(low: Floats, high: Floats, base: Floats, sizes: Ints, seed: int, luck: Floats | None = None) -> Spread:
    """The 95 % intervals of mean differences per row, by a block bootstrap.

    Blocks are drawn with replacement, as many as there are, 2,000 times; the interval holds the middle 95 % of the
    means. Consecutive rows are alike, so that resampling single rows would give intervals that are too narrow. Effects
    that last longer than a block, such as a drift, are not in the interval. A ratio is taken within each resample, for
    both of its sides are uncertain.

    Args:
        low: Sums of differences in each block (policies, blocks); the least ones, if labels are missing ...
        high: ... and the largest ones.
        base: Sums of the losses that differences are divided by (policies, blocks).
        sizes: Rows of each block.
        seed: Seeds the draws.
        luck: How far the sums of each run of a gate are from their mean (runs, policies, blocks). The interval is then
            for one more run.

    Returns:
        The ends, one per policy.
    """
    rng = np.random.default_rng([seed, 0xB007])
    n, runs = len(sizes), 1 if luck is None else len(luck)
    found = np.empty((4, RESAMPLES, len(low)))
    for begin in range(0, RESAMPLES, _AT_A_TIME):
        drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=_AT_A_TIME).astype(np.float64)
        rows, other = (drawn @ sizes.astype(np.float64))[:, np.newaxis], drawn @ base.T
        least, most = drawn @ low.T, drawn @ high.T
        if luck is not None and runs > 1:  # Student's t for one more run: a few tell little of how much runs differ
            spread = np.sqrt((1.0 + 1.0 / runs) / rng.chisquare(runs - 1, size=_AT_A_TIME))
            weights = rng.standard_normal((runs, _AT_A_TIME)) * spread
            moved = sum(w[:, np.newaxis] * (drawn @ one.T) for w, one in zip(weights, luck, strict=True))
            least, most = least + moved, most + moved
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, begin : begin + _AT_A_TIME] = least / rows, most / rows, least / other, most / other
    with np.errstate(invalid="ignore"):  # of resamples in which the other policy lost nothing
        return Spread(*(np.percentile(part, 97.5 if k % 2 else 2.5, axis=0) for k, part in enumerate(found)))


SHOWN_OVER_TIME = (DECIDED, GATE, TODAY, TUNED, OWN, STACK, ALL, HINDSIGHT)


def spreads(
    out: Outcome, pairs: Sequence[tuple[str, str]], seed: int, plain: Bools | bool = False
) -> tuple[Spread, Ints]:  # fmt: skip
    """The intervals of differences between policies, and the number of the cutoff that makes each the narrowest.

    Of equal ones it is the last, which has the fewest bounds; ``plain`` says of which pairs it is the last anyway.
    """
    count = len(next(iter(out.open_pairs.values()), [None]))
    every = [(one, other, cutoff) for one, other in pairs for cutoff in range(count)]
    low, high = np.array([out.blocks_between(*one) for one in every]).transpose(1, 0, 2)
    base = np.array([out.policies[other].blocks for _, other, _ in every])
    luck = np.array([out.luck(*one) for one in every]).transpose(1, 0, 2)
    found = intervals(low, high, base, out.scored.sizes, seed, luck)
    if out.noise:
        half = np.array([out.half_width(*one) for one in every])
        n, mean = out.scored.sizes.sum(), np.maximum(base.sum(axis=1), 1e-12)
        least, most = low.sum(axis=1) / n - half, high.sum(axis=1) / n + half
        shares = np.minimum(found.share_low, least * n / mean), np.maximum(found.share_high, most * n / mean)
        found = Spread(np.minimum(found.low, least), np.maximum(found.high, most), *shares)
    # No price is below 0, so none falls by more than all of it.
    found = found._replace(share_low=np.maximum(-1.0, found.share_low), share_high=np.maximum(-1.0, found.share_high))
    wide = np.round((found.high - found.low).reshape(-1, count)[:, ::-1], 12)
    best = count - 1 - np.where(plain, 0, np.argmin(wide, axis=1))
    return Spread(*(part[np.arange(len(pairs)) * count + best] for part in found)), best


def _shares(out: Outcome, one: str, other: str, cutoff: int, low: float, high: float) -> list[float | None]:
    """The difference of two policies relative to the second one's loss, with its interval; None where it is open."""
    base, (least, most) = out.policies[other], out.blocks_between(one, other, cutoff)
    known = bool(np.allclose(least, most)) and not base.hidden.any() and base.blocks.sum() > 0.0
    if not known or not (np.isfinite(low) and np.isfinite(high)):
        return [None, None, None]
    return [float(least.sum() / base.blocks.sum()), float(low), float(high)]


def _settled(difference: float) -> float:
    """A difference; 0, if nothing but rounding keeps it from that."""
    return 0.0 if abs(difference) < 1e-12 else float(difference)


def policies(out: Outcome, models: list[str], seed: int, max_error: float | None = None) -> list[Policy]:
    """The rows of the table, with differences from the baseline. With ``max_error`` thresholds are shown as errors."""
    keys, base, n = list(out.policies), out.base, out.scored.sizes.sum()
    alone, plain = np.full(len(keys), -1), np.zeros(len(keys), np.bool_)
    if out.noise:  # where both prices are estimates, so is their difference: it is that of the prices
        alone = spreads(out, [(key, REVIEW) for key in keys], seed)[1]
        gaps = [np.subtract(*out.blocks_between(key, REVIEW, alone[k])).sum() for k, key in enumerate(keys)]
        known = np.abs(gaps) < 1e-9 * n
        alone, plain = np.where(known, -1, alone), known & known[keys.index(base)]
    found, cutoffs = spreads(out, [(key, base) for key in keys], seed, plain)
    table = []
    for k, key in enumerate(keys):
        sums = out.policies[key]
        lowest, reviewed, mistakes = sums.means
        mistakes, most = (min(1.0, max(0.0, end)) for end in (mistakes, mistakes + sums.unseen))  # estimates go beyond
        open_ = float(sums.hidden.sum() / n)
        if out.noise:
            least, most_ = out.blocks_between(key, REVIEW, alone[k])
            lowest, open_ = float((least + out.policies[REVIEW].blocks).sum() / n), float((most_ - least).sum() / n)
        name = name_of(key, models, out, max_error)
        low, high = (float(end.sum() / n) for end in out.blocks_between(key, base, cutoffs[k]))
        span: list[float | None] = [None] * 3
        share: list[float | None] = [None] * 3
        if key != base:
            span = [_settled((low + high) / 2), _settled(found.low[k]), _settled(found.high[k])]
            share = _shares(out, key, base, cutoffs[k], found.share_low[k], found.share_high[k])
        known = Policy(kind_of(key), name, lowest + open_ / 2, reviewed, mistakes, span[0], span[1], span[2])
        table.append(
            replace(known, lowest=lowest, highest=lowest + open_, share=share[0], share_low=share[1],
                    share_high=share[2], most_mistakes=most)
        )  # fmt: skip
    return table


def rivals(out: Outcome, models: list[str], seed: int, max_error: float | None = None) -> list[Versus]:
    """The policy of the verdict compared with what people could do instead."""
    n, kinds = out.scored.sizes.sum(), [kind for kind in RIVALS if kind != out.base]
    found, cutoffs = spreads(out, [(out.lead, kind) for kind in kinds], seed)
    table = []
    for k, kind in enumerate(kinds):
        low, high = (float(end.sum() / n) for end in out.blocks_between(out.lead, kind, cutoffs[k]))
        share = _shares(out, out.lead, kind, cutoffs[k], found.share_low[k], found.share_high[k])
        table.append(
            Versus(kind, name_of(kind, models, out, max_error), _settled((low + high) / 2), _settled(found.low[k]),
                   _settled(found.high[k]), *share)
        )  # fmt: skip
    return table


CARRIED, SHORT = 0.9, 0.25
"""A stretch is worth a word if it carries this share of the saving, and is this share of the log or shorter."""
PARTS = 10
DAY = 86_400_000_000


def where_from(out: Outcome, rows: Rows, time_is_date: bool) -> tuple[Stretch | None, list[Saved]]:
    """The stretch that carries nearly all of the difference, if it is short; and what was saved, part by part.

    Parts are days, if the log has dates and at most 62 days, else tenths of the scored rows.
    """
    saved = out.policies[out.base].loss - out.policies[out.lead].loss
    edges = np.maximum(out.over_time.edges, out.first)
    whole = out.over_time.edges[:-1] >= out.first  # a piece that is scored in part is left out
    starts, sizes, saved = edges[:-1][whole], np.diff(edges)[whole], saved[whole]
    if len(starts) < 2:
        return None, []
    at = _When(rows, starts, time_is_date)
    total = float(saved.sum())
    parts = [
        Saved(name, int(sizes[which].sum()), float(saved[which].sum())) for name, which in at.parts(sizes)
    ]  # fmt: skip
    if total == 0.0:
        return None, parts
    sums = np.concatenate([[0.0], np.cumsum(saved / total)])
    best = None
    for a in range(len(starts)):
        enough = np.flatnonzero(sums[a + 1 :] - sums[a] >= CARRIED)
        if len(enough) and (best is None or sizes[a : a + enough[0] + 1].sum() < best[2]):
            b = a + int(enough[0]) + 1
            best = a, b, int(sizes[a:b].sum())
    if best is None or best[2] > SHORT * sizes.sum():
        return None, parts
    a, b, n = best
    begin, end = at.name(int(starts[a])), at.name(int(starts[a] + n - 1))
    return Stretch(begin, end, n, n / int(sizes.sum()), float(sums[b] - sums[a]), a == 0), parts


class _When:
    """Where rows are, in words: by their day, if they have dates, else by their number."""

    def __init__(self, rows: Rows, starts: Ints, dates: bool) -> None:
        self._rows, self._starts = rows, starts
        self._dates = dates and rows.has("time")
        self._days = np.array([self._time(int(row)) // DAY for row in starts]) if self._dates else starts

    def _time(self, row: int) -> int:
        return int(self._rows.read(row, row + 1).records["time"][0])

    def name(self, row: int) -> str:
        """A day as "11 March 2026", or the number of the row in the log."""
        if not self._dates:
            return f"row {int(self._rows.read(row, row + 1).records['row'][0]):,}"
        day = np.datetime64(self._time(row), "us").astype("datetime64[s]").item()
        return f"{day.day} {day:%B %Y}"

    def parts(self, sizes: Ints) -> list[tuple[str, Bools]]:
        """The pieces of each part, with its name."""
        days = np.unique(self._days) if self._dates else self._starts[:0]
        if 2 <= len(days) <= 62:
            firsts = [int(self._starts[np.argmax(self._days == day)]) for day in days]
            return [(self.name(row), self._days == day) for row, day in zip(firsts, days, strict=True)]
        n = min(PARTS, len(sizes))
        which = np.arange(len(sizes)) * n // len(sizes)
        return [(self.name(int(self._starts[np.argmax(which == k)])), which == k) for k in range(n)]


def timeline(out: Outcome, rows: Rows, models: list[str], time_is_date: bool) -> Timeline:
    """Values over time; NaN for the gate during its warm start."""
    sizes = out.over_time.sizes
    played = np.maximum(0, out.over_time.edges[1:] - np.maximum(out.over_time.edges[:-1], out.origin)).astype(
        np.float64
    )
    played[played == 0.0] = np.nan
    starts = out.over_time.edges[:-1].tolist()
    shares = {key: played if key == GATE else sizes for key in SHOWN_OVER_TIME if key in out.policies}
    times = None
    if rows.has("time"):
        times = [_as_text(rows.read(start, start + 1).records["time"], time_is_date) for start in starts]
    return Timeline(
        [start + 1 for start in starts],
        times,
        {key: (out.policies[key].loss / size).tolist() for key, size in shares.items()},
        {key: (out.policies[key].reviewed / size).tolist() for key, size in shares.items()},
        {name: (out.followed[k] / played).tolist() for k, name in enumerate(models)},
        out.threshold.tolist(),
        {name: (out.answered[k] / sizes).tolist() for k, name in enumerate(models)},
    )


def days(out: Outcome, rows: Rows) -> float | None:
    """Days between the first and the last scored row; None without times."""
    if not rows.has("time"):
        return None
    first, last = (int(rows.read(row, row + 1).records["time"][0]) for row in (out.first, rows.n - 1))
    return (last - first) / 86_400e6


def period(rows: Rows, time_is_date: bool) -> str:
    """The days of the first and the last row in words; "" without dates."""
    if not (time_is_date and rows.has("time")):
        return ""
    when = _When(rows, np.array([0]), time_is_date)
    first, last = when.name(0), when.name(rows.n - 1)
    return first if first == last else f"{first} to {last}"


def _as_text(time: Array, is_date: bool) -> str:
    if is_date:
        return str(time.astype("datetime64[us]").astype("datetime64[s]")[0]).replace("T", " ")
    return f"{time[0] / 1e6:.12g}"


def curves(out: Outcome, models: list[str]) -> list[Curve]:
    """For each model, the surest answers first: the share of rows answered, and the mean loss among them."""
    n = out.totals.n
    found = []
    for model, name in enumerate(models):
        count, lost = out.totals.answered(model)
        count, at = np.unique(count, return_index=True)
        risk: Floats = np.maximum(lost[at][count > 0], 0.0) / count[count > 0]  # estimates go beyond
        found.append(Curve(name, (count[count > 0] / n).tolist(), risk.tolist()))
    return found


def operating(out: Outcome, cost: float) -> tuple[float, float]:
    """The share of scored rows that the gate answered, and its mean loss among them."""
    loss, reviewed, _ = out.policies[GATE].means
    coverage = 1.0 - reviewed
    return coverage, max(0.0, loss - cost * reviewed) / coverage if coverage > 0.0 else 0.0


def policy_name(name: str, threshold: float, max_error: float | None = None) -> str:
    """A model and its threshold in words; for numbers, as an error in the unit of the log, too.

    >>> policy_name("gbm", 0.8512), policy_name("gbm", -1.0), policy_name("gbm", 1.0), policy_name("gbm", 0.99821)
    ('gbm above 0.851', 'gbm always', 'everything to review', 'gbm above 0.9982')
    >>> policy_name("gbm", 0.36, 10.0)
    'gbm below an expected error of 6.4 (0.36)'
    """
    if threshold >= 1.0:
        return "everything to review"
    if threshold < 0.0:
        return f"{name} always"
    level = threshold_text(threshold, 3)
    level = level.rstrip("0").rstrip(".") if "." in level else level
    if max_error is not None:
        return f"{name} below an expected error of {(1.0 - threshold) * max_error:.3g} ({level})"
    return f"{name} above {level}"


def kind_of(key: str) -> str:
    """The kind of a policy."""
    return ALWAYS if key.startswith(f"{ALWAYS} ") else key


def name_of(key: str, models: list[str], out: Outcome, max_error: float | None = None) -> str:
    """The name of a policy in the table."""
    pair = {TUNED: out.tuned, HINDSIGHT: out.hindsight, TODAY: out.today}.get(key)
    if pair is not None:
        return f"{key}: {policy_name(models[pair[0]], pair[1], max_error)}"
    plain = {GATE: "gate", OWN: "re-tuned, own labels", ALL: "re-tuned, all labels", REVIEW: "everything to review",
             STACK: "stack, own labels", DECIDED: "as it was decided"}  # fmt: skip
    return plain.get(key, key)
