"""A stand-in."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars


def summary(curves: "polars.DataFrame") -> "polars.DataFrame":
    """Mean over draws, then mean and sd over expert sets."""
    import polars as pl

    where = ["study", "dataset", "cost", "learner", "t"]
    values = ("regret", "abstained", "edges")
    each = curves.with_columns(
        regret=(pl.col("loss") - pl.col("best")) / pl.col("t"), abstained=pl.col("abstained") / pl.col("t")
    )
    sets = each.group_by([*where, "expert_set"]).agg(pl.col(*values).mean())
    return (
        sets.group_by(where)
        .agg(
            pl.col(*values).mean(),
            pl.col(*values).std().fill_null(0.0).name.suffix("_sd"),
        )
        .sort(where)
    )
