"""Figure 14: how regret grows with T and with K, beside the bounds and the slopes of the theorems."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import theory
from ...experiments import GREY, LEADING, START, Figure, Results, new_figure, plain, styles
from ...typing import Floats
from ..claims.adversarial import BANDIT, OURS, RATES, grown, means_by, n_experts
from ..claims.theory import gapped, problem_of, subset_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

EARLY = 10 * START
"""Earlier rounds are left out: all learners pay nearly the same there."""
FEW = 6
"""So many values on an axis are named there."""


class Line(NamedTuple):
    """Values on log-log axes: measured, with the bound of the theorem, and a line with the theorem's slope."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    bound: tuple[float, ...] = ()
    """At the same x; nan where it says nothing."""
    slope: tuple[float, ...] = ()
    """At the same x, up to the last value."""


class Plot(NamedTuple):
    """One pair of axes."""

    title: str
    axis: str
    lines: tuple[Line, ...]
    rate: str
    """What dotted lines grow as."""


def plots(results: Results) -> tuple[Plot, ...] | None:
    """Those that the results allow."""
    found = tuple(
        plot for plot in (_stochastic(results), _streams(results), _experts(results), _cover(results)) if plot
    )
    return found or None


def _tuple(values: ArrayLike) -> tuple[float, ...]:
    return tuple(np.asarray(values, np.float64).tolist())


def _to_last(x: Floats, y: Floats) -> tuple[float, ...]:
    """A curve of the form x, moved so that it ends at the last of y."""
    return _tuple(x * y[-1] / x[-1])


def _stochastic(results: Results) -> Plot | None:
    """Theorems 3 and 4, on the first problem with known gaps."""
    settings = gapped(results)
    if not settings:
        return None
    setting, lines = settings[0], []
    problem = problem_of(setting)
    gaps = np.array(problem.means) - min(problem.means)
    covering = theory.best_covering(gaps, subset_graph(problem))
    bounds = {"UCB-NT": theory.ucb_nt_bound, "UCB-GT": theory.ucb_gt_bound}
    for label in styles(setting.learners):
        course = setting.learners[label]
        late = course.t >= EARLY
        t, total = course.t[late], (course.expected * course.t)[late]
        bound = np.array([bounds[label](gaps, covering, int(n)) if label in bounds else np.nan for n in t])
        bound[bound >= t * gaps.max()] = np.nan
        rate = _to_last(np.log(t), total) if label == "UCB-NT" else ()
        lines.append(Line(label, _tuple(t), _tuple(total), _tuple(bound), rate))
    return Plot(f"theorems 3 and 4: {setting.dataset}", "round $t$", tuple(lines), "log t")


def _streams(results: Results) -> Plot | None:
    """Theorem 1, on the first stream on which the mean regret of all its rates is positive."""
    sizes = n_experts(results)
    for setting in results.settings(*results.with_role("adversarial")):
        labels = [label for label in RATES if label in setting.learners and RATES[label] != "tuned"]
        courses = [setting.learners[label] for label in labels]
        if not labels or setting.dataset not in sizes or setting.dataset in LEADING:
            continue
        if any((course.regret[course.t >= EARLY] <= 0.0).any() for course in courses):
            continue
        lines = []
        for label, course in zip(labels, courses, strict=True):
            t = course.t[course.t >= EARLY]
            total = (course.regret * course.t)[course.t >= EARLY]
            arguments = (sizes[setting.dataset], setting.cost, RATES[label])
            bound = np.array([theory.exp3_abs_bound(int(n), *arguments) for n in t])
            bound[bound >= t] = np.nan
            lines.append(Line(label, _tuple(t), _tuple(total), _tuple(bound), _to_last(np.sqrt(t), total)))
        return Plot(f"theorem 1: {setting.dataset}, c = {setting.cost:g}", "round $t$", tuple(lines), "sqrt(t)")
    return None


