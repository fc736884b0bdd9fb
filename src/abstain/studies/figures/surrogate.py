"""Figure 2: the abstention loss L and its surrogate, over r and over -y h(x)."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...losses import ramp, surrogate
from .figure import Figure
from .style import BLUE, RED, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

GAMMA = "\N{GREEK SMALL LETTER GAMMA}"


class Curve(NamedTuple):
    """A loss along one variable; a jump is two points with the same abscissa."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]


class LossCurves(NamedTuple):
    """What figure 2 shows."""

    gamma: float
    cost: float
    margin: float
    """-y h(x) in the panel over r."""
    ramps: tuple[Curve, ...]
    over_r: tuple[Curve, Curve]
    """L and L~."""
    over_margin: tuple[tuple[float, Curve, Curve], ...]
    """r, L and L~ over -y h(x)."""
    least_gap: float
    """The least of L~ - L on a grid of both variables."""


def losses(gamma: float = 0.3, cost: float = 0.25, margin: float = 0.06) -> LossCurves:
    """All by `abstain.losses` and `abstain.losses`; the label is +1, so that h is minus the margin."""
    a = np.linspace(-1.0, 1.0, 401)
    steps = np.array([-1.0, 0.0, 0.0, 1.0])
    ramps = [Curve("0/1 loss", tuple(steps), (0.0, 0.0, 1.0, 1.0))]
    ramps += [Curve(f"$\\gamma$ = {width:g}", tuple(a), tuple(_ramp(a, width))) for width in (0.1, gamma, 0.8)]
    f = float(_ramp(np.array([margin]), gamma)[0])
    over_r = (
        Curve("L", tuple(steps), (cost, cost, f, f)),
        Curve("surrogate", tuple(a), tuple(surrogate(-margin, a, 1.0, cost, gamma))),
    )
    over_margin = []
    for r in (-0.5 * gamma, 0.5 * gamma, gamma):
        exact = _ramp(a, gamma) if r > 0.0 else np.full_like(a, cost)
        upper = surrogate(-a, r, 1.0, cost, gamma)
        over_margin.append((r, Curve("L", tuple(a), tuple(exact)), Curve("surrogate", tuple(a), tuple(upper))))
    both = surrogate(-a[:, np.newaxis], a, 1.0, cost, gamma) - np.where(a > 0.0, _ramp(a, gamma)[:, np.newaxis], cost)
    return LossCurves(gamma, cost, margin, tuple(ramps), over_r, tuple(over_margin), float(both.min()))


def _ramp(a: np.ndarray, gamma: float) -> np.ndarray:
    """f_gamma(a): the ramp loss of the score -a for the label +1."""
    return ramp(gamma)(-a[:, np.newaxis], np.ones(len(a)))[:, 0]


def caption(shown: LossCurves) -> str:
    """Figure 2 in a sentence."""
    return (
        f"The ramp loss for three widths, and for {GAMMA} = {shown.gamma:g} and c = {shown.cost:g} the abstention loss "
        f"L with its continuous surrogate: equal to it where |r| ≥ {GAMMA}, above it elsewhere (least difference on a "
        f"grid: {round(shown.least_gap, 9) + 0.0:g}), and free of the label where r ≤ 0."
    )


def draw(shown: LossCurves) -> "Drawing":
    """Three panels: the ramp, over r, over -y h(x)."""
    figure = new_figure(9.0, 3.5)
    left, middle, right = figure.subplots(1, 3, sharey=True)
    for curve, colour, dash in zip(shown.ramps, ("black", RED, BLUE, "#009E73"), (":", "-", "--", "-."), strict=True):
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
    looks = zip(shown.over_margin, ("#CC79A7", "#E69F00", "black"), ("-", "--", "-."), strict=True)
    for (r, exact, upper), colour, dash in looks:
        name = f"$r = {'' if r == shown.gamma else r / shown.gamma}\\,\\gamma$"
        right.plot(exact.x, exact.y, color=colour, linestyle=":", linewidth=2.4)
        right.plot(upper.x, upper.y, color=colour, linestyle=dash, label=name)
    _label(right, "(c) $\\tilde{L}$, and $L$ (dotted)", "$-y\\,h(x)$")
    return figure


def _label(ax: "Axes", title: str, xlabel: str) -> None:
    ax.set(title=title, xlabel=xlabel, ylim=(-0.04, 1.08))
    ax.legend(frameon=False, loc="upper left", handlelength=1.6)


FIGURE = Figure(2, "Losses", lambda _: losses(), draw, caption, "losses")
