"""What was to be reached, beside what was."""

from typing import TYPE_CHECKING

from ..tables.cells import Strong
from .recipes import recipe
from .results import MOVING, STILL
from .study import LogStudy

if TYPE_CHECKING:
    import polars as pl

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
