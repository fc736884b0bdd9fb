"""What the figures of the report show, worked out without drawing."""

from collections.abc import Sequence
from datetime import datetime
from math import isnan, nan
from statistics import median
from typing import NamedTuple

from ..result import Replay, Timeline

MOST_POINTS = 60
"""More points over time are noise to the eye."""
LEAST_POINTS = 12
CASES_A_POINT = 250
"""Means over fewer cases jump about; short logs have fewer points for it."""
MOST_LINES = 12
MOST_AREAS = 6
KINDS = {
    "gate": "the gate", "tuned": "tuned once", "retuned-own": "re-tuned, own labels",
    "retuned-all": "re-tuned, all labels", "hindsight": "best in hindsight",
}  # fmt: skip


class Line(NamedTuple):
    """A line of a figure; ``key`` is a policy's kind or a model's name."""

    key: str
    label: str
    y: list[float | None]
    """None where there is nothing to show, as where the gate was only taught."""


class OverTime(NamedTuple):
    """Lines over the rows or the times of the log."""

    x: list[int] | list[str]
    lines: list[Line]
    scored: int | str | None
    """Where on x the scored rows begin."""


class Point(NamedTuple):
    """A share of cases answered, and what their mistakes cost an answered case."""

    answered: float
    price: float


class Trade(NamedTuple):
    """The price of mistakes against the share of cases answered: a curve a model, and where the gate was."""

    curves: list[tuple[str, list[Point]]]
    gate: Point


class ClassMistakes(NamedTuple):
    """Of a class's cases, the share with a mistake."""

    name: str
    rows: int
    gate: float
    tuned: float


