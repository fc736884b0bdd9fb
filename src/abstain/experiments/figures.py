"""Figures of the report: what a figure is, and drawing all of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from .._core.files import file_name
from .._core.validation import as_count
from ..errors import InputError
from .evidence import Results
from .jobs import Job
from .registry import FIGURES, collected
from .study import Study
from .style import look, rendered, trying, write_figure

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure as Drawing

S = TypeVar("S")


def _no_jobs(studies: Sequence[Study]) -> Sequence[Job]:
    return ()


@dataclass(frozen=True)
class Figure(Generic[S]):
    """A figure of the report. A missing part raises an error at import, not after hours of computing.

    Args:
        number: Its place in the report. The paper has 1 to 13.
        title: Its title.
        show: A function of `Results` that returns what is shown, or None if the results do not allow it.
        draw: Draws what is shown with Matplotlib.
        caption: Describes what is shown in words, with its numbers.
        name: Its files are called figure-NN-NAME; made from the title if empty.
        jobs: Games that it needs besides results, as a function of the studies that are run. They are played before
            anything is drawn; `show` finds their records in ``results.records``, by key.

    >>> Figure(99, "Nothing", show=lambda results: None, draw=None, caption=str)
    Traceback (most recent call last):
    abstain.errors.InputError: figure 99: draw: expected a function, got None
    """

    number: int
    title: str
    show: Callable[[Results], S | None]
    draw: Callable[[S], "Drawing"]
    caption: Callable[[S], str]
    name: str = ""
    jobs: Callable[[Sequence[Study]], Sequence[Job]] = _no_jobs

    def __post_init__(self) -> None:
        number = as_count(self.number, "figure: number")
        for part in ("show", "draw", "caption", "jobs"):
            self._check(callable(getattr(self, part)), number, part, "a function")
        self._check(isinstance(self.title, str) and bool(self.title.strip()), number, "title", "a text")
        self._check(isinstance(self.name, str), number, "name", "a text")
        object.__setattr__(self, "name", file_name(self.name or self.title.lower()))

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
    """All figures of a run."""

    drawn: list[Drawn]
    failed: list[str]
    """One sentence for each that could not be drawn."""
    absent: list[int]
    """The numbers of those that the results do not allow."""


def all_figures() -> Sequence[Figure[Any]]:
    """Every registered figure, sorted by number."""
    return collected(FIGURES, Figure)


def draw_all(
    results: Results, folder: "str | os.PathLike[str]", figures: Iterable[Figure[Any]] | None = None
) -> Pictures:
    """Draw figures, by default all that are registered, as figure-NN-NAME.svg, .png and .pdf."""
    found = Pictures([], [], [])
    for figure in all_figures() if figures is None else figures:
        made = None
        with trying(f"Figure {figure.number}", found.failed), look():
            shown = figure.show(results)
            if shown is None:
                found.absent.append(figure.number)
            else:
                caption = figure.caption(shown)
                if not isinstance(caption, str):
                    raise InputError(f"caption: expected a text, got {caption!r}")
                made = caption, rendered(figure.draw(shown))
        if made is not None:
            paths = write_figure(made[1], Path(folder), f"figure-{figure.number:02d}-{figure.name}")
            found.drawn.append(Drawn(figure.number, figure.title, made[0], paths))
    return found
