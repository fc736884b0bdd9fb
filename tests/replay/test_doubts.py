"""What is nearly surely not as it was meant: which class probabilities are of, and models that are never right."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.errors import InputError
from abstain.replay.options import Options, model_columns
from abstain.replay.run import replay

from .logs import options, small_log

pytestmark = pytest.mark.usefixtures("no_page")


def frauds(tmp_path, column, classes=("fraud", "legit"), n=300):
    """A model that says well how probable the first class is."""
    rng = np.random.default_rng(0)
    p = rng.random(n).round(3)
    y = np.where(rng.random(n) < p, *classes)
    pl.DataFrame({"label": y, column: p}).write_csv(tmp_path / "log.csv")
    said = np.where(p >= 0.5, *classes)
    return float((said != y)[n // 10 :].mean())


def played(tmp_path, column, **given):
    models = (model_columns("probability", f"m={column}"),)
    found = replay(tmp_path / "log.csv", Options(models=models, label="label", **given), tmp_path / "out")
    return found, found.policies[0].mistakes


@pytest.mark.parametrize(
    ("column", "given", "right", "words"),
    [
        ("xgb_fraud_prob", {}, True, "of 'fraud' (as its name is in xgb_fraud_prob; --positive says otherwise)"),
        ("P.Fraud", {}, True, "as its name is in P.Fraud"),
        ("p", {"positive": "fraud"}, True, "of 'fraud' (as --positive says); the other class is 'legit'"),
        ("p", {}, True, "of 'fraud' (as its name suggests; --positive says otherwise)"),
        ("defraud_prob", {}, True, "of 'fraud' (as its name suggests"),
        ("fraud_not_legit", {}, True, "of 'fraud' (as its name suggests"),
        ("fraud_prob", {"positive": "legit"}, False, "of 'legit' (as --positive says)"),
    ],
)
def test_whose_probability_it_is(tmp_path, column, given, right, words):
    wrong = frauds(tmp_path, column)
    found, mistakes = played(tmp_path, column, **given)
    assert words in " ".join(found.notes)
    assert mistakes == pytest.approx(wrong if right else 1.0 - wrong)
    assert any("is --positive the other class?" in one for one in found.warnings) == (not right)


def test_numbers_have_no_names(tmp_path):
    """0 and 1 stay as they are, whatever columns are called; and either may be named."""
    wrong = frauds(tmp_path, "p_0", classes=("0", "1"))
    assert played(tmp_path, "p_0")[1] == pytest.approx(1.0 - wrong)
    assert played(tmp_path, "p_0", positive="0")[1] == pytest.approx(wrong)


def test_a_warning_is_loud_and_no_error(tmp_path):
    frauds(tmp_path, "p")
    arguments = ["replay", str(tmp_path / "log.csv"), "--label", "label", "--probability", "m=p", "--out"]
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "out"), "--positive", "legit"])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert text.index("Warning: m is wrong in") < text.index("per case")
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "out"), "--positive", "fraud"])
    assert "Warning" not in result.output


def test_a_model_that_is_never_right(tmp_path):
    frame = small_log(300, missing=0.1)

    def warned(frame):
        frame.write_csv(tmp_path / "log.csv")
        found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
        first = "First correct the answers of gbm, as the warning says, and run the command again: "
        assert (len(found.next) == 1 and found.next[0].startswith(first)) == bool(found.warnings)
        return found.warnings

    assert warned(frame) == []
    one, alike = warned(frame.with_columns(pl.col("gbm").str.to_uppercase()))
    assert "they differ in capitals or blanks alone" in alike
    assert one.startswith("gbm is never right: none of its classes is among the labels; it says '")
    assert "'A'" in one.split("labels are")[0]
    assert "'a'" in one.split("labels are")[1]
    shifted = frame.with_columns(gbm=pl.col("label").replace({"a": "b", "b": "c", "c": "a"}))
    (one,) = warned(shifted)
    assert one.startswith("gbm is never right: it says '")


def test_numbers_that_are_never_right(tmp_path):
    frame = pl.DataFrame({"y": [float(k) for k in range(200)], "a": [k + 9.0 for k in range(200)], "e": [0.5] * 200})
    frame.write_csv(tmp_path / "log.csv")
    given = {"models": (model_columns("value", "m=a:e"),), "label": "y"}
    found = replay(tmp_path / "log.csv", Options(**given, max_error=8.0), tmp_path / "out")
    assert found.warnings == ["m is never right: each of its answers is off by --max-error or more."]
    found = replay(tmp_path / "log.csv", Options(**given, max_error=10.0), tmp_path / "out")
    assert found.warnings == []


def test_classes_that_differ_in_capitals_or_blanks_alone(tmp_path):
    frame = small_log(300, missing=0.0)
    half = pl.int_range(pl.len()) % 2 == 0
    frame = frame.with_columns(gbm=pl.when(half).then(pl.col("gbm").str.to_uppercase() + " ").otherwise("gbm"))
    frame.write_csv(tmp_path / "log.csv")
    (one,) = replay(tmp_path / "log.csv", options(), tmp_path / "out").warnings
    assert one.startswith("gbm says '")
    assert "in 150 rows: they differ in capitals or blanks alone" in one


def test_per_cent_in_a_column_of_confidences(tmp_path):
    frame = small_log(300).with_columns(gbm_confidence=pl.lit("62%"))
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises(
        InputError, match=r"row 1, column gbm_confidence: .* got '62%' \(is it per cent\? Then say --percent\)"
    ):
        replay(tmp_path / "log.csv", options(), tmp_path / "out")
