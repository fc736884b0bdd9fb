"""Learners' curves over the rounds: panels for a figure's own use, and four figures of every study."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import datasets
from .._core.files import file_name
from .evidence import Results
from .results import HIGH, LOW, over_units, summary
from .sets import source
from .specs import problem_of
from .study import LearnerStudy, earlier
from .style import band, legend, look, new_figure, plain, rendered, styles, trying, write_figure

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUANTITIES = {
    "regret": "average regret $R_t / t$",
    "abstained": "fraction abstained",
    "edges": "edges of the graph (millions)",
}
"""The columns of the summary that a panel can show (each with its ``_sd``), and their names on an axis."""
ALL_QUANTITIES = {**QUANTITIES, "loss": "average loss", "pseudo": "average pseudo-regret"}
"""The quantities drawn for every study; the last where the expected losses of experts are known."""
SYMLOG = ("regret", "pseudo")
"""Quantities whose scale is linear near 0 and logarithmic beyond; their axes say so."""
UNITS = {"edges": 1e-6}
RANGES = {"abstained": (0.0, 1.0), "loss": (0.0, 1.0), "edges": (0.0, math.inf)}
"""Bands are cut to what is possible. Regret may be negative."""
START = 10
"""Earlier rounds are left out: an average of a few losses of 0 or 1 says nothing and would set the scale."""
LINEAR = 0.01
"""The scale of regret is linear below this and logarithmic above."""
FEW_EDGES = 1e5
"""Smaller graphs are not counted in millions."""
WRAPPED = 3
"""Panels per row if the settings are not all pairs of some sets and costs."""
_TICKS = (-0.3, -0.1, -0.03, -0.01, 0.0, 0.01, 0.03, 0.1, 0.3, 1.0)


class Curve(NamedTuple):
    """One learner's curve: mean and standard deviation over the expert sets at each checkpoint."""

    learner: str
    t: tuple[int, ...]
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    quantiles: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    """The ends of the band, if they are quantiles over draws: single runs may be of two kinds, which no deviation
    shows."""


class Marks(NamedTuple):
    """Published values of a learner, drawn as open markers."""

    learner: str
    t: tuple[int, ...]
    value: tuple[float, ...]


class Repetitions(NamedTuple):
    """How often a panel's setting was repeated."""

    expert_sets: int
    draws: int
    n_experts: int | None = None
    """K, or None if unknown."""

    @property
    def over_draws(self) -> bool:
        """Whether bands are quantiles over draws, as there is one expert set only."""
        return self.expert_sets == 1 and self.draws > 1


class Place(NamedTuple):
    """A panel to look for. The first of the studies that has results for it provides them."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    studies: tuple[str, ...]
    published: tuple[Marks, ...] = ()

    @property
    def name(self) -> str:
        """The setting in words, without the quantity."""
        return f"{self.row} at {' '.join(self.column.removeprefix(QUANTITIES[self.quantity]).split())}"


class Panel(NamedTuple):
    """One pair of axes: the curves of all learners in one setting."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    curves: tuple[Curve, ...]
    published: tuple[Marks, ...] = ()
    title: str = ""
    """Shown above the panel if rows and columns have no meaning."""
    repeated: Repetitions = Repetitions(1, 1)

    def last(self, learner: str) -> float | None:
        """The last value of a learner's curve, or None without one."""
        return next((curve.mean[-1] for curve in self.curves if curve.learner == learner), None)

    def band(self, curve: Curve) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """One standard deviation below and above a curve, cut to the possible range; or its quantiles."""
        if curve.quantiles is not None:
            return curve.quantiles
        low, high = RANGES.get(self.quantity, (-math.inf, math.inf))
        pairs = list(zip(curve.mean, curve.sd, strict=True))
        return (
            tuple(min(max(mean - sd, low), high) for mean, sd in pairs),
            tuple(min(max(mean + sd, low), high) for mean, sd in pairs),
        )


