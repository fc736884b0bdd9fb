"""The paper's figures 1 to 13. What a figure shows is computed by one function and drawn by another.

>>> shown = example.example()
>>> [round(loss, 12) for loss in shown.least]  # the best threshold pays P/2, the best pair c P
[0.2, 0.08]
"""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..results import summary
from . import bias, bias_drawing, captions, example, graphs, graphs_drawing, learning, panels_drawing, surrogate
from .curves import StudyCurves, draw_studies
from .saving import save
from .style import look

if TYPE_CHECKING:
    import os

    import polars

__all__ = ["FIGURES", "Drawn", "Recipe", "StudyCurves", "draw_all", "draw_studies"]


class Recipe(NamedTuple):
    """How a figure is made."""

    name: str
    title: str
    show: Callable[["polars.DataFrame", "polars.DataFrame"], Any]
    """What it shows, from the curves and their summary; None if they do not allow it."""
    describe: Callable[[Any], str]
    draw: Callable[[Any], Any]


class Drawn(NamedTuple):
    """A figure in its files."""

    number: int
    title: str
    caption: str
    paths: tuple[Path, ...]
    """SVG, PNG and PDF."""


def _curves(name: str, title: str, show: Callable[["polars.DataFrame"], Any], describe: Callable[[Any], str]) -> Recipe:
    return Recipe(name, title, lambda _, table: show(table), describe, panels_drawing.draw)


FIGURES = {
    1: Recipe(
        "feedback",
        "Feedback graph",
        lambda *_: graphs.feedback(),
        graphs.describe_feedback,
        graphs_drawing.draw_feedback,
    ),
    2: Recipe("losses", "Losses", lambda *_: surrogate.losses(), surrogate.describe, surrogate.draw),
    3: Recipe("bias", "The bias problem", lambda curves, _: bias.bias(curves), bias.describe, bias_drawing.draw),
    4: Recipe(
        "three-experts",
        "Graphs of three experts",
        lambda *_: graphs.three_experts(),
        graphs.describe_three_experts,
        graphs_drawing.draw_three_experts,
    ),
    5: _curves("main", "Regret, abstention and edges", learning.main, captions.describe_main),
    6: Recipe("example", "A simple example", lambda *_: example.example(), example.describe, example.draw),
    7: _curves("regret", "Average regret, first five sets", learning.regret_of_first_sets, captions.describe_regret),
    8: _curves("regret", "Average regret, other five sets", learning.regret_of_second_sets, captions.describe_regret),
    9: _curves(
        "abstention",
        "Fraction abstained, first five sets",
        learning.abstention_on_first_sets,
        captions.describe_abstention,
    ),
    10: _curves(
        "abstention",
        "Fraction abstained, other five sets",
        learning.abstention_on_second_sets,
        captions.describe_abstention,
    ),
    11: _curves("extreme", "Extreme costs", learning.extreme, captions.describe_extreme),
    12: _curves("confidence", "Confidence-based experts", learning.confidence, captions.describe_confidence),
    13: _curves("small", "Fewer experts", learning.small, captions.describe_regret),
}


def draw_all(
    curves: "polars.DataFrame", folder: "str | os.PathLike[str]", only: Collection[int] | None = None
) -> list[Drawn]:
    """Draw every figure (or ``only`` these) that the results allow, as figure-NN-NAME.svg, .png and .pdf."""
    table = summary(curves)
    drawn = []
    for number, recipe in FIGURES.items():
        if only is not None and number not in only:
            continue
        shown = recipe.show(curves, table)
        if shown is None:
            continue
        with look():
            paths = save(recipe.draw(shown), Path(folder), f"figure-{number:02d}-{recipe.name}")
        drawn.append(Drawn(number, recipe.title, recipe.describe(shown), paths))
    return drawn
