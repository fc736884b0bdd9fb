"""Labels that come when the log says."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from abstain import load
from abstain.errors import InputError
from abstain.gate import Gate
from abstain.replay import rows as rows_of
from abstain.replay.run import as_json, replay

from .logs import NAMES, followed, judged, options, retuned, small_log

pytestmark = pytest.mark.usefixtures("no_page")

START = datetime(2026, 3, 1, 8, 30)


def with_times(frame, late, seed=0):
    """Cases at uneven times, labels ``late`` minutes later in the mean; some have no time."""
    rng = np.random.default_rng(seed)
    at = np.cumsum(rng.integers(1, 120, len(frame)))
    seen = at + rng.exponential(late * 60.0, len(frame)).round().astype(int)
    gone = rng.random(len(frame)) < 0.02
    return frame.with_columns(
        pl.Series("at", [START + timedelta(seconds=int(s)) for s in at]),
        pl.Series("seen", [None if g else START + timedelta(seconds=int(s)) for s, g in zip(seen, gone, strict=True)]),
    )


def due_of(frame):
    """The first later case that is not before the label; beyond the last, if there is none."""
    at, seen = frame["at"].to_list(), frame["seen"].to_list()
    n = len(at)
    return [n if seen[t] is None else next((s for s in range(t + 1, n) if at[s] >= seen[t]), n) for t in range(n)]


@pytest.fixture(params=[2**17, 61], ids=["one slice", "many slices"])
def _slices(request, monkeypatch):
    monkeypatch.setattr(rows_of, "SLICE", request.param)
    monkeypatch.setattr("abstain.replay.log.SLICE", request.param)


@pytest.mark.usefixtures("_slices")
def test_labels_come_by_time(tmp_path):
    frame = with_times(small_log(1_200, seed=5), late=60)
    frame.write_parquet(tmp_path / "log.parquet")
    found = replay(tmp_path / "log.parquet", options(time="at", label_time="seen", labels="both"), tmp_path / "out")
    due, (sure, lost) = due_of(frame), judged(frame)
    assert 10 < np.median([d - t for t, d in enumerate(due)]) < 200
    for kind, own in (("retuned-own", True), ("retuned-all", False)):
        loss, _ = followed(sure, lost, 0.25, retuned(sure, lost, 0.25, due, own))
        assert next(one for one in found.policies if one.kind == kind).loss == pytest.approx(np.mean(loss[120:]))
    gate = Gate(NAMES, cost=0.25, labels="both", seed=0)
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").to_dicts()
    decided = []
    for t, row in enumerate(frame.to_dicts()):
        for s in sorted((s for s in range(t) if due[s] == t), key=lambda s: (frame["seen"][s], s)):
            gate.learn(decided[s], frame["label"][s])
        answers = {name: (row[name], row[f"{name}_confidence"]) for name in NAMES}
        decided.append(gate.decide(answers, time=row["at"]))
        assert (cases[t]["action"], cases[t]["model"]) == (decided[t].action, decided[t].model), t
    saved = load(tmp_path / "out" / "gate.abstain")  # as it was after the last row: the rest is still to come
    np.testing.assert_array_equal(saved.learner.weights, gate.learner.weights)
    assert saved.pending == gate.pending == tuple(t + 1 for t in range(1_200) if due[t] == 1_200)
    known = frame.filter(pl.col("seen").is_not_null())
    late = (known["seen"] - known["at"]).dt.total_seconds().mean()
    assert 3_000 < late < 4_500
    assert found.delay == f"at the times in the column seen, {late / 60:.3g} minutes after the case on average"
    assert found.days == pytest.approx((frame["at"][-1] - frame["at"][120]) / timedelta(days=1))
    assert "labels have no time in seen" in " ".join(found.notes)
    assert found.timeline.time[0] == str(frame["at"][0])


@pytest.mark.usefixtures("_slices")
@pytest.mark.parametrize(
    ("maturity", "given"), [("2 hours", {}), (200, {}), ("2 hours", {"delay": 5}), ("40", {"delay": 30})]
)
@pytest.mark.parametrize("labels", ["answered", "both"])
@pytest.mark.sample(4)
def test_labels_are_learnt_at_an_age(tmp_path, maturity, given, labels):
    """If all labels come before that age, the replay is what `decide` and `learn` do, also without a label."""
    rng, frame = np.random.default_rng(0), with_times(small_log(700, seed=5), late=60)
    seen = [at + timedelta(seconds=int(rng.integers(0, 7_000))) for at in frame["at"]]
    frame = frame.with_columns(pl.Series("seen", seen))
    frame.write_parquet(tmp_path / "log.parquet")
    given = given or {"label_time": "seen"}
    asked = options(time="at", maturity=str(maturity), labels=labels, **given)
    found = replay(tmp_path / "log.parquet", asked, tmp_path / "out")
    assert (
        f"were kept until their case was {maturity if maturity == '2 hours' else f'{maturity} rows'} old" in found.delay
    )
    gate, decided = Gate(NAMES, cost=0.25, labels=labels, seed=0, maturity=maturity), []
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").to_dicts()
    for t, row in enumerate(frame.to_dicts()):
        answers = {name: (row[name], row[f"{name}_confidence"]) for name in NAMES}
        decided.append(gate.decide(answers, time=row["at"]))
        assert (cases[t]["action"], cases[t]["model"]) == (decided[t].action, decided[t].model), t
        if labels == "both" or decided[t].action == "answer":
            gate.learn(decided[t], row["label"])  # at once: it is kept
    saved = load(tmp_path / "out" / "gate.abstain")
    assert saved.maturity == gate.maturity
    np.testing.assert_array_equal(saved.learner.weights, gate.learner.weights)
    assert sorted((*saved.pending, *saved.learner._backlog.rounds())) == list(gate.learner._backlog.rounds())
    assert f"--maturity {maturity}" in found.command.replace("'", "")


def test_a_span_needs_the_times_of_cases():
    with pytest.raises(InputError, match="--maturity: expected --time"):
        options(maturity="3 days")
    with pytest.raises(InputError, match="--maturity: expected a number of cases"):
        options(maturity="soon")


def test_times_of_any_kind(tmp_path):
    frame = with_times(small_log(300), late=30)
    given = options(time="at", label_time="seen")
    frame.write_parquet(tmp_path / "log.parquet")

    def found(name):
        told = as_json(replay(tmp_path / name, given, tmp_path / "out"))
        return {key: value for key, value in told.items() if key not in ("saved", "stretch", "verdict")}  # in days

    expected = found("log.parquet")
    columns = pl.col("at", "seen")
    seconds = columns.dt.timestamp("ms") / 1_000
    others = {
        "text.csv": frame,
        "zulu.csv": frame.with_columns(columns.dt.to_string("%Y-%m-%dT%H:%M:%SZ")),
        "seconds.csv": frame.with_columns(seconds),
        "seconds.parquet": frame.with_columns(seconds.cast(pl.Int64)),
        "milliseconds.csv": frame.with_columns(columns.dt.timestamp("ms")),
        "zone.parquet": frame.with_columns(columns.dt.replace_time_zone("Europe/Berlin")),
        "ns.parquet": frame.with_columns(columns.cast(pl.Datetime("ns"))),
    }
    for name, other in others.items():
        other.write_csv(tmp_path / name) if name.endswith("csv") else other.write_parquet(tmp_path / name)
        assert found(name) == expected, name


def test_a_row_late_by_time_is_a_row_late_by_number(tmp_path):
    frame = small_log(300).with_columns(at=pl.int_range(300), seen=pl.int_range(300) + 7.5)
    frame.write_csv(tmp_path / "log.csv")
    by_time = replay(tmp_path / "log.csv", options(time="at", label_time="seen"), tmp_path / "out")
    by_number = replay(tmp_path / "log.csv", options(delay=7), tmp_path / "out")
    assert as_json(by_time) == as_json(by_number)
    assert by_number.delay == "7 rows late"
    assert by_time.timeline.time[:2] == ["0", "1"]


def test_labels_that_come_too_late_are_no_proof_that_nothing_drifts(tmp_path):
    frame = small_log(3_000).with_columns(t=pl.int_range(pl.len()) * 1.0, seen=pl.int_range(pl.len()) + 2_900.0)
    frame.write_csv(tmp_path / "log.csv")
    late = (options(delay=2_900), options(time="t", label_time="seen"))
    verdicts = [replay(tmp_path / "log.csv", one, tmp_path / "out").verdict for one in late]
    assert not any("nothing drifts" in verdict for verdict in verdicts)
