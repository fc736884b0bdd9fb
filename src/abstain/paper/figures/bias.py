"""Figure 3: the bias problem and the construction behind proposition 1."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import instances
from ...experiments.evidence import Run
from ...experiments.figures import Figure, Source
from ...experiments.panels import START
from ...experiments.sets import INSTANCES
from ...experiments.style import BLUE, GREY, RED, new_figure, plain, styles
from ...learners import UCBGT, UCBNT
from ...simulate import simulate
from ..claims.bias import is_linear

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

RUNS = 25


def play(instance: instances.Instance, rounds: int) -> "polars.DataFrame":
    """The curves of short runs of the three learners, against the better expert."""
    import polars

    at = np.unique(np.geomspace(1, rounds, 60).round().astype(np.int64))
    better = int(np.argmin(instance.means))
    frames = []
    for seed in range(RUNS):
        X, y = instance.draw(rounds, seed)
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
            loss = np.cumsum(simulate(learner, X, y).loss)[at - 1]
            frames.append(
                polars.DataFrame({"t": at, "loss": loss, "best": best}).with_columns(
                    expert_set=polars.lit(0), draw=polars.lit(seed), learner=polars.lit(label)
                )
            )
    return polars.concat(frames)


ROLE, FIRST, SECOND, COST = "bias", "bias-problem", "proposition-1", 0.9
"""Of the studies, and their sets; a name that begins with the second is that construction with some probability."""
TITLES = {FIRST: "the bias problem", SECOND: "proposition 1"}
NAMES = {"UCB-NT": "UCB-NT, subset graph"}
"""What this figure calls a learner, to tell the graphs apart."""
ROUNDS = 20_000
"""Runs in results that are shorter say nothing: others of this length are played instead."""


class Side(NamedTuple):
    """A region of the input space."""

    probability: float
    losses: tuple[float, float]
    """The expected loss of red and of blue there; the cost where one abstains."""
    abstains: tuple[bool, bool]


class Runs(NamedTuple):
    """A learner's single runs."""

    learner: str
    t: tuple[int, ...]
    regret: tuple[tuple[float, ...], ...]
    """R_t of each run."""

    @property
    def mean(self) -> tuple[float, ...]:
        """Over the runs."""
        return tuple(np.mean(self.regret, axis=0).tolist())


class Trial(NamedTuple):
    """An instance, and the learners on it."""

    title: str
    instance: instances.Instance
    learners: tuple[Runs, ...]
    for_figure: bool = False
    """Whether the runs are no results, but played for the figure."""

    @property
    def gap(self) -> float:
        """What a round with the wrong expert costs on average."""
        return max(self.instance.means) - min(self.instance.means)

    @property
    def rounds(self) -> int:
        """The last round."""
        return self.learners[0].t[-1]

    def trapped(self, runs: Runs) -> int:
        """How many of a learner's runs are linear, as claims 11 and 12 have it."""
        t, none = np.array(runs.t), np.zeros(0, np.int64)
        found = (Run("", self.title, self.instance.cost, t, np.array(regret), none) for regret in runs.regret)
        return sum(is_linear(run, self.gap) for run in found)


def trials(source: Source) -> tuple[Trial, ...]:
    """The bias problem, then proposition 1's construction by its probability, each with the longest runs there are."""
    import polars

    names = [study.name for study in source.studies if study.role == ROLE] or [ROLE]
    parts = source.curves.filter(polars.col("study").is_in(names)).partition_by("study", "dataset", "cost")
    longest: dict[str, tuple[instances.Instance, polars.DataFrame | None]] = {}
    for own in sorted(parts, key=_rounds):
        name, cost = str(own["dataset"][0]), float(own["cost"][0])
        if name in INSTANCES and name.startswith((FIRST, SECOND)):
            instance = _instance(name, cost)
            longest[_title(name, instance)] = instance, own
    for name in (FIRST, SECOND):
        if not any(title.startswith(TITLES[name]) for title in longest):
            instance = _instance(name, COST)
            longest[_title(name, instance)] = instance, None
    found = []
    for title, (instance, part) in longest.items():
        short = part is None or _rounds(part) < ROUNDS
        curves = play(instance, ROUNDS) if part is None or short else part
        found.append(Trial(title, instance, _runs(curves), short))
    return tuple(sorted(found, key=lambda trial: (trial.title != TITLES[FIRST], -trial.gap)))


def _rounds(part: "polars.DataFrame") -> int:
    return int(part["t"].to_numpy().max())


def _instance(name: str, cost: float) -> instances.Instance:
    instance = INSTANCES[name](cost)
    assert isinstance(instance, instances.Instance)
    return instance


def _title(name: str, instance: instances.Instance) -> str:
    """Proposition 1's with the probability of the input on which both predict."""
    return TITLES[FIRST] if name == FIRST else f"{TITLES[SECOND]}, p = {instance.probabilities[0]:g}"


def _runs(curves: "polars.DataFrame") -> tuple[Runs, ...]:
    import polars

    curves = curves.filter((polars.col("t") >= START) | (polars.col("t") == polars.col("t").max()))
    found = []
    for label in styles(curves["learner"].to_list()):
        own = curves.filter(polars.col("learner") == label).sort("expert_set", "draw", "t")
        parts = own.partition_by("expert_set", "draw", maintain_order=True)
        regret = tuple(tuple(part["loss"] - part["best"]) for part in parts)
        found.append(Runs(label, tuple(parts[0]["t"]), regret))
    return tuple(found)


def sides_of(instance: instances.Instance) -> tuple[Side, Side]:
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
