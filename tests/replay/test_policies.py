"""Every policy of a replay, once more the slow and plain way."""

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from abstain.alternatives import stacked
from abstain.gate import Gate
from abstain.replay import rows as rows_of
from abstain.replay.options import Options, model_columns
from abstain.replay.play import Cuts, Medians
from abstain.replay.policies import Curve, curves
from abstain.replay.run import replay

from .logs import NAMES, best_on, followed, judged, options, retuned, small_log, thresholds_of

pytestmark = pytest.mark.usefixtures("no_page")


@pytest.fixture(params=[2**17, 97], ids=["one slice", "many slices"])
def _slices(request, monkeypatch):
    monkeypatch.setattr(rows_of, "SLICE", request.param)
    monkeypatch.setattr("abstain.replay.log.SLICE", request.param)


def means(loss, reviewed, first, mistake=0.0):
    loss, reviewed = np.array(loss[first:]), np.array(reviewed[first:])
    return loss.mean(), reviewed.mean(), (~reviewed & (loss > mistake)).mean()


@pytest.mark.usefixtures("_slices")
@pytest.mark.parametrize("delay", [0, 130])
def test_alternatives(tmp_path, delay):
    frame = small_log(seed=delay)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(delay=delay), tmp_path / "out")
    n, cost = len(frame), 0.25
    first, (sure, lost) = n // 10, judged(frame)
    due = [t + delay + 1 for t in range(n)]
    _, model, threshold = best_on(range(first), sure, lost, cost)
    levels = Gate(NAMES, cost=cost).thresholds
    candidates = [
        sorted({*thresholds_of([sure[t][m] for t in range(first)]), *levels[m].tolist()}) for m in range(len(NAMES))
    ]
    _, best_model, best_threshold = best_on(range(first, n), sure, lost, cost, candidates)
    expected = {
        "always gbm": [(0, -math.inf)] * n,
        "always rules": [(1, -math.inf)] * n,
        "tuned": [(model, threshold)] * n,
        "retuned-own": retuned(sure, lost, cost, due, own=True),
        "retuned-all": retuned(sure, lost, cost, due, own=False),
        "hindsight": [(best_model, best_threshold)] * n,
        "review": [(0, math.inf)] * n,
    }
    assert len(set(expected["retuned-own"])) > 1
    policies = {one.name if one.kind == "always" else one.kind: one for one in found.policies}
    assert policies.keys() == {"gate", "stack", *expected}
    said = [[{"a": 0, "b": 1, "c": 2, None: -1}[row[m]] for m in NAMES] for row in frame.to_dicts()]
    stack = stacked(sure, lost, said, cost, first, delay=delay)
    assert policies["stack"].loss == pytest.approx(stack.loss[first:].mean())
    assert policies["stack"].reviewed == pytest.approx(stack.abstained[first:].mean())
    tuned_loss = np.array(followed(sure, lost, cost, expected["tuned"])[0])
    for key, pairs in expected.items():
        loss, reviewed = followed(sure, lost, cost, pairs)
        one = policies[key]
        assert (one.loss, one.reviewed, one.mistakes) == pytest.approx(means(loss, reviewed, first), abs=1e-12), key
        if key != "tuned":
            assert one.difference == pytest.approx((np.array(loss) - tuned_loss)[first:].mean(), abs=1e-12)
            assert one.low <= one.difference <= one.high
        if key in found.timeline.loss:
            edges = np.arange(201) * n // 200
            pieces = [np.mean(loss[a:b]) for a, b in pairwise(edges)]
            assert found.timeline.loss[key] == pytest.approx(pieces)
    assert policies["hindsight"].loss <= policies["tuned"].loss
    assert policies["tuned"].difference is policies["tuned"].low is None
    coverage, risk = found.operating
    gate = policies["gate"]
    assert coverage * risk + cost * gate.reviewed == pytest.approx(gate.loss)