class PanelGrid(NamedTuple):
    """A figure of panels in rows and columns. Empty rows and columns are left out."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]
    """Rows or single panels without results."""
    label: str = ""
    """The quantity, if all panels show the same."""
    own_scales: bool = False
    """Whether each panel has its own scale. Otherwise panels of a row with the same quantity share it."""

    @property
    def learners(self) -> tuple[str, ...]:
        """All learners, in the order of the legend."""
        return tuple(styles(curve.learner for panel in self.panels for curve in panel.curves))

    @property
    def rounds(self) -> int:
        """The last round shown."""
        return max(curve.t[-1] for panel in self.panels for curve in panel.curves)


def panel_grid(results: Results, places: Sequence[Place]) -> PanelGrid | None:
    """Collect panels from results.

    Args:
        results: The results to take curves from.
        places: The panels to look for, row by row.

    Returns:
        The panels that have results; None if there are none.
    """
    parts = {
        (str(study), str(dataset), round(float(cost), 9)): part
        for (study, dataset, cost), part in summary(over_units(results.curves))
        .partition_by("study", "dataset", "cost", as_dict=True)
        .items()
    }
    counts = _count_repetitions(results.curves)
    panels, absent = [], []
    for place in places:
        keys = [(study, place.dataset, round(place.cost, 9)) for study in place.studies]
        key = next((key for key in keys if key in parts), None)
        if key is None:
            absent.append(place)
            continue
        repeated = Repetitions(*counts[key], n_experts(results.study(key[0]), place.dataset, place.cost))
        curves = curves_of(parts[key], place.quantity, repeated.over_draws)
        panels.append(Panel(*place[:5], curves=curves, published=place.published, repeated=repeated))
    if not panels:
        return None
    rows = _present([place.row for place in places], {panel.row for panel in panels})
    columns = _present([place.column for place in places], {panel.column for panel in panels})
    missing = dict.fromkeys(place.name if place.row in rows else place.row for place in absent)
    quantities = {panel.quantity for panel in panels}
    label = QUANTITIES[quantities.pop()] if len(quantities) == 1 else ""
    return PanelGrid(rows, columns, tuple(panels), tuple(missing), label)


def study_grids(curves: "polars.DataFrame", study: LearnerStudy) -> dict[str, PanelGrid]:
    """One figure per quantity of a study: one row per set and one column per cost, or simply one panel per setting."""
    import polars

    own = curves.filter(polars.col("study") == study.name)
    if own.is_empty():
        return {}
    parts = {
        (str(dataset), float(cost)): part
        for (dataset, cost), part in summary(over_units(own)).partition_by("dataset", "cost", as_dict=True).items()
    }
    counts = _count_repetitions(own)
    settings = [pair for pair in study.settings if pair in parts]
    all_pairs = len(settings) == len({name for name, _ in settings}) * len({cost for _, cost in settings})
    repeated = [
        Repetitions(*counts[study.name, name, round(cost, 9)], n_experts(study, name, cost)) for name, cost in settings
    ]
    grids = {}
    for quantity, label in ALL_QUANTITIES.items():
        panels: list[Panel] = []
        if any(part[quantity].null_count() for part in parts.values()):
            continue
        for k, (dataset, cost) in enumerate(settings):
            place = (dataset, f"c = {cost:g}") if all_pairs else (str(k // WRAPPED), str(k % WRAPPED))
            title = "" if all_pairs else f"{dataset}, c = {cost:g}"
            drawn = curves_of(parts[dataset, cost], quantity, repeated[k].over_draws)
            panels.append(Panel(*place, dataset, cost, quantity, drawn, title=title, repeated=repeated[k]))
        rows, columns = (tuple(dict.fromkeys(names)) for names in zip(*(panel[:2] for panel in panels), strict=True))
        grid = PanelGrid(rows, columns, tuple(panels), (), label, own_scales=not all_pairs)
        grids[quantity] = _in_ones(grid) if quantity == "edges" else grid
    return grids


def curves_of(part: "polars.DataFrame", quantity: str, over_draws: bool = False) -> tuple[Curve, ...]:
    """The curves of one setting, from its part of a summary, in the order of the legend; with quantiles over draws."""
    unit = UNITS.get(quantity, 1.0)
    curves = []
    for label in styles(part["learner"].to_list()):
        own = part.filter(part["learner"] == label).sort("t")
        own = own.filter((own["t"] >= START) | (own["t"] == own["t"].max()))
        mean, sd, low, high = (
            tuple(own[name] * unit) for name in (quantity, f"{quantity}_sd", f"{quantity}_low", f"{quantity}_high")
        )
        curves.append(Curve(label, tuple(own["t"]), mean, sd, (low, high) if over_draws else None))
    return tuple(curves)


def n_experts(study: LearnerStudy | None, dataset: str, cost: float) -> int | None:
    """K in a setting; None if the study is unknown or its data are not available any more."""
    if study is None:
        return None
    seed, own = np.random.SeedSequence(0), study.own_set(dataset)
    made = problem_of(dataset, own)
    if made is not None:
        return made(cost).experts.n_experts
    try:
        dim = datasets.info(source(dataset)).features if own is None else own.draw(1, seed, "none")[0].shape[1]
        return study.experts.make(dim, seed).n_experts
    except Exception:  # a user's stream may raise anything when asked for a single round
        return None


def _count_repetitions(curves: "polars.DataFrame") -> dict[tuple[str, str, float], tuple[int, int]]:
    """The number of expert sets and of draws by study, set and cost."""
    import polars

    counts = curves.group_by("study", "dataset", "cost").agg(polars.col("expert_set", "draw").n_unique())
    return {(study, dataset, round(cost, 9)): (sets, draws) for study, dataset, cost, sets, draws in counts.rows()}


def _present(wanted: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if name in found))


def _in_ones(grid: PanelGrid) -> PanelGrid:
    """Count edges one by one if there are few."""
    unit = UNITS["edges"]
    if max(value for panel in grid.panels for curve in panel.curves for value in curve.mean) >= FEW_EDGES * unit:
        return grid

    def in_ones(curve: Curve) -> Curve:
        ends = curve.quantiles or ((), ())
        mean, sd, low, high = (tuple(value / unit for value in values) for values in (curve.mean, curve.sd, *ends))
        return curve._replace(mean=mean, sd=sd, quantiles=(low, high) if curve.quantiles else None)

    panels = tuple(panel._replace(curves=tuple(map(in_ones, panel.curves))) for panel in grid.panels)
    return grid._replace(panels=panels, label="edges of the graph")


def describe_bands(repeated: Sequence[Repetitions]) -> str:
    """Explain lines and bands, and give K.

    Args:
        repeated: The repetitions of each panel.

    Returns:
        One sentence for a caption.
    """
    sets, draws = max(one.expert_sets for one in repeated), max(one.draws for one in repeated)
    most = "up to " if len({one[:2] for one in repeated}) > 1 else ""
    if sets > 1:
        each = f", each the mean of {most}{draws} draws of the data" if draws > 1 else ""
        text = f"Lines are means and bands one standard deviation over {most}{sets} expert sets{each}"
    elif draws > 1:
        ends = f"from the {100 * LOW:.0f} % to the {100 * HIGH:.0f} % quantile"
        text = f"Lines are means and bands reach {ends} over {most}{draws} draws of the data"
    else:
        text = "Lines are single runs, so without a band"
    sizes = sorted({one.n_experts for one in repeated if one.n_experts is not None})
    if not sizes:
        return f"{text}."
    between = f"{sizes[0]:,} to {sizes[-1]:,}, by set" if len(sizes) > 1 else f"{sizes[0]:,}"
    return f"{text}; K = {between}."


def caption(study: LearnerStudy, quantity: str, shown: PanelGrid) -> str:
    """What one of a study's figures shows, over how many repetitions, and K."""
    what = ALL_QUANTITIES[quantity].replace("$", "")
    bands = describe_bands([panel.repeated for panel in shown.panels])
    scale = f" The scale is linear below {LINEAR:g}, logarithmic above." if quantity in SYMLOG else ""
    return f"{study.title or study.name}: {what} after t rounds. {bands}{scale}"


