"""A stand-in of the runner's summary."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def summary(curves: "pl.DataFrame") -> "pl.DataFrame":
    """Means over draws, then mean and standard deviation over expert sets."""
    import polars as pl

    keys = ["study", "dataset", "cost", "learner", "t"]
    per_set = curves.group_by(*keys, "expert_set").agg(
        regret=((pl.col("loss") - pl.col("best")) / pl.col("t")).mean(),
        abstained=(pl.col("abstained") / pl.col("t")).mean(),
        edges=pl.col("edges").cast(pl.Float64).mean(),
    )
    names = ("regret", "abstained", "edges")
    return (
        per_set.group_by(*keys)
        .agg(
            *(pl.col(n).mean().alias(n) for n in names),
            *(pl.col(n).std(ddof=1).fill_null(0.0).alias(f"{n}_sd") for n in names),
        )
        .sort(*keys)
    )
