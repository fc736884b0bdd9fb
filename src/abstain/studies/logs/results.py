"""Results of studies of logs as data frames."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .players import TUNED
from .study import LogStudy, feedback_of, jobs

if TYPE_CHECKING:
    import polars as pl

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