def coarse(timeline: Timeline, rows: int) -> Timeline:
    """Neighbouring pieces put together, so that a point stands for enough cases; thresholds by their median.

    NaN, where nothing is known, counts only where there is nothing else.
    """
    pieces = len(timeline.row)
    points = min(pieces, MOST_POINTS, max(LEAST_POINTS, rows // CASES_A_POINT))
    starts = sorted({k * pieces // points for k in range(points)}) if points else []
    groups = [range(a, b) for a, b in zip(starts, [*starts[1:], pieces], strict=True)]
    sizes = [b - a for a, b in zip(timeline.row, [*timeline.row[1:], rows], strict=True)]

    def means(values: Sequence[float]) -> list[float]:
        known = [[k for k in group if not isnan(values[k])] for group in groups]
        return [sum(values[k] * sizes[k] for k in g) / max(sum(sizes[k] for k in g), 1) if g else nan for g in known]

    def middle(values: Sequence[float]) -> list[float]:
        known = [[values[k] for k in group if not isnan(values[k])] for group in groups]
        return [median(g) if g else nan for g in known]

    return Timeline(
        row=[timeline.row[k] for k in starts],
        time=None if timeline.time is None else [timeline.time[k] for k in starts],
        loss={kind: means(values) for kind, values in timeline.loss.items()},
        reviewed={kind: means(values) for kind, values in timeline.reviewed.items()},
        model={name: means(values) for name, values in timeline.model.items()},
        threshold=middle(timeline.threshold),
        answered={name: means(values) for name, values in timeline.answered.items()},
    )


def over_time(replay: Replay, lines: list[Line]) -> OverTime:
    """Lines of `coarse` pieces over times, where the log has such as a calendar knows, else over rows."""
    pieces, dates = coarse(replay.timeline, replay.rows), _dates(replay.timeline.time)
    if not dates:
        return OverTime(pieces.row, lines, replay.first or None)
    place = next((k for k, row in enumerate(replay.timeline.row) if row >= replay.first), 0)
    return OverTime(_dates(pieces.time) or [], lines, dates[place] if place else None)


def _dates(times: list[str] | None) -> list[str] | None:
    try:
        return [str(datetime.fromisoformat(time).replace(tzinfo=None)) for time in times or []] or None
    except ValueError:  # a count of seconds, say: then rows tell as much
        return None


def _line(key: str, label: str, values: Sequence[float]) -> Line:
    return Line(key, label, [None if isnan(value) else value for value in values])


def prices(replay: Replay) -> OverTime:
    """The price a case of the gate and its alternatives."""
    found = coarse(replay.timeline, replay.rows).loss
    lines = [_line(kind, KINDS[kind], [v * replay.price for v in found[kind]]) for kind in KINDS if kind in found]
    return over_time(replay, lines)


def reviews(replay: Replay) -> OverTime:
    """The share reviewed, and the capacity."""
    found = coarse(replay.timeline, replay.rows).reviewed
    lines = [_line(kind, KINDS[kind], found[kind]) for kind in KINDS if kind in found]
    if replay.share is not None:
        points = len(coarse(replay.timeline, replay.rows).row)
        lines.append(Line("capacity", f"capacity: {replay.capacity}", [replay.share] * points))
    return over_time(replay, lines)


def followed(replay: Replay) -> OverTime:
    """The share of cases in which the gate followed each model; those followed least are put together."""
    found = coarse(replay.timeline, replay.rows).model
    order = most_followed(replay)
    own, rest = (order, []) if len(order) <= MOST_AREAS else (order[:MOST_AREAS], order[MOST_AREAS:])
    lines = [_line(name, name, found[name]) for name in own]
    if rest:
        sums = [sum(shares) for shares in zip(*(found[name] for name in rest), strict=True)]
        lines.append(_line("", f"{len(rest)} other models", sums))
    return over_time(replay, lines)


def most_followed(replay: Replay) -> list[str]:
    """Models, the most followed first."""
    shares = replay.timeline.model
    return sorted(shares, key=lambda name: -sum(share for share in shares[name] if not isnan(share)))


def thresholds(replay: Replay) -> OverTime:
    """The typical threshold."""
    found = coarse(replay.timeline, replay.rows).threshold
    return over_time(replay, [_line("gate", "the gate's threshold", found)])


def span(shows: OverTime) -> list[float]:
    """The part of [0, 1] that lines are in where rows are scored, with some room: thresholds near 1 are told apart,
    also if the gate tried low ones at first.
    """
    begin = 0
    if shows.scored is not None:  # times are texts that sort as they follow each other
        begin = sum(x < shows.scored for x in shows.x)  # type: ignore[operator]
    known = [value for line in shows.lines for value in line.y[begin:] if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.1 * (high - low) or 0.5 * (1.0 - high) or 0.05
    return [max(0.0, low - room), min(1.0 + 0.02 * (high - low), high + room)]


def answers(replay: Replay) -> OverTime | None:
    """The share of cases each model answered, of those models that did not always; None if all did."""
    short = {name: values for name, values in replay.timeline.answered.items() if min(values, default=1.0) < 1.0}
    if not short:
        return None
    found = coarse(replay.timeline, replay.rows).answered
    order = sorted(short, key=lambda name: sum(short[name]))[:MOST_LINES]
    return over_time(replay, [_line(name, name, found[name]) for name in order])


def trade(replay: Replay) -> Trade:
    """Risk and coverage in money; of many models, those the gate followed most."""
    order = most_followed(replay)
    curves = sorted(replay.curves, key=lambda c: order.index(c.model) if c.model in order else len(order))
    return Trade(
        [
            (c.model, [Point(at, risk * replay.price) for at, risk in zip(c.coverage, c.risk, strict=True)])
            for c in curves[:MOST_LINES]
        ],
        Point(replay.operating[0], replay.operating[1] * replay.price),
    )


def mistakes(replay: Replay) -> list[ClassMistakes]:
    """The share of mistakes by class."""
    return [ClassMistakes(name, rows, g / max(rows, 1), t / max(rows, 1)) for name, rows, g, t in replay.mistakes]
