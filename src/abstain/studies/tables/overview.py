"""A row a learner, over all settings of a table."""

from typing import TYPE_CHECKING

import numpy as np

from ...typing import Floats, Ints

if TYPE_CHECKING:
    import polars as pl


def overview(finals: "pl.DataFrame") -> "pl.DataFrame":
    """What the final numbers come to, a row a learner, in the order of their ranks; those without come last.

    Medians over settings of R_T / T (``regret``, ``tracking``), of the ratio to FS and of the relative time; the mean
    rank; in how many settings FS was played (``limits``) and the regret is ``within`` 2 FS + 0.002; in how many it is
    ``negative``; by how much it is above the limit at worst (``excess``); the steepest slopes (see `slopes`).
    """
    import polars as pl

    rows = finals.group_by("learner", maintain_order=True).agg(
        settings=pl.len(),
        regret=pl.col("regret").median(),
        tracking=pl.col("tracking").median(),
        ratio=pl.col("ratio").median(),
        rank=pl.col("rank").mean(),
        within=pl.col("within").sum(),
        limits=pl.col("within").count(),
        negative=(pl.col("regret") < 0.0).sum(),
        excess=pl.col("excess").max(),
        time=pl.col("time").median(),
    )
    steepest = slopes(finals).group_by("learner").agg(pl.col("slope", "tracking_slope").max())
    return rows.join(steepest, on="learner", how="left", maintain_order="left").sort(
        "rank", nulls_last=True, maintain_order=True
    )


def slopes(finals: "pl.DataFrame") -> "pl.DataFrame":
    """How regret grows: the slope of log R_T against log T over the numbers of rounds a set was played for, a row for
    each set, cost and learner with several. Regret that is not positive has none.
    """
    import polars as pl

    found = []
    for key, rows in finals.partition_by("dataset", "cost", "learner", as_dict=True, maintain_order=True).items():
        if rows["rounds"].n_unique() > 1:
            found.append((*key, *(_slope(rows["rounds"].to_numpy(), rows[name].to_numpy())
                                  for name in ("regret", "tracking"))))  # fmt: skip
    schema = {"dataset": pl.String, "cost": pl.Float64, "learner": pl.String, "slope": pl.Float64,
              "tracking_slope": pl.Float64}  # fmt: skip
    return pl.DataFrame(found, schema=schema, orient="row")


def _slope(rounds: Ints, regret: Floats) -> float | None:
    if (regret <= 0.0).any():
        return None
    return float(np.polyfit(np.log(rounds), np.log(rounds * regret), 1)[0])