@pytest.mark.usefixtures("_slices")
@pytest.mark.parametrize(("labels", "delay"), [("answered", 0), ("both", 40), ("reviewed", 0)])
def test_the_gate_case_by_case(tmp_path, labels, delay):
    """What `decide` and `learn` do on the same rows."""
    frame = small_log(600, seed=3)
    frame.write_parquet(tmp_path / "log.parquet")
    found = replay(tmp_path / "log.parquet", options(labels=labels, delay=delay, seed=7), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    gate = Gate(NAMES, cost=0.25, labels=labels, seed=7)
    waiting, losses, mistakes = [], [], {}
    for t, (row, case) in enumerate(zip(frame.to_dicts(), cases.to_dicts(), strict=True)):
        while waiting and waiting[0][0] <= t:
            _, old, label = waiting.pop(0)
            gate.learn(old, label)
        decided = gate.decide({name: (row[name], row[f"{name}_confidence"]) for name in NAMES})
        assert (case["row"], case["action"], case["model"]) == (t + 1, decided.action, decided.model)
        assert case["threshold"] == decided.threshold
        losses.append(0.25 if decided.action == "review" else float(decided.answer != row["label"]))
        assert case["loss"] == losses[-1]
        wrong = decided.action == "answer" and decided.answer != row["label"]
        if t >= 60:
            mistakes[row["label"]] = mistakes.get(row["label"], 0) + wrong
        if labels == "both" or (decided.action == "answer") == (labels == "answered"):
            waiting.append((t + delay + 1, decided, row["label"]))
    policy = next(one for one in found.policies if one.kind == "gate")
    assert policy.loss == pytest.approx(np.mean(losses[60:]))
    assert {name: wrong for name, _, wrong, _ in found.mistakes} == mistakes
    assert sum(rows for _, rows, _, _ in found.mistakes) == found.scored_rows == 540


def test_warm_start(tmp_path):
    """The gate is taught the first tenth and plays the rest; a later start moves the scored rows."""
    frame = small_log(500)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(warm_start=0.1), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    assert cases["row"].to_list() == list(range(51, 501))
    gate = next(one for one in found.policies if one.kind == "gate")
    assert gate.loss == pytest.approx(cases["loss"].mean())
    assert math.isnan(found.timeline.loss["gate"][0])
    assert not math.isnan(found.timeline.loss["gate"][-1])
    later = replay(tmp_path / "log.csv", options(warm_start=0.3), tmp_path / "out")
    assert (later.first, later.scored_rows) == (150, 350)


def test_medians_over_time():
    cuts = Cuts(np.array([0, 3, 7, 8]))
    medians = np.full(3, np.nan)
    values = np.array([3.0, 1.0, 2.0, 9.0, 5.0, 7.0, 8.0, 4.0])
    for sizes in ([8], [1, 4, 3], [3, 4, 1]):
        keeper, begin = Medians(cuts, medians), 0
        for size in sizes:
            keeper.add(begin, values[begin : begin + size])
            begin += size
        keeper.close()
        assert medians.tolist() == [2.0, 7.5, 4.0]


def test_several_gates(tmp_path):
    """The price is the mean over the seeds; cases and the saved gate are those of the first."""
    small_log(500).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(seeds=3, seed=5), tmp_path / "out")
    cases = (tmp_path / "out" / "cases.parquet").read_bytes()
    alone = []
    for seed in (5, 6, 7):
        one = replay(tmp_path / "log.csv", options(seed=seed), tmp_path / "one")
        alone.append(next(policy for policy in one.policies if policy.kind == "gate"))
        if seed == 5:
            assert (tmp_path / "one" / "cases.parquet").read_bytes() == cases
    gate = next(policy for policy in found.policies if policy.kind == "gate")
    assert gate.loss == pytest.approx(np.mean([one.loss for one in alone]))
    assert gate.reviewed == pytest.approx(np.mean([one.reviewed for one in alone]))
    assert gate.low <= min(one.difference for one in alone)
    assert max(one.difference for one in alone) <= gate.high
    assert "The gate is played 3 times with different random choices; its price is the mean." in found.notes


def test_a_curve_of_estimates_is_not_below_zero():
    """A doubly robust estimate of a few answers may be; a price is not."""
    answered = np.array([0, 5, 10]), np.array([0.0, -1.0, 2.0])
    out = SimpleNamespace(totals=SimpleNamespace(n=20, answered=lambda model: answered))
    assert curves(out, ["a"]) == [Curve("a", [0.25, 0.5], [0.0, 0.2])]


@pytest.mark.parametrize(("seed", "n"), [(5, 1_500), (0, 3_000), (0, 1_500)])
def test_no_price_falls_by_more_than_all_of_it(seed, n, tmp_path):
    """Few large stakes and gates that differ: the interval of a saving ends at 100 %, or there is none."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.03
    chances = {
        name: (1.0 / (1.0 + np.exp(-(rng.normal(size=n) + np.where(fraud, sharp, -3.0))))).round(3)
        for name, sharp in (("good", 1.5), ("poor", 0.3))
    }
    amount = np.exp(rng.normal(4.0, 1.2, n)).round(2)
    log = pl.DataFrame({"y": np.where(fraud, "fraud", "ok"), **chances, "amount": amount})
    log.write_csv(tmp_path / "log.csv")
    asked = Options(
        tuple(model_columns("probability", f"{name}={name}") for name in chances), "y", "fraud", review_price=4.0,
        mistake_column="amount", fixed_prices=(("fraud", "ok", 10.0),),
    )  # fmt: skip
    found = replay(tmp_path / "log.csv", asked, tmp_path / "out")
    lows = [one.share_low for one in found.policies if one.share_low is not None]
    assert min(lows, default=-1.0) == -1.0, lows
