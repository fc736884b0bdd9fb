"""Studies of logs: their jobs, how each is played, and the results as frames."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ... import __version__, alternatives
from ..._core.validation import as_count, as_seed, is_number
from ...errors import InputError
from ...experiments import seeds
from ...experiments.sets import fingerprint
from ...experiments.specs import Keyed, LearnerSpec
from ...simulate import simulate
from ...typing import Bools, Floats
from .recipes import LOGS, SHIPPED, ModelLog, Recipe, make, recipe

if TYPE_CHECKING:
    import polars as pl

TUNED, OWN, ALL, HINDSIGHT = "tuned once", "re-tuned, own labels", "re-tuned, all labels", "best afterwards"
ALTERNATIVES = (TUNED, OWN, ALL, HINDSIGHT)


QUICK_ROUNDS, QUICK_DELAYS, QUICK_REPETITIONS = 2_000, (0, 100), 2
FEEDBACKS = ("predicted", "both", "abstained")


@dataclass(frozen=True)
class Goal:
    """What a learner should reach, in per cent of the tuned threshold's loss."""

    learner: str
    feedback: str
    delay: int
    still: float
    """At most this on every log on which nothing moves ..."""
    moving: float | None = None
    """... and at most this in the mean over those on which something does."""


@dataclass(frozen=True)
class LogStudy:
    """Every log, made so often, with labels so late, played by every learner.

    A learner's labels are those of its option ``feedback``; two learners may have the same label if that differs.
    """

    role: ClassVar[str] = ""
    """The paper has no logs."""
    name: str
    title: str = ""
    figure: str = ""
    logs: tuple[str, ...] = LOGS
    learners: tuple[LearnerSpec, ...] = ()
    delays: tuple[int, ...] = (0, 100, 2_000)
    repetitions: int = 5
    rounds: int = 40_000
    """Of each log, at most."""
    goals: tuple[Goal, ...] = ()
    seed: int = 0
    """Of the first repetition; the next has the next number."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except InputError as error:
            raise InputError(f"study {self.name}: {error}") from None

    def _check(self) -> None:
        for name in ("logs", "learners", "delays", "goals"):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)) or (not values and name != "goals"):
                raise InputError(f"{name}: expected a list, got {values!r}")
            object.__setattr__(self, name, tuple(values))
        for log in self.logs:
            recipe(log)
        delays = (as_count(delay, "delays", least=0) for delay in self.delays)
        object.__setattr__(self, "delays", tuple(dict.fromkeys(delays)))
        object.__setattr__(self, "logs", tuple(dict.fromkeys(self.logs)))
        as_count(self.repetitions, "repetitions")
        as_count(self.rounds, "rounds", least=100)
        if as_seed(self.seed) is None or not isinstance(self.seed, int):
            raise InputError(f"seed: expected a whole number that is not negative, got {self.seed!r}")
        for learner in self.learners:
            if not isinstance(learner, LearnerSpec):
                raise InputError(f"learners: expected LearnerSpecs, got {learner!r}")
            if learner.label in ALTERNATIVES:
                raise InputError(f"label: expected none of {'; '.join(ALTERNATIVES)}, got {learner.label!r}")
        names = [f"{learner.label} ({feedback_of(learner)})" for learner in self.learners]
        if len(set(names)) < len(names):
            raise InputError(f"learners: expected none twice, got {', '.join(names)}")
        for goal in self.goals:
            if not isinstance(goal, Goal):
                raise InputError(f"goals: expected Goals, got {goal!r}")
            if not all(is_number(share) for share in (goal.still, goal.moving) if share is not None):
                raise InputError(f"goals: expected per cent as numbers, got {goal!r}")
            who = f"{goal.learner} ({goal.feedback})"
            if who not in names:
                raise InputError(f"goals: expected one of {'; '.join(names)}, got {who}")
            if goal.delay not in self.delays:
                raise InputError(f"goals: expected a delay of {', '.join(map(str, self.delays))}, got {goal.delay!r}")

    def quick(self) -> "LogStudy":
        """A few short logs of the sets that come with scikit-learn, twice: to see that it works."""
        return replace(
            self, logs=SHIPPED, delays=QUICK_DELAYS, rounds=min(self.rounds, QUICK_ROUNDS),
            repetitions=min(self.repetitions, QUICK_REPETITIONS), goals=(),
        )  # fmt: skip


def feedback_of(learner: LearnerSpec) -> str:
    """Which labels come back to it, as a word; a supervised learner is shown all, whatever it does."""
    if learner.supervised:
        return "both"
    feedback = learner.options.get("feedback", "predicted")
    return feedback if isinstance(feedback, str) else ", ".join(f"{chance:g}" for chance in feedback)


@dataclass(frozen=True)
class LogJob(Keyed):
    """One learner on one log, or (without one) all alternatives."""

    sort = "LogPart"
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
        """The set it is made of."""
        return self.recipe.dataset

    @property
    def group(self) -> str:
        """Jobs that are played on the same log have the same."""
        return f"{self.recipe.key} {self.rounds} {self.seed}"

    @property
    def weight(self) -> float:
        """About how long it takes, in runs of 10,000 rounds of 2,000 experts."""
        return self.rounds / 1e5


def jobs(study: LogStudy) -> list[LogJob]:
    """All that a study needs."""
    players: Sequence[LearnerSpec | None] = (None, *study.learners)
    return [
        LogJob(recipe(log), min(study.rounds, recipe(log).rounds), study.seed + repetition, delay, learner)
        for log in study.logs
        for repetition in range(study.repetitions)
        for delay in study.delays
        for learner in players
    ]


PIECES = 40
"""A log is cut into so many for the loss over time."""


def play(job: LogJob, data: str | None) -> dict[str, Any]:
    """The mean loss and the share abstained after the first tenth, and the loss over time, of each player."""
    source = fingerprint(job.dataset, data)
    log = _made(job.recipe, job.rounds, job.seed, data, source)
    runs = [_learner(job, log)] if job.learner is not None else _alternatives(job, log)
    return {"runs": runs, "data": source}


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


def first_tenth(n: int) -> int:
    """The rounds a threshold is tuned on, and that do not count."""
    return n // 10


STILL, MOVING = "mean, nothing moves", "mean, something moves"
WORST = "worst log"
GROUP = ("study", "delay", "feedback", "learner")


def collect(studies: Sequence[Any], records: Mapping[str, Mapping[str, Any]]) -> "pl.DataFrame":
    """A row for each player, log, seed and delay there is a record of.

    ``loss`` and ``abstained`` are means after the first tenth, ``pieces`` the mean loss of each fortieth of all rounds,
    ``percent`` the loss against the tuned threshold's on the same log. Alternatives have no feedback.
    """
    import polars as pl

    rows: dict[str, list[Any]] = {name: [] for name in _schema()}
    for study in studies:
        for job in jobs(study) if isinstance(study, LogStudy) else ():
            record = records.get(job.key)
            if record is None:
                continue
            for run in record["runs"]:
                recipe, feedback = job.recipe, None if job.learner is None else feedback_of(job.learner)
                values = (
                    study.name, recipe.name, recipe.drift.moves, recipe.cost, job.rounds, job.seed, job.delay,
                    feedback, run["label"], run["loss"], run["abstained"], run["pieces"], run["seconds_run"],
                    record["host"],
                )  # fmt: skip
                for name, value in zip(rows, values, strict=True):
                    rows[name].append(value)
    found = pl.DataFrame(rows, schema=_schema())
    on = ["study", "log", "seed", "delay"]
    base = found.filter(pl.col("learner") == TUNED, pl.col("feedback").is_null()).select(*on, tuned="loss")
    joined = found.join(base, on=on, how="inner", maintain_order="left")
    return joined.with_columns(percent=100.0 * (pl.col("loss") / pl.col("tuned") - 1.0))


def _schema() -> "dict[str, Any]":
    import polars as pl

    return {
        "study": pl.String, "log": pl.String, "moves": pl.Boolean, "cost": pl.Float64, "rounds": pl.Int64,
        "seed": pl.Int64, "delay": pl.Int64, "feedback": pl.String, "learner": pl.String, "loss": pl.Float64,
        "abstained": pl.Float64, "pieces": pl.List(pl.Float64), "seconds_run": pl.Float64, "host": pl.String,
    }  # fmt: skip


def summary(rows: "pl.DataFrame") -> "pl.DataFrame":
    """Per cent against the tuned threshold, and its standard error over the seeds: for each log; in the mean over those
    on which something moves and those on which nothing does; for the worst log, which ``at`` names.

    Both are of differences on the same log: how hard a log of a seed is plays no job. A single seed has no error.
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