def _experts(results: Results) -> Plot | None:
    """Regret at T against the number of experts (claim 22)."""
    both = results.settings(*results.with_role("adversarial"), learners=(OURS, BANDIT))
    settings = sorted((s for s in both if s.dataset in LEADING), key=lambda s: LEADING[s.dataset])
    if len(settings) < 2:
        return None
    K, lines = np.array([LEADING[s.dataset] for s in settings], np.float64), []
    for label, rate in ((OURS, np.sqrt(np.log(K))), (BANDIT, np.sqrt(K * np.log(K)))):
        ends = [(s, int(s.learners[label].t[-1]), float(s.learners[label].expected[-1])) for s in settings]
        total = np.array([T * regret for _, T, regret in ends])
        bound = [
            theory.exp3_abs_bound(T, LEADING[s.dataset], s.cost)
            if label == OURS
            else theory.exp3_bound(T, LEADING[s.dataset])
            for s, T, _ in ends
        ]
        lines.append(Line(label, _tuple(K), _tuple(total), _tuple(bound), _to_last(rate, total)))
    return Plot("regret against $K$, one lead", "experts $K$", tuple(lines), "sqrt(log K) and sqrt(K log K)")


def _cover(results: Results) -> Plot | None:
    """ContEXP3-ABS with three actions against T (claim 14)."""
    rows, lines = [row for row in grown(results) if row.actions == "three"], []
    for d in sorted({row.dim for row in rows}):
        values, means = means_by([row for row in rows if row.dim == d], "rounds")
        if len(values) > 1 and min(means) > 0.0:
            T, total = np.array(values, np.float64), np.array(means)
            rate = _to_last(T ** ((d + 1) / (d + 2)), total)
            lines.append(Line(f"ContEXP3-ABS, d = {d}", _tuple(T), _tuple(total), slope=rate))
    return Plot("theorem 2: three actions", "rounds $T$", tuple(lines), "T^((d+1)/(d+2))") if lines else None


def caption(shown: tuple[Plot, ...]) -> str:
    """What is measured, and what dotted and dashed lines are."""
    ends = []
    for plot in shown:
        ratios = [f"{line.label} {share:.2f}" for line in plot.lines for share in _shares(line)]
        ends.append(
            f"{plot.title.replace('$', '')}: dotted as {plot.rate}" + (f"; {', '.join(ratios)}" if ratios else "")
        )
    return (
        "Mean regret on log-log axes, where a power of t is a line (pseudo-regret where the expected losses of experts "
        "are known). Dashed lines of the same colour are the bounds with their constants, where they are below what is "
        "trivial; dotted ones grow as the theorems' rates, up to the last value. The largest share of the bound "
        f"that was paid is given by learner. {'. '.join(_first_large(end) for end in ends)}."
    )


def _shares(line: Line) -> Iterator[float]:
    """The largest share of the bound that was paid, if there is one."""
    shares = [y / bound for y, bound in zip(line.y, line.bound, strict=False) if not np.isnan(bound)]
    if shares:
        yield max(shares)


def _first_large(text: str) -> str:
    return text[0].upper() + text[1:]


def draw(shown: tuple[Plot, ...]) -> "Drawing":
    """Two plots per row."""
    n_rows = -(-len(shown) // 2)
    figure = new_figure(9.0 if len(shown) > 1 else 5.0, 0.4 + 3.4 * n_rows)
    axes = figure.subplots(n_rows, min(len(shown), 2), squeeze=False).ravel()
    for ax, plot in zip(axes, shown, strict=False):
        _draw_lines(ax, plot)
    for ax in axes[len(shown) :]:
        ax.set_axis_off()
    return figure


def _draw_lines(ax: "Axes", plot: Plot) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator

    look = styles(line.label for line in plot.lines)
    for line in plot.lines:
        style = look[line.label]
        every = max(1, len(line.x) // 6)
        ax.plot(line.x, line.y, color=style.colour, marker=style.marker, markevery=every, label=plain(line.label))
        if line.bound and not np.isnan(line.bound).all():
            ax.plot(line.x, line.bound, color=style.colour, linestyle="--", linewidth=1.2)
        if line.slope:
            ax.plot(line.x, line.slope, color=GREY, linestyle=":", linewidth=1.4)
    ax.set(xscale="log", yscale="log", title=plot.title, xlabel=f"{plot.axis} (log scale)", ylabel="regret (log scale)")
    places = sorted({x for line in plot.lines for x in line.x})
    if len(places) <= FEW:
        ax.xaxis.set_major_locator(FixedLocator(places))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.set_minor_locator(NullLocator())
    ax.legend(frameon=False, fontsize=8.5)


FIGURE = Figure(14, "How regret grows, and the bounds", plots, draw, caption, "growth")
