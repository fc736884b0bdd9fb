"""Studies of logs: their jobs, how each is played, and the results as frames."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from ... import __version__, alternatives
from ...alternatives.thresholds import first_tenth
from ...errors import InputError
from ...experiments import (
    Columns,
    Count,
    Description,
    Items,
    Job,
    LearnerSpec,
    Model,
    Record,
    Study,
    StudyFile,
    counting,
    fingerprint,
    listing,
    seeds,
)
from ...simulate import simulate
from ...typing import Bools, Floats
from .recipes import LOGS, SHIPPED, THRESHOLDS, ModelLog, Recipe, make, recipe

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

TUNED, OWN, ALL, HINDSIGHT = "tuned once", "re-tuned, own labels", "re-tuned, all labels", "best afterwards"
ALTERNATIVES = (TUNED, OWN, ALL, HINDSIGHT)


QUICK_ROUNDS, QUICK_DELAYS, QUICK_REPETITIONS = 2_000, (0, 100), 2
FEEDBACKS = ("predicted", "both", "abstained")


class Goal(Model):
    """What a learner should reach, in per cent of the tuned threshold's loss.

    Args:
        learner: The label of the learner.
        feedback: Which labels come back to it.
        delay: How late labels are.
        still: At most this on every log on which nothing moves.
        moving: At most this on average over the logs on which something moves.
    """

    learner: str
    feedback: str
    delay: int
    still: float
    moving: float | None = None
    positional: ClassVar[tuple[str, ...]] = ("learner", "feedback", "delay", "still", "moving")

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        return "goals: "


class LogStudy(Study):
    """Every log, made so often, with labels so late, played by every learner.

    A learner's labels are those of its option ``feedback``; two learners may have the same label if that differs. The
    next repetition has the next seed.

    Args:
        logs: The logs, by the names of their recipes.
        learners: The learners.
        delays: How late labels are, in rounds.
        repetitions: How often each log is made.
        rounds: How many rounds a log has at most.
        goals: What learners should reach.
    """

    kind: ClassVar[str] = "logs"
    columns: ClassVar[Columns] = Columns(
        ("study", "log", "seed", "delay", "feedback", "learner"), ("study", "log", "delay", "feedback", "learner")
    )
    in_report: ClassVar[bool] = False

    logs: Annotated[tuple[str, ...], Items, Field(min_length=1)] = LOGS
    learners: Annotated[tuple[LearnerSpec, ...], listing(LearnerSpec)] = ()
    delays: Annotated[tuple[Annotated[int, counting(0)], ...], Items, Field(min_length=1)] = (0, 100, 2_000)
    repetitions: Count = 5
    rounds: Annotated[int, counting(100)] = 40_000
    goals: Annotated[tuple[Goal, ...], listing(Goal)] = ()

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any], file: StudyFile) -> Self:
        values = {"seed": file.defaults.get("seed", 0), **table}
        return cls._made(name, values, learners=file.learners, goals=_goals)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for log in self.logs:
            recipe(log)
        self.__dict__.update(logs=tuple(dict.fromkeys(self.logs)), delays=tuple(dict.fromkeys(self.delays)))
        if not self.learners:
            raise InputError("learners: expected at least one, got none")
        for learner in self.learners:
            if learner.label in ALTERNATIVES:
                raise InputError(f"label: expected none of {'; '.join(ALTERNATIVES)}, got {learner.label!r}")
        names = [f"{learner.label} ({feedback_of(learner)})" for learner in self.learners]
        if len(set(names)) < len(names):
            raise InputError(f"learners: expected none twice, got {', '.join(names)}")
        for goal in self.goals:
            who = f"{goal.learner} ({goal.feedback})"
            if who not in names:
                raise InputError(f"goals: expected one of {'; '.join(names)}, got {who}")
            if goal.delay not in self.delays:
                raise InputError(f"goals: expected a delay of {', '.join(map(str, self.delays))}, got {goal.delay!r}")
        return self

    def quick(self) -> Self:
        """A few short logs of the sets that come with scikit-learn, twice: to see that it works."""
        return self.replace(
            logs=SHIPPED, delays=QUICK_DELAYS, rounds=min(self.rounds, QUICK_ROUNDS),
            repetitions=min(self.repetitions, QUICK_REPETITIONS), goals=(),
        )  # fmt: skip

    def jobs(self) -> "list[LogJob]":
        players: tuple[LearnerSpec | None, ...] = (None, *self.learners)
        return [
            LogJob(recipe(log), min(self.rounds, recipe(log).rounds), self.seed + repetition, delay, learner)
            for log in self.logs
            for repetition in range(self.repetitions)
            for delay in self.delays
            for learner in players
        ]

    def collect(self, records: Mapping[str, Record]) -> "pl.DataFrame":
        """One row for each player, log, seed and delay.

        ``loss`` and ``abstained`` are means after the first tenth, ``pieces`` the mean loss of each fortieth of all
        rounds, ``percent`` the loss against the tuned threshold's on the same log. Alternatives have no feedback.
        """
        import polars as pl

        schema: dict[str, Any] = {
            "study": pl.String, "log": pl.String, "moves": pl.Boolean, "cost": pl.Float64, "rounds": pl.Int64,
            "seed": pl.Int64, "delay": pl.Int64, "feedback": pl.String, "learner": pl.String, "loss": pl.Float64,
            "abstained": pl.Float64, "pieces": pl.List(pl.Float64), "seconds_run": pl.Float64, "host": pl.String,
        }  # fmt: skip
        rows = []
        for job in self.jobs():
            feedback = None if job.learner is None else feedback_of(job.learner)
            if (record := records.get(job.key)) is None:
                continue
            for run in record["runs"]:
                rows.append((
                    self.name, job.recipe.name, job.recipe.drift.moves, job.recipe.cost, job.rounds, job.seed,
                    job.delay, feedback, run["label"], run["loss"], run["abstained"], run["pieces"],
                    run["seconds_run"], record["host"],
                ))  # fmt: skip
        found = pl.DataFrame(rows, schema=schema, orient="row")
        on = ["log", "seed", "delay"]
        base = found.filter(pl.col("learner") == TUNED, pl.col("feedback").is_null()).select(*on, tuned="loss")
        joined = found.join(base, on=on, how="inner", maintain_order="left")
        return joined.with_columns(percent=100.0 * (pl.col("loss") / pl.col("tuned") - 1.0))

    def describe(self) -> Description:
        return Description(
            self.name,
            self.title,
            "",
            "; ".join(self.logs),
            f"three models, {THRESHOLDS} thresholds each",
            "; ".join(dict.fromkeys(learner.label for learner in self.learners)),
            f"{self.rounds:,} at most",
            f"{self.repetitions} seeds",
            self.seed,
        )

    def show(self, results: "pl.DataFrame", out: Path, console: "Console") -> list[str]:
        """Write tables/NAME.md, tables/NAME.csv and figures/NAME-over-time; print the tables of the latest labels."""
        from .report import write

        return write(self, results.filter(study=self.name), out, console)


def _goals(tables: Any) -> Any:
    """Goals from a list of tables; what is none is left to the study to refuse."""
    if not isinstance(tables, list):
        return tables
    return [Goal(**table) if isinstance(table, Mapping) else table for table in tables]


def feedback_of(learner: LearnerSpec) -> str:
    """Which labels come back to it, as a word; a supervised learner is shown all, whatever it does."""
    if learner.supervised:
        return "both"
    feedback = learner.options.get("feedback", "predicted")
    return feedback if isinstance(feedback, str) else ", ".join(f"{chance:g}" for chance in feedback)


@dataclass(frozen=True)
class LogJob(Job):
    """One learner on one log, or (without one) all alternatives."""

    tag = "LogPart"
    fields = ("runs", "data")

    recipe: Recipe
    rounds: int
    seed: int
    delay: int
    learner: LearnerSpec | None
    version: str = __version__

    def __str__(self) -> str:
        who = "alternatives" if self.learner is None else f"{self.learner.label} ({feedback_of(self.learner)})"
        return f"{self.recipe.name}, seed {self.seed}, labels {self.delay:,} late, {who}"

    @property
    def dataset(self) -> str:
        return self.recipe.dataset

    @property
    def group(self) -> str:
        return f"{self.recipe.key} {self.rounds} {self.seed}"

    @property
    def weight(self) -> float:
        return self.rounds / 1e5

    def run(self, data: str | None) -> Record:
        """The mean loss and the share abstained after the first tenth, and the loss over time, of each player."""
        source = fingerprint(self.dataset, data)
        log = _made(self.recipe, self.rounds, self.seed, data, source)
        runs = [_learner(self, log)] if self.learner is not None else _alternatives(self, log)
        return {"runs": runs, "data": source}


PIECES = 40
"""A log is cut into so many for the loss over time."""


@lru_cache(maxsize=1)
def _made(recipe: Recipe, rounds: int, seed: int, data: str | None, source: str | None) -> ModelLog:
    """Made once for all who play on it, who come one after the other; ``source`` tells a file from a changed one."""
    return make(recipe, rounds, seed, data)


def _learner(job: LogJob, log: ModelLog) -> dict[str, Any]:
    assert job.learner is not None
    who = f"{job.learner.label}, {feedback_of(job.learner)}"
    learner = job.learner.make(
        log.experts,
        cost=job.recipe.cost,
        loss=log.loss,
        seed=seeds.of_learner(job.seed, job.recipe.name, 0, 0, who),
        rounds=len(log.y),
    )
    start = time.perf_counter()
    trace = simulate(learner, log.inputs, log.y, delay=job.delay)
    return _run(job.learner.label, trace.loss, trace.abstained, time.perf_counter() - start)


def _alternatives(job: LogJob, log: ModelLog) -> list[dict[str, Any]]:
    """The tuned threshold knows all labels of the first tenth, however late."""
    rounds = log.answers.confidence, log.losses, job.recipe.cost
    tenth = first_tenth(len(log.y))
    played = {
        TUNED: alternatives.tuned(*rounds, tenth),
        OWN: alternatives.retuned(*rounds, tenth, delay=job.delay),
        ALL: alternatives.retuned(*rounds, tenth, delay=job.delay, own=False),
        HINDSIGHT: alternatives.hindsight(*rounds, tenth),
    }
    return [_run(label, policy.loss, policy.abstained, 0.0) for label, policy in played.items()]


def _run(label: str, loss: Floats, abstained: Bools, seconds: float) -> dict[str, Any]:
    tenth = first_tenth(len(loss))
    return {
        "label": label,
        "loss": float(loss[tenth:].mean()),
        "abstained": float(abstained[tenth:].mean()),
        "pieces": [float(piece.mean()) for piece in np.array_split(loss, PIECES)],
        "seconds_run": seconds,
    }


STILL, MOVING = "mean, nothing moves", "mean, something moves"
WORST = "worst log"
GROUP = ("study", "delay", "feedback", "learner")


def summary(rows: "pl.DataFrame") -> "pl.DataFrame":
    """The difference from the tuned threshold in per cent, and its standard error over the seeds.

    There is one row per log, one for the average of the logs on which something moves, one for the others, and one for
    the worst log, which ``at`` names. Differences are taken on the same log, so how hard a log is does not matter. A
    single seed has no standard error.
    """
    import polars as pl

    keys = [*GROUP, "log"]
    columns = ("percent", "loss", "abstained")
    each = _over_seeds(rows, keys).with_columns(at=pl.col("log"))
    kind = pl.when("moves").then(pl.lit(MOVING)).otherwise(pl.lit(STILL))
    of_seeds = rows.with_columns(log=kind).group_by(*keys, "seed", maintain_order=True).agg(pl.col(columns).mean())
    means = _over_seeds(of_seeds, keys).with_columns(at=pl.lit(None, pl.String))
    worst = each.sort("percent", descending=True, maintain_order=True)
    worst = worst.group_by(GROUP, maintain_order=True).first().with_columns(log=pl.lit(WORST)).select(each.columns)
    return pl.concat([each, means, worst]).sort(GROUP, nulls_last=True, maintain_order=True)


def more_labels(rows: "pl.DataFrame") -> "pl.DataFrame":
    """How much more is lost with the labels of all rounds than with those of answers, in points of per cent, and its
    standard error: the same learner on the same log and seed. More labels should cost no more than noise.
    """
    import polars as pl

    on = ["study", "delay", "learner", "log", "seed"]
    fewer = rows.filter(feedback="predicted").select(*on, less="percent")
    joined = rows.filter(feedback="both").join(fewer, on=on, how="inner", maintain_order="left")
    return _over_seeds(joined.with_columns(pl.col("percent") - pl.col("less")), on[:-1])


def _over_seeds(rows: "pl.DataFrame", keys: Sequence[str]) -> "pl.DataFrame":
    import polars as pl

    error = pl.col("percent").std(ddof=1) / pl.len().sqrt()
    return rows.group_by(keys, maintain_order=True).agg(
        pl.col("percent").mean(), error.alias("error"), pl.col("loss").mean(), pl.col("abstained").mean(),
        pl.len().cast(pl.Int64).alias("seeds"),
    )  # fmt: skip
