"""Logs with fewer reviewers than the price alone would ask for."""

import polars as pl
import pytest

from abstain.replay.run import replay

from .logs import options, small_log

# Kernels of a gate with a capacity take long to compile.
pytestmark = [pytest.mark.long, pytest.mark.usefixtures("no_page")]


@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_capacity(tmp_path, share):
    small_log(1_000, missing=0.0).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(capacity=share), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    reviews = (cases["action"] == "review").cum_sum()
    burst = max(1, round(1_000 * share))
    assert reviews[-1] <= share * 1_000 + burst
    if share > 0.0:
        assert reviews[-1] > 90
    assert found.share == share
    assert found.capacity.startswith(f"{100 * share:.0f} % of cases, bursts of ")
    assert "The capacity holds for the gate, for thresholds tuned once or again, and for the stack" in " ".join(
        found.notes
    )
    for policy in found.policies:
        if policy.kind in ("tuned", "retuned-own", "stack", "retuned-all"):
            assert policy.reviewed * 900 <= share * 900 + burst
    forced = cases.filter("over_capacity")
    assert (forced["action"] == "answer").all()
    told = f"{len(forced):,} cases were answered because no review was left."
    assert (told in found.unknown) == (len(forced) > 0)
    if share == 0.0:
        assert len(forced) > 0


def test_cases_that_no_model_answered_are_reviewed(tmp_path):
    frame = small_log(400, missing=0.0)
    gone = pl.int_range(400) % 10 == 3
    frame = frame.with_columns(pl.when(~gone).then(pl.col("gbm", "rules")))
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(capacity=0.0), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    assert (cases.filter(pl.col("row") % 10 == 4)["action"] == "review").all()
    assert (cases["action"] == "review").sum() <= 40 + 1  # a bucket for one review, which is full at first
    assert "No model had an answer in 40 cases, sent to review." in found.unknown
