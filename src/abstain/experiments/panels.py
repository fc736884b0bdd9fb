"""Grids of panels with the learners' curves: what they hold and how they are drawn."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import datasets
from .evidence import PAPER
from .figures import Source
from .sets import INSTANCES, source
from .study import LearnerStudy
from .style import band, legend, new_figure, plain, styles

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHERS = {
    "UCB-GT, β = 0.625": "UCB-GT with β = 0.625 (the paper's β is 2.5)",
    "EXP3-ABS": "EXP3-ABS (the paper's, but with an adaptive rate, and not in its experiments)",
}


class Played(NamedTuple):
    """How the lines of a panel came about."""

    expert_sets: int
    draws: int
    n_experts: int | None = None
    """K; None if it is not known."""


def n_experts(study: LearnerStudy | None, dataset: str, cost: float) -> int | None:
    """K of a setting; None where the study is not known, its data are not there any more, or it cannot be told."""
    if study is None:
        return None
    if study.experts.kind == "instance":
        return INSTANCES[dataset](cost).experts.n_experts
    seed, own = np.random.SeedSequence(0), study.own_set(dataset)
    try:
        dim = datasets.info(source(dataset)).features if own is None else own.draw(1, seed, "none")[0].shape[1]
        return study.experts.make(dim, seed).n_experts
    except Exception:  # whatever somebody's stream does when asked for a single round
        return None


def repetitions(played: Sequence[Played], over_draws: bool = False) -> str:
    """What lines and bands are, and K; with ``over_draws`` bands are over draws where there is one expert set."""
    sets, draws = max(one.expert_sets for one in played), max(one.draws for one in played)
    most = "up to " if len({one[:2] for one in played}) > 1 else ""
    if sets > 1:
        each = f", each the mean of {most}{draws} draws of the data" if draws > 1 else ""
        text = f"Lines are means and bands one standard deviation over {most}{sets} expert sets{each}"
    elif draws > 1 and over_draws:
        text = f"Lines are means and bands one standard deviation over {most}{draws} draws of the data"
    elif draws > 1:
        text = f"Lines are means over {most}{draws} draws of the data for one expert set, so without a band"
    else:
        text = "Lines are single runs, so without a band"
    sizes = sorted({one.n_experts for one in played if one.n_experts is not None})
    if not sizes:
        return f"{text}."
    between = f"{sizes[0]:,} to {sizes[-1]:,}, by set" if len(sizes) > 1 else f"{sizes[0]:,}"
    return f"{text}; K = {between}."


def not_the_papers(learners: Iterable[str]) -> str:
    """Which of them the paper's experiments do not have; nothing if they have all."""
    others = [OTHERS.get(label, label) for label in learners if label not in PAPER]
    return f"Not among the paper's learners: {'; '.join(others)}." if others else ""


QUANTITIES = {
    "regret": "average regret $R_t / t$",
    "abstained": "fraction abstained",
    "edges": "edges of the graph (millions)",
}
"""The columns of the summary that a panel can show (each with its ``_sd``), and what an axis calls them."""
UNITS = {"edges": 1e-6}
RANGES = {"abstained": (0.0, 1.0), "loss": (0.0, 1.0), "edges": (0.0, math.inf)}
"""What a quantity cannot leave, and so its bands do not; regret may be negative."""
START = 10
"""Earlier rounds are left out: an average of a few losses of 0 or 1 says nothing, and would set the scale."""


class Line(NamedTuple):
    """One learner: mean and standard deviation over the expert sets, at the checkpoints."""

    learner: str
    t: tuple[int, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]


class Marks(NamedTuple):
    """Values from the paper."""

    learner: str
    t: tuple[int, ...]
    value: tuple[float, ...]


