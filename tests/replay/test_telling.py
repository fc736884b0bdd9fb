"""What the terminal says of columns, capacity and differences."""

import io
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain._core import terminal
from abstain.cli import app
from abstain.cli.replay import _saved, show
from abstain.replay.options import Options, dropped, model_columns
from abstain.replay.policies import Saved
from abstain.replay.run import replay
from abstain.replay.wording import per_cent

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
    assert "Labels are assumed to arrive at once; if not, give --delay, or --time and --label-time." in text
    assert "Next: Run the command again with your prices (--review-price, --mistake-price)" in " ".join(text.split())
    assert "arrive at once" not in told(tmp_path, frame, "--delay", "5")
    text = told(tmp_path, small_log(200), *NAMED)
    assert "Not used" not in text
    assert "arrive at once" not in text


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
    gate = next(line for line in text.splitlines() if line.startswith("gate "))
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
        line = next(line for line in text.splitlines() if line.startswith("gate "))
        share, low, high = (f"{100 * one:+.1f}" for one in (gate.share, gate.share_low, gate.share_high))
        assert f"{share} ({low} to {high})" in line
        assert f"{4 * gate.difference:+.2f}" in line
        assert "(95 % interval)" in text
        assert "EUR" in text.split("gate ")[0]
        table = text.split("The gate costs")[0].splitlines()
        assert max(map(len, table[-12:])) <= width
        assert len({line.rindex("(") for line in table if re.search(r"\([+-]\d", line)}) == 1, "the shares align"
        assert text.splitlines()[-1].startswith("Next: ")


def test_thresholds_near_one_and_as_errors(tmp_path):
    frame = small_log(400, missing=0.0, drift=False).with_columns(pl.col("^.*_confidence$") / 500 + 0.998)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    tuned = next(one for one in found.policies if one.kind == "tuned")
    assert " above 0.99" in tuned.name, tuned.name
    error = [k % 10 + 0.5 for k in range(400)]
    numbers = pl.DataFrame({"y": [0.0] * 400, "a": error, "e": error})
    numbers.write_csv(tmp_path / "log.csv")
    given = Options(models=(model_columns("value", "m=a:e"),), label="y", max_error=10.0, cost=0.4)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    tuned = next(one for one in found.policies if one.kind == "tuned")
    assert tuned.name == "tuned: m below an expected error of 4.5 (0.55)"


def an_event(n=12_000, days=20):
    """Two models; one of them breaks on two of twenty days."""
    rng = np.random.default_rng(0)
    at = [datetime(2026, 3, 1) + timedelta(days=days * t / n) for t in range(n)]
    broken = np.array([11 <= time.day <= 12 for time in at])
    truth = rng.integers(0, 3, n)
    columns = {"label": truth, "at": at}
    for name, chance in (("gbm", 0.95), ("rules", 0.95)):
        right = rng.random(n) < np.where(broken & (name == "gbm"), 0.0, chance)
        columns |= {name: np.where(right, truth, (truth + 1) % 3), f"{name}_confidence": np.full(n, 0.9)}
    return pl.DataFrame(columns)


def test_one_event_carries_it_all(tmp_path, monkeypatch):
    """The terminal says when the saving came, and promises nothing for other months."""
    monkeypatch.setenv("COLUMNS", "80")
    text = " ".join(told(tmp_path, an_event(), *NAMED, "--time", "at", "--today", "gbm:0.5", "--seeds", "2").split())
    assert "than today's threshold, gbm above 0.5" in text
    assert "It would have saved what" in text
    assert "of it came between 11 March 2026 and 12 March 2026, in 1" in text
    assert "one event says little about other months" in text
    assert "No amount per month or year is given" in text
    assert "from 11 March 2026" in text
    assert "Compared with one threshold, set once on the first tenth of the log, the gate costs " in text
    found = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert found["stretch"]["begin"] == "11 March 2026"
    assert found["stretch"]["carried"] >= 0.9
    assert not found["stretch"]["at_start"]
    days = {part["begin"]: part["saved"] for part in found["saved"]}
    assert max(days, key=days.get) in ("11 March 2026", "12 March 2026")
    parts, gate, today = sum(days.values()), *(
        next(one["loss"] for one in found["policies"] if one["kind"] == kind) for kind in ("gate", "today")
    )  # fmt: skip
    assert parts == pytest.approx((today - gate) * 10_800)


