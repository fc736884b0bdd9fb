"""A picture of a small graph."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, shown
from .base import as_edges

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_DRAWN = 200
"""More experts than this make no picture, and take minutes."""


def draw(matrix: ArrayLike, labels: Sequence[str] | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw a graph (K, K) on a circle: an arrow for each edge, a thick box around experts with a self-loop.

    Edges in both directions are drawn as one line with two heads.
    """
    import matplotlib.pyplot as plt

    edges = as_edges(matrix)
    n = len(edges)
    if n > MOST_DRAWN:
        raise InputError(f"matrix: expected at most {MOST_DRAWN} experts to draw, got {n}")
    names = [str(k + 1) for k in range(n)] if labels is None else labels
    if not isinstance(names, Sequence) or len(names) != n or not all(isinstance(name, str) for name in names):
        raise InputError(f"labels: expected {n} strings, got {shown(labels)}")
    if ax is None:
        _, ax = plt.subplots(figsize=(4.0, 4.0), layout="constrained")
    angle = np.pi / 2.0 - 2.0 * np.pi * np.arange(n) / n
    places = np.column_stack([np.cos(angle), np.sin(angle)]) if n > 1 else np.zeros((1, 2))
    around = 14.0 + 3.0 * max(map(len, names))  # points: arrows end outside the boxes
    for i in range(n):
        for j in range(n):
            if i == j or not edges[i, j] or (edges[j, i] and j < i):
                continue
            ax.annotate(
                "",
                places[j],
                places[i],
                arrowprops={
                    "arrowstyle": "<|-|>" if edges[j, i] else "-|>",
                    "color": "0.35",
                    "shrinkA": around,
                    "shrinkB": around,
                    "mutation_scale": 14,
                },
            )
    for place, name, loop in zip(places, names, edges.diagonal(), strict=True):
        box = {"boxstyle": "round,pad=0.6,rounding_size=1", "facecolor": "white", "edgecolor": "#0072B2"}
        ax.annotate(name, place, ha="center", va="center", bbox={**box, "linewidth": 2.5 if loop else 0.8})
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.4, 1.4), aspect="equal")
    ax.axis("off")
    return ax
