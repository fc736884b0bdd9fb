"""Draw the pictures of docs/concepts.md: `python docs/pictures/concepts.py`."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Annulus

import abstain as ab

HERE = Path(__file__).parent
RED, BLUE, GREY = "#D55E00", "#0072B2", "#555555"
mpl.rcParams["svg.hashsalt"] = "abstain"  # the same file from the same numbers


def save(figure: Figure, name: str) -> None:
    """Write a figure without its date."""
    figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})


def expert(axes: Axes, inner: float, outer: float, angle: float) -> None:
    """Draw an expert: the line it predicts by, and the ring it abstains in."""
    normal = np.array([np.cos(angle), np.sin(angle)])
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (240, 2))
    distance, side = np.hypot(*points.T), points @ normal > 0.0
    away = (distance >= inner) & (distance < outer)
    axes.add_patch(Annulus((0.0, 0.0), outer, outer - inner, color="#DDDDDD", lw=0))
    axes.plot(*(np.array([[-1.5, 1.5]]).T * [-normal[1], normal[0]]).T, color="black", lw=1.4)
    for mask, marker, colour in ((~away & side, "+", BLUE), (~away & ~side, "_", RED), (away, ".", "#888888")):
        axes.plot(*points[mask].T, marker, color=colour, ms=6 if marker != "." else 4, mew=1.5)
    axes.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[], yticks=[], aspect="equal")


figure = Figure(figsize=(8.0, 2.9), layout="constrained")
for axes, ring, angle, title in zip(
    figure.subplots(1, 3),
    ((0.0, 0.3), (0.4, 0.7), (0.4, 0.7)),
    (0.6, 0.6, 2.2),
    ("line 1, ring 1", "line 1, ring 2", "line 2, ring 2"),
    strict=True,
):
    expert(axes, *ring, angle)
    axes.set_title(title, fontsize=11)
save(figure, "experts")

experts = ab.experts.hyperplanes(dim=2, n_predictors=1, n_rings=3, always_predict=True, seed=0)
learner = ab.UCBNT(experts, cost=0.2)
matrix = learner.graph.matrix(learner.moment(np.array([0.5, 0.0])))
figure = Figure(figsize=(4.4, 3.4), layout="constrained")
axes = figure.add_subplot()
where = {0: (-1.0, 0.75), 1: (1.0, 0.75), 2: (0.0, -0.95), 3: (0.0, 0.15)}
names = ("abstains in\nring 1", "abstains in\nring 2", "abstains in\nring 3", "never\nabstains")
for i, j in np.argwhere(matrix & ~np.eye(4, dtype=bool)):
    axes.annotate(
        "", where[j], where[i], arrowprops={"arrowstyle": "-|>", "color": GREY, "lw": 1.4, "shrinkA": 26, "shrinkB": 30}
    )
for i, (x, y) in where.items():
    face = "#E3F0F8" if i == 3 else "#F3F6F9"
    axes.text(
        x,
        y,
        names[i],
        ha="center",
        va="center",
        fontsize=9.5,
        bbox={"boxstyle": "round,pad=.45", "fc": face, "ec": GREY},
    )
axes.set(xlim=(-1.6, 1.6), ylim=(-1.35, 1.2))
axes.axis("off")
save(figure, "graph")

game = ab.instances.bias_problem()
X, y = game.draw(20_000, seed=1)
figure = Figure(figsize=(8.0, 3.2), layout="constrained")
axes = figure.add_subplot()
for graph, colour, dashes, name in (
    ("abstention", RED, (0, (4, 2)), "every expert whose loss is known (biased)"),
    ("subset", BLUE, "-", "the subset graph (safe)"),
):
    trace = ab.simulate(ab.UCBNT(game.experts, cost=game.cost, graph=graph), X, y)
    blue = np.convolve(trace.expert == 1, np.ones(500) / 500, "valid")
    axes.plot(np.arange(500, len(X) + 1)[::50], 100.0 * blue[::50], color=colour, linestyle=dashes, lw=2, label=name)
axes.set(xlabel="round", ylabel="follows blue, the better one, %", ylim=(-3, 103), xlim=(0, len(X)))
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(loc="center right", frameon=False, fontsize=9.5, title="updates ...", alignment="left")
save(figure, "bias")
