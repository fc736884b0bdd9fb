"""What a figure is, and drawing all that there are."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .._core.validation import as_count
from ..errors import InputError
from . import outputs
from .registry import FIGURES, collected
from .results import summary
from .study import LearnerStudy
from .style import look, rendered, trying, write

if TYPE_CHECKING:
    import os

    import polars
    from matplotlib.figure import Figure as Drawing

S = TypeVar("S")


@dataclass(frozen=True)
class Source:
    """The results that figures are made of, and the studies whose results they are, as far as these are known."""

    curves: "polars.DataFrame"
    studies: Sequence[LearnerStudy] = ()

    @cached_property
    def summary(self) -> "polars.DataFrame":
        """Means and deviations of the curves."""
        return summary(self.curves)

    def study(self, name: str) -> LearnerStudy | None:
        """The study of that name."""
        return next((study for study in self.studies if study.name == name), None)


@dataclass(frozen=True)
class Figure(Generic[S]):
    """A figure of the report: at the top level of a module of this package it is found, drawn and shown.

    Its parts are checked where it is made, so that a forgotten one is known before anything is run.

    >>> Figure(99, "Nothing", show=lambda source: None, draw=None, caption=str)
    Traceback (most recent call last):
    abstain.errors.InputError: figure 99: draw: expected a function, got None
    """

    number: int
    title: str
    show: Callable[[Source], S | None]
    """What it shows; None if the results do not allow it."""
    draw: Callable[[S], "Drawing"]
    caption: Callable[[S], str]
    """What it shows in words, with its numbers."""
    name: str = ""
    """Of its files, figure-NN-NAME; made from the title if not given."""

    def __post_init__(self) -> None:
        number = as_count(self.number, "figure: number")
        for part in ("show", "draw", "caption"):
            self._check(callable(getattr(self, part)), number, part, "a function")
        self._check(isinstance(self.title, str) and bool(self.title.strip()), number, "title", "a text")
        self._check(isinstance(self.name, str), number, "name", "a text")
        object.__setattr__(self, "name", outputs.file_name(self.name or self.title.lower()))

    def _check(self, is_right: bool, number: int, part: str, expected: str) -> None:
        if not is_right:
            value: Any = getattr(self, part)
            raise InputError(f"figure {number}: {part}: expected {expected}, got {value!r}")


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
    """Every registered figure, by their numbers."""
    return collected(FIGURES, Figure)


def draw_all(
    curves: "polars.DataFrame",
    folder: "str | os.PathLike[str]",
    studies: Sequence[LearnerStudy] = (),
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
