"""How experts on a line and their graphs are drawn (figures 1 and 4)."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .graphs import Edges, Experts
from .style import BLUE, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALE = "#D9D9D9"
SIZE, LOOP, OUT = 0.27, 0.21, 1.36
"""Radii of a node and of its self-loop, and how far from the middle of the graph the loop's is; nodes are 1 from it."""
OPENING = 50.0
"""Half the angle of a loop that its node hides, in degrees."""


def draw_line(ax: "Axes", shown: Experts) -> None:
    """A bar an expert: blue where it predicts, pale where it abstains."""
    for row, intervals in enumerate(shown.predicts):
        ax.barh(row, 1.0, height=0.5, color=PALE)
        for low, high in intervals:
            ax.barh(row, high - low, left=low, height=0.5, color=BLUE)
    ax.set(xlim=(0.0, 1.0), xlabel="input $x$", yticks=range(len(shown.names)), ylabel="expert")
    ax.set_yticklabels(shown.names)
    ax.set_ylim(len(shown.names) - 0.4, -1.1)
    ax.grid(visible=False)


def legend(ax: "Axes", any_input: bool = False) -> None:
    """What the colours of bars and nodes mean."""
    from matplotlib.patches import Patch

    handles = [Patch(color=BLUE, label="predicts"), Patch(color=PALE, label="abstains")]
    if any_input:
        handles.append(Patch(facecolor="white", edgecolor="black", label="either: the graph is for any $x$"))
    ax.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(handles), frameon=False)


def draw_graph(ax: "Axes", names: Sequence[str], edges: Edges, abstaining: Collection[str] | None) -> None:
    """The graph with its self-loops. A node is blue or pale, as its expert's bar is there, or white (None)."""
    from matplotlib.patches import Circle, FancyArrowPatch

    angles = np.pi / 2.0 - 2.0 * np.pi * np.arange(len(names)) / len(names)
    places = dict(zip(names, np.column_stack([np.cos(angles), np.sin(angles)]), strict=True))
    for i, j in sorted(edges):
        both = (j, i) in edges
        if both and j < i:
            continue
        along = (places[j] - places[i]) / np.linalg.norm(places[j] - places[i])
        start, end = places[i] + 1.12 * SIZE * along, places[j] - 1.12 * SIZE * along
        head = "<|-|>" if both else "-|>"
        ax.add_patch(
            FancyArrowPatch(start, end, arrowstyle=head, color=GREY, mutation_scale=11, shrinkA=0, shrinkB=0, lw=1.3)
        )
    for angle, (name, place) in zip(np.degrees(angles), places.items(), strict=True):
        around = np.radians(np.linspace(angle + 180.0 + OPENING, angle + 540.0 - OPENING, 40))
        loop = OUT * place + LOOP * np.column_stack([np.cos(around), np.sin(around)])
        ax.plot(*loop[:-3].T, color=GREY, lw=1.3, zorder=1)
        ax.add_patch(
            FancyArrowPatch(loop[-5], loop[-1], arrowstyle="-|>", color=GREY, mutation_scale=9, shrinkA=0, shrinkB=0)
        )
        if abstaining is None:
            face, edge, text = "white", "black", "black"
        elif name in abstaining:
            face, edge, text = PALE, GREY, "black"
        else:
            face, edge, text = BLUE, BLUE, "white"
        ax.add_patch(Circle(place, SIZE, facecolor=face, edgecolor=edge, lw=1.2, zorder=2))
        ax.annotate(name, place, ha="center", va="center_baseline", color=text, zorder=3)
    reach = OUT + LOOP + 0.1
    low = min(-1.0 - SIZE, min(float(place[1]) for place in places.values()) * reach) if len(names) != 3 else -0.95
    ax.set(xlim=(-reach, reach), ylim=(low, reach), aspect="equal")
    ax.axis("off")
