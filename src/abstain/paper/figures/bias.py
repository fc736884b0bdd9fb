"""Figure 3: the bias problem and the construction behind proposition 1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import __version__, instances
from ...experiments import (
    BLUE,
    GREY,
    INSTANCES,
    RED,
    START,
    Figure,
    Job,
    Record,
    Results,
    Run,
    Study,
    new_figure,
    plain,
    styles,
    with_curves,
)
from ...learners import UCBGT, UCBNT
from ...simulate import simulate
from ..claims.bias import is_linear

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ROLE, FIRST, SECOND, COST = "bias", "bias-problem", "proposition-1", 0.9
"""The role of the studies, and their sets: a name that begins with the second is that construction for some p."""
TITLES = {FIRST: "the bias problem", SECOND: "proposition 1"}
NAMES = {"UCB-NT": "UCB-NT, subset graph"}
"""The name of a learner in this figure, where the graphs must be told apart."""
ROUNDS, RUNS = 20_000, 25
"""Results of shorter games say nothing: so many games of this length are played instead."""


@dataclass(frozen=True)
class BiasGames(Job):
    """Short games of the three learners on a problem, for results that have none, or shorter ones."""

    problem: str
    cost: float
    rounds: int
    runs: int
    version: str = __version__

    def __str__(self) -> str:
        return f"{self.problem}, cost {self.cost:g}, {self.runs} games for figure 3"

    @property
    def weight(self) -> float:
        return 0.6 * self.runs * self.rounds / 1e4

    def run(self, data: str | None) -> Record:
        """Play them: regret against the better expert, at some sixty rounds ``t``, by learner and run."""
        instance = _instance(self.problem, self.cost)
        at = np.unique(np.geomspace(1, self.rounds, 60).round().astype(np.int64))
        better = int(np.argmin(instance.means))
        regret: dict[str, list[list[float]]] = {}
        for seed in range(self.runs):
            X, y = instance.draw(self.rounds, seed)
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
                regret.setdefault(label, []).append((loss - best).tolist())
        return {"t": at.tolist(), "regret": regret}


def jobs(studies: Sequence[Study]) -> list[Job]:
    """The games to play: those on problems that no study of the run plays for long enough."""
    longest: dict[str, tuple[str, float, int]] = {}
    for study in with_curves(studies):
        for name, cost in study.settings if study.role == ROLE else ():
            title = _title(name, cost) if _is_shown(name) else ""
            if title and study.rounds > longest.get(title, ("", 0.0, 0))[2]:
                longest[title] = name, cost, study.rounds
    for name in _without(longest):
        longest[name] = name, COST, 0
    return [_games(name, cost) for name, cost, rounds in longest.values() if rounds < ROUNDS]


def _games(name: str, cost: float) -> BiasGames:
    """The games on a problem. Some problems have two names: the first counts."""
    title = _title(name, cost)
    first = next(other for other in INSTANCES if _is_shown(other) and _title(other, cost) == title)
    return BiasGames(first, cost, ROUNDS, RUNS)


def _without(titles: Iterable[str]) -> list[str]:
    """Which of the two problems has none of these titles."""
    given = tuple(titles)
    return [name for name in (FIRST, SECOND) if not any(title.startswith(TITLES[name]) for title in given)]


class Side(NamedTuple):
    """A region of the input space."""

    probability: float
    losses: tuple[float, float]
    """The expected loss of red and blue there; the cost if one abstains."""
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
    """Whether the games were played for the figure."""

    @property
    def gap(self) -> float:
        """What one round with the wrong expert costs on average."""
        return max(self.instance.means) - min(self.instance.means)

    @property
    def rounds(self) -> int:
        """The last round."""
        return self.learners[0].t[-1]

    def trapped(self, runs: Runs) -> int:
        """How many of a learner's runs are linear, by the rule of claims 11 and 12."""
        t, none = np.array(runs.t), np.zeros(0, np.int64)
        found = (Run("", self.title, self.instance.cost, t, np.array(regret), none) for regret in runs.regret)
        return sum(is_linear(run, self.gap) for run in found)


def trials(results: Results) -> tuple[Trial, ...]:
    """The bias problem, then proposition 1's construction by its probability, each with the longest runs there are."""
    found = {}
    for title, (name, cost, part) in _longest(results).items():
        short = part is None or _rounds(part) < ROUNDS
        played = results.records.get(_games(name, cost).key)
        if part is not None and not short:
            found[title] = Trial(title, _instance(name, cost), _runs(part))
        elif played is not None:
            learners = tuple(_late(label, played["t"], played["regret"][label]) for label in styles(played["regret"]))
            found[title] = Trial(title, _instance(name, cost), learners, for_figure=True)
    return tuple(sorted(found.values(), key=lambda trial: (trial.title != TITLES[FIRST], -trial.gap)))


