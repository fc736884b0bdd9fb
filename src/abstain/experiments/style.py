"""How figures look (colours, markers and dashes of learners, fonts, legends), and writing their files."""

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from .._core.files import make_folder, write_bytes
from .._core.pages import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from ..errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Dash: TypeAlias = Literal["-"] | tuple[float, tuple[float, ...]]
"""A solid line, or an offset and the lengths of dashes and gaps."""
FULL: Literal["-"] = "-"
LONG, DOTS, SPARSE = (0.0, (7.0, 2.0)), (0.0, (1.0, 1.3)), (0.0, (2.5, 3.0))
SHORT, DASH_DOT = (0.0, (3.5, 1.5)), (0.0, (5.0, 1.5, 1.0, 1.5))
DASH_DOTS, TWO_DASHES = (0.0, (4.0, 1.3, 1.0, 1.3, 1.0, 1.3)), (0.0, (6.0, 1.3, 2.0, 1.3))


RED, GREY = VERMILION, "#666666"


class Style(NamedTuple):
    """How a learner's curve looks."""

    colour: str
    marker: str
    dash: Dash = FULL


STYLES = {
    "UCB": Style(RED, "o", LONG),
    "UCB-NT, own graph": Style(SKY, "X", TWO_DASHES),
    "UCB-NT": Style(BLACK, "s", SHORT),
    "UCB-GT": Style(GREEN, "^", FULL),
    "UCB-GT, β = 0.625": Style(ORANGE, "P", DASH_DOT),
    "EXP3-ABS": Style(PURPLE, "v", SPARSE),
    "FS": Style(BLUE, "D", DOTS),
}
"""In the order of the legend. Markers and dashes tell learners apart without colour."""
OTHERS = (
    Style(SKY, "*", TWO_DASHES), Style("#999999", "p", FULL), Style("#7A5C00", "h", SHORT),
    Style("#004D73", "<", DASH_DOT), Style("#8A3FFC", "d", LONG), Style("#A11D21", "H", DASH_DOTS),
    Style("#5FA55A", ">", DOTS), Style("#F0A3C4", "8", FULL),
)  # fmt: skip
WIDE, HANDLE = 11.0, 8
"""Characters of the legend per inch, and those that a line with its marker takes."""
_LOOK: dict[Any, Any] = {
    "svg.hashsalt": "abstain",  # the same picture is the same file
    "svg.fonttype": "path",
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
    "mathtext.fontset": "dejavusans",
}


def styles(labels: Iterable[str]) -> dict[str, Style]:
    """The style of each learner, in the order of the legend. Learners without a fixed style come last."""
    given = list(dict.fromkeys(labels))
    known = [label for label in STYLES if label in given]
    others = [label for label in given if label not in STYLES]
    return {label: STYLES[label] for label in known} | {
        label: OTHERS[k % len(OTHERS)] for k, label in enumerate(others)
    }


@contextmanager
def look() -> Iterator[None]:
    """Draw and save with our settings instead of the user's."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_LOOK)
        yield


def plain(name: str) -> str:
    r"""Escape dollars, which Matplotlib would read as mathematics.

    >>> print(plain("$^$ greedy"))
    \$^\$ greedy
    """
    return name.replace("$", r"\$")


def new_figure(width: float, height: float) -> "Figure":
    """An empty Matplotlib figure of a size in inches, with a constrained layout."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def legend(figure: "Figure", labels: Iterable[str], published: bool = False) -> None:
    """The figure's one legend, above its panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=style.colour, marker=style.marker, linestyle=style.dash, label=plain(label))
        for label, style in styles(labels).items()
    ]
    if published:
        handles.append(
            Line2D([], [], color=GREY, marker="o", linestyle="", fillstyle="none", markersize=8, label="published")
        )
    room = WIDE * figure.get_figwidth()
    n_rows = math.ceil(sum(len(str(handle.get_label())) + HANDLE for handle in handles) / room)
    columns = math.ceil(len(handles) / n_rows) if figure.get_figwidth() > 8.0 else 3
    figure.legend(
        handles=handles, loc="outside upper center", ncols=columns, frameon=False,
        columnspacing=1.4, handletextpad=0.5, handlelength=3.2,
    )  # fmt: skip


def band(
    ax: "Axes", t: Sequence[int], mean: Sequence[float], edges: tuple[Sequence[float], Sequence[float]], style: Style,
    label: str, markers: Iterable[int],
) -> None:  # fmt: skip
    """Draw a line with markers at some of its points, and a band between two edges."""
    ax.fill_between(t, *edges, color=style.colour, alpha=0.18, linewidth=0)
    ax.plot(
        t,
        mean,
        color=style.colour,
        marker=style.marker,
        linestyle=style.dash,
        label=label,
        markevery=list(markers),
        zorder=2.0 if style.dash == FULL else 2.1,  # solid lines show through the gaps of dashed ones
    )


DATES: dict[str, dict[str, None]] = {"svg": {"Date": None}, "png": {}, "pdf": {"CreationDate": None}}
"""The kinds of files. Without a date the same picture is the same file."""


@contextmanager
def trying(what: str, failed: list[str]) -> Iterator[None]:
    """Add an error to what failed, as a sentence, instead of raising it: other pictures are not affected."""
    try:
        yield
    except Exception as error:  # a user's figure may raise anything, and so may Matplotlib with a user's names
        failed.append(f"{what} could not be drawn ({type(error).__name__}: {error}).")


def rendered(figure: "Figure") -> dict[str, bytes]:
    """The content of a figure's files, by kind."""
    from matplotlib.figure import Figure as Drawing

    if not isinstance(figure, Drawing):
        raise InputError(f"draw: expected a figure of Matplotlib, got {figure!r}")
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.execute(figure)  # once for all files
        figure.set_layout_engine("none")
    files = {}
    for kind, dates in DATES.items():
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata=dates)
        files[kind] = stream.getvalue()
    return files


def write_figure(files: Mapping[str, bytes], folder: Path, name: str) -> tuple[Path, ...]:
    """Write NAME.svg, NAME.png and NAME.pdf."""
    make_folder(folder)
    return tuple(write_bytes(folder / f"{name}.{kind}", content) for kind, content in files.items())
