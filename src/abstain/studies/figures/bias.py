"""Figure 3: the bias problem and the construction behind proposition 1, and what single runs on them pay."""

from typing import TYPE_CHECKING, NamedTuple

from .bias_runs import NAMES, Side, Trial, sides_of, trials
from .figure import Figure, Source
from .style import BLUE, GREY, RED, new_figure, plain, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

COLUMNS = 3


class Bias(NamedTuple):
    """What figure 3 shows."""

    sides: tuple[Side, Side]
    means: tuple[float, ...]
    trials: tuple[Trial, ...]
    """The bias problem first."""


def bias(source: Source) -> Bias:
    """The instance, and the runs of the study `bias`, or short ones if there are none, or shorter ones still."""
    found = trials(source)
    return Bias(sides_of(found[0].instance), found[0].instance.means, found)


def caption(shown: Bias) -> str:
    """Who is better and hidden, and how many runs are trapped."""
    red, blue = shown.means
    first = shown.trials[0]
    ends = ", ".join(f"{NAMES.get(one.learner, one.learner)} ({one.mean[-1]:,.0f})" for one in first.learners)
    trapped = "; ".join(f"{trial.title}: {_trapped(trial)}" for trial in shown.trials)
    short = [trial.title for trial in shown.trials if trial.for_figure]
    instead = f" Played for this figure, for want of results as long: {', '.join(short)}." if short else ""
    return (
        f"Blue is the better expert ({blue:g} against {red:g}), but red looks better on the left and hides blue's good "
        f"side on the right by abstaining there; mean regret after {first.rounds:,} rounds: {ends}, always red "
        f"({first.gap * first.rounds:,.0f}). Thin lines are single runs, each on a draw of its own, thick ones their "
        f"means: there is no band, as a run is trapped with the worse expert or finds the better one. K = 2; the paper "
        f"gives no numbers for its figure 3, these are ours. Runs that pay at least half the gap of the two experts "
        f"over their second half: {trapped}.{instead}"
    )


def _trapped(trial: Trial) -> str:
    counts = ", ".join(f"{NAMES.get(one.learner, one.learner)} {trial.trapped(one)}" for one in trial.learners)
    return f"{counts}, of {len(trial.learners[0].regret)} each"


def draw(shown: Bias) -> "Drawing":
    """The regions with both experts' losses, and regret over t on plain scales, where linear regret is a line."""
    n_panels = 1 + len(shown.trials)
    n_rows = -(-n_panels // COLUMNS)
    figure = new_figure(4.0 * min(n_panels, COLUMNS), 0.5 + 3.3 * n_rows)
    axes = figure.subplots(n_rows, min(n_panels, COLUMNS), squeeze=False).ravel()
    _draw_instance(axes[0], shown)
    for ax, trial in zip(axes[1:], shown.trials, strict=False):
        _draw_runs(ax, trial)
    for ax in axes[n_panels:]:
        ax.set_axis_off()
    drawn = {label: handle for ax in axes[1:] for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        drawn.values(), drawn.keys(), loc="outside upper center", ncols=len(drawn), frameon=False, handlelength=3.2
    )
    return figure


def _draw_instance(ax: "Axes", shown: Bias) -> None:
    border = shown.sides[0].probability
    for k, (name, colour) in enumerate((("red", RED), ("blue", BLUE))):
        for side, (low, high) in zip(shown.sides, ((0.0, border), (border, 1.0)), strict=True):
            value, silent = side.losses[k], side.abstains[k]
            ax.plot([low, high], [value] * 2, color=colour, linestyle="--" if silent else "-", linewidth=3.5)
            text = f"{name} {'abstains' if silent else 'errs'}: {value:g}"
            ax.annotate(
                text, ((low + high) / 2.0, value), (0, 5), textcoords="offset points", ha="center", color=colour
            )
        ax.axhline(shown.means[k], color=colour, linewidth=1.0, linestyle=":")
    ax.axvline(border, color=GREY, linewidth=0.8)
    upper = max(range(2), key=lambda k: shown.means[k])
    for k, (name, colour) in enumerate((("red", RED), ("blue", BLUE))):
        ax.annotate(
            f"mean of {name}: {shown.means[k]:g}", (0.98, shown.means[k]), (0, 4 if k == upper else -4),
            textcoords="offset points", ha="right", va="bottom" if k == upper else "top", color=colour,
        )  # fmt: skip
    ax.set(
        xlim=(0.0, 1.0), ylim=(-0.04, 1.06), ylabel="expected loss", title="the bias problem: losses",
        xlabel=f"share of inputs: left {border:g}, right {1.0 - border:g}",
    )  # fmt: skip
    ax.grid(visible=False)


def _draw_runs(ax: "Axes", trial: Trial) -> None:
    """Single runs thin, their means thick."""
    look = styles(one.learner for one in trial.learners)
    for one in trial.learners:
        for run in one.regret:
            ax.plot(one.t, run, color=look[one.learner].colour, linewidth=0.7, alpha=0.55, zorder=1.5)
    for k, one in enumerate(trial.learners):
        style, name = look[one.learner], plain(NAMES.get(one.learner, one.learner))
        markers = [len(one.t) - 1 - 3 * step - k for step in range(5) if 3 * step + k < len(one.t)]
        ax.plot(
            one.t, one.mean, color=style.colour, marker=style.marker, linestyle=style.dash, linewidth=2.2,
            markevery=markers, label=name, markeredgecolor="white", markeredgewidth=0.6, markersize=7.0, zorder=3.0,
        )  # fmt: skip
    end = trial.rounds
    ax.plot([0, end], [0, trial.gap * end], color="black", linestyle=":", linewidth=1.4, label="always the worse")
    ax.set(xlim=(0, 1.04 * end), xlabel="round $t$ (thousands)", ylabel="cumulative regret $R_t$", title=trial.title)
    ax.locator_params("x", nbins=6)
    ax.xaxis.set_major_formatter(lambda t, _: f"{t / 1000:g}")
    ax.yaxis.set_major_formatter("{x:,g}")


FIGURE = Figure(3, "The bias problem", bias, draw, caption, "bias")
