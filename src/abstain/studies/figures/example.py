"""Figure 6: the simple example of what abstaining is good for (appendix A)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..simple import losses
from .figure import Figure
from .style import BLUE, GREY, RED, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_CELLS = 100
"""Pieces of the line; a threshold can be at any border between them."""


class Example(NamedTuple):
    """What figure 6 shows. Left of eta both labels are equally likely, right of it all are +1."""

    eta: float
    """P = P[x <= eta], as x is uniform."""
    cost: float
    position: tuple[float, ...]
    threshold: tuple[float, ...]
    """The expected loss of the classifier sign(x - theta), by theta."""
    pair: tuple[float, ...]
    """The expected loss of the best pair that abstains up to theta."""
    costs: tuple[float, ...]
    best_threshold: tuple[float, ...]
    """The least loss without abstaining, by cost."""
    best_pair: tuple[float, ...]
    """The least loss of all pairs, by cost."""

    @property
    def least(self) -> tuple[float, float]:
        """The best threshold's and the best pair's loss at the cost shown."""
        return min(self.threshold), min(self.pair)


def example(eta: float = 0.4, cost: float = 0.2) -> Example:
    """The losses at one cost by theta, and the least ones by cost."""
    here = losses(eta, cost, _CELLS)
    costs = np.linspace(0.0, 1.0, 21)
    by_cost = [losses(eta, float(price), _CELLS) for price in costs]
    return Example(
        eta,
        cost,
        tuple(here.border.tolist()),
        tuple(here.alone.tolist()),
        tuple(here.paired.min(axis=0).tolist()),
        tuple(costs.tolist()),
        tuple(float(one.alone.min()) for one in by_cost),
        tuple(float(min(one.alone.min(), one.paired.min())) for one in by_cost),
    )


def caption(shown: Example) -> str:
    """Figure 6 in a sentence."""
    threshold, pair = shown.least
    return (
        f"Labels are mixed left of η = {shown.eta:g} (probability P) and all + right of it: the best threshold errs on "
        f"half of the mixed part (P/2 = {threshold:g}), the best pair abstains on it (c P = {pair:g} for "
        f"c = {shown.cost:g}), which is better for every c below 1/2."
    )


def draw(shown: Example) -> "Drawing":
    """The points, the losses by position, and the best losses by cost."""
    figure = new_figure(9.0, 4.0)
    places = figure.add_gridspec(2, 2, height_ratios=[0.22, 1.0], width_ratios=[1.25, 1.0])
    position, by_cost = figure.add_subplot(places[1, 0]), figure.add_subplot(places[:, 1])
    points = figure.add_subplot(places[0, 0], sharex=position)
    for k, x in enumerate(np.arange(0.025, 1.0, 0.05)):
        minus = x < shown.eta and k % 2 == 1
        points.text(
            x,
            0.0,
            "\N{MINUS SIGN}" if minus else "+",
            color=RED if minus else BLUE,
            ha="center",
            va="center",
            fontsize=15,
        )
    points.set(ylim=(-1.0, 1.0), title="labels along the line")
    points.axis("off")
    position.plot(shown.position, shown.threshold, color=RED, label="threshold: sign$(x - \\theta)$")
    position.plot(shown.position, shown.pair, color=BLUE, linestyle="--", label="pair: abstains up to $\\theta$")
    for ax in (points, position):
        ax.axvline(shown.eta, color=GREY, linewidth=0.9, linestyle=":")
    position.annotate("η", (shown.eta, 0.0), (4, 2), textcoords="offset points", color=GREY)
    position.set(xlim=(0.0, 1.0), ylim=(0.0, None), xlabel="position $\\theta$", ylabel="expected loss")
    position.legend(loc="upper left", framealpha=1.0, edgecolor="none")
    by_cost.plot(shown.costs, shown.best_threshold, color=RED, label="best threshold: $P/2$")
    by_cost.plot(shown.costs, shown.best_pair, color=BLUE, linestyle="--", label="best pair: $c\\,P$")
    by_cost.plot([shown.cost], [shown.least[1]], color=BLUE, marker="o", linestyle="", markersize=7)
    by_cost.set(xlabel="cost $c$", ylabel="least expected loss", title="the best of all, by cost", xlim=(0.0, 1.0))
    by_cost.set_ylim(0.0, 1.35 * max(shown.best_threshold))
    by_cost.legend(frameon=False, loc="upper left")
    return figure


FIGURE = Figure(6, "A simple example", lambda _: example(), draw, caption, "example")
