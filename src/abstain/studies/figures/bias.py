"""Figure 3: the bias problem, its two regions and what a learner on the instance's own graph makes of it."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import instances
from ...learners import UCBGT, UCBNT
from ...simulate import simulate
from ..results import summary
from .panels import Line, lines_of

if TYPE_CHECKING:
    import polars

NAMES = {"UCB-NT": "UCB-NT, subset graph"}
"""What this figure calls a learner, to tell the graphs apart."""
ROUNDS, RUNS = 20_000, 25
"""Of the short run."""


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
    """Cumulative regret R_t, mean and standard deviation over the runs."""
    runs: int

    @property
    def gap(self) -> float:
        """What a round with the wrong expert costs on average."""
        return max(self.means) - min(self.means)


def bias(curves: "polars.DataFrame") -> Bias:
    """The instance, and the regret from the study `bias`, or from a short run if there is none or it is shorter still.

    Deviations are over single runs.
    """
    import polars

    part = curves.filter((polars.col("study") == "bias") & (polars.col("dataset") == "bias-problem"))
    instance = instances.bias_problem()
    runs = part if len(part) and part["t"].to_numpy().max() >= ROUNDS else _run(instance)
    runs = runs.with_columns(expert_set=polars.struct("expert_set", "draw").rank("dense").cast(polars.Int64))
    average = lines_of(summary(runs), "regret")
    return Bias(
        _sides(instance), instance.means, tuple(_total(line) for line in average), runs["expert_set"].n_unique()
    )


def _total(line: Line) -> Line:
    """From R_t / t to R_t."""
    return line._replace(
        mean=tuple(t * mean for t, mean in zip(line.t, line.mean, strict=True)),
        sd=tuple(t * sd for t, sd in zip(line.t, line.sd, strict=True)),
    )


def _sides(instance: instances.Instance) -> tuple[Side, Side]:
    """The regions where red predicts and where it abstains, exactly: from the instance's table of outcomes."""
    rows, labels, chances = instance.values[:, :-1], instance.values[:, -1], instance.probabilities
    advice = instance.experts.advise(rows)
    errors = instance.loss(advice.predictions, instance.loss.labels(labels))
    paid = np.where(advice.abstains, instance.cost, errors)
    left, right = (
        Side(
            float(chances[where].sum()),
            _pair(np.average(paid[where], axis=0, weights=chances[where])),
            _pair(np.all(advice.abstains[where], axis=0)),
        )
        for where in (~advice.abstains[:, 0], advice.abstains[:, 0])
    )
    return left, right


def _pair(values: Any) -> tuple[Any, Any]:
    red, blue = values.tolist()
    return red, blue


def _run(instance: instances.Instance) -> "polars.DataFrame":
    """The curves of a short run of the three learners, against the better expert."""
    import polars

    at = np.unique(np.geomspace(1, ROUNDS, 60).round().astype(np.int64))
    better = int(np.argmin(instance.means))
    frames = []
    for seed in range(RUNS):
        X, y = instance.draw(ROUNDS, seed)
        advice = instance.experts.advise(X)
        errors = instance.loss(advice.predictions, instance.loss.labels(y))[:, better]
        best = np.cumsum(np.where(advice.abstains[:, better], instance.cost, errors))[at - 1]
        game: dict[str, Any] = {"cost": instance.cost, "loss": instance.loss}
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
                    expert_set=polars.lit(0),
                    draw=polars.lit(seed),
                    learner=polars.lit(label),
                )
            )
    return polars.concat(frames)


def describe(shown: Bias) -> str:
    """Figure 3 in a sentence."""
    red, blue = shown.means
    ends = ", ".join(f"{NAMES.get(line.learner, line.learner)} ({line.mean[-1]:,.0f})" for line in shown.regret)
    rounds = shown.regret[0].t[-1]
    return (
        f"Blue is the better expert ({blue:g} against {red:g}), but red looks better on the left and hides blue's good "
        f"side on the right by abstaining there; mean regret of "
        f"{shown.runs} runs after {rounds:,} rounds: {ends}, always red "
        f"({shown.gap * rounds:,.0f})."
    )
