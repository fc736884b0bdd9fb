"""A gate's own cases, with the labels that came: what did it save?"""

import json
from datetime import datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain.cli import app
from abstain.errors import FileError, InputError
from abstain.replay.options import Options
from abstain.replay.run import replay

pytestmark = pytest.mark.usefixtures("no_page")

START = datetime(2026, 3, 1)


def live(folder, n=3_000, seed=0, **given):
    """A gate that answers cases and gets the labels of what it answered: claude is sure and often wrong."""
    rng = np.random.default_rng(seed)
    gate = ab.Gate(["claude", "rules"], **{"review_price": 2.0, "mistake_price": 10.0, "seed": seed, **given})
    lines, labels, paid, wrong = [], [], [], []
    for t in range(n):
        truth = "ab"[rng.integers(2)]
        other = "b" if truth == "a" else "a"
        hard = rng.random() < 0.7
        sure = rng.uniform(0.5, 0.8) if hard else rng.uniform(0.9, 1.0)
        claude = other if rng.random() < (0.8 if hard else 0.05) else truth
        rules = None if t % 7 == 0 else (truth if rng.random() < 0.7 else other, 0.6)
        case = gate.decide({"claude": (claude, sure), "rules": rules}, time=START + timedelta(minutes=t))
        lines.append(case.to_json())
        wrong.append(claude != truth)
        paid.append(0.2 if case.action == "review" else float(case.answer != truth))
        if case.action == "answer":
            gate.learn(case, truth)
            labels.append({"id": case.id, "label": truth})
    (folder / "cases.jsonl").write_text("\n".join(lines) + "\n")
    pl.DataFrame(labels).write_csv(folder / "labels.csv")
    return np.array(paid), np.array(wrong)


def test_what_a_live_gate_saved(tmp_path):
    """What it cost is exact; what "always claude" would have cost is estimated, though its hard cases have no label."""
    paid, wrong = live(tmp_path)
    path, truth = tmp_path / "cases.jsonl", tmp_path / "labels.csv"
    found = replay(path, Options(seeds=1), tmp_path / "out", truth=truth)
    assert (found.log, found.lead, found.rows, found.price) == ("cases.jsonl", "decided", 3_000, 10.0)
    assert found.verdict.startswith("What was decided costs")
    always = next(one for one in found.policies if one.name == "always claude")
    true, known = wrong[300:].mean(), pl.read_csv(truth)
    assert always.lowest - 0.05 <= true <= always.highest + 0.05
    assert always.highest - always.lowest <= 1.0 - len(known) / 3_000 + 0.05  # by the labels that are not there
    decided = next(one for one in found.policies if one.kind == "decided")
    assert decided.loss == pytest.approx(paid[300:].mean())
    assert decided.known
    apart = true - next(one for one in found.policies if one.kind == "tuned").loss
    assert always.low <= apart + 0.05
    assert 0 < found.effective <= len(known)
    assert found.days == pytest.approx(2_699 / 1_440)
    assert not any("a month" in note for note in found.notes)  # what "tuned" would have cost is a range
    assert "Prices are those of the last case: a review costs 2, and every mistake 10." in found.notes
    assert found.command.startswith(f"abstain replay {path} {truth} --review-price 2 --mistake-price 10 ")
    assert "--model" not in found.command


