"""What the terminal says of columns, capacity and differences."""

import io
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from abstain._core import terminal
from abstain.cli import app
from abstain.cli.replay import show
from abstain.replay.options import Options, dropped, model_columns
from abstain.replay.run import replay

from .logs import options, small_log
from .replays import a_replay

pytestmark = pytest.mark.usefixtures("no_page")

NAMED = ("--label", "label", "--model", "gbm=gbm:gbm_confidence", "--model", "rules=rules:rules_confidence")


def told(tmp_path, frame, *arguments):
    frame.write_csv(tmp_path / "log.csv")
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "log.csv"), *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    return result.output


def test_what_was_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    frame = small_log(200).with_columns(id=pl.int_range(200), rules_confidence=pl.lit("95%"), when=pl.lit("noon"))
    text = told(tmp_path, frame)
    assert "rules_confidence is not taken for a confidence: it has '95%', which is not a number" in text
    assert "Not used: rules, rules_confidence, id, when" in text
    assert "Labels are taken to come at once; --delay, or --time and --label-time, say otherwise." in text
    assert "come at once" not in told(tmp_path, frame, "--delay", "5")
    text = told(tmp_path, small_log(200), *NAMED)
    assert "Not used" not in text
    assert "come at once" not in text


def test_why_a_column_is_not_taken():
    sample = pl.DataFrame(
        {"label": ["a", "b", "c"], "gbm": ["a", "b", "c"], "gbm_conf": [0.1, 0.2, 0.3], "gbm_score": [0.1, 0.2, 0.3],
         "b_score": [1.0, 2.0, 3.0], "c_prob": ["", "", ""], "d_conf": [True, True, False], "e_prob": [0.1, 0.2, 0.3]}
    )  # fmt: skip
    given = Options(models=(model_columns("class", "gbm=gbm:gbm_conf"),), label="label")
    lines = dropped(given, sample)
    whys = (
        "its model has another",
        "2.0, which is not in [0, 1]",
        "it is empty",
        "it has Boolean",
        "no column of answers",
    )
    assert len(lines) == len(whys)
    for why, line in zip(whys, lines, strict=True):
        assert why in line
    assert "labels are not two classes" in lines[-1]


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_policies_beyond_the_capacity_are_marked(share):
    console = terminal.console(width=120, file=io.StringIO())
    show(console, a_replay(share=share), Path("out"))
    text = console.file.getvalue()
    everything = next(line for line in text.splitlines() if "everything to review" in line)
    assert ("100 %*" in everything) == (share == 0.1)
    assert ("* more reviews than the 10 % there is capacity for" in text) == (share == 0.1)
    gate = next(line for line in text.splitlines() if line.startswith("│ gate"))
    assert "*" not in gate


def test_differences(tmp_path, monkeypatch):
    for width in (120, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        prices = ("--review-price", "1", "--mistake-price", "4", "--unit", "EUR")
        text = told(tmp_path, small_log(400), *NAMED, *prices, "--seeds", "1")
        found = replay(
            tmp_path / "log.csv", options(cost=None, review_price=1.0, mistake_price=4.0, unit="EUR"), tmp_path / "out"
        )
        gate = next(one for one in found.policies if one.kind == "gate")
        line = next(line for line in text.splitlines() if line.startswith("│ gate"))
        share, low, high = (f"{100 * one:+.1f}" for one in (gate.share, gate.share_low, gate.share_high))
        assert f"{share}{' %' if width == 120 else ''} ({low} to {high})" in line
        assert (f"{4 * gate.difference:+.3f} EUR" in line) == (width == 120)
        assert "(95 % interval of it)" in text


def test_thresholds_near_one_and_as_errors(tmp_path):
    frame = small_log(400, missing=0.0, drift=False).with_columns(pl.col("^.*_confidence$") / 500 + 0.998)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    tuned = next(one for one in found.policies if one.kind == "tuned")
    assert " from 0.99" in tuned.name, tuned.name
    error = [k % 10 + 0.5 for k in range(400)]
    numbers = pl.DataFrame({"y": [0.0] * 400, "a": error, "e": error})
    numbers.write_csv(tmp_path / "log.csv")
    given = Options(models=(model_columns("value", "m=a:e"),), label="y", max_error=10.0, cost=0.4)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    tuned = next(one for one in found.policies if one.kind == "tuned")
    assert tuned.name == "tuned: m from an expected error of 4.5 down (0.55)"