def draw_panels(shown: PanelGrid) -> "Figure":
    """Draw one pair of axes per panel, with t on a log scale."""
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
        _draw_curves(ax, panel)
    for scale, ax in scales.items():
        _fit(ax, sharing[scale])
    rounds = [t for panel in shown.panels for curve in panel.curves for t in curve.t]
    rounds += [t for panel in shown.panels for marks in panel.published for t in marks.t]
    for (row, column), ax in axes.items():
        ax.set_xlim(min(rounds) / 1.25, max(rounds) * 1.25)  # the same for all: only the lowest panel has numbers
        if not titles and column == min(c for r, c in axes if r == row):
            ax.set_ylabel(plain(shown.rows[row]), fontweight="bold")
        if titles or row == min(r for r, c in axes if c == column):
            name, label = shown.columns[column], QUANTITIES["regret"]
            ax.set_title(titles.get((row, column), name.replace(label, f"{label} (symlog)")))
        ax.tick_params(labelbottom=row == max(r for r, c in axes if c == column))
    figure.supxlabel(f"round $t$ (log scale, from {START} on)", fontsize=10)
    if shown.label:
        symlog = " (symlog scale)" if shown.panels[0].quantity in SYMLOG else ""
        figure.supylabel(f"{shown.label}{symlog}", fontsize=10)
    legend(figure, shown.learners, any(panel.published for panel in shown.panels))
    return figure