def _longest(results: Results) -> "dict[str, tuple[str, float, polars.DataFrame | None]]":
    """Set, cost and the longest results for each title; both problems are there, with results or without."""
    import polars

    names = results.with_role(ROLE) or (ROLE,)
    parts = results.curves.filter(polars.col("study").is_in(names)).partition_by("study", "dataset", "cost")
    longest: dict[str, tuple[str, float, polars.DataFrame | None]] = {}
    for own in sorted(parts, key=_rounds):
        name, cost = str(own["dataset"][0]), float(own["cost"][0])
        if _is_shown(name):
            longest[_title(name, cost)] = name, cost, own
    for name in _without(longest):
        longest[_title(name, COST)] = name, COST, None
    return longest


def _is_shown(name: str) -> bool:
    return name in INSTANCES and name.startswith((FIRST, SECOND))


def _rounds(part: "polars.DataFrame") -> int:
    return int(part["t"].to_numpy().max())


def _instance(name: str, cost: float) -> instances.Instance:
    instance = INSTANCES[name](cost)
    assert isinstance(instance, instances.Instance)
    return instance


def _title(name: str, cost: float) -> str:
    """Proposition 1's construction with the probability of the input on which both predict."""
    return TITLES[FIRST] if name == FIRST else f"{TITLES[SECOND]}, p = {_instance(name, cost).probabilities[0]:g}"


def _runs(curves: "polars.DataFrame") -> tuple[Runs, ...]:
    import polars

    found = []
    for label in styles(curves["learner"].to_list()):
        own = curves.filter(polars.col("learner") == label).sort("expert_set", "draw", "t")
        parts = own.partition_by("expert_set", "draw", maintain_order=True)
        found.append(_late(label, parts[0]["t"].to_list(), [(part["loss"] - part["best"]).to_list() for part in parts]))
    return tuple(found)


def _late(label: str, t: Sequence[int], regret: Sequence[Sequence[float]]) -> Runs:
    """Runs from round `START` on."""
    keep = [k for k, at in enumerate(t) if at >= START or at == max(t)]
    return Runs(label, tuple(t[k] for k in keep), tuple(tuple(run[k] for k in keep) for run in regret))


def sides_of(instance: instances.Instance) -> tuple[Side, Side]:
    """The regions where red predicts and where it abstains, from the exact table of outcomes."""
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


def bias(results: Results) -> Bias | None:
    """The problem, and the runs of studies with the role "bias", or games played for this figure."""
    found = trials(results)
    if not found or found[0].title != TITLES[FIRST]:
        return None
    return Bias(sides_of(found[0].instance), found[0].instance.means, found)


def caption(shown: Bias) -> str:
    """Which expert is better, and how many runs are trapped with the other."""
    red, blue = shown.means
    first = shown.trials[0]
    ends = ", ".join(f"{NAMES.get(one.learner, one.learner)} ({one.mean[-1]:,.0f})" for one in first.learners)
    trapped = "; ".join(f"{trial.title}: {_trapped(trial)}" for trial in shown.trials)
    short = [trial.title for trial in shown.trials if trial.for_figure]
    instead = f" Played for this figure, because no results are as long: {', '.join(short)}." if short else ""
    return (
        f"Blue is the better expert ({blue:g} against {red:g}), but red looks better on the left and hides blue's good "
        f"side on the right by abstaining there; mean regret after {first.rounds:,} rounds: {ends}, always red "
        f"({first.gap * first.rounds:,.0f}). Thin lines are single runs, each on its own draw, thick ones their "
        f"means: there is no band, as a run is trapped with the worse expert or finds the better one. K = 2; the paper "
        f"gives no numbers for its figure 3, these are ours. Runs that pay at least half the gap of the two experts "
        f"over their second half: {trapped}.{instead}"
    )


def _trapped(trial: Trial) -> str:
    counts = ", ".join(f"{NAMES.get(one.learner, one.learner)} {trial.trapped(one)}" for one in trial.learners)
    return f"{counts}, of {len(trial.learners[0].regret)} each"


def draw(shown: Bias) -> "Drawing":
    """The regions with both experts' losses, and regret over t on linear scales, where linear regret is a line."""
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
    """Single runs are thin, their means thick."""
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


FIGURE = Figure(3, "The bias problem", bias, draw, caption, "bias", jobs)
