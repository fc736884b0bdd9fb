"""Figure 12: confidence-based experts, the features scaled in one way; of the other the caption has the numbers."""

from typing import TYPE_CHECKING, NamedTuple

from . import captions, panels_drawing
from .all_sets import by_cost
from .figure import Figure, Source
from .panels import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SETS = ("synthetic", "skin", "guide", "ijcnn", "cifar")
UNSCALED = ("synthetic",)
"""Drawn in their range: any scaling leaves them as they are."""
SCALINGS = {"confidence": "max-abs", "confidence-minmax": "min-max"}
"""The studies, and how they scale the features."""


class Confidence(NamedTuple):
    """What is drawn, and what is only said."""

    scaling: str
    grid: Grid
    others: tuple[tuple[str, str, Grid], ...]
    """Of other scalings: the study, the scaling, and the panels that would not be the same."""


def show(source: Source) -> Confidence | None:
    """The first scaling there are results of is drawn."""
    found: list[tuple[str, str, Grid]] = []
    for study, scaling in SCALINGS.items():
        sets = tuple(name for name in SETS if not found or name not in UNSCALED)
        shown = by_cost(source, sets=sets, quantity="regret", studies=(study,))
        if shown is not None:
            found.append((study, scaling, shown))
    return Confidence(found[0][1], found[0][2], tuple(found[1:])) if found else None


def caption(shown: Confidence) -> str:
    """The order of the learners in both scalings."""
    text = f"Features in {shown.scaling} scaling. {captions.regret(shown.grid)}"
    for study, scaling, grid in shown.others:
        end = captions.order(grid)
        text += f" In {scaling} scaling (curves of the study {study}; synthetic is the same){f' {end}' if end else ''}."
    alike = "Nothing is random in these experts: all their sets are the same, and bands are those of the data alone."
    return f"{text} {captions.ending(shown.grid)} {alike}"


def draw(shown: Confidence) -> "Drawing":
    """A row a set, a column a cost."""
    return panels_drawing.draw(shown.grid)


FIGURE = Figure(12, "Confidence-based experts", show, draw, caption, "confidence")
