"""Formats, types, columns that are found, and what is played without fuss."""

import os
import re
import shlex

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.errors import FileError, InputError
from abstain.replay.options import Options, complete, model_columns
from abstain.replay.run import as_json, replay

from .logs import options, small_log

pytestmark = pytest.mark.usefixtures("no_page")


def same(one, other):
    assert as_json(one) == as_json(other)
    assert one.mistakes == other.mistakes


def test_formats_say_the_same(tmp_path):
    frame = small_log(300, classes=("1", "2", "3"))
    frame.write_csv(tmp_path / "log.csv")
    expected = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    assert 0.1 < next(one for one in expected.policies if one.kind == "gate").mistakes < 0.9
    names = ["label", "gbm", "rules"]
    numbers = frame.with_columns(pl.col(names).cast(pl.Int64))
    frame.write_csv(tmp_path / "semicolons.csv", separator=";", include_bom=True, quote_style="always")
    frame.write_csv(tmp_path / "tabs.tsv", separator="\t", line_terminator="\r\n")
    # As pandas writes whole numbers where some are missing.
    numbers.with_columns(pl.col("gbm", "rules").cast(pl.Float64)).write_csv(tmp_path / "floats.csv")
    frame.write_parquet(tmp_path / "text.parquet", row_group_size=50)
    numbers.write_parquet(tmp_path / "numbers.parquet")
    numbers.with_columns(pl.col("gbm").cast(pl.Float64)).write_parquet(tmp_path / "mixed.parquet")
    frame.with_columns(
        pl.col("gbm").cast(pl.Categorical), pl.col("label").cast(pl.Enum(["1", "2", "3"]))
    ).write_parquet(tmp_path / "categories.parquet")
    frame.with_columns(pl.col("gbm").fill_null(""), pl.lit("not needed").alias("other")).write_parquet(
        tmp_path / "blank.pq"
    )
    for path in tmp_path.iterdir():
        if path.is_file() and path.name != "log.csv":
            same(replay(path, options(), tmp_path / "out"), expected)


def test_two_classes_of_any_type(tmp_path):
    frame = small_log(300, classes=("False", "True"))
    frame.write_csv(tmp_path / "log.csv")
    expected = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    truth = frame.with_columns(pl.col("label", "gbm", "rules") == "True")
    truth.write_parquet(tmp_path / "truth.parquet")
    truth.with_columns(pl.col("gbm", "label").cast(pl.Int8)).write_parquet(tmp_path / "numbers.parquet")
    for name in ("truth.parquet", "numbers.parquet"):
        assert as_json(replay(tmp_path / name, options(), tmp_path / "out")) == as_json(expected)


def test_codes_that_look_like_numbers_stay_apart(tmp_path):
    """01 and 1 are two classes if the labels have both."""
    frame = small_log(300, classes=("01", "1", "2"))
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    assert sorted(name for name, *_ in found.mistakes) == ["01", "1", "2"]
    large = small_log(300, classes=("9007199254740992", "9007199254740993"), missing=0.0)
    large.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    always = next(one for one in found.policies if one.name == "always gbm")
    wrong = large.slice(30).select((pl.col("gbm") != pl.col("label")).mean()).item()
    assert always.mistakes == pytest.approx(wrong)


@pytest.mark.parametrize("nothing", ["", "NaN", "NA"])
def test_labels_that_are_not_there(tmp_path, nothing):
    """NaN is a number that is missing; where classes are words, it is a word."""
    frame = small_log(300, classes=("1", "2"), missing=0.0)
    gone = pl.int_range(300, eager=True) % 5 == 0
    frame.with_columns(label=pl.when(gone).then(pl.lit(nothing)).otherwise("label")).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    assert (found.rows, found.left_out) == (300, 60)
    wrong = frame.slice(30).filter(~gone.slice(30)).select((pl.col("gbm") != pl.col("label")).sum()).item()
    always = next(one for one in found.policies if one.name == "always gbm")
    assert (always.lowest, always.highest) == pytest.approx((wrong / 270, (wrong + 54) / 270))


