"""What is written and printed of studies of logs: tables, goals, the loss over time."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...experiments import (
    GREY,
    OTHERS,
    STYLES,
    Strong,
    Style,
    TextTable,
    file_name,
    look,
    make_folder,
    markdown_table,
    new_figure,
    plain,
    rendered,
    trying,
    write_figure,
)
from ...experiments import write as write_file
from ...typing import Floats
from .recipes import recipe
from .study import (
    ALL,
    ALTERNATIVES,
    FEEDBACKS,
    HINDSIGHT,
    MOVING,
    OWN,
    STILL,
    TUNED,
    WORST,
    LogStudy,
    feedback_of,
    summary,
)
from .study import more_labels as differences

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure
    from rich.console import Console


class LogTable(NamedTuple):
    """Cells as text, ready to be shown."""

    title: str
    delay: int
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def tables(study: LogStudy, summary: "pl.DataFrame") -> list[LogTable]:
    """All tables of a study, the latest labels first."""
    given = set(summary["feedback"].drop_nulls())
    feedbacks = [word for word in FEEDBACKS if word in given] + sorted(given - set(FEEDBACKS))
    return [
        table
        for delay in sorted(study.delays, reverse=True)
        for feedback in feedbacks
        if (table := _table(study, summary, delay, feedback)) is not None
    ]


def _table(study: LogStudy, summary: "pl.DataFrame", delay: int, feedback: str) -> LogTable | None:
    import polars as pl

    here = summary.filter(study=study.name, delay=delay).filter(
        (pl.col("feedback") == feedback) | pl.col("feedback").is_null()
    )
    cells = {(row["log"], row["learner"]): _cell(row) for row in here.iter_rows(named=True)}
    known = dict.fromkeys(learner.label for learner in study.learners)
    players = [label for label in (*known, *ALTERNATIVES[1:]) if label in set(here["learner"])]
    losses = {row["log"]: f"{row['loss']:.4f}" for row in here.filter(learner=TUNED).iter_rows(named=True)}
    logs = [log for log in (*study.logs, STILL, MOVING, WORST) if log in losses]
    if not set(players) - set(ALTERNATIVES) or not logs:
        return None
    lines = tuple(
        (log, losses[log] if log != WORST else "", *(cells.get((log, player), "") for player in players))
        for log in logs
    )
    when = f"labels {delay:,} rounds late" if delay else "labels at once"
    return LogTable(f"feedback {feedback}, {when}", delay, ("log", f"{TUNED} (loss)", *players), lines)


def more_labels(study: LogStudy, found: "pl.DataFrame") -> LogTable | None:
    """What labels of all rounds cost against those of answers, at the latest delay; more than two errors are bold."""
    here = found.filter(study=study.name, delay=max(study.delays))
    if here.is_empty():
        return None
    cells = {
        (row["log"], row["learner"]): Strong(_cell(row)) if _is_more(row) else _cell(row)
        for row in here.iter_rows(named=True)
    }
    players, logs = here["learner"].unique(maintain_order=True), here["log"].unique(maintain_order=True)
    lines = tuple((log, *(cells.get((log, player), "") for player in players)) for log in logs)
    return LogTable("both less predicted, in points", max(study.delays), ("log", *players), lines)


def _is_more(row: dict[str, Any]) -> bool:
    return bool(row["error"] is not None and row["percent"] > 2.0 * row["error"])


def _cell(row: dict[str, Any]) -> str:
    error = "" if row["error"] is None else f" ± {row['error']:.1f}"
    where = f" ({row['at']})" if row["log"] == WORST else ""
    return f"{row['percent']:+z.1f}{error}{where}"


HEADS = ("learner", "feedback", "labels late", "logs", "goal, %", "reached, %", "")


def reached(study: LogStudy, summary: "pl.DataFrame") -> tuple[tuple[str, ...], ...]:
    """A line a goal; a miss is bold. No allowance is made for the standard error."""
    lines = []
    for goal in study.goals:
        here = summary.filter(study=study.name, delay=goal.delay, feedback=goal.feedback, learner=goal.learner)
        of_log = {row["log"]: row["percent"] for row in here.iter_rows(named=True)}
        still = {log: of_log[log] for log in study.logs if log in of_log and not recipe(log).drift.moves}
        who = (goal.learner, goal.feedback, f"{goal.delay:,}")
        if still:
            log = max(still, key=lambda name: still[name])
            mean = f"mean {of_log[STILL]:+z.1f}, worst {still[log]:+z.1f} ({log})"
            lines.append((*who, "nothing moves", f"{goal.still:+g}", mean, _verdict(still[log] <= goal.still)))
        if goal.moving is not None and MOVING in of_log:
            mean = f"mean {of_log[MOVING]:+z.1f}"
            lines.append((*who, "something moves", f"{goal.moving:+g}", mean, _verdict(of_log[MOVING] <= goal.moving)))
    return tuple(lines)


def _verdict(met: bool) -> str:
    return "reached" if met else Strong("missed")


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


INTRODUCTION = """Per cent of the loss of the threshold tuned on the first tenth with all its labels, on the same log;
below 0 is better. {seeds} Losses count after the first tenth.
"""


def write(study: LogStudy, rows: "pl.DataFrame", out: Path, console: "Console") -> list[str]:
    """Write the tables and the figure of a study, and print the tables of its latest labels.

    Returns:
        What could not be drawn, a sentence each.
    """
    failed: list[str] = []
    if rows.is_empty():
        return failed
    found = summary(rows)
    shown, judged = tables(study, found), reached(study, found)
    compared = more_labels(study, differences(rows))
    if compared is not None:
        shown.append(compared)
    folder, name = make_folder(out / "tables"), file_name(study.name)
    write_file(folder / f"{name}.csv", found.write_csv().encode())
    write_file(folder / f"{name}.md", page(study, shown, judged).encode())
    files: dict[str, bytes] = {}
    with trying(f"The loss of {study.name} over time", failed), look():
        panels = over_time(study, rows)
        files = rendered(draw(panels)) if panels else {}
    if files:
        write_figure(files, out / "figures", f"{name}-over-time")
    for table in shown:
        if table.delay == max(study.delays):
            console.print(TextTable(_as_title(table.title), table.heads, table.lines))
    if judged:
        console.print(TextTable("Goals", HEADS, judged))
    console.print(f"Tables:  {folder / name}.md", markup=False, highlight=False, soft_wrap=True)
    return failed


def page(study: LogStudy, shown: Sequence[LogTable], judged: tuple[tuple[str, ...], ...]) -> str:
    """All tables in Markdown."""
    seeds = f"Means over {study.repetitions} seeds from {study.seed} on, and the standard error of that difference."
    if study.repetitions == 1:
        seeds = f"Of 1 seed, {study.seed}."
    parts = [f"# {study.title or study.name}", INTRODUCTION.format(seeds=seeds)]
    if judged:
        parts += ["## Goals\n", markdown_table(HEADS, judged), ""]
    for table in shown:
        parts += [f"## {_as_title(table.title)}\n", markdown_table(table.heads, table.lines), ""]
    return "\n".join(parts)


def _as_title(text: str) -> str:
    return text[0].upper() + text[1:]