def test_a_part_in_which_nothing_was_saved_has_no_sign():
    parts = [Saved("row 1", 10, 40.0), Saved("row 11", 10, -0.0004)]
    lines = _saved(replace(a_replay(), saved=parts, price=1.0))
    assert [line.split()[3] for line in lines[1:]] == ["40.00", "0.00"]


def test_a_saving_that_goes_on_has_amounts_per_month_and_year(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = an_event().with_columns(gbm=(pl.col("label") + 1) % 3)
    text = " ".join(told(tmp_path, frame, *NAMED, "--time", "at", "--today", "gbm:0.5", "--seeds", "1").split())
    assert "If it went on like these 18 days, the saving would be what" in text
    assert "It saves what" in text
    assert "one event" not in text


def test_bounds_in_the_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    frame = small_log(400).with_columns(label=pl.when(pl.int_range(400) % 4 > 0).then("label"))
    text = told(tmp_path, frame, *NAMED, "--seeds", "1")
    assert max(map(len, text.split("The gate costs")[0].splitlines())) <= 80
    assert " to " in next(line for line in text.splitlines() if line.startswith("always"))
    assert "25 % of the rows have no label" in text
    assert "%" not in next(line for line in text.splitlines() if line.startswith("gate ")).split("%")[-1]


def test_what_the_gate_did_not_know(tmp_path):
    """Labels of reviews, and labels that had not come when the log ended, are told apart."""
    frame = small_log(400)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(delay=100), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    reviewed = (cases["action"] == "review").sum()
    late = (cases["action"] == "answer").tail(100).sum()
    share = per_cent(reviewed / 400)
    words = f"The gate reviewed {reviewed} of all 400 cases, counted or not ({share}), and a review shows"
    assert found.unknown[0].startswith(words)
    assert f"{late} labels had not arrived when the log ended." in found.unknown
    found = replay(tmp_path / "log.csv", options(labels="both"), tmp_path / "out")
    (sentence,) = (sentence for sentence in found.unknown if "abel" in sentence)
    assert sentence.startswith("Labels were assumed to arrive at once.")


def test_names_of_policies_keep_their_words_beside_bounds(tmp_path, monkeypatch):
    """With estimates, only what was decided has bounds: they may take two lines, names of policies stay legible."""
    monkeypatch.setenv("COLUMNS", "80")
    frame = small_log(400).with_columns(
        label=pl.when(pl.int_range(400) % 4 > 0).then("label"), done=pl.lit("gbm"), chance=pl.lit(0.75)
    )
    prices = ("--review-price", "30", "--mistake-price", "200", "--unit", "EUR")
    given = ("--decided", "done", "--observed", "chance", "--labels", "both")
    text = told(tmp_path, frame, *NAMED, *prices, *given, "--seeds", "1")
    table = text.split("What was decided")[0]
    assert "…" not in table, table
    assert "hindsight:" in table
    assert max(map(len, table.splitlines())) <= 80


def test_a_loss_at_the_start_is_no_event(tmp_path):
    """A good model and a guess; until the first labels come, the gate follows both."""
    rng, n = np.random.default_rng(0), 6_000
    truth = rng.integers(0, 3, n)
    columns = {"label": truth}
    for name, chance in (("gbm", 0.97), ("rules", 0.5)):
        right = rng.random(n) < chance
        columns |= {name: np.where(right, truth, (truth + 1) % 3), f"{name}_confidence": np.full(n, 0.9)}
    pl.DataFrame(columns).write_csv(tmp_path / "log.csv")
    given = options(cost=0.2, today="gbm:0.5", labels="both", delay=1_200)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    assert found.stretch.at_start
    assert "of the loss came between row 601 and row " in found.verdict
    assert found.verdict.endswith("the gate had learnt least there.")
