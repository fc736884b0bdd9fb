"""Results as data frames: a row for each learner, draw and round shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .batch import Record
from .jobs import Comparator, draw_jobs
from .study import Study, shown_rounds

if TYPE_CHECKING:
    import polars as pl

ORDER = ("study", "dataset", "cost", "expert_set", "draw", "learner", "t")
MACHINE = ("seconds_run", "host")
"""The columns that depend on the machine; all others are the same wherever and however often a study is run."""


def collect(studies: Sequence[Study], records: Mapping[str, Record]) -> "pl.DataFrame":
    """The curves of the studies, as far as there are records of them.

    A row is a learner at a round t: its cumulative loss, that of the best expert (``best``) and of the best sequence of
    experts, one for each regime of a stream (``tracked``: the same where nothing moves), the rounds abstained, the
    edges of the graph in use. Its regret is ``loss - best``, its tracking regret ``loss - tracked``.
    """
    import polars as pl

    runs: dict[str, list[Any]] = {name: [] for name in _schema()}
    for study in studies:
        t = shown_rounds(study.rounds, study.checkpoints).tolist()
        for job in draw_jobs(study):
            played = records.get(job.key)
            compared = records.get(Comparator(job.stage, job.cost, study.draws).key)
            if played is not None and compared is not None:
                for spec, run in zip(study.learners, played["runs"], strict=True):
                    values = (
                        study.name, job.stage.dataset, job.cost, job.stage.expert_set, job.draw, spec.label,
                        t, run["loss"], compared["best"][job.draw],
                        compared["tracked" if "tracked" in compared else "best"][job.draw], run["abstained"],
                        run["edges"], run["seconds_run"], played["host"],
                    )  # fmt: skip
                    for name, value in zip(runs, values, strict=True):
                        runs[name].append(value)
    along = [name for name, kind in _schema().items() if isinstance(kind, pl.List)]
    return pl.DataFrame(runs, schema=_schema()).explode(along).sort(ORDER)


def _schema() -> "dict[str, Any]":
    import polars as pl

    return {
        "study": pl.String, "dataset": pl.String, "cost": pl.Float64, "expert_set": pl.Int64, "draw": pl.Int64,
        "learner": pl.String, "t": pl.List(pl.Int64), "loss": pl.List(pl.Float64), "best": pl.List(pl.Float64),
        "tracked": pl.List(pl.Float64), "abstained": pl.List(pl.Int64), "edges": pl.List(pl.Int64),
        "seconds_run": pl.Float64, "host": pl.String,
    }  # fmt: skip


def over_units(curves: "pl.DataFrame") -> "pl.DataFrame":
    """The curves with each draw as an expert set of its own where there is but one: for deviations over draws."""
    import polars as pl

    alone = pl.col("expert_set").n_unique().over("study", "dataset", "cost") == 1
    return curves.with_columns(expert_set=pl.when(alone).then(pl.col("draw")).otherwise(pl.col("expert_set")))


def summary(curves: "pl.DataFrame") -> "pl.DataFrame":
    """Mean and standard deviation over the expert sets, of the means over each one's draws.

    Average regret R_t/t, fraction abstained so far, edges, average loss; the deviation (ddof 1) of a single expert set
    is 0.
    """
    import polars as pl

    group = ("study", "dataset", "cost", "learner", "t")
    shown = curves.select(
        *group,
        "expert_set",
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"),
        abstained=pl.col("abstained") / pl.col("t"),
        edges=pl.col("edges").cast(pl.Float64),
        loss=pl.col("loss") / pl.col("t"),
    )
    columns = ("regret", "abstained", "edges", "loss")
    of_sets = shown.group_by(*group, "expert_set", maintain_order=True).agg(pl.col(columns).mean())
    parts = [
        part
        for name in columns
        for part in (pl.col(name).mean(), pl.col(name).std(ddof=1).fill_null(0.0).alias(f"{name}_sd"))
    ]
    return of_sets.group_by(group, maintain_order=True).agg(*parts).sort(group)