def test_the_same_command(tmp_path, monkeypatch):
    live(tmp_path, n=400)
    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["replay", str(tmp_path / "cases.jsonl"), str(tmp_path / "labels.csv"), "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, [*arguments, "--seeds", "1"])
    assert result.exit_code == 0, result.output
    assert "What was decided costs" in result.output
    assert max(map(len, result.output.split("What was decided")[0].splitlines())) <= 80


def test_stakes_and_times_of_labels(tmp_path):
    gate = ab.Gate(["m"], review_price=1.0, max_stake=20.0, seed=0)
    lines, labels = [], []
    rng = np.random.default_rng(0)
    for t in range(300):
        case = gate.decide({"m": (int(rng.integers(2)), 0.9)}, stake=float(rng.integers(1, 20)), time=100.0 * t)
        lines.append(case.to_json())
        if case.action == "answer" or t < 30:
            labels.append({"case_id": case.id, "truth": 1, "label_time": 100.0 * t + 500.0})
    (tmp_path / "cases.jsonl").write_text("\n".join(lines))
    pl.DataFrame(labels).write_parquet(tmp_path / "labels.parquet")
    found = replay(tmp_path / "cases.jsonl", Options(seeds=1), tmp_path / "out", truth=tmp_path / "labels.parquet")
    assert found.stakes
    assert (found.price, found.cost) == (20.0, 0.05)
    assert "500 seconds after the case" in found.delay or "8.33 minutes" in found.delay


def test_prices_by_kind(tmp_path):
    """Cases tell no prices by kind. Given as the note says, they price what was decided exactly."""
    prices = {("ok", "fraud"): ab.PerStake(1.0), ("fraud", "ok"): 6.0}
    gate = ab.Gate(["m"], classes=["ok", "fraud"], review_price=2.0, mistake_price=prices, labels="both", seed=0)
    rng, lines, labels, paid = np.random.default_rng(0), [], [], []
    for _ in range(400):
        truth, stake = ("ok", "fraud")[rng.integers(2)], float(rng.integers(1, 20))
        case = gate.decide({"m": (("ok", "fraud")[rng.integers(2)], rng.uniform(0.5, 1.0))}, stake=stake)
        wrong = 0.0 if case.answer == truth else stake if case.answer == "ok" else 6.0
        paid.append(2.0 if case.action == "review" else wrong)
        gate.learn(case, truth)
        lines.append(case.to_json())
        labels.append({"id": case.id, "label": truth})
    path, truth_file = tmp_path / "cases.jsonl", tmp_path / "labels.csv"
    path.write_text("\n".join(lines))
    pl.DataFrame(labels).write_csv(truth_file)
    found = replay(path, Options(seeds=1), tmp_path / "out", truth=truth_file)
    hint = "--review-price 2 --mistake-column stake --fixed-price SAID:TRUE=PRICE"
    assert any(hint in note for note in found.notes)
    given = Options(seeds=1, review_price=2.0, mistake_column="stake", fixed_prices=(("fraud", "ok", 6.0),))
    found = replay(path, given, tmp_path / "out", truth=truth_file)
    decided = next(one for one in found.policies if one.kind == "decided")
    assert decided.loss * found.price == pytest.approx(np.mean(paid[40:]))
    assert "--mistake-column stake --fixed-price fraud:ok=6" in found.command


def kinds_month(folder, seed=0, n=2_000, flip=False, **given):
    """Write the cases and labels of a gate that sees labels of its answers: a missed fraud costs what is at stake, a
    false alarm 6, a review 2. With ``flip`` the cases that were reviewed have the other class.

    Returns:
        The true prices per case, after the first tenth, of the gate and of m above 0.75.
    """
    prices = {("ok", "fraud"): ab.PerStake(1.0), ("fraud", "ok"): 6.0}
    gate = ab.Gate(["m", "rules"], classes=["ok", "fraud"], review_price=2.0, mistake_price=prices, seed=seed, **given)
    rng, lines, labels, paid, today = np.random.default_rng(seed), [], [], [], []
    for t in range(n):
        truth, stake, sure = ("ok", "fraud")[rng.random() < 0.3], float(rng.integers(1, 20)), rng.uniform(0.5, 1.0, 2)
        other = "ok" if truth == "fraud" else "fraud"
        m, rules = (truth if rng.random() < one else other for one in (sure[0], 0.7))
        case = gate.decide({"m": (m, sure[0]), "rules": (rules, sure[1])}, stake=stake, time=START + timedelta(hours=t))
        if flip and case.action == "review":
            truth, other = other, truth

        def price(said, truth=truth, stake=stake):
            return 0.0 if said == truth else 2.0 if said is None else stake if said == "ok" else 6.0

        lines.append(case.to_json())
        paid.append(price(case.answer))
        today.append(price(m) if sure[0] > 0.75 else 2.0)
        if case.action == "answer":
            gate.learn(case, truth)
            labels.append((case.id, truth))
    (folder / "cases.jsonl").write_text("\n".join(lines))
    pl.DataFrame(labels, ["id", "label"], orient="row").write_csv(folder / "labels.csv")
    return np.mean(paid[n // 10 :]), np.mean(today[n // 10 :])


def test_prices_by_kind_if_labels_are_missing(tmp_path):
    """As a user would: what the gate cost is exact, and the interval of what it saved holds what it saved."""
    paid, today = kinds_month(tmp_path)
    files, prices = [str(tmp_path / name) for name in ("cases.jsonl", "labels.csv")], "--review-price 2"
    arguments = f"{prices} --mistake-column stake --fixed-price fraud:ok=6 --today m:0.75 --seeds 1 --out"
    result = CliRunner().invoke(app, ["replay", *files, *arguments.split(), str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    told = json.loads((tmp_path / "out" / "replay.json").read_text())
    decided = next(one for one in told["policies"] if one["kind"] == "decided")
    assert decided["loss"] * told["price"] == pytest.approx(paid)
    assert decided["low"] * told["price"] <= paid - today <= decided["high"] * told["price"]
    assert decided["low"] < decided["high"]


def test_labels_that_nobody_saw_change_nothing(tmp_path):
    """Whatever the class of a reviewed case was, the gate decides the same, and the replay says the same."""
    given = Options(seeds=1, review_price=2.0, mistake_column="stake", fixed_prices=(("fraud", "ok", 6.0),))
    told = []
    for flip in (False, True):
        kinds_month(tmp_path, n=600, flip=flip)
        told.append(replay(tmp_path / "cases.jsonl", given, tmp_path / "out", truth=tmp_path / "labels.csv").policies)
    assert told[0] == told[1]


def test_times_with_a_zone(tmp_path):
    """Cases keep theirs in UTC; labels may have another one, but none is refused, for they would be hours off."""
    gate = ab.Gate(["m"], cost=0.2, labels="both", seed=0)
    lines, labels = [], []
    there = timezone(timedelta(hours=2))
    for t in range(200):
        now = START.replace(tzinfo=there) + timedelta(minutes=t)
        case = gate.decide({"m": ("a", 0.6 + 0.002 * t)}, time=now)
        lines.append(case.to_json())
        labels.append((case.id, "ab"[t % 3 == 0], now + timedelta(minutes=30)))
    (tmp_path / "cases.jsonl").write_text("\n".join(lines))
    table = pl.DataFrame(
        [(i, label, time.isoformat()) for i, label, time in labels], ["id", "label", "label_time"], orient="row"
    )
    table.write_csv(tmp_path / "labels.csv")
    found = replay(tmp_path / "cases.jsonl", Options(seeds=1), tmp_path / "out", truth=tmp_path / "labels.csv")
    assert "30 minutes after the case" in found.delay
    naive = table.with_columns(pl.col("label_time").str.head(19))
    naive.write_csv(tmp_path / "labels.csv")
    with pytest.raises(InputError, match="label_time: expected a time with a zone, as in column time"):
        replay(tmp_path / "cases.jsonl", Options(seeds=1), tmp_path / "other", truth=tmp_path / "labels.csv")


def test_what_is_refused(tmp_path):
    live(tmp_path, n=200)
    path, truth = tmp_path / "cases.jsonl", tmp_path / "labels.csv"
    with pytest.raises(InputError, match="expected a file of labels after a file of cases"):
        replay(path, Options(), tmp_path / "out")
    with pytest.raises(InputError, match="only after a file of cases"):
        replay(truth, Options(), tmp_path / "out", truth=truth)
    (tmp_path / "bad.csv").write_text("id,label\nnobody,a\n")
    with pytest.raises(InputError, match="got none with an id of theirs"):
        replay(path, Options(), tmp_path / "out", truth=tmp_path / "bad.csv")
    (tmp_path / "bad.csv").write_text("who,label\nnobody,a\n")
    with pytest.raises(InputError, match="expected the columns id .of the case. and label, got who, label"):
        replay(path, Options(), tmp_path / "out", truth=tmp_path / "bad.csv")
    one = pl.read_csv(truth)["id"][0]
    (tmp_path / "bad.csv").write_text(f"id,label\n{one},a\n{one},b\n")
    with pytest.raises(InputError, match=f"got two for {one}"):
        replay(path, Options(), tmp_path / "out", truth=tmp_path / "bad.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], "{}"]))
    with pytest.raises(FileError, match="line 2: case: expected JSON"):
        replay(path, Options(), tmp_path / "out", truth=truth)
    path.write_text("\n".join([lines[0], lines[0]]))
    with pytest.raises(InputError, match="expected every case once"):
        replay(path, Options(), tmp_path / "out", truth=truth)
