"""Logs as they come: per cent, capitals, missing values, times of all kinds, odd names of columns."""

import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain import Capacity
from abstain.cli import app
from abstain.errors import InputError
from abstain.replay.classes import meaning
from abstain.replay.options import Options, as_in, model_columns
from abstain.replay.run import replay
from abstain.replay.wording import maturity

from .logs import options, small_log

pytestmark = pytest.mark.usefixtures("no_page")

START = datetime(2026, 1, 1)


def played(frame, tmp_path, **given):
    frame.write_csv(tmp_path / "log.csv")
    return replay(tmp_path / "log.csv", options(**given), tmp_path / "out")


def prices(found):
    return {one.name: one.loss for one in found.policies}


def test_per_cent_is_the_same_as_shares(tmp_path):
    frame = small_log(400)
    whole = prices(played(frame, tmp_path))
    per_cent = frame.with_columns(pl.col("gbm_confidence") * 100.0)
    found = played(per_cent, tmp_path, percent=True)
    assert prices(found) == pytest.approx(whole)
    assert "Per cent, because a number is above 1: gbm_confidence. Other confidences are from 0 to 1." in found.notes
    assert "--percent" in found.command
    marked = per_cent.with_columns(pl.col("gbm_confidence").cast(pl.String) + " %")
    assert prices(played(marked, tmp_path, percent=True)) == pytest.approx(whole)


def test_per_cent_is_asked_for(tmp_path):
    """Nobody guesses whether 62 is a confidence."""
    frame = small_log(400).with_columns(pl.col("gbm_confidence") * 100.0)
    with pytest.raises(InputError, match=r"row 1, column gbm_confidence: .* \(is it per cent\? Then say --percent\)"):
        played(frame, tmp_path)
    with pytest.raises(InputError, match=r"column gbm_confidence: it has .* Is it per cent\? Then say --percent"):
        played(frame, tmp_path, models=())
    assert played(frame, tmp_path, models=(), percent=True).models == ["gbm", "rules"]


def test_more_than_a_hundred_is_no_per_cent(tmp_path):
    frame = small_log(400).with_columns(pl.col("gbm_confidence") * 1_000.0)
    with pytest.raises(InputError, match=r"expected a confidence in \[0, 100\]"):
        played(frame, tmp_path, percent=True)


def test_a_model_without_a_confidence_is_followed_always_or_never(tmp_path):
    frame = small_log(400).drop("rules_confidence")
    models = (model_columns("class", "gbm=gbm:gbm_confidence"), model_columns("class", "rules=rules"))
    found = played(frame, tmp_path, models=models)
    assert "rules reports no confidence: its answers are followed always or never." in found.notes
    assert "--model rules=rules " in found.command
    same = played(frame.with_columns(rules_confidence=pl.lit(0.5)), tmp_path)
    assert prices(found) == prices(same)


