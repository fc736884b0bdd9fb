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
from .saving import rendered, trying, write
from .style import look

if TYPE_CHECKING:
    import os

    import polars

__all__ = ["Drawn", "Figure", "Pictures", "Source", "StudyCurves", "draw_all", "draw_studies", "known"]


class Drawn(NamedTuple):
    """A figure in its files."""

    number: int
    title: str
    caption: str
    paths: tuple[Path, ...]
    """SVG, PNG and PDF."""


class Pictures(NamedTuple):
    """What became of the figures."""

    drawn: list[Drawn]
    failed: list[str]
    """Which could not be drawn, and why, a sentence each."""
    absent: list[int]
    """The numbers of those that these results do not allow."""


def known() -> Sequence[Figure[Any]]:
    """All figures of this package, by their numbers."""
    return found(sys.modules[__name__], Figure)


def draw_all(
    curves: "polars.DataFrame",
    folder: "str | os.PathLike[str]",
    studies: Sequence[Study] = (),
    only: Collection[int] | None = None,
) -> Pictures:
    """Draw every figure (or ``only`` these) that the results allow, as figure-NN-NAME.svg, .png and .pdf.

    ``studies`` are those whose results the curves are: they know how many experts there were.
    """
    source = Source(curves, studies)
    found = Pictures([], [], [])
    for figure in known():
        if only is not None and figure.number not in only:
            continue
        made = None
        with trying(f"Figure {figure.number}", found.failed), look():
            shown = figure.show(source)
            if shown is None:
                found.absent.append(figure.number)
            else:
                made = str(figure.caption(shown)), rendered(figure.draw(shown))
        if made is not None:
            paths = write(made[1], Path(folder), f"figure-{figure.number:02d}-{figure.name}")
            found.drawn.append(Drawn(figure.number, figure.title, made[0], paths))
    return found
