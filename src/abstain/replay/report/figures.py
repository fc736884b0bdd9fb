"""The figures of the report: what they show, by functions that do not draw, and how Plotly draws it."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from math import isnan, nan
from statistics import median
from typing import Any, NamedTuple

from ..._core.pages import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from ..policies import Replay, Timeline

MOST_POINTS = 60
"""More points over time are hard to read."""
LEAST_POINTS = 12
CASES_A_POINT = 250
"""Means over fewer cases are noisy, so short logs have fewer points."""
MOST_LINES = 12
MOST_AREAS = 6
KINDS = {
    "decided": "as it was decided", "gate": "the gate", "today": "today's threshold", "tuned": "tuned once",
    "retuned-own": "re-tuned, own labels", "stack": "stack, own labels", "retuned-all": "re-tuned, all labels",
    "hindsight": "best in hindsight",
}  # fmt: skip


class Line(NamedTuple):
    """A line of a figure; ``key`` is a policy's kind or a model's name."""

    key: str
    label: str
    y: list[float | None]
    """None if there is nothing to show: during the warm start of the gate, say."""


class OverTime(NamedTuple):
    """Lines over the rows or the times of the log."""

    x: list[int] | list[str]
    lines: list[Line]
    scored: int | str | None
    """Where on x the scored rows begin."""


class Point(NamedTuple):
    """A share of cases answered, and the price of mistakes per answered case."""

    answered: float
    price: float


class Trade(NamedTuple):
    """The price of mistakes against the share of cases answered: one curve per model, one point for the gate."""

    curves: list[tuple[str, list[Point]]]
    gate: Point


class ClassMistakes(NamedTuple):
    """The share of mistakes among the cases of a class."""

    name: str
    rows: int
    gate: float
    tuned: float


def coarse(timeline: Timeline, rows: int) -> Timeline:
    """Join neighbouring pieces, so that a point stands for enough cases; thresholds are medians.

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
    """Lines of `coarse` pieces over dates, if the log has them, else over rows."""
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
    """The price per case of the gate and its alternatives."""
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
    """The share of cases in which the gate followed each model; the least followed ones are joined."""
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
    """The range of the lines on the scored rows, with some room, so that thresholds near 1 stay apart."""
    begin = 0
    if shows.scored is not None:  # times are texts that sort as they follow each other
        begin = sum(x < shows.scored for x in shows.x)  # type: ignore[operator]
    known = [value for line in shows.lines for value in line.y[begin:] if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = 0.1 * (high - low) or 0.5 * (1.0 - high) or 0.05
    return [max(0.0, low - room), min(1.0 + 0.02 * (high - low), high + room)]


def answers(replay: Replay) -> OverTime | None:
    """The share of cases answered by each model that did not always answer; None if all did."""
    short = {name: values for name, values in replay.timeline.answered.items() if min(values, default=1.0) < 1.0}
    if not short:
        return None
    found = coarse(replay.timeline, replay.rows).answered
    order = sorted(short, key=lambda name: sum(short[name]))[:MOST_LINES]
    return over_time(replay, [_line(name, name, found[name]) for name in order])


def trade(replay: Replay) -> Trade:
    """Risk and coverage in money; of many models, those that the gate followed most."""
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


Figure = dict[str, Any]


class Look(NamedTuple):
    """How a line looks."""

    colour: str
    dash: str = "solid"
    width: float = 1.8


class Key(NamedTuple):
    """An entry of a legend: a swatch is a line, an area, a dot or a point (a diamond)."""

    label: str
    look: Look
    swatch: str = "line"
    pattern: str = ""
    """Of an area: one of `PATTERNS`."""


class Drawn(NamedTuple):
    """A figure for `Plotly.newPlot`, and its legend, one entry per trace."""

    figure: Figure
    legend: list[Key]


# Okabe and Ito's palette, without its yellow, which is lost on white, and its blue, which is the gate's; dashes tell
# lines apart without colour, too.
PALETTE = (ORANGE, GREEN, PURPLE, SKY, VERMILION, BLACK)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
REST = "#BBBBBB"
FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
POLICIES = {
    "gate": Look(BLUE, width=3.2), "tuned": Look(VERMILION, "dash"), "retuned-own": Look(ORANGE, "dot"),
    "retuned-all": Look(GREEN, "dashdot"), "hindsight": Look("#555555", "longdash", 1.4),
    "capacity": Look(BLACK, "dot", 1.6), "stack": Look(PURPLE, "longdashdot"), "today": Look(BLACK, "dash"),
    "decided": Look(BLACK, width=2.4),
}  # fmt: skip
MONEY: Figure = {"hoverformat": ",.2f", "tickformat": ",~g", "rangemode": "tozero"}
"""An axis of prices, which begins at 0."""
PATTERNS = ("", "/", ".", "x", "\\", "-", "|")
"""Tell stacked areas apart without colour."""
FEW_POINTS = 5
"""Fewer are drawn as points instead of a curve."""
LONGEST = 26
"""Letters of a name inside a figure; tables show the whole name."""


def model_looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each model, the same in all figures; no two of the first 30 are alike."""
    looks = {name: Look(PALETTE[k % len(PALETTE)], DASHES[k % len(DASHES)]) for k, name in enumerate(names)}
    return looks | {"": Look(REST)}


def share(most: float | None = None) -> Figure:
    """An axis of shares, up to ``most``. Figures draw shares `in_per_cent`: Plotly's own format would write "28%"."""
    axis: Figure = {"tickformat": ",~g", "hoverformat": ".1f", "ticksuffix": " %"}
    return axis | ({"range": [0.0, 100.0 * most]} if most is not None else {})


def in_per_cent(values: Sequence[float | None]) -> list[float | None]:
    """Shares as an axis of shares shows them.

    >>> in_per_cent([0.07, None])
    [7.0, None]
    """
    return [None if value is None else round(100.0 * value, 10) for value in values]


def shown(name: str, longest: int = LONGEST) -> str:
    """A name inside a figure, short and without the markup that Plotly would read.

    >>> shown("<b>gbm"), shown("a" * 40 + "-2024")
    ('&lt;b&gt;gbm', 'aaaaaaaaaaaaa…aaaaaaa-2024')
    """
    if len(name) > longest:
        name = f"{name[: longest // 2]}…{name[len(name) - longest // 2 + 1 :]}"
    return escape(name)


def _title(text: str) -> Figure:
    return {"text": text, "font": {"size": 13}}  # as large as numbers on the axis


def _layout(height: int, x: Figure, y: Figure, **more: Any) -> Figure:
    axis = {"gridcolor": "#E3E7EA", "linecolor": "#8A939B", "zeroline": False, "automargin": True, "fixedrange": False}
    return {
        "height": height,
        "margin": {"l": 8, "r": 24, "t": 8, "b": 8},
        "font": {"family": FONT, "size": 13, "color": "#1c2024"},
        "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff",
        "showlegend": False,  # the page has a legend of its own, which never covers a figure
        "hoverlabel": {"namelength": -1, "bgcolor": "#ffffff", "font": {"color": "#1c2024"}},
        "xaxis": axis | {"showline": True, "ticks": "outside"} | x,
        "yaxis": axis | {"rangemode": "tozero"} | y,
    } | more  # fmt: skip


def _time_layout(shows: OverTime, y: Figure) -> Figure:
    dates = bool(shows.x) and isinstance(shows.x[0], str)
    x: Figure = {"type": "date"} if dates else {"type": "linear", "tickformat": ",d", "title": _title("row of the log")}
    x |= {"showgrid": False, "nticks": 8, "tickangle": 0, "hoverformat": "%-d %b %Y, %H:%M" if dates else ",d"}
    shapes = []
    if shows.scored is not None:
        shapes.append({"type": "rect", "xref": "x", "yref": "paper", "x0": shows.x[0], "x1": shows.scored, "y0": 0,
                       "y1": 1, "fillcolor": "#EEF0F2", "line": {"width": 0}, "layer": "below"})  # fmt: skip
    return _layout(320, x, y, hovermode="x unified", shapes=shapes)


def lines(shows: OverTime, looks: Mapping[str, Look], y: Figure) -> Drawn:
    """Lines over time, of policies or of models."""
    shares = "ticksuffix" in y
    data = [
        _trace(line.label, looks[line.key], shows.x, in_per_cent(line.y) if shares else line.y) for line in shows.lines
    ]
    keys = [Key(line.label, looks[line.key]) for line in shows.lines]
    return Drawn({"data": data, "layout": _time_layout(shows, y)}, keys)


def areas(shows: OverTime, looks: Mapping[str, Look]) -> Drawn:
    """Shares over time that add up to one, stacked."""
    data = [
        {"type": "scatter", "mode": "lines", "stackgroup": "all", "name": shown(line.label), "x": shows.x,
         "y": in_per_cent(line.y),
         "line": {"color": "#ffffff", "width": 1.0}, "fillcolor": looks[line.key].colour,
         "fillpattern": {"shape": pattern, "bgcolor": looks[line.key].colour, "fgcolor": "#ffffff", "size": 9,
                         "solidity": 0.15}}
        for line, pattern in zip(shows.lines, PATTERNS, strict=False)
    ]  # fmt: skip
    keys = [
        Key(line.label, looks[line.key], "area", pattern) for line, pattern in zip(shows.lines, PATTERNS, strict=False)
    ]
    return Drawn({"data": data, "layout": _time_layout(shows, share(1.0))}, keys)


def curves(shows: Trade, looks: Mapping[str, Look]) -> Drawn:
    """Price of mistakes against the share answered, with the gate as a point."""
    data, keys = [], []
    for name, points in shows.curves:
        few = len(points) < FEW_POINTS
        data.append(_trace(name, looks[name], in_per_cent([p.answered for p in points]), [p.price for p in points]))
        if few:
            data[-1] |= {"mode": "markers", "marker": {"color": looks[name].colour, "size": 10}, "cliponaxis": False}
        keys.append(Key(name, looks[name], "dot" if few else "line"))
    gate = POLICIES["gate"]
    data.append(
        {"type": "scatter", "mode": "markers", "name": "the gate", "x": in_per_cent([shows.gate.answered]),
         "y": [shows.gate.price], "cliponaxis": False,
         "marker": {"symbol": "diamond", "size": 15, "color": gate.colour, "line": {"color": "#ffffff", "width": 2}}}
    )  # fmt: skip
    x = share(1.02) | {"title": _title("share of cases answered")}
    layout = _layout(360, x, MONEY, hovermode="closest")
    return Drawn({"data": data, "layout": layout}, [*keys, Key("the gate", gate, "point")])


_DAY = re.compile(r"^(\d+) (\w{3})\w* \d{4}$")
"""A day, as in 11 March 2026."""


def saved(replay: Replay) -> Drawn:
    """One bar for what was saved in each part of the log."""
    values = [part.saved * replay.price for part in replay.saved]
    names = [shown(part.begin) for part in replay.saved]
    told = [f"from {name}, {part.rows:,} cases: {value:,.4g}" for name, part, value in
            zip(names, replay.saved, values, strict=True)]  # fmt: skip
    data, keys = [], []
    for word, kind, some in (
        ("saved", "gate", [value >= 0.0 for value in values]),
        ("lost", "tuned", [value < 0.0 for value in values]),
    ):
        if any(some):
            data.append(
                {"type": "bar", "name": word, "x": list(range(len(values))), "customdata": told,
                 "y": [value if this else None for value, this in zip(values, some, strict=True)],
                 "hovertemplate": "%{customdata}<extra></extra>", "marker": {"color": POLICIES[kind].colour}}
            )  # fmt: skip
            keys.append(Key(word, POLICIES[kind], "area"))
    step = -(-len(names) // 5)
    ticks = [_DAY.sub(r"\2 \1", name.removeprefix("row ")) for name in names[::step]]  # more would not fit on a phone
    x = {"tickmode": "array", "tickvals": list(range(0, len(names), step)), "ticktext": ticks, "tickangle": 0,
         "showgrid": False}  # fmt: skip
    if names[0].startswith("row "):
        x |= {"title": _title("row of the log")}
    layout = _layout(280, x, MONEY | {"zeroline": True, "zerolinecolor": "#8A939B"}, hovermode="closest",
                     barmode="overlay")  # fmt: skip
    return Drawn({"data": data, "layout": layout}, keys)


def bars(shows: Sequence[ClassMistakes], lead: str = "gate", base: str = "tuned") -> Drawn:
    """Two bars per class, one below the other, so that names fit on a phone."""
    places = list(range(len(shows)))
    data, keys = [], []
    for kind, label, shares in (
        ("gate", KINDS[lead], [one.gate for one in shows]),  # in the gate's colour, whoever decided
        (base, KINDS[base], [one.tuned for one in shows]),
    ):
        told = [
            f"{shown(one.name)}, {label}: {100.0 * value:.1f} % of {one.rows:,}"
            for one, value in zip(shows, shares, strict=True)
        ]
        data.append(
            {"type": "bar", "orientation": "h", "name": label, "x": in_per_cent(shares), "y": places,
             "customdata": told,
             "hovertemplate": "%{customdata}<extra></extra>", "marker": {"color": POLICIES[kind].colour}}
        )  # fmt: skip
        keys.append(Key(label, POLICIES[kind], "area"))
    names = {"tickmode": "array", "tickvals": places, "ticktext": [shown(one.name, 16) for one in shows],
             "range": [len(shows) - 0.5, -0.5], "showgrid": False, "rangemode": "normal"}  # fmt: skip
    x = share() | {"rangemode": "tozero", "title": _title("share with a mistake")}
    layout = _layout(90 + 36 * len(shows), x, names, barmode="group", bargap=0.3, bargroupgap=0.0, hovermode="closest")
    return Drawn({"data": data, "layout": layout}, keys)


def _trace(name: str, look: Look, x: Sequence[object], y: Sequence[object]) -> Figure:
    line = {"color": look.colour, "dash": look.dash, "width": look.width}
    return {"type": "scatter", "mode": "lines", "name": shown(name), "x": x, "y": y, "line": line}
