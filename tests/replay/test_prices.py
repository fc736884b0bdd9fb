"""Prices by kind and stakes in a log, and the policy that a replay begins with."""

import polars as pl
import pytest

import abstain as ab
from abstain.replay.options import Options, model_columns
from abstain.replay.run import replay
from benchmarks.fraud import fraud_log

from .test_bad_input import run

pytestmark = pytest.mark.usefixtures("no_page")


@pytest.fixture
def frauds(tmp_path):
    """A fraud-like log as a CSV: a model that reports a probability, and rules that name a class."""
    log = fraud_log(1_500, 0, positives=0.1)
    rules = ["fraud" if p == 0.9 else "ok" if p == p else None for p in log.probability[:, 2].tolist()]
    frame = pl.DataFrame(
        {
            "label": ["fraud" if one else "ok" for one in log.fraud],
            "amount": log.amount,
            "gbm": log.probability[:, 0],
            "rules": rules,
            "sure": [None if one is None else 0.9 for one in rules],
        }
    )
    frame.write_csv(tmp_path / "log.csv")
    return tmp_path / "log.csv", frame


NAMED = ("--label", "label", "--probability", "gbm=gbm", "--positive", "fraud", "--model", "rules=rules:sure")


def test_a_missed_fraud_costs_the_amount_and_a_false_alarm_a_fee(frauds, tmp_path):
    path, frame = frauds
    models = (model_columns("probability", "gbm=gbm"), model_columns("class", "rules=rules:sure"))
    given = Options(models=models, label="label", positive="fraud", review_price=4.0, mistake_column="amount",
                    fixed_prices=(("fraud", "ok", 10.0),))  # fmt: skip
    found = replay(path, given, tmp_path / "out")
    later, says = frame.slice(150), pl.col("gbm") >= 0.5
    fraud = pl.col("label") == "fraud"
    paid = pl.when(says & ~fraud).then(10.0).when(~says & fraud).then("amount").otherwise(0.0)
    always = next(policy for policy in found.policies if policy.name == "always gbm")
    assert always.loss * found.price == pytest.approx(later.select(paid.mean()).item())
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").with_columns(frame)
    missed = cases.filter((pl.col("action") == "answer") & (pl.col("model") == "gbm") & fraud & ~says)
    assert missed.height > 0
    assert (missed["loss"] * found.price).to_list() == pytest.approx(missed["amount"].to_list())  # in full
    assert "--fixed-price fraud:ok=10" in found.command


def test_kinds_without_stakes(frauds, tmp_path):
    path, frame = frauds
    given = Options(models=(model_columns("class", "rules=rules:sure"),), label="label", review_price=1.0,
                    mistake_price=20.0, fixed_prices=(("fraud", "ok", 3.0),))  # fmt: skip
    found = replay(path, given, tmp_path / "out")
    assert (found.price, found.cost) == (20.0, 0.05)
    later = frame.slice(150)
    wrong = pl.col("rules") != pl.col("label")
    price = pl.when(pl.col("rules").is_null()).then(1.0).when(wrong & (pl.col("rules") == "fraud")).then(3.0)
    assert found.policies[0].loss * found.price == pytest.approx(
        later.select(price.when(wrong).then(20.0).otherwise(0.0).mean()).item()
    )


def test_on_the_command_line(frauds):
    path, _ = frauds
    prices = ("--review-price", "4", "--mistake-column", "amount", "--fixed-price", "fraud:ok=10")
    result, out = run(path, *prices, "--start", "gbm:0.97", named=NAMED)
    assert result.exit_code == 0, result.output
    gate = ab.load(out / "gate.abstain")
    assert gate.start == ("gbm", 0.97)
    assert gate.mistake_price == {("fraud", "ok"): 10.0, "other": ab.PerStake(1.0)}
    for arguments, words in (
        (("--fixed-price", "fraud=10"), "--fixed-price: expected SAID:TRUE=PRICE"),
        (("--fixed-price", "fraud:ok=-1"), "--fixed-price: expected"),
        (("--fixed-price", "ok:theft=1", *prices[:4]), "--fixed-price: expected a class of the log"),
        (("--fixed-price", "fraud:ok=1"), "expected --mistake-price or --mistake-column with it"),
        (("--start", "gbm"), "--start: expected MODEL:THRESHOLD"),
        (("--start", "nobody:0.5"), "start: expected a model (rules, gbm)"),
    ):
        result, _ = run(path, *arguments, named=NAMED)
        assert result.exit_code == 2
        assert words in " ".join(result.output.split())


def test_what_missing_labels_may_cost_goes_by_the_kind(frauds, tmp_path):
    """Of two classes, an answer that may be wrong may be wrong in one way, at its own price."""
    path, frame = frauds
    hidden = frame.with_columns(label=pl.when(pl.int_range(pl.len()) % 7 > 0).then("label"))
    hidden.write_csv(path)
    given = Options(models=(model_columns("probability", "gbm=gbm"),), label="label", positive="fraud",
                    review_price=4.0, mistake_column="amount", seeds=1,
                    fixed_prices=(("fraud", "ok", 10.0),))  # fmt: skip
    found = replay(path, given, tmp_path / "out")
    says, fraud, later = pl.col("gbm") >= 0.5, pl.col("label") == "fraud", hidden.slice(150)
    wrong = pl.when(says).then(10.0).otherwise("amount")
    least = later.select(pl.when(says != fraud).then(wrong).otherwise(0.0).mean()).item()
    most = least + later.select(pl.when(fraud.is_null()).then(wrong).otherwise(0.0).mean()).item()
    always = next(policy for policy in found.policies if policy.name == "always gbm")
    assert (always.lowest * found.price, always.highest * found.price) == pytest.approx((least, most))


def test_what_missing_labels_may_cost_goes_by_the_stake(frauds, tmp_path):
    """The bounds of a policy that always answers are those of right and wrong answers in the rows without a label."""
    path, frame = frauds
    hidden = frame.with_columns(label=pl.when(pl.int_range(pl.len()) % 7 > 0).then("label"))
    hidden.write_csv(path)
    given = Options(models=(model_columns("probability", "gbm=gbm"),), label="label", positive="fraud",
                    review_price=4.0, mistake_column="amount", seeds=1)  # fmt: skip
    found = replay(path, given, tmp_path / "out")
    later, wrong = hidden.slice(150), (pl.col("gbm") >= 0.5) != (pl.col("label") == "fraud")
    least = later.select(pl.when(pl.col("label").is_not_null() & wrong).then("amount").otherwise(0.0).mean()).item()
    most = least + later.select(pl.when(pl.col("label").is_null()).then("amount").otherwise(0.0).mean()).item()
    always = next(policy for policy in found.policies if policy.name == "always gbm")
    assert (always.lowest * found.price, always.highest * found.price) == pytest.approx((least, most))
