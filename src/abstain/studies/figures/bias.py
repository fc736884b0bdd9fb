"""Figure 3: the bias problem, its two regions and what a learner on the instance's own graph makes of it."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ... import instances
from ...learners import UCBGT, UCBNT
from ...simulate import simulate
from ._summary import summary as summary_of
from .panels import Line, _lines
from .style import BLUE, GREY, RED, new_figure, styles

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

ROUNDS, SETS, DRAWS = 20_000, 5, 5


class Side(NamedTuple):
    """A region of the input space."""

    probability: float
    losses: tuple[float, float]
    """The expected loss of red and of blue there; the cost where one abstains."""
    abstains: tuple[bool, bool]


class Bias(NamedTuple):
    """What figure 3 shows."""

    sides: tuple[Side, Side]
    means: tuple[float, ...]
    regret: tuple[Line, ...]
    """Cumulative regret R_t, mean and standard deviation."""

    @property
    def gap(self) -> float:
        """What a round with the wrong expert costs on average."""
        return max(self.means) - min(self.means)


def bias(summary: "polars.DataFrame") -> Bias:
    """The instance, and the regret from the study `bias`, or else from a short run."""
    part = summary.filter((summary["study"] == "bias") & (summary["dataset"] == "bias-problem"))
    instance = instances.bias_problem()
    average = _lines(part if len(part) else _run(instance), "regret")
    return Bias(_sides(instance), instance.means, tuple(_total(line) for line in average))


def _total(line: Line) -> Line:
    """From R_t / t to R_t."""
    return line._replace(
        mean=tuple(t * mean for t, mean in zip(line.t, line.mean, strict=True)),
        sd=tuple(t * sd for t, sd in zip(line.t, line.sd, strict=True)),
    )


def _sides(instance: instances.Instance) -> tuple[Side, Side]:
    """The regions where red predicts and where it abstains, exactly: from the instance's table of outcomes."""
    rows, labels, chances = instance._values[:, :-1], instance._values[:, -1], instance._probabilities
    advice = instance.experts.advise(rows)
    errors = instance.loss(advice.predictions, instance.loss.labels(labels))
    paid = np.where(advice.abstains, instance.cost, errors)
    left, right = (
        Side(
            float(chances[where].sum()),
            tuple(np.average(paid[where], axis=0, weights=chances[where]).tolist()),
            tuple(advice.abstains[where].all(axis=0).tolist()),
        )
        for where in (~advice.abstains[:, 0], advice.abstains[:, 0])
    )
    return left, right


def _run(instance: instances.Instance) -> "polars.DataFrame":
    """The summary of a short run of the three learners, against the better expert."""
    import polars

    at = np.unique(np.geomspace(1, ROUNDS, 60).round().astype(np.int64))
    better = int(np.argmin(instance.means))
    frames = []
    for seed in range(SETS * DRAWS):
        X, y = instance.draw(ROUNDS, seed)
        advice = instance.experts.advise(X)
        errors = instance.loss(advice.predictions, instance.loss.labels(y))[:, better]
        best = np.cumsum(np.where(advice.abstains[:, better], instance.cost, errors))[at - 1]
        game = {"cost": instance.cost, "loss": instance.loss}
        learners = {
            "UCB-NT, own graph": UCBNT(instance.experts, graph="abstention", **game),
            "UCB-NT": UCBNT(instance.experts, **game),
            "UCB-GT": UCBGT(instance.experts, **game),
        }
        for label, learner in learners.items():
            trace = simulate(learner, X, y, checkpoints=at)
            columns = {
                "t": at,
                "loss": np.cumsum(trace.loss)[at - 1],
                "best": best,
                "abstained": np.cumsum(trace.abstained)[at - 1],
                "edges": trace.edges,
            }
            frames.append(
                polars.DataFrame(columns).with_columns(
                    study=polars.lit("bias"),
                    dataset=polars.lit("bias-problem"),
                    cost=polars.lit(instance.cost),
                    expert_set=polars.lit(seed // DRAWS),
                    draw=polars.lit(seed % DRAWS),
                    learner=polars.lit(label),
                )
            )
    return summary_of(polars.concat(frames))


def describe(shown: Bias) -> str:
    """Figure 3 in a sentence."""
    red, blue = shown.means
    ends = ", ".join(f"{line.learner} {line.mean[-1]:,.0f}" for line in shown.regret)
    rounds = shown.regret[0].t[-1]
    return (
        f"Blue is the better expert ({blue:g} against {red:g}), but red looks better on the left and hides blue's good "
        f"side on the right by abstaining there; regret after {rounds:,} rounds: {ends} (always following red would "
        f"give {shown.gap * rounds:,.0f})."
    )


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
        style = look[line.learner]
        low = [mean - sd for mean, sd in zip(line.mean, line.sd, strict=True)]
        high = [mean + sd for mean, sd in zip(line.mean, line.sd, strict=True)]
        regret.fill_between(line.t, low, high, color=style.colour, alpha=0.18, linewidth=0)
        n = len(line.t)
        regret.plot(
            line.t, line.mean, color=style.colour, marker=style.marker, label=line.learner,
            markevery=[n - 1 - 3 * step - k for step in range(5) if 3 * step + k < n],
        )  # fmt: skip
    rounds = shown.regret[0].t[-1]
    regret.plot([0, rounds], [0, shown.gap * rounds], color=GREY, linestyle="--", linewidth=1.2, label="always red")
    regret.set(xlim=(0, None), xlabel="round $t$", ylabel="cumulative regret $R_t$", title="what the learners pay")
    regret.legend(frameon=False, loc="upper left")
    return figure