def test_a_column_of_classes_without_a_confidence_is_pointed_out(tmp_path):
    small_log(400).drop("rules_confidence").write_csv(tmp_path / "log.csv")
    arguments = ["replay", str(tmp_path / "log.csv"), "--seeds", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "has no confidence: --model rules=rules takes it for a model all the same" in result.output


def test_the_way_out_is_quoted_for_a_shell(tmp_path):
    small_log(400).drop("rules_confidence").rename({"rules": "rules say"}).write_csv(tmp_path / "log.csv")
    arguments = ["replay", str(tmp_path / "log.csv"), "--seeds", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "--model 'rules say=rules say' takes it for a model" in result.output


def test_capitals_are_folded_if_asked_for(tmp_path):
    frame = small_log(400)
    whole = prices(played(frame, tmp_path))
    spoilt = frame.with_columns(pl.col("label").str.to_uppercase(), gbm=pl.col("gbm") + " ")
    assert "--fold-case takes them for the same" in " ".join(played(spoilt, tmp_path).warnings)
    found = played(spoilt, tmp_path, fold_case=True)
    assert prices(found) == whole
    assert found.warnings == []
    given = {"fold_case": True, "cost": None, "review_price": 1.0, "mistake_price": 5.0}
    priced = played(spoilt, tmp_path, **given, fixed_prices=(("A", "b", 2.0),))
    assert prices(priced) != prices(played(spoilt, tmp_path, **given))


@pytest.mark.parametrize("missing", ["NA", "", "NaN", " ", "na"])
def test_missing_values(tmp_path, missing):
    frame = small_log(400, missing=0.0)
    gone = pl.int_range(400) % 9 == 0
    holes = frame.with_columns(
        gbm=pl.when(gone).then(None).otherwise("gbm"),
        rules_confidence=pl.when(gone).then(None).otherwise("rules_confidence"),
    )
    texts = holes.with_columns(pl.all().cast(pl.String).fill_null(missing))
    found = played(texts, tmp_path, models=())
    assert prices(found) == prices(played(holes, tmp_path))
    assert "gbm has no answer in 45 rows" in " ".join(found.notes)
    assert "rules has no answer" not in " ".join(found.notes)
    words = (
        "rules has answers without a confidence in 45 of 400 rows: the column rules_confidence is empty there, and the"
    )
    assert words in " ".join(found.notes)


def test_a_model_whose_confidences_are_missing_gets_a_warning(tmp_path):
    frame = small_log(400, missing=0.0).with_columns(gbm_confidence=pl.lit(""))
    (warning,) = played(frame, tmp_path).warnings
    assert warning.startswith("gbm has answers without a confidence in 400 of 400 rows")
    assert warning.endswith("If it has none, write --model gbm=gbm.")


def test_a_missing_label_is_no_class(tmp_path):
    frame = small_log(400, missing=0.0, classes=("0", "1"))
    holes = frame.with_columns(label=pl.when(pl.int_range(400) % 9 == 3).then(pl.lit("NA")).otherwise("label"))
    found = played(holes, tmp_path)
    assert found.left_out == 45
    assert [name for name, *_ in found.mistakes] in (["0", "1"], ["1", "0"])


def test_of_columns_of_the_same_name_the_first_is_used(tmp_path):
    frame = small_log(400)
    header, *lines = frame.write_csv().splitlines()
    text = "\n".join([f"{header},gbm,extra,extra", *(f"{line},z,1,1" for line in lines)])
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    found = replay(tmp_path / "log.csv", options(), tmp_path / "out")
    assert found.warnings == ["the log has several columns gbm: the first is used."]
    assert prices(found) == prices(played(frame, tmp_path))


# Times.


def timed(frame, times, seen=None, **given):
    frame = frame.with_columns(t=pl.Series(times))
    return frame if seen is None else frame.with_columns(seen=pl.Series(seen))


def test_rows_of_the_same_time(tmp_path):
    """A label that comes at a time is known before the first later row of that time."""
    frame, n = small_log(400), 400
    seconds = np.arange(n) // 4 * 60.0
    found = played(timed(frame, seconds, seconds + 600.0), tmp_path, time="t", label_time="seen")
    apart = seconds + np.arange(n) % 4 * 1e-3
    other = played(timed(frame, apart, np.maximum(apart, seconds + 600.0)), tmp_path, time="t", label_time="seen")
    assert prices(found) == prices(other)
    wrong = timed(frame, np.where(np.arange(n) == 200, 0.0, seconds))
    with pytest.raises(InputError, match="row 201, column t: expected times in order"):
        played(wrong, tmp_path, time="t")


def test_seconds_and_milliseconds_are_told_apart(tmp_path):
    frame = small_log(400)
    seconds = 1_700_000_000 + 60 * np.arange(400)
    given = {"time": "t", "label_time": "seen"}
    whole = played(timed(frame, seconds, seconds + 6_000), tmp_path, **given)
    for times, seen in ((seconds * 1_000, (seconds + 6_000) * 1_000), (seconds * 1_000, seconds + 6_000)):
        found = played(timed(frame, times, seen), tmp_path, **given)
        assert (prices(found), found.delay) == (prices(whole), whole.delay)
    mixed = np.where(np.arange(400) < 300, seconds, seconds * 1_000)
    with pytest.raises(InputError, match="row 301, column t: expected a time in seconds, as in the rows above"):
        played(timed(frame, mixed), tmp_path, time="t")


def test_dates_that_end_with_the_year(tmp_path):
    """They are read as the log itself tells, by a day above 12; a log that does not tell is refused."""
    frame, path = small_log(200), tmp_path / "log.csv"
    days = [datetime(2026, 1, 5) + timedelta(hours=2 * t) for t in range(200)]

    def begins(form, shown, **given):
        frame.with_columns(at=pl.Series([f"{day:{form}}" for day in shown])).write_csv(path)
        return replay(path, options(time="at", **given), tmp_path / "out").timeline.time[0]

    for form in ("%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m-%d-%Y %H:%M", "%d.%m.%Y %H:%M"):
        assert begins(form, days) == "2026-01-05 00:00:00", form
    early = [days[0] + timedelta(minutes=t) for t in range(200)]
    for form in ("%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M"):
        words = "row 1, column at: expected a time written as 2026-01-05 00:02, for no row tells whether the day or"
        with pytest.raises(InputError, match=words):
            begins(form, early)
    assert begins("%d.%m.%Y %H:%M", early) == "2026-01-05 00:00:00"
    seen = pl.Series("seen", [f"{day:%m/%d/%Y %H:%M}" for day in days])  # the labels' times tell it
    frame = frame.with_columns(seen)
    assert begins("%m/%d/%Y %H:%M", [days[0]] * 200, label_time="seen") == "2026-01-05 00:00:00"
    with pytest.raises(InputError, match="column at or seen: expected a time written as .* begin with the month"):
        begins("%d/%m/%Y %H:%M", days, label_time="seen")


def test_days_of_excel_are_no_seconds(tmp_path):
    path = tmp_path / "log.csv"
    small_log(200).with_columns(at=46_027.001 + pl.int_range(200) / 24).write_csv(path)
    with pytest.raises(InputError, match=r"row 1, column at: .* 2026-01-05 00:02 \(are these Excel's days\?\)"):
        replay(path, options(time="at"), tmp_path / "out")
    small_log(200).with_columns(at=pl.int_range(200) * 300.5, seen=pl.int_range(200) * 300.5 + 20_000.5).write_csv(path)
    replay(path, options(time="at", label_time="seen"), tmp_path / "out")


def test_times_with_and_without_a_zone_are_refused_together(tmp_path):
    frame = small_log(400)
    dates = [START + timedelta(minutes=k) for k in range(400)]
    naive = [one.isoformat(" ") for one in dates]
    zoned = [f"{one}+02:00" for one in naive]
    mixed = [a if k < 300 else b for k, (a, b) in enumerate(zip(naive, zoned, strict=True))]
    with pytest.raises(InputError, match="row 301, column t: expected a time without a zone, as in the rows above"):
        played(timed(frame, mixed), tmp_path, time="t")
    with pytest.raises(InputError, match="row 1, column seen: expected a time without a zone, as in column t"):
        played(timed(frame, naive, zoned), tmp_path, time="t", label_time="seen")
    with pytest.raises(InputError, match="column seen: expected a time with a zone, as in column t"):
        played(timed(frame, zoned, list(range(400))), tmp_path, time="t", label_time="seen")
    later = [(one + timedelta(hours=2)).isoformat(" ") + "Z" for one in dates]
    found = played(timed(frame, zoned, later), tmp_path, time="t", label_time="seen")
    assert "4 hours after the case" in found.delay
    aware = [one.replace(tzinfo=UTC) for one in dates]
    timed(frame, aware, dates).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(InputError, match="column seen: expected a time with a zone, as in column t"):
        replay(tmp_path / "log.parquet", options(time="t", label_time="seen"), tmp_path / "out")


def test_labels_whose_delay_depends_on_what_they_say(tmp_path):
    """Frauds are reported within hours, the rest is known after two weeks: an age at which to learn is recommended."""
    frame = small_log(600, classes=("ok", "fraud"))
    seconds = 3_600.0 * np.arange(600)
    fraud = (frame["label"] == "fraud").to_numpy()
    seen = seconds + np.where(fraud, 3 * 3_600.0, 14 * 86_400.0)
    (warning,) = played(timed(frame, seconds, seen), tmp_path, time="t", label_time="seen").warnings
    assert warning.startswith("labels of 'fraud' come earlier than those of 'ok'")
    assert '--maturity "15 days"' in warning
    kept = played(timed(frame, seconds, seen), tmp_path, time="t", label_time="seen", maturity="15 days")
    assert kept.warnings == []
    alike = seconds + np.random.default_rng(0).exponential(86_400.0, 600)
    assert played(timed(frame, seconds, alike), tmp_path, time="t", label_time="seen").warnings == []


def test_ages_are_rounded_up():
    assert [maturity(x) for x in (0.5, 119.0, 121.0, 1.2e6)] == ["2 seconds", "119 seconds", "3 minutes", "14 days"]


# Labels and capacities.


def test_audits(tmp_path):
    """Labels of a twentieth of the answers, and of all reviews."""
    found = played(small_log(2_000), tmp_path, labels=(0.05, 1.0))
    assert found.labels == "0.05,1"
    assert "--labels 0.05,1 " in found.command
    assert "one comes after 5.0 % of the answers and 100 % of the reviews" in " ".join(found.unknown)
    both = prices(played(small_log(2_000), tmp_path, labels="both"))
    assert prices(played(small_log(2_000), tmp_path, labels=(1.0, 1.0))) == both
    with pytest.raises(InputError, match="--labels: expected .* such as 0.05,1.0, got '0.05,2.0'"):
        Options(labels=(0.05, 2.0))


@pytest.mark.long
def test_a_capacity_per_day(tmp_path):
    """The gate and its rivals keep to it; the day's reviews may be used at once, and one day more in a burst."""
    frame, n = small_log(2_000), 2_000
    times = [START + timedelta(minutes=14.4 * k) for k in range(n)]  # a hundred per day
    found = played(timed(frame, times), tmp_path, time="t", capacity_per_day=20)
    assert found.share == pytest.approx(0.2, abs=0.001)
    assert found.capacity == "20 a day, bursts of 20"
    assert "--capacity-per-day 20 " in found.command
    for one in found.policies:
        if one.kind in ("gate", "tuned", "retuned-own", "stack", "retuned-all"):
            assert one.reviewed <= 0.2 + 40 / 1_800, one
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    reviewed = (cases["action"] == "review").to_numpy().cumsum()
    for day in range(1, 20):
        assert reviewed[100 * day - 1] <= 20 * (day + 1) + 100  # and those that no model answers
    with pytest.raises(InputError, match="--capacity-per-day: expected --time with it"):
        Options(capacity_per_day=20)
    with pytest.raises(InputError, match="--capacity-per-day: expected either"):
        Options(capacity_per_day=20, capacity=0.1, time="t")
    with pytest.raises(InputError, match="--capacity-per-day: expected a whole number"):
        Options(capacity_per_day=20.5, time="t")


def test_a_whole_number_of_reviews_may_be_a_float():
    assert Capacity(per_day=50.0) == Capacity(per_day=50)


# Names.


def test_columns_with_colons_and_equals_signs(tmp_path):
    """The command that is printed runs as it is printed."""
    odd = {"gbm": "g:b=m", "gbm_confidence": "g:b=m_confidence", "label": "label"}
    small_log(400).rename(odd).write_csv(tmp_path / "log.csv")
    first = replay(tmp_path / "log.csv", Options(seeds=1, today=None), tmp_path / "out")
    assert first.models == ["g:b=m", "rules"]
    words = [*shlex.split(first.command)[1:], "--today", "g:b=m:0.6"]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    assert "today: g:b=m above 0.6" in result.output
    text = model_columns("class", "g:b=m=g:b=m:g:b=m_confidence")
    assert as_in(text, ["g:b=m", "g:b=m_confidence"]).columns == ("g:b=m", "g:b=m_confidence")
    assert as_in(model_columns("probability", "a=b=c"), ["b=c"]).name == "a"
    assert as_in(model_columns("probability", "a=b=c"), ["c"]).name == "a=b"


def test_two_models_whose_names_begin_alike(tmp_path):
    frame = small_log(400).rename(
        {"gbm": "m=1", "gbm_confidence": "m=1_sure", "rules": "m=2", "rules_confidence": "m=2_sure"}
    )
    models = tuple(model_columns("class", f"m={k}=m={k}:m={k}_sure") for k in (1, 2))
    assert played(frame, tmp_path, models=models).models == ["m=1", "m=2"]
    with pytest.raises(InputError, match="expected each name once, got 'm=1' twice"):
        played(frame, tmp_path, models=(models[0], models[0]))


@pytest.mark.parametrize(
    ("classes", "positive"),
    [
        (("no", "yes"), "yes"), (("spam", "valid"), "spam"), (("False", "True"), "True"), (("fraud", "legit"), "fraud"),
        (("not fraud", "fraud"), "fraud"), (("alpha", "fraud"), "fraud"), (("Y", "N"), "Y"), (("0", "1"), "1"),
        (("-1", "1"), "1"),
    ],
)  # fmt: skip
def test_the_positive_class_by_its_meaning(tmp_path, classes, positive):
    rng = np.random.default_rng(0)
    p, truth = rng.random(300), rng.integers(0, 2, 300)
    pl.DataFrame({"label": [classes[k] for k in truth], "m": p}).write_csv(tmp_path / "log.csv")
    given = Options(models=(model_columns("probability", "p=m"),), label="label", seeds=1)
    notes = " ".join(replay(tmp_path / "log.csv", given, tmp_path / "out").notes)
    assert f"Probabilities are taken to be of '{positive}' (as its name suggests" in notes.replace("of 1", "of '1'")


@pytest.mark.parametrize("classes", [("alpha", "beta"), ("1", "2"), ("yes", "true")])
def test_an_unclear_positive_class_is_asked_for(tmp_path, classes):
    rng = np.random.default_rng(0)
    pl.DataFrame({"label": rng.choice(classes, 300), "m": rng.random(300)}).write_csv(tmp_path / "log.csv")
    given = Options(models=(model_columns("probability", "p=m"),), label="label", seeds=1)
    with pytest.raises(InputError, match="--positive: expected the class that m has the probability of"):
        replay(tmp_path / "log.csv", given, tmp_path / "out")
    replay(tmp_path / "log.csv", replace(given, positive=classes[0]), tmp_path / "out")


def test_meanings():
    assert [meaning(one) for one in ("SPAM", "no fraud", "non-default", "legit", "dog", "good fraud")] == [
        1,
        -1,
        -1,
        -1,
        0,
        0,
    ]


def european(frame, tmp_path, *columns):
    """Write a log with ``;``, and decimal commas in some columns; classes have a comma, too."""
    comma = pl.col(columns).cast(pl.String).str.replace(".", ",", literal=True)
    frame.with_columns(comma).write_csv(tmp_path / "log.csv", separator=";")


def test_decimal_commas(tmp_path):
    """They are read where a number is expected; the class 1,5 is a text, and not the class 1.5."""
    classes = ("1,5", "1.5", "2,5")
    frame = small_log(400, classes=classes).with_columns(amount=pl.int_range(400) % 7 + 1.25)
    given = {"cost": None, "review_price": 1.0, "mistake_column": "amount"}
    whole = prices(played(frame, tmp_path, **given))
    european(frame, tmp_path, "gbm_confidence", "rules_confidence", "amount")
    for models in (options().models, ()):
        found = replay(tmp_path / "log.csv", options(models=models, **given), tmp_path / "out")
        assert prices(found) == whole
        note = "Numbers with a decimal comma, as 0,9 for 0.9: gbm_confidence, rules_confidence, amount."
        assert note in found.notes
    assert {name for name, *_ in found.mistakes} == set(classes)


def test_decimal_commas_of_labels_that_are_numbers(tmp_path):
    rows = pl.int_range(300)
    frame = pl.select(y=rows * 0.5, index=rows * 0.5 + rows % 3, e=rows % 3 * 0.5)
    given = {"models": (model_columns("value", "m=index:e"),), "label": "y", "max_error": 4.0}
    whole = prices(played(frame, tmp_path, **given))
    european(frame, tmp_path, "y", "index", "e")
    assert prices(replay(tmp_path / "log.csv", options(**given), tmp_path / "out")) == whole


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (["1,234", "2,000", "12"], "row 1, column amount: expected .*, got '1,234'"),
        (["1.234,50", "2,5", "1"], "row 1, column amount: expected .*, got '1.234,50'"),
        (["1.234", "2000", "12"], "row 1, column amount: expected a number without a point, for column gbm_confidence"),
        (["0,5", "2.5", "12"], "column amount: expected a number without a point, for column gbm_confidence"),
        (["0,5"] * 2_500 + ["2.5"], "row 2,501, column amount: expected a number without a point, .*, got '2.5'"),
        (["0,5"] * 2_500 + ["1,234,567"], "row 2,501, column amount: expected .*, got '1,234,567'"),
    ],
)
def test_commas_that_may_be_of_thousands_are_refused(tmp_path, amount, words):
    n = max(300, len(amount))
    frame = small_log(n).with_columns(amount=pl.Series((amount * n)[:n]))
    european(frame, tmp_path, "gbm_confidence", "rules_confidence")
    given = options(cost=None, review_price=0.1, mistake_column="amount")
    with pytest.raises(InputError, match=words):
        replay(tmp_path / "log.csv", given, tmp_path / "out")


def test_decimal_commas_between_commas_are_refused(tmp_path):
    frame = small_log(300).with_columns(pl.col("gbm_confidence").cast(pl.String).str.replace(".", ",", literal=True))
    with pytest.raises(InputError, match=r"column gbm_confidence: .* \(is it a decimal comma\? Write 0\.\d+\)"):
        played(frame, tmp_path)
