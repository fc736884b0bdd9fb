"""The tables of a study of logs: a row a log, a column a player, for each delay and feedback."""

from typing import TYPE_CHECKING, Any, NamedTuple

from ..tables.cells import Strong
from .players import ALTERNATIVES, TUNED
from .results import MOVING, STILL, WORST
from .study import FEEDBACKS, LogStudy

if TYPE_CHECKING:
    import polars as pl


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
