"""How all figures look: a colour and a marker for each learner, fonts, the legend."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Style(NamedTuple):
    """How a learner's line looks."""

    colour: str
    marker: str


# Okabe and Ito's palette and a marker each: told apart without colour, too. In the order of the legend.
STYLES = {
    "UCB": Style("#D55E00", "o"),
    "UCB-NT, own graph": Style("#56B4E9", "X"),
    "UCB-NT": Style("#000000", "s"),
    "UCB-GT": Style("#009E73", "^"),
    "UCB-GT, β = 0.625": Style("#E69F00", "P"),
    "EXP3-ABS": Style("#CC79A7", "v"),
    "FS": Style("#0072B2", "D"),
}
OTHERS = (
    Style("#56B4E9", "*"), Style("#999999", "p"), Style("#7A5C00", "h"), Style("#004D73", "<"),
    Style("#8A3FFC", "d"), Style("#A11D21", "H"), Style("#5FA55A", ">"), Style("#F0A3C4", "8"),
)  # fmt: skip
WIDE, HANDLE = 11.0, 6
"""Characters of the legend in an inch, and how many a line with its marker takes."""
RED, BLUE, GREY = "#D55E00", "#0072B2", "#666666"
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
    """The style of each learner, in the order of the legend; those the paper does not know come last."""
    given = list(dict.fromkeys(labels))
    known = [label for label in STYLES if label in given]
    others = [label for label in given if label not in STYLES]
    return {label: STYLES[label] for label in known} | {
        label: OTHERS[k % len(OTHERS)] for k, label in enumerate(others)
    }


@contextmanager
def look() -> Iterator[None]:
    """Draw and save with these settings, whatever the user's own are."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_LOOK)
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure, in inches; panels find their places themselves."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def legend(figure: "Figure", labels: Iterable[str], published: bool = False) -> None:
    """The figure's one legend, above its panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=style.colour, marker=style.marker, label=label) for label, style in styles(labels).items()
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
        columnspacing=1.4, handletextpad=0.5, handlelength=1.8,
    )  # fmt: skip


def band(
    ax: "Axes", t: Sequence[int], mean: Sequence[float], sd: Sequence[float], style: Style, label: str,
    markers: Iterable[int],
) -> None:  # fmt: skip
    """A line with markers at some of its points, and a standard deviation around it."""
    low = [middle - width for middle, width in zip(mean, sd, strict=True)]
    high = [middle + width for middle, width in zip(mean, sd, strict=True)]
    ax.fill_between(t, low, high, color=style.colour, alpha=0.18, linewidth=0)
    ax.plot(t, mean, color=style.colour, marker=style.marker, label=label, markevery=list(markers))
