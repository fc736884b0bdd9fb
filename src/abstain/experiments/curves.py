"""The curves of any study: regret, fraction abstained, edges and loss over t, a figure for each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import outputs
from .panels import (
    LINEAR,
    QUANTITIES,
    UNITS,
    Grid,
    Line,
    Panel,
    Played,
    draw,
    lines_of,
    n_experts,
    repeated,
    repetitions,
)
from .results import over_units, summary
from .study import LearnerStudy, earlier
from .style import look, rendered, trying, write

if TYPE_CHECKING:
    import polars

SHOWN = {**QUANTITIES, "loss": "average loss"}
"""What is drawn of every study, and what an axis calls it."""
FEW_EDGES = 1e5
"""Graphs with fewer are not counted in millions."""
WRAPPED = 3
"""Panels in a row where settings are no product of sets and costs."""


class StudyCurves(NamedTuple):
    """The curves of a study in its files."""

    study: str
    title: str
    caption: str
    paths: tuple[Path, ...]


def curves_of(curves: "polars.DataFrame", study: LearnerStudy) -> dict[str, Grid]:
    """What each figure shows, by quantity: a row a set and a column a cost, or a panel after the other."""
    import polars

    own = curves.filter(polars.col("study") == study.name)
    if own.is_empty():
        return {}
    parts = {
        (str(dataset), float(cost)): part
        for (dataset, cost), part in summary(over_units(own)).partition_by("dataset", "cost", as_dict=True).items()
    }
    often = repeated(own)
    settings = [pair for pair in study.settings if pair in parts]
    product = len(settings) == len({name for name, _ in settings}) * len({cost for _, cost in settings})
    played = [Played(*often[study.name, name, round(cost, 9)], n_experts(study, name, cost)) for name, cost in settings]
    found = {}
    for quantity, label in SHOWN.items():
        panels = []
        for k, (dataset, cost) in enumerate(settings):
            names = (dataset, f"c = {cost:g}") if product else (str(k // WRAPPED), str(k % WRAPPED))
            title = "" if product else f"{dataset}, c = {cost:g}"
            lines = lines_of(parts[dataset, cost], quantity)
            panels.append(Panel(*names, dataset, cost, quantity, lines, title=title, played=played[k]))
        rows, columns = (tuple(dict.fromkeys(names)) for names in zip(*(panel[:2] for panel in panels), strict=True))
        grid = Grid(rows, columns, tuple(panels), (), label, own_scales=not product)
        found[quantity] = _in_ones(grid) if quantity == "edges" else grid
    return found


def _in_ones(grid: Grid) -> Grid:
    """Edges as they are, if they are few."""
    unit = UNITS["edges"]
    if max(value for panel in grid.panels for line in panel.lines for value in line.mean) >= FEW_EDGES * unit:
        return grid

    def plain(line: Line) -> Line:
        mean, sd = (tuple(value / unit for value in values) for values in (line.mean, line.sd))
        return line._replace(mean=mean, sd=sd)

    panels = tuple(panel._replace(lines=tuple(map(plain, panel.lines))) for panel in grid.panels)
    return grid._replace(panels=panels, label="edges of the graph")


def describe(study: LearnerStudy, quantity: str, shown: Grid) -> str:
    """What is shown, what the band is, over how many repetitions, and K."""
    what = SHOWN[quantity].replace("$", "")
    bands = repetitions([panel.played for panel in shown.panels], over_draws=True)
    scale = f" The scale is linear below {LINEAR:g}, logarithmic above." if quantity == "regret" else ""
    return f"{study.title or study.name}: {what} after t rounds. {bands}{scale}"


def draw_studies(
    curves: "polars.DataFrame", studies: Sequence[LearnerStudy], folder: Path
) -> tuple[list[StudyCurves], list[str]]:
    """Draw the curves of studies as NAME-QUANTITY.svg, .png and .pdf; of those that play the same, the first's. And say
    which could not be drawn, and why.
    """
    drawn: list[StudyCurves] = []
    failed: list[str] = []
    for study in studies:
        if earlier(study, studies):
            continue
        grids: dict[str, Grid] = {}
        with trying(f"Curves of {study.name}", failed):
            grids = curves_of(curves, study)
        for quantity, shown in grids.items():
            what, made = SHOWN[quantity].replace("$", ""), None
            with trying(f"Curves of {study.name}, {what},", failed), look():
                made = describe(study, quantity, shown), rendered(draw(shown))
            if made is not None:
                paths = write(made[1], folder, f"{outputs.file_name(study.name)}-{quantity}")
                drawn.append(StudyCurves(study.name, what, made[0], paths))
    return drawn, failed
