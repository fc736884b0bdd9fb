"""A month of a live gate, made by a script that knows the truth: what a replay says was saved covers it."""

import csv
import json
from collections import deque
from datetime import datetime, timedelta

import numpy as np
import pytest
from typer.testing import CliRunner

import abstain as ab
from abstain.cli import app
from abstain.errors import InputError
from abstain.replay.cases import Chances
from abstain.replay.options import Options
from abstain.replay.run import replay

pytestmark = pytest.mark.usefixtures("no_page")

BEGIN, OTHER = datetime(2026, 3, 1), {"spam": "ham", "ham": "spam"}
PRICES = {"stakes": ab.PerStake(1.0), "kinds": {("spam", "ham"): 5.0, "other": ab.PerStake(1.0)}}
"""What mistakes cost, if not 5 each."""
SHARES = {"answered": (1.0, 0.0), "reviewed": (0.0, 1.0), "both": (1.0, 1.0)}


def month(folder, seed, labels, n=6_000, late=1.0, wait=True, mistake=5.0, **given):
    """Write ``cases.jsonl`` and ``labels.csv`` of a month in which gbm breaks for five days.

    Labels come ``late`` days after their case; with ``wait``, those of the last cases are waited for. ``mistake`` is
    what mistakes cost: 5, or one of `PRICES`.

    Returns:
        The true prices per case, after the first tenth, of the gate and of today's policy, gbm above 0.7.
    """
    rng = np.random.default_rng(seed)
    gate = ab.Gate(["gbm", "rules"], review_price=1.0, mistake_price=mistake, labels=labels, seed=seed, **given)
    stake = np.round(np.exp(np.random.default_rng(seed).normal(1.0, 1.0, n)), 2).tolist()
    truth, sure = rng.choice(["spam", "ham"], n).tolist(), rng.uniform(0.5, 1.0, (n, 2))
    right = rng.random((n, 2)) < np.column_stack([sure[:, 0], 0.25 + 0.5 * sure[:, 1]])
    right[n // 2 : 2 * n // 3, 0] = rng.random(2 * n // 3 - n // 2) < 0.5
    said = [[t if ok else OTHER[t] for ok in row] for t, row in zip(truth, right.tolist(), strict=True)]
    silent, audit = rng.random(n) < 0.2, rng.random(n)
    waiting, rows, paid, today = deque(), [], [], []

    def cost(answer, i):
        price = mistake.get((answer, truth[i]), mistake["other"]) if isinstance(mistake, dict) else mistake
        return 0.0 if answer == truth[i] else price.times * stake[i] if isinstance(price, ab.PerStake) else price

    with (folder / "cases.jsonl").open("w") as cases:
        for i in range(n):
            now = BEGIN + i * timedelta(days=30) / n
            while waiting and waiting[0][0] <= now:
                when, case, label = waiting.popleft()
                gate.learn(case, label)
                rows.append((case.id, label, when))
            rules = None if silent[i] else (said[i][1], float(sure[i, 1]))
            answers = {"gbm": (said[i][0], float(sure[i, 0])), "rules": rules}
            case = gate.decide(answers, time=now, **({} if mistake == 5.0 else {"stake": stake[i]}))
            cases.write(case.to_json() + "\n")
            if audit[i] < SHARES.get(labels, labels)[case.action == "review"]:
                waiting.append((now + timedelta(days=late), case, truth[i]))
            paid.append(1.0 if case.action == "review" else cost(case.answer, i))
            today.append(cost(said[i][0], i) if sure[i, 0] > 0.7 else 1.0)
    rows += [(case.id, label, when) for when, case, label in waiting] * wait
    with (folder / "labels.csv").open("w", newline="") as table:
        csv.writer(table).writerows([("id", "label", "label_time"), *rows])
    return float(np.mean(paid[n // 10 :])), float(np.mean(today[n // 10 :]))


def told(folder, **given):
    options = Options(today="gbm:0.7", seeds=1, **given)
    found = replay(folder / "cases.jsonl", options, folder / "out", truth=folder / "labels.csv")
    lead = next(one for one in found.policies if one.kind == "decided")
    return found, lead, (lead.low * found.price, lead.high * found.price)


@pytest.mark.parametrize("labels", ["answered", "both", (0.1, 1.0)])
@pytest.mark.sample(1)
def test_what_was_saved_covers_the_truth(tmp_path, labels):
    paid, today = month(tmp_path, 1, labels, n=2_000)
    found, lead, (low, high) = told(tmp_path)
    assert low <= paid - today <= high
    assert found.lead == "decided"
    assert found.labels == (labels if isinstance(labels, str) else "0.1,1")
    if labels != (0.1, 1.0):
        assert lead.loss * found.price == pytest.approx(paid)  # what was answered has its labels


@pytest.mark.long
@pytest.mark.parametrize("labels", ["answered", "reviewed", "both", (0.1, 1.0), (0.5, 0.5)])
def test_what_was_saved_covers_the_truth_on_many_logs(tmp_path, labels):
    """Of twelve months at most one is outside of a 95 % interval; with reviews alone there are bounds."""
    inside = 0
    for seed in range(12):
        paid, today = month(tmp_path, seed, labels)
        _, _, (low, high) = told(tmp_path)
        inside += low <= paid - today <= high
    assert inside >= 11


@pytest.mark.long
@pytest.mark.parametrize("labels", ["answered", (0.3, 1.0)])
@pytest.mark.parametrize("kind", PRICES)
def test_what_was_saved_covers_the_truth_with_stakes_and_kinds(tmp_path, kind, labels):
    given = {"fixed_prices": (("spam", "ham", 5.0),), "review_price": 1.0, "mistake_column": "stake"}
    inside, widths = 0, []
    for seed in range(12):
        paid, today = month(tmp_path, seed, labels, n=3_000, late=1.0 + seed % 3, mistake=PRICES[kind])
        _, _, (low, high) = told(tmp_path, **(given if kind == "kinds" else {}))
        inside += low <= paid - today <= high
        widths.append((high - low) / paid)
    assert inside >= 11
    assert np.median(widths) < 2.0


@pytest.mark.long
def test_labels_that_are_not_there_yet(tmp_path):
    """The last cases are left out, for their labels are on their way: else their bounds would hide everything."""
    month(tmp_path, 0, "answered", n=2_000, late=3.0, wait=False)
    found, lead, _ = told(tmp_path)
    note = next(one for one in found.notes if "are left out" in one)
    assert 190 <= int(note.split()[2]) <= 220
    assert found.rows == 2_000 - int(note.split()[2])
    assert lead.known


def test_the_command_alone(tmp_path):
    """With the README's command, nothing else is needed."""
    month(tmp_path, 2, (0.1, 1.0), n=1_000)
    files = [str(tmp_path / name) for name in ("cases.jsonl", "labels.csv")]
    result = CliRunner().invoke(app, ["replay", *files, "--out", str(tmp_path / "out")], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    assert "What was decided costs" in result.output
    found = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert found["effective_labels"] > 100  # the cases told how likely each label was


@pytest.mark.parametrize("labels", ["answered", "reviewed", "both", (0.1, 1.0), (0.3, 0.6)])
def test_cases_tell_which_labels_come(labels):
    gate = ab.Gate(["a"], cost=0.2, labels=labels, seed=0)
    cases = [gate.decide({"a": ("x", sure)}) for sure in np.random.default_rng(0).random(200)]
    chances = Chances()
    chances.add(cases)
    assert chances.labels() == labels
    alone = Chances()
    alone.add(cases[:1])
    assert alone.labels() == "answered"


def test_other_labels_than_the_cases_tell_may_be_named(tmp_path):
    month(tmp_path, 0, "answered", n=1_000)
    assert told(tmp_path, labels="both")[0].labels == "both"
    with pytest.raises(InputError, match="--labels"):
        told(tmp_path, labels="all")
