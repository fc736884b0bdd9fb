"""Figures 2 and 6: the surrogate loss, and a simple example of what abstaining is good for."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...experiments import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, Figure, new_figure
from ...losses import ramp, surrogate
from ..claims.theory import example_losses

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

GAMMA = "\N{GREEK SMALL LETTER GAMMA}"


class LossCurve(NamedTuple):
    """A loss along one variable. Two points with the same abscissa are a jump."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


class Losses(NamedTuple):
    """What figure 2 shows."""

    gamma: float
    cost: float
    margin: float
    """-y h(x) in the panel over r."""
    ramps: tuple[LossCurve, ...]
    over_r: tuple[LossCurve, LossCurve]
    """L and L~."""
    over_margin: tuple[tuple[float, LossCurve, LossCurve], ...]
    """r, L and L~ over -y h(x)."""
    least_gap: float
    """The least of L~ - L on a grid of both variables."""


def loss_curves(gamma: float = 0.3, cost: float = 0.25, margin: float = 0.06) -> Losses:
    """All by `abstain.losses`; the label is +1, so that h is minus the margin."""
    a = np.linspace(-1.0, 1.0, 401)
    steps = np.array([-1.0, 0.0, 0.0, 1.0])
    ramps = [LossCurve("0/1 loss", tuple(steps), (0.0, 0.0, 1.0, 1.0))]
    ramps += [LossCurve(f"$\\gamma$ = {width:g}", tuple(a), tuple(_ramp(a, width))) for width in (0.1, gamma, 0.8)]
    f = float(_ramp(np.array([margin]), gamma)[0])
    over_r = (
        LossCurve("L", tuple(steps), (cost, cost, f, f)),
        LossCurve("surrogate", tuple(a), tuple(surrogate(-margin, a, 1.0, cost, gamma))),
    )
    over_margin = []
    for r in (-0.5 * gamma, 0.5 * gamma, gamma):
        exact = _ramp(a, gamma) if r > 0.0 else np.full_like(a, cost)
        upper = surrogate(-a, r, 1.0, cost, gamma)
        over_margin.append((r, LossCurve("L", tuple(a), tuple(exact)), LossCurve("surrogate", tuple(a), tuple(upper))))
    both = surrogate(-a[:, np.newaxis], a, 1.0, cost, gamma) - np.where(a > 0.0, _ramp(a, gamma)[:, np.newaxis], cost)
    return Losses(gamma, cost, margin, tuple(ramps), over_r, tuple(over_margin), float(both.min()))


def _ramp(a: np.ndarray, gamma: float) -> np.ndarray:
    """f_gamma(a): the ramp loss of the score -a for the label +1."""
    return ramp(gamma)(-a[:, np.newaxis], np.ones(len(a)))[:, 0]


def caption_losses(shown: Losses) -> str:
    """Figure 2 in a sentence."""
    return (
        f"The ramp loss for three widths, and for {GAMMA} = {shown.gamma:g} and c = {shown.cost:g} the abstention loss "
        f"L with its continuous surrogate: equal to it where |r| ≥ {GAMMA}, above it elsewhere (least difference on a "
        f"grid: {round(shown.least_gap, 9) + 0.0:g}), and free of the label where r ≤ 0."
    )


def draw_losses(shown: Losses) -> "Drawing":
    """Three panels: the ramp, over r, over -y h(x)."""
    figure = new_figure(9.0, 3.5)
    left, middle, right = figure.subplots(1, 3, sharey=True)
    for curve, colour, dash in zip(shown.ramps, ("black", RED, BLUE, GREEN), (":", "-", "--", "-."), strict=True):
        left.plot(curve.x, curve.y, color=colour, linestyle=dash, label=curve.name)
    _label(left, "(a) loss of a prediction", "$-y\\,h(x)$")
    left.set_ylabel("loss")
    for curve, colour, dash in zip(shown.over_r, (BLUE, RED), (":", "-"), strict=True):
        name = "$L$" if curve.name == "L" else "$\\tilde{L}$"
        middle.plot(curve.x, curve.y, color=colour, linestyle=dash, linewidth=2.0, label=name)
    _label(middle, f"(b) over $r$, with $-y\\,h(x)$ = {shown.margin:g}", "$r(x)$")
    for edge in (-shown.gamma, shown.gamma):
        middle.axvline(edge, color="#999999", linewidth=0.8, linestyle="--")
    middle.set_xticks([-1, -shown.gamma, 0, shown.gamma, 1], ["$-1$", "$-\\gamma$", "0", "$\\gamma$", "1"])
    looks = zip(shown.over_margin, (PURPLE, ORANGE, "black"), ("-", "--", "-."), strict=True)
    for (r, exact, upper), colour, dash in looks:
        name = f"$r = {'' if r == shown.gamma else r / shown.gamma}\\,\\gamma$"
        right.plot(exact.x, exact.y, color=colour, linestyle=":", linewidth=2.4)
        right.plot(upper.x, upper.y, color=colour, linestyle=dash, label=name)
    _label(right, "(c) $\\tilde{L}$, and $L$ (dotted)", "$-y\\,h(x)$")
    return figure


def _label(ax: "Axes", title: str, xlabel: str) -> None:
    ax.set(title=title, xlabel=xlabel, ylim=(-0.04, 1.08))
    ax.legend(frameon=False, loc="upper left", handlelength=1.6)


LOSSES = Figure(2, "Losses", lambda _: loss_curves(), draw_losses, caption_losses, "losses")


_CELLS = 100
"""Pieces of the line. A threshold can be at any border between them."""


class Example(NamedTuple):
    """What figure 6 shows. Left of eta both labels are equally likely; right of it all are +1."""

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
    here = example_losses(eta, cost, _CELLS)
    costs = np.linspace(0.0, 1.0, 21)
    by_cost = [example_losses(eta, float(price), _CELLS) for price in costs]
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


def caption_example(shown: Example) -> str:
    """Figure 6 in a sentence."""
    threshold, pair = shown.least
    return (
        f"Labels are mixed left of η = {shown.eta:g} (probability P) and all + right of it: the best threshold errs on "
        f"half of the mixed part (P/2 = {threshold:g}), the best pair abstains on it (c P = {pair:g} for "
        f"c = {shown.cost:g}), which is better for every c below 1/2."
    )


def draw_example(shown: Example) -> "Drawing":
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


EXAMPLE = Figure(6, "A simple example", lambda _: example(), draw_example, caption_example, "example")
