"""A wrong log or option is refused in one sentence that names row and column, and nothing is written."""

import zipfile

import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli import app
from abstain.errors import FileError
from abstain.replay.options import Options
from abstain.replay.run import replay

from .logs import small_log

pytestmark = pytest.mark.usefixtures("no_page")

NAMED = ("--label", "label", "--model", "gbm=gbm:gbm_confidence", "--model", "rules=rules:rules_confidence")


def run(path, *arguments, named=NAMED):
    out = path.parent / "new" / "out"
    result = CliRunner().invoke(app, ["replay", str(path), *named, "--out", str(out), *arguments])
    return result, out


def refused(path, *arguments, named=NAMED):
    before = {one.name: one.read_bytes() if one.is_file() else None for one in path.parent.iterdir()}
    result, _ = run(path, *arguments, named=named)
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert {one.name: one.read_bytes() if one.is_file() else None for one in path.parent.iterdir()} == before
    text = result.output.strip().splitlines()[-1]
    assert text.startswith("error: ")
    assert "Traceback" not in result.output
    return text


def changed(frame, column, row, value):
    values = [None if one is None else str(one) for one in frame[column].to_list()]
    values[row - 1] = value
    return frame.with_columns(pl.Series(column, values))


def timed(n=200):
    return small_log(n).with_columns(t=pl.int_range(n) * 10, seen=pl.int_range(n) * 10 + 25)


TIMES = ("--time", "t", "--label-time", "seen")


@pytest.mark.parametrize(
    ("column", "value", "arguments", "words"),
    [
        ("gbm_confidence", "high", (), ("row 150", "column gbm_confidence", "a number", "'high'")),
        ("gbm_confidence", "0,9102", (), ("a number, got '0,9102' (is it a decimal comma? Write 0.9102)",)),
        ("gbm_confidence", "n/a", (), ("got 'n/a' (is it missing? Empty cells, NA and NaN are)",)),
        ("gbm_confidence", "1.5", (), ("row 150", "column gbm_confidence", "confidence in [0, 1]", "'1.5'")),
        ("t", "3", TIMES, ("row 150", "column t", "in order", "'3'")),
        ("t", None, TIMES, ("row 150", "column t", "a time", "nothing")),
        ("seen", "1489.5", TIMES, ("row 150", "column seen", "not before that of its case (column t)", "'1489.5'")),
    ],
)
def test_a_wrong_value_is_named_by_row_and_column(tmp_path, column, value, arguments, words):
    changed(timed(), column, 150, value).write_csv(tmp_path / "log.csv", quote_style="non_numeric")
    text = refused(tmp_path / "log.csv", *arguments)
    assert all(word in text for word in words), text


@pytest.mark.parametrize("value", ["-1", "", "much"])
def test_wrong_stakes_are_refused(tmp_path, value):
    frame = small_log(200).with_columns(at_stake=pl.int_range(200) + 1.0)
    path = tmp_path / "log.csv"
    changed(frame, "at_stake", 33, value).write_csv(path)
    text = refused(path, "--review-price", "1", "--mistake-column", "at_stake")
    assert "row 33, column at_stake: expected" in text
    frame.write_csv(path)
    text = refused(path, "--review-price", "1", "--mistake-column", "at_stake", "--mistake-price", "150")
    assert "row 151, column at_stake: expected at most 150" in text
    assert "largest price in column at_stake" in refused(path, "--review-price", "201", "--mistake-column", "at_stake")


def test_wrong_probabilities_and_numbers_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    frame = pl.DataFrame({"y": [k % 2 for k in range(200)], "p": [0.5] * 200, "e": [0.25] * 200})
    changed(frame, "p", 7, "1.25").write_csv(path)
    text = refused(path, named=("--label", "y", "--probability", "m=p"))
    assert "row 7, column p: expected a probability in [0, 1] (is it per cent? Then say --percent), got '1.25'" in text
    changed(frame, "e", 9, "-1").write_csv(path)
    number = ("--label", "y", "--value", "m=p:e", "--max-error", "2")
    assert "row 9, column e: expected an error of at least 0" in refused(path, named=number)
    changed(frame, "y", 9, "inf").write_csv(path)
    assert "row 9, column y: expected a finite number" in refused(path, named=number)
    changed(frame, "y", 9, "2").write_csv(path)
    text = refused(path, named=("--label", "y", "--probability", "m=p"))
    assert "column y: expected two classes for a binary task, got 3" in text


