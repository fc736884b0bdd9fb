"""Grids of panels from results."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figure import Source
from .panels import QUANTITIES, START, UNITS, Grid, Line, Panel, Place
from .played import Played, n_experts
from .style import styles

if TYPE_CHECKING:
    import polars


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