class Place(NamedTuple):
    """A panel that is wanted: where, and of which results; the first of the studies that has them gives them."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    studies: tuple[str, ...]
    published: tuple[Marks, ...] = ()

    @property
    def name(self) -> str:
        """The setting in words, whatever is shown of it."""
        return f"{self.row} at {' '.join(self.column.removeprefix(QUANTITIES[self.quantity]).split())}"


class Panel(NamedTuple):
    """A panel that is there."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    lines: tuple[Line, ...]
    published: tuple[Marks, ...] = ()
    title: str = ""
    """What stands above it, where rows and columns mean nothing."""
    played: Played = Played(1, 1)

    def last(self, learner: str) -> float | None:
        """The value a learner's line ends with."""
        return next((line.mean[-1] for line in self.lines if line.learner == learner), None)

    def band(self, line: Line) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """A standard deviation below and above a line, within what is possible."""
        least, most = RANGES.get(self.quantity, (-math.inf, math.inf))
        pairs = list(zip(line.mean, line.sd, strict=True))
        return (
            tuple(min(max(mean - sd, least), most) for mean, sd in pairs),
            tuple(min(max(mean + sd, least), most) for mean, sd in pairs),
        )


class Grid(NamedTuple):
    """A figure of panels; rows and columns without any panel are left out."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]
    """What was wanted and had no results: rows, or single panels."""
    label: str = ""
    """What all panels show, if they show the same."""
    own_scales: bool = False
    """Whether each panel has its own scale; else those of a row that show the same share it."""

    @property
    def learners(self) -> tuple[str, ...]:
        """All learners, in the order of the legend."""
        return tuple(styles(line.learner for panel in self.panels for line in panel.lines))

    @property
    def rounds(self) -> int:
        """The last round shown."""
        return max(line.t[-1] for panel in self.panels for line in panel.lines)


def grid(source: Source, places: Sequence[Place]) -> Grid | None:
    """The panels there are results for; None if there is none."""
    parts = {
        (str(study), str(dataset), round(float(cost), 9)): part
        for (study, dataset, cost), part in source.summary.partition_by(
            "study", "dataset", "cost", as_dict=True
        ).items()
    }
    often = repeated(source.curves)
    panels, absent = [], []
    for place in places:
        keys = [(study, place.dataset, round(place.cost, 9)) for study in place.studies]
        key = next((key for key in keys if key in parts), None)
        if key is None:
            absent.append(place)
            continue
        played = Played(*often[key], n_experts(source.study(key[0]), place.dataset, place.cost))
        lines = lines_of(parts[key], place.quantity)
        panels.append(Panel(*place[:5], lines=lines, published=place.published, played=played))
    if not panels:
        return None
    rows = _there([place.row for place in places], {panel.row for panel in panels})
    columns = _there([place.column for place in places], {panel.column for panel in panels})
    missing = dict.fromkeys(place.name if place.row in rows else place.row for place in absent)
    quantities = {panel.quantity for panel in panels}
    label = QUANTITIES[quantities.pop()] if len(quantities) == 1 else ""
    return Grid(rows, columns, tuple(panels), tuple(missing), label)


def repeated(curves: "polars.DataFrame") -> dict[tuple[str, str, float], tuple[int, int]]:
    """How many expert sets and draws of the data there are of each study, set and cost."""
    import polars

    counts = curves.group_by("study", "dataset", "cost").agg(polars.col("expert_set", "draw").n_unique())
    return {(study, dataset, round(cost, 9)): (sets, draws) for study, dataset, cost, sets, draws in counts.rows()}


def lines_of(part: "polars.DataFrame", quantity: str) -> tuple[Line, ...]:
    """The lines of one set and cost, in the order of the legend."""
    unit = UNITS.get(quantity, 1.0)
    lines = []
    for label in styles(part["learner"].to_list()):
        own = part.filter(part["learner"] == label).sort("t")
        own = own.filter((own["t"] >= START) | (own["t"] == own["t"].max()))
        mean, sd = (own[name] * unit for name in (quantity, f"{quantity}_sd"))
        lines.append(Line(label, tuple(own["t"]), tuple(mean), tuple(sd)))
    return tuple(lines)


def _there(wanted: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if name in found))


LINEAR = 0.01
"""Regret below this is drawn on a linear scale, above on a logarithmic one."""
_TICKS = (-0.3, -0.1, -0.03, -0.01, 0.0, 0.01, 0.03, 0.1, 0.3, 1.0)


def draw(shown: Grid) -> "Figure":
    """One axis a panel, t on a log scale; panels of a row that show the same share their scale."""
    n_rows, n_columns = len(shown.rows), len(shown.columns)
    width = 9.0 if n_columns <= 4 else 12.0
    figure = new_figure(max(5.0, width * min(1.0, (n_columns + 0.6) / 3)), 0.9 + n_rows * (2.5 if n_rows < 3 else 1.8))
    places = figure.add_gridspec(n_rows, n_columns)
    axes: dict[tuple[int, int], Axes] = {}
    scales: dict[tuple[int, int | str], Axes] = {}
    sharing: dict[tuple[int, int | str], list[Panel]] = {}
    titles: dict[tuple[int, int], str] = {}
    for panel in shown.panels:
        row, column = shown.rows.index(panel.row), shown.columns.index(panel.column)
        scale = (row, column if shown.own_scales else panel.quantity)
        ax = figure.add_subplot(places[row, column], sharey=scales.get(scale))
        ax.tick_params(labelleft=scale not in scales)
        scales.setdefault(scale, ax)
        sharing.setdefault(scale, []).append(panel)
        axes[row, column] = ax
        if panel.title:
            titles[row, column] = plain(panel.title)
        ax.set_label(panel.title or f"{panel.row}, {panel.column}")
        _draw_lines(ax, panel)
    for scale, ax in scales.items():
        _fit(ax, sharing[scale])
    rounds = [t for panel in shown.panels for line in panel.lines for t in line.t]
    rounds += [t for panel in shown.panels for marks in panel.published for t in marks.t]
    for (row, column), ax in axes.items():
        ax.set_xlim(min(rounds) / 1.25, max(rounds) * 1.25)  # the same for all: only the lowest has numbers
        if not titles and column == min(c for r, c in axes if r == row):
            ax.set_ylabel(plain(shown.rows[row]), fontweight="bold")
        if titles or row == min(r for r, c in axes if c == column):
            ax.set_title(titles.get((row, column), shown.columns[column]))
        ax.tick_params(labelbottom=row == max(r for r, c in axes if c == column))
    figure.supxlabel(f"round $t$ (log scale, from {START} on)", fontsize=10)
    if shown.label:
        figure.supylabel(shown.label, fontsize=10)
    legend(figure, shown.learners, any(panel.published for panel in shown.panels))
    return figure


def _draw_lines(ax: "Axes", panel: Panel) -> None:
    """Mean, band and markers of each learner, and the published points as open markers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    look = styles(line.learner for line in panel.lines)
    for k, line in enumerate(panel.lines):
        every = max(1, len(line.t) // 6)
        markers = range(k * every // 6, len(line.t), every)  # not one on top of the other
        band(ax, line.t, line.mean, panel.band(line), look[line.learner], line.learner, markers)
    for marks in panel.published:
        style = styles([marks.learner])[marks.learner]
        ax.plot(
            marks.t, marks.value, color=style.colour, marker=style.marker, linestyle="", fillstyle="none",
            markersize=9, markeredgewidth=1.5, zorder=5, clip_on=False,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    if panel.quantity == "regret":  # a scale on which all learners can be told apart, and 0 is there
        ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
        ax.yaxis.set_major_locator(FixedLocator(_TICKS))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())


def _fit(ax: "Axes", panels: Sequence[Panel]) -> None:
    """Limits by the lines and marks: bands that reach far below 0 in the first rounds are cut."""
    lines = [line for panel in panels for line in panel.lines]
    values = [value for line in lines for value in line.mean]
    values += [value for panel in panels for marks in panel.published for value in marks.value]
    high = max(value for panel in panels for line in panel.lines for value in panel.band(line)[1])
    top = max(high, *values)
    low = min(-0.2 * LINEAR, 1.1 * min(values)) if panels[0].quantity == "regret" else -0.03 * top
    ax.set_ylim(low, (1.25 if panels[0].quantity == "regret" else 1.06) * top)