def test_a_positive_class_that_is_no_label_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    pl.DataFrame({"y": ["a", "b"] * 100, "p": [0.5] * 200}).write_csv(path)
    text = refused(path, named=("--label", "y", "--probability", "m=p", "--positive", "c"))
    assert "--positive: expected a or b, got 'c'" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--label", "lable"), ("--label", "no column 'lable'", "did you mean 'label'?")),
        (("--model", "x=gbm:gmb_confidence"), ("--model", "did you mean 'gbm_confidence'?")),
        (("--model", "x=label:gbm_confidence"), ("--model", "what x said, got label, the column of labels")),
        (("--model", "gbm=rules:rules_confidence"), ("each name once", "'gbm' twice")),
        (("--model", "x=gbm:"), ("--model", "expected NAME=ANSWER:CONFIDENCE, or NAME=ANSWER for a model without")),
        (("--value", "x=gbm:gbm_confidence"), ("--value", "got classes, too")),
        (("--positive", "a"), ("--positive", "expected --probability with it")),
        (("--capacity", "1.5"), ("--capacity", "a number in [0, 1], got 1.5")),
        (("--cost", "1.1"), ("--cost", "a number in [0, 1], got 1.1")),
        (("--cost", "0.1", "--review-price", "1"), ("--cost", "either --cost or prices")),
        (("--review-price", "1"), ("--mistake-price", "expected the price of a mistake")),
        (("--review-price", "3", "--mistake-price", "2"), ("--review-price", "at most the price of a mistake, 2")),
        (("--task", "sorting"), ("--task", "expected classes, binary or number, got 'sorting'")),
        (("--labels", "all"), ("--labels", "expected answered, reviewed, both, or two probabilities", "got 'all'")),
        (("--label-time", "label"), ("--label-time", "expected --time with it")),
        (("--warm-start", "0.9"), ("--warm-start", "from 0 to 0.5, got 0.9")),
        (("--learner", "Nobody"), ("--learner", "DoublyRobust", "or module:Class", "got 'Nobody'")),
        (("--learner", "no_such_module:Mine"), ("--learner: expected a module no_such_module in ",)),
        (("--learner", "json:loads"), ("--learner: expected loads of ", "to be a learner")),
        (("--learner", "abstain:FullSupervision"), ("learner: FullSupervision needs the labels of all cases",)),
    ],
)
def test_a_wrong_option_is_named(tmp_path, arguments, words):
    small_log(200).write_csv(tmp_path / "log.csv")
    text = refused(tmp_path / "log.csv", *arguments)
    assert all(word in text for word in words), text


def test_a_missing_empty_or_unreadable_log_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.mkdir()
    assert "expected a file" in refused(path)
    path.rmdir()
    assert "cannot be read" in refused(path)
    path.write_text("")
    assert "got an empty file" in refused(path)
    path.write_text("\ufeff\n")
    assert "got an empty file" in refused(path)
    small_log(200).head(0).write_csv(path)
    assert "expected rows, got a header alone" in refused(path)
    small_log(200).head(99).write_csv(path)
    assert "expected at least 100 rows with a label, got 99: too few to score" in refused(path)
    path.write_text("label,gbm\n1,2\n1,2,3\n")
    assert "cannot be read as CSV" in refused(path, named=("--label", "label", "--model", "a=gbm:gbm"))
    path.write_bytes(b"label,gbm\n\xff\xfe,1\n" * 200)
    text = refused(path, named=("--label", "label", "--model", "a=gbm:gbm"))
    assert text.endswith("save it as CSV in UTF-8")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1"])
def test_another_encoding_is_refused(tmp_path, encoding):
    path = tmp_path / "log.csv"
    path.write_bytes(small_log(200, classes=("ä", "ö")).write_csv().encode(encoding))
    assert refused(path).endswith("save it as CSV in UTF-8")
    path.write_bytes(small_log(200).rename({"label": "Prüfung"}).write_csv().encode(encoding))
    assert refused(path, named=("--label", "Prüfung")).endswith("save it as CSV in UTF-8")


def test_a_workbook_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    assert "got a workbook or an archive: save it as CSV in UTF-8" in refused(tmp_path / "log.xlsx")


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "log.parquet"
    small_log(2_000).write_parquet(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "cannot be read as Parquet (is it cut off?)" in refused(path)
    path.write_bytes(b"no such thing")
    assert "cannot be read as Parquet" in refused(path)


def test_columns_of_types_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "log.parquet"
    frame = small_log(200, classes=("1", "2"))
    frame.with_columns(pl.col("label").cast(pl.Int64)).write_parquet(path)
    assert "column label: expected text, as in column gbm, got Int64: '1' is not 1" in refused(path)
    frame.with_columns(gbm_confidence=pl.lit("0.5").str.to_decimal(scale=1).implode()).write_parquet(path)
    assert "column gbm_confidence: expected numbers, got List" in refused(path)


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path):
    small_log(200).write_csv(tmp_path / "log.csv")
    (tmp_path / "file").write_text("mine")
    for out in ("file", "file/below"):
        result = CliRunner().invoke(app, ["replay", str(tmp_path / "log.csv"), *NAMED, "--out", str(tmp_path / out)])
        assert result.exit_code == 2
        assert (tmp_path / "file").read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "log.csv"]


def test_a_log_without_rows_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text("label,gbm,gbm_confidence\n", encoding="utf-8")
    with pytest.raises(FileError, match="expected rows, got a header alone"):
        replay(tmp_path / "log.csv", Options(), tmp_path / "out")