def test_probabilities(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random((400, 2)).round(2)
    y = np.where(rng.random(400) < p[:, 0], "spam", "ham")
    pl.DataFrame({"truth": y, "gbm_proba": p[:, 0], "lr_score": p[:, 1]}).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", Options(), tmp_path / "out")
    assert (found.task, found.models) == ("binary", ["gbm", "lr"])
    told = "Probabilities are taken to be of 'spam' (as its name suggests; --positive says otherwise)"
    assert told in " ".join(found.notes)
    said = np.where(p[40:] >= 0.5, "spam", "ham")
    for k, name in enumerate(("always gbm", "always lr")):
        policy = next(one for one in found.policies if one.name == name)
        assert policy.mistakes == policy.loss == pytest.approx((said[:, k] != y[40:]).mean())
    curve = found.curves[0]
    sure = np.maximum(p[40:, 0], 1.0 - p[40:, 0])
    answered = sure > sorted(sure)[-round(curve.coverage[3] * 360) - 1]
    assert curve.coverage[3] == pytest.approx(answered.mean())
    assert curve.risk[3] == pytest.approx((said[answered, 0] != y[40:][answered]).mean())


def test_numbers(tmp_path):
    rng = np.random.default_rng(0)
    y, error = rng.normal(0.0, 10.0, 400), rng.random(400) * 3
    answer = y + rng.normal(0.0, 1.0, 400) * error
    pl.DataFrame({"y": y, "a": answer, "e": error}).write_csv(tmp_path / "log.csv")
    given = Options(models=(model_columns("value", "m=a:e"),), label="y", max_error=4.0, cost=0.2)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    lost = np.minimum(1.0, np.abs(answer - y) / 4.0)[40:]
    always = found.policies[0]
    assert (always.loss, always.mistakes) == pytest.approx((lost.mean(), (lost > 0.2).mean()))
    assert (found.task, found.mistakes) == ("number", [])
    with pytest.raises(InputError, match="--max-error: expected"):
        Options(models=given.models, label="y")


def test_stakes_in_money(tmp_path):
    frame = small_log(400).with_columns(amount=(pl.int_range(400) * 7919 % 100 + 1.0))
    frame.write_csv(tmp_path / "log.csv")
    prices = {"cost": None, "review_price": 20.0, "mistake_column": "amount", "unit": "EUR"}
    found = replay(tmp_path / "log.csv", options(**prices), tmp_path / "out")
    assert (found.price, found.cost, found.unit) == (100.0, 0.2, "EUR")
    assert "A mistake costs what amount says, at most 100 EUR, its largest value." in found.notes
    later = frame.slice(40)
    paid = (
        pl.when(pl.col("gbm").is_null()).then(20.0).when(pl.col("gbm") != pl.col("label")).then("amount").otherwise(0.0)
    )
    assert found.policies[0].loss * found.price == pytest.approx(later.select(paid.mean()).item())
    # At the same threshold, small amounts are answered and large ones reviewed.
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").with_columns(frame["amount"])
    assert cases.filter(action="answer")["amount"].mean() < 0.8 * cases.filter(action="review")["amount"].mean()


@pytest.mark.parametrize(
    ("columns", "models", "label"),
    [
        ("label gbm gbm_confidence lr lr_confidence", "gbm=gbm:gbm_confidence lr=lr:lr_confidence", "label"),
        ("Y id GBM_prediction GBM_conf", "GBM=GBM_prediction:GBM_conf", "Y"),
        ("gbm_answer gbm_score outcome", "gbm=gbm_answer:gbm_score", "outcome"),
        ("pred_gbm conf_gbm target", "gbm=pred_gbm:conf_gbm", "target"),
        ("prediction confidence truth", "model=prediction:confidence", "truth"),
        ("gbm.class gbm.prob y_true", "gbm=gbm.class:gbm.prob", "y_true"),
        ("gbm_probability y", "gbm=gbm_probability", "y"),
    ],
)
def test_columns_are_found(columns, models, label):
    values = {}
    for column in columns.split():
        sure = re.search("conf|score|prob", column.lower())
        values[column] = [0.25, 0.75] * 5 if sure else ["a", "b"] * 5
    for kind in (pl.String, None):
        found = complete(Options(), pl.DataFrame(values) if kind is None else pl.DataFrame(values).cast(kind))
        assert " ".join(model.arguments[1] for model in found.models) == models
        assert found.label == label


def test_columns_that_cannot_be_found():
    with pytest.raises(InputError, match="--label: found no column .*there are a, b"):
        complete(Options(), pl.DataFrame({"a": [1], "b": [2]}))
    scores = pl.DataFrame({"y": ["a", "b"], "gbm": ["a", "b"], "gbm_score": [-3.0, 4.0]})
    with pytest.raises(InputError, match="--model: found no pair of columns such as") as told:
        complete(Options(), scores)
    assert "--model NAME=ANSWER:CONFIDENCE, --probability NAME=COLUMN or --value NAME=NUMBER:ERROR" in str(told.value)
    assert "gbm_score is not taken for a confidence: it has -3.0, which is not in [0, 1]" in str(told.value)
    assert (
        complete(Options(label="gbm_score", models=(model_columns("class", "a=y:gbm"),)), scores).label == "gbm_score"
    )


def test_the_command_it_prints_does_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    small_log(300).write_csv(tmp_path / "my log.csv")
    arguments = ["replay", str(tmp_path / "my log.csv"), "--out", str(tmp_path / "out"), "--delay", "5"]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    command = next(line.strip() for line in first.output.splitlines() if line.startswith("  abstain replay"))
    assert "--cost 0.2" in command
    again = CliRunner().invoke(app, shlex.split(command)[1:])
    assert again.exit_code == 0, again.output
    assert "Found in the log" in first.output
    assert "Found in the log" not in again.output
    for name in ("replay.json", "cases.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == files[name]
    assert "re-tuned, own labels" in again.output
    assert "report.html" in again.output


def test_without_fuss(tmp_path):
    path = tmp_path / "log.csv"

    def notes(frame, **given):
        frame.write_csv(path)
        return " ".join(replay(path, options(**given), tmp_path / "out").notes)

    frame = small_log(300)
    assert "single model" in notes(frame, models=options().models[:1])
    assert "rules has no answer in" in notes(frame)
    assert "rules never has an answer" in notes(frame.with_columns(rules=pl.lit(None, pl.String)))
    assert "gbm is always equally sure (1)" in notes(frame.with_columns(gbm_confidence=1.0))
    assert "gbm is always equally sure (0.5)" in notes(frame.with_columns(gbm_confidence=0.5))
    strange = frame.with_columns(label=pl.when(pl.int_range(300) % 3 == 0).then(pl.lit("new")).otherwise("label"))
    assert "A label of 4 is never given by a model, in 100 rows." in notes(strange)
    unlabelled = frame.with_columns(label=pl.when(pl.int_range(300) % 3 > 0).then("label"))
    assert "100 of 300 rows have no label: a policy that answers them costs something between" in notes(unlabelled)
    assert pl.read_parquet(tmp_path / "out" / "cases.parquet")["row"].to_list()[:4] == [1, 2, 3, 4]
    many = frame.with_columns(label=pl.int_range(300).cast(pl.String))
    many.write_csv(path)
    found = replay(path, options(), tmp_path / "out")
    assert (len(found.mistakes), found.mistakes[-1][0]) == (20, "other")
    assert sum(rows for _, rows, _, _ in found.mistakes) == 270
    assert found.mistakes[-1][1] > 250
    nothing = pl.DataFrame({"label": ["a"] * 200, "gbm": pl.Series([None] * 200, dtype=pl.Null),
                            "gbm_confidence": [0.5] * 200})  # fmt: skip
    nothing.write_parquet(tmp_path / "log.parquet")
    found = replay(tmp_path / "log.parquet", options(models=options().models[:1]), tmp_path / "out")
    assert next(one for one in found.policies if one.kind == "gate").reviewed == 1.0
    assert found.operating == (0.0, 0.0)


@pytest.mark.parametrize(
    ("classes", "kind"), [((1, 2, 2**63 + 5), pl.UInt64), (("0.10", "0.20", "0.30"), pl.Decimal(10, 2))]
)
def test_large_and_decimal_classes_are_told_apart(tmp_path, classes, kind):
    frame = small_log(300, classes=("a", "b", "c"))
    names = ["label", "gbm", "rules"]
    frame.write_parquet(tmp_path / "text.parquet")
    told = pl.Series(list(classes)).cast(kind)
    known = pl.col(names).replace_strict(["a", "b", "c"], told, return_dtype=kind)
    frame.with_columns(known).write_parquet(tmp_path / "log.parquet")
    found = [replay(tmp_path / name, options(), tmp_path / "out") for name in ("text.parquet", "log.parquet")]
    assert as_json(found[0]) == as_json(found[1])


def test_nan_in_a_column_of_times_is_no_time(tmp_path):
    frame = small_log(300).with_columns(t=pl.int_range(pl.len()) * 1.0, seen=pl.int_range(pl.len()) + 50.0)
    frame = frame.with_columns(seen=pl.when(pl.col("t") % 3 == 0).then(float("nan")).otherwise("seen"))
    frame.write_csv(tmp_path / "log.csv")
    replay(tmp_path / "log.csv", options(time="t", label_time="seen"), tmp_path / "out")
    frame.with_columns(t=pl.when(pl.col("t") > 5).then("t").otherwise(float("nan"))).write_csv(tmp_path / "log.csv")
    with pytest.raises(InputError, match="row 1, column t: expected a time"):
        replay(tmp_path / "log.csv", options(time="t"), tmp_path / "out")


def test_labels_later_than_the_log_is_long(tmp_path):
    small_log(300).write_csv(tmp_path / "log.csv")
    found = [replay(tmp_path / "log.csv", options(delay=delay), tmp_path / "out") for delay in (300, 2**62)]
    same(*found)


def test_a_log_that_is_no_file_or_would_be_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(FileError, match="expected a file"):
            replay(path, options(), tmp_path / "out")
    small_log(300).write_parquet(tmp_path / "cases.parquet")
    before = (tmp_path / "cases.parquet").read_bytes()
    with pytest.raises(InputError, match="would replace the log"):
        replay(tmp_path / "cases.parquet", options(), tmp_path)
    assert (tmp_path / "cases.parquet").read_bytes() == before
    (tmp_path / "out" / "replay.json").mkdir(parents=True)
    with pytest.raises(FileError, match="got a folder"):
        replay(tmp_path / "cases.parquet", options(), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["replay.json"]


def test_na_is_missing_among_words(tmp_path):
    frame = small_log(300, missing=0.0)
    gone = pl.int_range(300) % 5 == 0
    frame.with_columns(gbm=pl.when(gone).then(pl.lit("NA")).otherwise("gbm")).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    assert "gbm has no answer in 60 rows (20 %): alone, it sends them to review." in found.notes