def _draw_curves(ax: "Axes", panel: Panel) -> None:
    """Mean, band and markers of each learner, and the published points as open markers."""
    from matplotlib.ticker import FixedLocator, NullLocator

    style_of = styles(curve.learner for curve in panel.curves)
    for k, curve in enumerate(panel.curves):
        every = max(1, len(curve.t) // 6)
        markers = range(k * every // 6, len(curve.t), every)  # not one on top of the other
        band(ax, curve.t, curve.mean, panel.band(curve), style_of[curve.learner], curve.learner, markers)
    for marks in panel.published:
        style = styles([marks.learner])[marks.learner]
        ax.plot(
            marks.t, marks.value, color=style.colour, marker=style.marker, linestyle="", fillstyle="none",
            markersize=9, markeredgewidth=1.5, zorder=5, clip_on=False,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    if panel.quantity in SYMLOG:  # a scale on which all learners can be told apart and 0 is visible
        ax.set_yscale("symlog", linthresh=LINEAR, linscale=0.5)
        ax.yaxis.set_major_locator(FixedLocator(_TICKS))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())


def _fit(ax: "Axes", panels: Sequence[Panel]) -> None:
    """Set limits by curves and marks, and cut bands that reach far below 0 in the first rounds."""
    values = [value for panel in panels for curve in panel.curves for value in curve.mean]
    values += [value for panel in panels for marks in panel.published for value in marks.value]
    high = max(value for panel in panels for curve in panel.curves for value in panel.band(curve)[1])
    top = max(high, *values) or LINEAR  # if all are 0
    symlog = panels[0].quantity in SYMLOG
    low = min(-0.2 * LINEAR, 1.1 * min(values)) if symlog else -0.03 * top
    ax.set_ylim(low, (1.25 if symlog else 1.06) * top)


class StudyCurves(NamedTuple):
    """One figure of a study's curves, in its files."""

    study: str
    title: str
    caption: str
    paths: tuple[Path, ...]


def draw_studies(
    curves: "polars.DataFrame", studies: Sequence[LearnerStudy], folder: Path
) -> tuple[list[StudyCurves], list[str]]:
    """Draw the curves of studies as NAME-QUANTITY.svg, .png and .pdf, with a sentence for each that fails.

    Of studies that play the same games, only the first is drawn.
    """
    drawn: list[StudyCurves] = []
    failed: list[str] = []
    for study in studies:
        if earlier(study, studies):
            continue
        grids: dict[str, PanelGrid] = {}
        with trying(f"Curves of {study.name}", failed):
            grids = study_grids(curves, study)
        for quantity, shown in grids.items():
            what, made = ALL_QUANTITIES[quantity].replace("$", ""), None
            with trying(f"Curves of {study.name}, {what},", failed), look():
                made = caption(study, quantity, shown), rendered(draw_panels(shown))
            if made is not None:
                paths = write_figure(made[1], folder, f"{file_name(study.name)}-{quantity}")
                drawn.append(StudyCurves(study.name, what, made[0], paths))
    return drawn, failed
