"""The paper's figures, one in a file: what it shows, how that is drawn, and what is said below it.

A file with a `Figure` in this package is all that a new one takes.

>>> known()[0].title
'Feedback graph'
"""

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..found import found
from ..study import Study
from .curves import StudyCurves, draw_studies
from .figure import Figure, Source
from .saving import save
from .style import look

if TYPE_CHECKING:
    import os

    import polars

__all__ = ["Drawn", "Figure", "Source", "StudyCurves", "draw_all", "draw_studies", "known"]


class Drawn(NamedTuple):
    """A figure in its files."""

    number: int
    title: str
    caption: str
    paths: tuple[Path, ...]
    """SVG, PNG and PDF."""


def known() -> Sequence[Figure[Any]]:
    """All figures of this package, by their numbers."""
    return found(sys.modules[__name__], Figure)


def draw_all(
    curves: "polars.DataFrame",
    folder: "str | os.PathLike[str]",
    studies: Sequence[Study] = (),
    only: Collection[int] | None = None,
) -> list[Drawn]:
    """Draw every figure (or ``only`` these) that the results allow, as figure-NN-NAME.svg, .png and .pdf.

    ``studies`` are those whose results the curves are: they know how many experts there were.
    """
    source = Source(curves, studies)
    drawn = []
    for figure in known():
        if only is not None and figure.number not in only:
            continue
        shown = figure.show(source)
        if shown is None:
            continue
        with look():
            paths = save(figure.draw(shown), Path(folder), f"figure-{figure.number:02d}-{figure.name}")
        drawn.append(Drawn(figure.number, figure.title, figure.caption(shown), paths))
    return drawn
