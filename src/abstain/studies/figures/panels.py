"""Curves in a grid of panels: what it shows, from the summary of results, and how it is drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from .style import legend, new_figure, styles

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUANTITIES = {
    "regret": "average regret $R_t / t$",
    "abstained": "fraction abstained",
    "edges": "edges of the graph (millions)",
}
"""The columns of the summary that a panel can show (each with its ``_sd``), and what an axis calls them."""
UNITS = {"edges": 1e-6}


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


class Panel(NamedTuple):
    """A panel that is there."""

    row: str
    column: str
    dataset: str
    cost: float
    quantity: str
    lines: tuple[Line, ...]
    published: tuple[Marks, ...] = ()

    def last(self, learner: str) -> float | None:
        """The value a learner's line ends with."""
        return next((line.mean[-1] for line in self.lines if line.learner == learner), None)


class Grid(NamedTuple):
    """A figure of panels; rows and columns without any panel are left out."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    panels: tuple[Panel, ...]
    missing: tuple[str, ...]
    """What was wanted and had no results: rows, or single panels."""
    label: str = ""
    """What all panels show, if they show the same."""

    @property
    def learners(self) -> tuple[str, ...]:
        """All learners, in the order of the legend."""
        return tuple(styles(line.learner for panel in self.panels for line in panel.lines))

    @property
    def rounds(self) -> int:
        """The last round shown."""
        return max(line.t[-1] for panel in self.panels for line in panel.lines)


def grid(summary: "polars.DataFrame", places: Sequence[Place]) -> Grid | None:
    """The panels there are results for; None if there is none."""
    parts = {
        (str(study), str(dataset), round(float(cost), 9)): part
        for (study, dataset, cost), part in summary.partition_by("study", "dataset", "cost", as_dict=True).items()
    }
    panels, absent = [], []
    for place in places:
        keys = [(study, place.dataset, round(place.cost, 9)) for study in place.studies]
        part = next((parts[key] for key in keys if key in parts), None)
        if part is None:
            absent.append(place)
            continue
        lines = _lines(part, place.quantity)
        panels.append(Panel(*place[:5], lines=lines, published=place.published))
    if not panels:
        return None
    rows = _there([place.row for place in places], {panel.row for panel in panels})
    columns = _there([place.column for place in places], {panel.column for panel in panels})
    missing = dict.fromkeys(
        place.row if place.row not in rows else f"{place.row} at {' '.join(place.column.split())}" for place in absent
    )
    quantities = {panel.quantity for panel in panels}
    label = QUANTITIES[quantities.pop()] if len(quantities) == 1 else ""
    return Grid(rows, columns, tuple(panels), tuple(missing), label)


def _lines(part: "polars.DataFrame", quantity: str) -> tuple[Line, ...]:
    unit = UNITS.get(quantity, 1.0)
    lines = []
    for label in styles(part["learner"].to_list()):
        own = part.filter(part["learner"] == label).sort("t")
        mean, sd = (own[name] * unit for name in (quantity, f"{quantity}_sd"))
        lines.append(Line(label, tuple(own["t"]), tuple(mean), tuple(sd)))
    return tuple(lines)


def _there(wanted: Sequence[str], found: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if name in found))


def draw(shown: Grid) -> "Figure":
    """One axis a panel, t on a log scale; panels of a row that show the same share their scale."""
    n_rows, n_columns = len(shown.rows), len(shown.columns)
    width = 9.0 if n_columns <= 4 else 12.0
    figure = new_figure(max(5.0, width * min(1.0, (n_columns + 0.6) / 3)), 0.9 + n_rows * (2.5 if n_rows < 3 else 1.8))
    places = figure.add_gridspec(n_rows, n_columns)
    axes: dict[tuple[int, int], Axes] = {}
    scales: dict[tuple[int, str], Axes] = {}
    for panel in shown.panels:
        row, column = shown.rows.index(panel.row), shown.columns.index(panel.column)
        ax = figure.add_subplot(places[row, column], sharey=scales.get((row, panel.quantity)))
        ax.tick_params(labelleft=(row, panel.quantity) not in scales)
        scales.setdefault((row, panel.quantity), ax)
        axes[row, column] = ax
        ax.set_label(f"{panel.row}, {panel.column}")
        draw_lines(ax, panel)
    for (row, column), ax in axes.items():
        if column == min(c for r, c in axes if r == row):
            ax.set_ylabel(shown.rows[row], fontweight="bold")
        if row == min(r for r, c in axes if c == column):
            ax.set_title(shown.columns[column])
        ax.tick_params(labelbottom=row == max(r for r, c in axes if c == column))
    figure.supxlabel("round $t$ (log scale)", fontsize=10)
    if shown.label:
        figure.supylabel(shown.label, fontsize=10)
    legend(figure, shown.learners, any(panel.published for panel in shown.panels))
    return figure


def draw_lines(ax: "Axes", panel: Panel) -> None:
    """Mean, band and markers of each learner, and the published points as open markers."""
    look = styles(line.learner for line in panel.lines)
    for k, line in enumerate(panel.lines):
        style = look[line.learner]
        low = [mean - sd for mean, sd in zip(line.mean, line.sd, strict=True)]
        high = [mean + sd for mean, sd in zip(line.mean, line.sd, strict=True)]
        ax.fill_between(line.t, low, high, color=style.colour, alpha=0.18, linewidth=0)
        every = max(1, len(line.t) // 6)
        ax.plot(
            line.t, line.mean, color=style.colour, marker=style.marker, label=line.learner,
            markevery=(k * every // 6 % max(1, len(line.t)), every),
        )  # fmt: skip
    for marks in panel.published:
        style = styles([marks.learner])[marks.learner]
        ax.plot(
            marks.t, marks.value, color=style.colour, marker=style.marker, linestyle="", fillstyle="none",
            markersize=9, markeredgewidth=1.5, zorder=5,
        )  # fmt: skip
    ax.set_xscale("log")
    if panel.quantity != "regret":
        ax.set_ylim(bottom=0.0)
