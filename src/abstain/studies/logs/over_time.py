"""The loss over time: what it shows is computed here, and drawn."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...typing import Floats
from ..figures.style import GREY, OTHERS, STYLES, Style, new_figure, plain
from .players import ALL, HINDSIGHT, OWN, TUNED
from .study import LogStudy, feedback_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MOST_PANELS = 6
LOOKS = {
    TUNED: Style(GREY, "s"),
    OWN: Style("#E69F00", "^"),
    ALL: Style("#56B4E9", "v"),
    HINDSIGHT: Style("#000000", "D"),
}


class Panel(NamedTuple):
    """One log: the mean loss in each piece of the rounds, by player."""

    log: str
    cost: float
    middle: Floats
    """The round in the middle of each piece."""
    losses: dict[str, Floats]


def over_time(study: LogStudy, rows: "pl.DataFrame") -> list[Panel]:
    """The last learner that sees the labels of its answers, and the alternatives, on the first logs that move.

    Labels are as late as the study has them; values are means over the seeds.
    """
    import polars as pl

    seen = [learner.label for learner in study.learners if feedback_of(learner) == "predicted"]
    feedback = "predicted" if seen else feedback_of(study.learners[-1])
    who = seen[-1] if seen else study.learners[-1].label
    here = rows.filter(study=study.name, delay=max(study.delays)).filter(
        pl.col("feedback").is_null() | ((pl.col("feedback") == feedback) & (pl.col("learner") == who))
    )
    names = here.filter("moves")["log"].unique(maintain_order=True).to_list()
    return [_panel(here.filter(log=name), name, who) for name in names[:MOST_PANELS]]


def _panel(rows: "pl.DataFrame", name: str, who: str) -> Panel:
    losses = {}
    for player in (who, *LOOKS):
        pieces = rows.filter(learner=player)["pieces"].to_list()
        if pieces:
            losses[player] = np.mean(np.array(pieces), axis=0)
    size = rows["rounds"][0] / len(next(iter(losses.values())))
    return Panel(name, rows["cost"][0], (np.arange(len(next(iter(losses.values())))) + 0.5) * size, losses)


def draw(panels: Sequence[Panel]) -> "Figure":
    """A panel a log, two in a row."""
    n_rows = (len(panels) + 1) // 2
    figure = new_figure(10.0, 0.6 + 2.5 * n_rows)
    axes = figure.subplots(n_rows, 2, squeeze=False).ravel()
    lines = {}
    for ax, panel in zip(axes, panels, strict=False):
        for k, (player, loss) in enumerate(panel.losses.items()):
            style = LOOKS.get(player) or STYLES.get(player) or OTHERS[0]._replace(colour="#D55E00")
            wide = 2.2 if k == 0 else 1.2
            (lines[player],) = ax.plot(panel.middle, loss, color=style.colour, marker=style.marker, markevery=5,
                                       linewidth=wide, zorder=3 if k == 0 else 2, markersize=4.0)  # fmt: skip
        ax.axhline(panel.cost, color=GREY, linestyle=":", linewidth=1.0)
        ax.set_title(f"{plain(panel.log)} (c = {panel.cost:g})")
        ax.set_ylim(bottom=0.0)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    for ax in axes[max(0, len(panels) - 2) : len(panels)]:
        ax.set_xlabel("round")
    for ax in axes[: len(panels) : 2]:
        ax.set_ylabel("loss a round")
    figure.legend(lines.values(), map(plain, lines), loc="outside upper center", ncols=3, frameon=False)
    return figure
