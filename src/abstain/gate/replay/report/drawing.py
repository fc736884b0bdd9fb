"""The figures of the report as Plotly draws them: plain data for its JavaScript, and a legend for the page."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from .figures import ClassMistakes, OverTime, Trade

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


class Drawn(NamedTuple):
    """A figure for `Plotly.newPlot`, and its legend, an entry a trace."""

    figure: Figure
    legend: list[Key]


# Okabe and Ito's palette, without its yellow, which is lost on white, and its blue, which is the gate's; dashes tell
# lines apart without colour, too.
PALETTE = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
REST = "#BBBBBB"
FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif"
POLICIES = {
    "gate": Look("#0072B2", width=3.2), "tuned": Look("#D55E00", "dash"), "retuned-own": Look("#E69F00", "dot"),
    "retuned-all": Look("#009E73", "dashdot"), "hindsight": Look("#555555", "longdash", 1.4),
    "capacity": Look("#000000", "dot", 1.6),
}  # fmt: skip
MONEY: Figure = {"hoverformat": ",.4~g", "rangemode": "normal"}
"""An axis of prices."""
LEAST_POINTS = 5
"""Fewer are no curve, and drawn as points."""
LONGEST = 26
"""Letters of a name inside a figure; the page's tables have it whole."""


def model_looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each model, the same in all figures; no two of the first 30 are alike."""
    looks = {name: Look(PALETTE[k % len(PALETTE)], DASHES[k % len(DASHES)]) for k, name in enumerate(names)}
    return looks | {"": Look(REST)}


def share(most: float | None = None) -> Figure:
    """An axis of shares, up to ``most``."""
    return {"tickformat": ".0%", "hoverformat": ".1%"} | ({"range": [0.0, most]} if most is not None else {})


def shown(name: str, longest: int = LONGEST) -> str:
    """A name inside a figure, where Plotly reads some markup: short, and nothing but text.

    >>> shown("<b>gbm"), shown("a" * 40 + "-2024")
    ('&lt;b&gt;gbm', 'aaaaaaaaaaaaa…aaaaaaa-2024')
    """
    if len(name) > longest:
        name = f"{name[: longest // 2]}…{name[len(name) - longest // 2 + 1 :]}"
    return escape(name)


def _layout(height: int, x: Figure, y: Figure, **more: Any) -> Figure:
    axis = {"gridcolor": "#E3E7EA", "linecolor": "#8A939B", "zeroline": False, "automargin": True, "fixedrange": False}
    return {
        "height": height,
        "margin": {"l": 8, "r": 14, "t": 8, "b": 8},
        "font": {"family": FONT, "size": 13, "color": "#1c2024"},
        "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff",
        "showlegend": False,  # the page has a legend of its own, which never covers a figure
        "hoverlabel": {"namelength": -1, "bgcolor": "#ffffff", "font": {"color": "#1c2024"}},
        "xaxis": axis | {"showline": True, "ticks": "outside"} | x,
        "yaxis": axis | {"rangemode": "tozero"} | y,
    } | more  # fmt: skip


def _time_layout(shows: OverTime, y: Figure) -> Figure:
    dates = bool(shows.x) and isinstance(shows.x[0], str)
    x: Figure = (
        {"type": "date"} if dates else {"type": "linear", "tickformat": ",d", "title": {"text": "row of the log"}}
    )
    x |= {"showgrid": False, "nticks": 8, "tickangle": 0, "hoverformat": "%-d %b %Y, %H:%M" if dates else ",d"}
    shapes = []
    if shows.scored is not None:
        shapes.append({"type": "rect", "xref": "x", "yref": "paper", "x0": shows.x[0], "x1": shows.scored, "y0": 0,
                       "y1": 1, "fillcolor": "#EEF0F2", "line": {"width": 0}, "layer": "below"})  # fmt: skip
    return _layout(320, x, y, hovermode="x unified", shapes=shapes)


def lines(shows: OverTime, looks: Mapping[str, Look], y: Figure) -> Drawn:
    """Lines over time, of policies or of models."""
    data = [_line(line.label, looks[line.key], shows.x, line.y) for line in shows.lines]
    keys = [Key(line.label, looks[line.key]) for line in shows.lines]
    return Drawn({"data": data, "layout": _time_layout(shows, y)}, keys)


def areas(shows: OverTime, looks: Mapping[str, Look]) -> Drawn:
    """Shares over time that add up to one, stacked."""
    data = [
        {"type": "scatter", "mode": "lines", "stackgroup": "all", "name": shown(line.label), "x": shows.x, "y": line.y,
         "line": {"color": "#ffffff", "width": 1.0}, "fillcolor": looks[line.key].colour}
        for line in shows.lines
    ]  # fmt: skip
    keys = [Key(line.label, looks[line.key], "area") for line in shows.lines]
    return Drawn({"data": data, "layout": _time_layout(shows, share(1.0))}, keys)


def curves(shows: Trade, looks: Mapping[str, Look]) -> Drawn:
    """Price of mistakes against the share answered, and where the gate was."""
    data, keys = [], []
    for name, points in shows.curves:
        few = len(points) < LEAST_POINTS
        data.append(_line(name, looks[name], [p.answered for p in points], [p.price for p in points]))
        if few:
            data[-1] |= {"mode": "markers", "marker": {"color": looks[name].colour, "size": 10}, "cliponaxis": False}
        keys.append(Key(name, looks[name], "dot" if few else "line"))
    gate = POLICIES["gate"]
    data.append(
        {"type": "scatter", "mode": "markers", "name": "the gate", "x": [shows.gate.answered], "y": [shows.gate.price],
         "cliponaxis": False,
         "marker": {"symbol": "diamond", "size": 15, "color": gate.colour, "line": {"color": "#ffffff", "width": 2}}}
    )  # fmt: skip
    x = share(1.02) | {"title": {"text": "share of cases answered"}}
    layout = _layout(360, x, MONEY, hovermode="closest")
    return Drawn({"data": data, "layout": layout}, [*keys, Key("the gate", gate, "point")])


def bars(shows: Sequence[ClassMistakes]) -> Drawn:
    """Two bars a class, one below the other: names have room, also on a phone."""
    places = list(range(len(shows)))
    data, keys = [], []
    for kind, label, shares in (
        ("gate", "the gate", [one.gate for one in shows]),
        ("tuned", "tuned once", [one.tuned for one in shows]),
    ):
        told = [
            f"{shown(one.name)}, {label}: {value:.1%} of {one.rows:,}" for one, value in zip(shows, shares, strict=True)
        ]
        data.append(
            {"type": "bar", "orientation": "h", "name": label, "x": shares, "y": places, "customdata": told,
             "hovertemplate": "%{customdata}<extra></extra>", "marker": {"color": POLICIES[kind].colour}}
        )  # fmt: skip
        keys.append(Key(label, POLICIES[kind], "area"))
    names = {"tickmode": "array", "tickvals": places, "ticktext": [shown(one.name, 16) for one in shows],
             "range": [len(shows) - 0.5, -0.5], "showgrid": False, "rangemode": "normal"}  # fmt: skip
    x = share() | {"rangemode": "tozero", "title": {"text": "share with a mistake"}}
    layout = _layout(90 + 36 * len(shows), x, names, barmode="group", bargap=0.3, bargroupgap=0.0, hovermode="closest")
    return Drawn({"data": data, "layout": layout}, keys)


def _line(name: str, look: Look, x: Sequence[object], y: Sequence[object]) -> Figure:
    line = {"color": look.colour, "dash": look.dash, "width": look.width}
    return {"type": "scatter", "mode": "lines", "name": shown(name), "x": x, "y": y, "line": line}
