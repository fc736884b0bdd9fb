"""How figure 3 is drawn."""

from typing import TYPE_CHECKING

from .bias import NAMES, Bias
from .style import BLUE, GREY, RED, band, new_figure, styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(shown: Bias) -> "Figure":
    """The regions with both experts' losses, and regret over t on plain scales, where linear regret is a line."""
    figure = new_figure(9.0, 3.9)
    region, regret = figure.subplots(1, 2, width_ratios=[1.0, 1.2])
    border = shown.sides[0].probability
    for k, (name, colour) in enumerate((("red", RED), ("blue", BLUE))):
        for side, (low, high) in zip(shown.sides, ((0.0, border), (border, 1.0)), strict=True):
            value, silent = side.losses[k], side.abstains[k]
            region.plot([low, high], [value] * 2, color=colour, linestyle="--" if silent else "-", linewidth=3.5)
            text = f"{name} {'abstains' if silent else 'errs'}: {value:g}"
            region.annotate(
                text, ((low + high) / 2.0, value), (0, 5), textcoords="offset points", ha="center", color=colour
            )
        region.axhline(shown.means[k], color=colour, linewidth=1.0, linestyle=":")
    region.axvline(border, color=GREY, linewidth=0.8)
    upper = max(range(2), key=lambda k: shown.means[k])
    for k, (name, colour) in enumerate((("red", RED), ("blue", BLUE))):
        region.annotate(
            f"mean of {name}: {shown.means[k]:g}", (0.98, shown.means[k]), (0, 4 if k == upper else -4),
            textcoords="offset points", ha="right", va="bottom" if k == upper else "top", color=colour,
        )  # fmt: skip
    region.set(
        xlim=(0.0, 1.0), ylim=(-0.04, 1.06), ylabel="expected loss", title="the instance",
        xlabel=f"share of inputs: left {border:g}, right {1.0 - border:g}",
    )  # fmt: skip
    region.grid(visible=False)
    look = styles(line.learner for line in shown.regret)
    for k, line in enumerate(shown.regret):
        markers = [len(line.t) - 1 - 3 * step - k for step in range(5) if 3 * step + k < len(line.t)]
        name = NAMES.get(line.learner, line.learner)
        band(regret, line.t, line.mean, line.sd, look[line.learner], name, markers)
    rounds = shown.regret[0].t[-1]
    regret.plot([0, rounds], [0, shown.gap * rounds], color=GREY, linestyle="--", linewidth=1.2, label="always red")
    regret.set(
        xlim=(0, 1.04 * rounds),
        xlabel="round $t$ (plain scale)",
        ylabel="cumulative regret $R_t$",
        title="what the learners pay",
    )
    regret.locator_params("x", nbins=6)
    regret.xaxis.set_major_formatter("{x:,.0f}")
    regret.yaxis.set_major_formatter("{x:,.0f}")
    regret.legend(frameon=False, loc="upper left")
    return figure
