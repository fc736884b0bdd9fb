"""The frames: what a row says, means and deviations."""

import numpy as np
import polars as pl

from abstain.experiments import jobs
from abstain.experiments.jobs import shown_rounds
from abstain.experiments.results import collect, summary

from .small import small

COLUMNS = {
    "study": pl.String, "dataset": pl.String, "cost": pl.Float64, "expert_set": pl.Int64, "draw": pl.Int64,
    "learner": pl.String, "t": pl.Int64, "loss": pl.Float64, "best": pl.Float64, "tracked": pl.Float64,
    "abstained": pl.Int64, "edges": pl.Int64, "pseudo": pl.Float64, "seconds_run": pl.Float64, "host": pl.String,
}  # fmt: skip


def records_of(study):
    return {record["key"]: record for record in jobs.run_batch([*study.draw_jobs(), *study.comparators()], None)}


def test_collect():
    study = small()
    records = records_of(study)
    curves = collect([study], records)["results"]
    at = shown_rounds(200, 8)
    assert dict(curves.schema) == COLUMNS
    assert len(curves) == 2 * 2 * 3 * 3 * len(at)
    assert curves.equals(curves.sort("study", "dataset", "cost", "expert_set", "draw", "learner", "t"))
    backwards = collect([study], dict(reversed(records.items())))["results"]
    assert curves.equals(backwards)
    job, group = study.draw_jobs()[-1], study.comparators()[-1]
    rows = curves.filter(cost=job.cost, expert_set=1, draw=2, learner="FS")
    assert rows["t"].to_list() == at.tolist()
    run = records[job.key]["runs"][2]
    assert rows["loss"].to_list() == run["loss"]
    assert rows["abstained"].to_list() == run["abstained"]
    assert rows["edges"].to_list() == run["edges"]
    assert rows["best"].to_list() == records[group.key]["best"][2]


def test_studies_share_records_and_missing_ones_leave_rows_out():
    study = small()
    records = records_of(study)
    both = collect([study, small(name="same")], records)["results"]
    assert both["study"].value_counts()["count"].n_unique() == 1
    del records[study.draw_jobs()[0].key]
    del records[study.comparators()[-1].key]
    assert len(collect([study], records)["results"]) == len(both) // 2 * (12 - 1 - 3) // 12
    empty = collect([study], {})["results"]
    assert dict(empty.schema) == COLUMNS
    assert len(empty) == 0
    assert len(summary(empty)) == 0


def test_summary():
    study = small()
    curves = collect([study], records_of(study))["results"]
    table = summary(curves)
    assert table.columns == ["study", "dataset", "cost", "learner", "t"] + [
        f"{name}{end}"
        for name in ("regret", "abstained", "edges", "loss", "pseudo")
        for end in ("", "_sd", "_low", "_high")
    ]
    assert table["pseudo"].null_count() == len(table)  # nobody knows the means on a data set
    assert len(table) == 2 * 3 * len(shown_rounds(200, 8))
    row = table.filter(cost=0.3, learner="UCB-GT", t=44).row(0, named=True)
    rows = curves.filter(cost=0.3, learner="UCB-GT", t=44).sort("expert_set", "draw")
    for name, values in {
        "regret": (rows["loss"] - rows["best"]).to_numpy() / 44,
        "abstained": rows["abstained"].to_numpy() / 44,
        "edges": rows["edges"].to_numpy(),
        "loss": rows["loss"].to_numpy() / 44,
    }.items():
        means = values.reshape(2, 3).mean(axis=1)
        np.testing.assert_allclose(row[name], means.mean())
        np.testing.assert_allclose(row[f"{name}_sd"], means.std(ddof=1))
        np.testing.assert_allclose(row[f"{name}_low"], np.quantile(means, 0.1))
        np.testing.assert_allclose(row[f"{name}_high"], np.quantile(means, 0.9))
    alone = summary(curves.filter(expert_set=0))
    assert alone["regret_sd"].to_list() == [0.0] * len(alone)
