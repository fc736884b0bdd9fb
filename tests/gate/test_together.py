"""Stakes, prices that change, a start, a combination, alarms and shadow mode, together in one gate."""

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.gate.case import Case
from abstain.gate.combining import COMBINED

NAMES = ["a", "b", "c"]
KINDS = {("ok", "fraud"): ab.PerStake(1.0), ("fraud", "ok"): 5.0, "other": 5.0}
OPTIONS = {
    "review_price": 2.0, "mistake_price": KINDS, "classes": ["ok", "fraud"], "thresholds": 4, "labels": "both",
    "seed": 0,
}  # fmt: skip


def log_of(n=1_500, broken=None, seed=0):
    """Three models that see the same fraud, and amounts; from row ``broken`` on, model b always says fraud."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    said = np.where(rng.random((n, 3)) < 0.85, fraud[:, np.newaxis], ~fraud[:, np.newaxis])
    if broken is not None:
        said[broken:, 1] = True
    sure = rng.beta(5, 1, (n, 3)).round(6)
    table = {"label": ["fraud" if one else "ok" for one in fraud], "stake": rng.lognormal(3.0, 2.0, n).round(2)}
    for m, name in enumerate(NAMES):
        table[name] = [None if rng.random() < 0.05 else "fraud" if one else "ok" for one in said[:, m]]
        table[f"{name}_confidence"] = sure[:, m]
    table["stake"][::50] = 0.0
    return table


def answers_of(log, i):
    return {
        name: None if log[name][i] is None else (log[name][i], float(log[f"{name}_confidence"][i])) for name in NAMES
    }


def live(gate, log, rows):
    cases = []
    for i in rows:
        cases.append(gate.decide(answers_of(log, i), stake=float(log["stake"][i])))
        gate.learn(Case.from_json(cases[-1].to_json()), log["label"][i])
    return cases


def shown(cases):
    return [(case.action, case.model, case.threshold, case.answer, case.answers[COMBINED]) for case in cases]


@pytest.mark.long
def test_alarms_stakes_and_a_combination_in_tables_are_those_of_single_cases():
    log = log_of(broken=700)
    one, other = (ab.Gate(NAMES, combine=True, **OPTIONS) for _ in range(2))
    with one._playing() as play:
        played = play(one._as_block(log))
    cases = live(other, log, range(1_500))
    assert one._monitor.totals.muted > 0
    assert [case.action == "review" for case in cases] == played.reviewed.tolist()
    assert [case.model for case in cases] == [[*NAMES, COMBINED][m] for m in played.model]
    assert [1.0 if case.threshold is None else case.threshold for case in cases] == played.threshold.tolist()
    prices = other._prices
    for case, label, loss in zip(cases, log["label"], played.loss, strict=True):
        assert loss == (prices.cost if case.action == "review" else prices.full(case.answer, label, case.stake))
    assert played.loss.max() > 1.0  # more than what is learnt
    assert one.health() == other.health()
    assert np.array_equal(one.learner.weights, other.learner.weights)


def test_the_realised_price_counts_stakes_in_full():
    log, gate = log_of(300), ab.Gate(NAMES, combine=True, **OPTIONS)
    cases = live(gate, log, range(300))
    paid = [
        2.0 if case.action == "review" else gate._prices.full(case.answer, label, case.stake) * gate.unit
        for case, label in zip(cases, log["label"], strict=True)
    ]
    assert gate.health().price == pytest.approx(np.mean(paid))


def test_the_combination_says_what_costs_least():
    """Where a missed fraud costs a fortune, it says fraud, though it thinks that fraud is less likely."""
    gate = ab.Gate(NAMES, combine=True, **OPTIONS)
    said = dict.fromkeys(NAMES, ("ok", 0.8))
    low, high = (gate.peek(said, stake=stake) for stake in (1.0, 10_000.0))
    assert (low.answers[COMBINED], high.answers[COMBINED]) == ("ok", "fraud")
    assert low.confidences[COMBINED] > 0.5 > high.confidences[COMBINED]  # of being right, whatever it costs


def test_a_review_price_that_changes_reaches_the_combination():
    log, gate = log_of(400), ab.Gate(NAMES, combine=True, **OPTIONS)
    live(gate, log, range(400))
    before, stacks = gate.policy(), [part.copy() for part in gate._combination.stacks]
    gate.review_price = 1.0
    after = gate.policy()
    for frame, review in ((before, 2.0), (after, 1.0)):
        mine = frame.filter(frame["model"] == COMBINED)
        assert mine.filter(mine["threshold"].is_null())["price"].item() == pytest.approx(review)
    always = [frame.filter((frame["model"] == COMBINED) & (frame["threshold"] == -1.0)) for frame in (before, after)]
    assert always[0]["price"].item() == pytest.approx(always[1]["price"].item())
    assert all(map(np.array_equal, stacks, gate._combination.stacks))


def test_prices_by_kind_that_change_leave_what_the_combination_knows():
    log, gate = log_of(400), ab.Gate(NAMES, combine=True, **OPTIONS)
    live(gate, log, range(400))
    stacks = [part.copy() for part in gate._combination.stacks]
    gate.mistake_price = {**KINDS, ("fraud", "ok"): 50.0}
    assert all(map(np.array_equal, stacks, gate._combination.stacks))
    assert np.ptp(gate.learner.weights) == pytest.approx(0.0)
    assert gate.health().models[0].labels == 0  # what models lost before says nothing of the new prices
    cases = live(gate, log, range(100))
    assert {case.review_price for case in cases} == {2.0}


def test_a_start_may_be_a_model_or_the_combination():
    said = dict.fromkeys(NAMES, ("ok", 0.9))
    for model in ("b", COMBINED):
        gate = ab.Gate(NAMES, cost=0.2, classes=["ok", "fraud"], combine=True, start=(model, 0.5), seed=0)
        cases = [gate.decide(said) for _ in range(50)]
        assert sum(case.model == model and case.threshold == 0.5 for case in cases) > 40
    with pytest.raises(InputError, match="start: expected a model"):
        ab.Gate(NAMES, cost=0.2, start=(COMBINED, 0.5))


@pytest.mark.parametrize("combine", [False, True])
def test_a_case_whose_label_nobody_could_see_is_taken_to_cost_what_is_at_stake(combine):
    gate, told = ab.Gate(NAMES, combine=combine, **{**OPTIONS, "labels": "answered"}), []
    vars(gate.learner)["learn"] = lambda decision, losses: told.append(losses)
    said = {"a": ("ok", 0.9), "b": ("fraud", 0.9), "c": None}
    for stake in (0.0, 50.0, 1e6):
        gate.watch(said, decided="review", probability=0.0, stake=stake)
    assert gate.unit == 200.0
    assert [losses[:3] for losses in told] == [[0.0, 0.025, 0.0], [0.25, 0.025, 0.0], [1.0, 0.025, 0.0]]
    with pytest.raises(InputError, match="stake: expected a number from 0 on"):
        gate.watch(said, decided="review", probability=0.0, stake=-1.0)
    assert gate.round == 3


@pytest.mark.parametrize("maturity", [None, 20])
def test_a_file_has_all_of_it(tmp_path, maturity):
    log = log_of(1_200, broken=600)
    options = {**OPTIONS, "capacity": 0.3, "start": ("a", 0.9), "maturity": maturity}
    gate = ab.Gate(NAMES, combine=True, **options)
    live(gate, log, range(900))
    gate.review_price = 3.0
    open_cases = [gate.decide(answers_of(log, i), stake=float(log["stake"][i])) for i in range(900, 910)]
    gate.save(tmp_path / "gate.abstain")
    other = ab.load(tmp_path / "gate.abstain")
    assert (other.start, other.on_alarm, other.combine, other.mistake_price) == (("a", 0.9), "review", True, KINDS)
    assert (other.review_price, other.capacity, other.unit) == (3.0, gate.capacity, gate.unit)
    for one in (gate, other):
        for case, label in zip(open_cases, log["label"][900:910], strict=True):
            one.learn(case.to_json(), label)
    assert shown(live(gate, log, range(910, 1_200))) == shown(live(other, log, range(910, 1_200)))
    assert gate.health() == other.health()


@pytest.mark.long
def test_shares_that_are_given_leave_no_past_to_count_anew():
    def learner(experts, **options):
        return ab.Exp3Abs(experts, memory="share", **options)

    gate = ab.Gate(NAMES, cost=0.2, thresholds=4, learner=learner, seed=0)
    with pytest.raises(InputError, match="memory='share'"):
        gate.review_price = 0.1
    assert gate.review_price == 0.2
    with pytest.raises(InputError, match="memory='share'"):
        ab.Gate(NAMES, cost=0.2, thresholds=4, learner=learner, start=("a", 0.5))
    gate.capacity = 0.5
    for _ in range(20):
        gate.decide({"a": ("x", 0.6)})
    with pytest.raises(InputError, match="memory='share'"):
        gate.capacity = None
    assert gate.capacity == ab.Capacity(share=0.5)
