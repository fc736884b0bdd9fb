"""Prices and limits that change: as if they had always been so."""

import threading

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError

MODELS = ["good", "poor"]
RIGHT = {"good": 0.82, "poor": 0.6}


def log(n, seed=0):
    """Answers with a confidence that is the probability of being right, and the label "x"."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n):
        answers = {}
        for model in MODELS:
            sure = float(np.clip(rng.normal(RIGHT[model], 0.12), 0.01, 0.99))
            answers[model] = ("x" if rng.random() < sure else "y", sure)
        cases.append(answers)
    return cases


def play(gate, cases, stakes=None):
    """Decide and learn every case at once."""
    for i, answers in enumerate(cases):
        case = gate.decide(answers, **({} if stakes is None else {"stake": stakes[i]}))
        gate.learn(case, "x")


def same_policy(one, other, rtol=1e-9):
    """Compare prices per model and threshold, and the ranking."""
    first, second = (g.policy().sort("model", "threshold", nulls_last=True) for g in (one, other))
    np.testing.assert_allclose(first["price"], second["price"], rtol=rtol, atol=1e-12)
    a, b = (g._policy().answering() for g in (one, other))
    assert a == b


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"review_price": 3.0}, {"review_price": 1.0}),
        ({"mistake_price": 2.0}, {"mistake_price": 5.0}),
        ({"review_price": 0.5, "mistake_price": 5.0}, {"review_price": 2.0, "mistake_price": 10.0}),
    ],
)
def test_as_if_prices_had_always_been_so(before, after):
    """Both gates see all labels, so that whatever they decide, they learn the same of every case."""
    prices = {"review_price": 1.0, "mistake_price": 5.0}
    made = {"classes": ["x", "y"], "labels": "both", "thresholds": 12, "seed": 0}
    gate, always = ab.Gate(MODELS, **prices | before, **made), ab.Gate(MODELS, **prices | after, **made)
    cases = log(400)
    play(gate, cases)
    play(always, cases)
    for name, price in after.items():
        setattr(gate, name, price)
    assert gate.learner.cost.value == pytest.approx(always.learner.cost.value)
    np.testing.assert_allclose(gate.learner._weights.losses, always.learner._weights.losses, rtol=1e-9, atol=1e-9)
    one, other = gate.learner._weights, always.learner._weights
    assert (one.weight[0].argmax(), one.weight[3].argmax()) == (other.weight[0].argmax(), other.weight[3].argmax())
    # Memories are weighed by what they achieved at the old prices: estimates of each are exact.
    one.mix[:] = other.mix
    same_policy(gate, always)


@pytest.mark.parametrize("learner", [ab.DoublyRobust, ab.Exp3Abs])
def test_estimates_follow_the_price_exactly(learner):
    """The price of always answering does not depend on that of a review; that of never answering is that price."""
    gate = ab.Gate(MODELS, review_price=3.0, mistake_price=5.0, labels="both", thresholds=12, learner=learner, seed=0)
    play(gate, log(400))

    def found():
        rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
        return rows["good", -1.0], rows["good", None]

    always = found()[0]
    assert always == pytest.approx(5.0 * (1.0 - RIGHT["good"]), rel=0.3)
    for price in (1.0, 4.0, 0.0, 3.0):
        gate.review_price = price
        assert found() == (pytest.approx(always), pytest.approx(price))


def test_open_cases_count_at_the_new_price():
    gate = ab.Gate(MODELS, review_price=3.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    always = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    cases = log(60)
    for one, first in ((gate, True), (always, False)):
        waiting = [one.decide(answers) for answers in cases]
        if first:
            one.review_price = 1.0
        for case in waiting:
            one.learn(case, "x")
    np.testing.assert_allclose(gate.learner._weights.losses, always.learner._weights.losses, rtol=1e-9, atol=1e-9)


def test_a_changed_price_is_saved(tmp_path):
    gate = ab.Gate(MODELS, review_price=3.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    play(gate, log(50))
    case = gate.decide(log(51)[-1])
    gate.review_price, gate.mistake_price = 1.0, 10.0
    gate.save(tmp_path / "gate")
    again = ab.load(tmp_path / "gate")
    assert (again.review_price, again.mistake_price) == (1.0, 10.0)
    assert again.policy().equals(gate.policy())
    for one in (gate, again):
        one.learn(case.to_json(), "x")
    assert again.policy().equals(gate.policy())


KINDS = {("x", "y"): 2.0, "other": 4.0}


def test_all_kinds_by_one_factor_change_no_loss():
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=KINDS, labels="both", thresholds=12, seed=0)
    always = ab.Gate(
        MODELS, review_price=1.0, mistake_price={k: 2.0 * p for k, p in KINDS.items()}, labels="both", thresholds=12,
        seed=0,
    )  # fmt: skip
    cases = log(200)
    play(gate, cases)
    play(always, cases)
    gate.mistake_price = always.mistake_price
    gate.learner._weights.mix[:] = always.learner._weights.mix
    same_policy(gate, always)


@pytest.mark.parametrize(
    ("classes", "kinds"),
    [
        (["x", "y"], {("x", "y"): 5.84, ("y", "x"): 2.65}),
        (["x", "y"], {("x", "y"): ab.PerStake(0.7), ("y", "x"): 2.65}),
        (None, {("x", "y"): 5.84, ("z", "y"): 0.0, "other": 2.65}),
    ],
)
@pytest.mark.parametrize("factor", [0.66, 1.1, 1.19, 3.0])
def test_one_factor_is_one_whatever_rounding_does(classes, kinds, factor, tmp_path):
    """Prices are typed in as decimals: their ratios are the same only up to rounding, and 0 stays 0."""
    gate = ab.Gate(MODELS, review_price=0.1, mistake_price=kinds, classes=classes, labels="both", thresholds=4, seed=0)
    play(gate, log(60), None if classes is None or not gate._prices.staked else [1.5] * 60)
    before = gate.policy()["price"].to_list()

    def times(price):
        return (
            ab.PerStake(round(price.times * factor, 6)) if isinstance(price, ab.PerStake) else round(price * factor, 6)
        )

    gate.mistake_price, gate.review_price = {kind: times(price) for kind, price in kinds.items()}, 0.1 * factor
    assert sorted(gate.policy()["price"]) == pytest.approx(sorted(factor * price for price in before))
    gate.save(tmp_path / "gate")
    assert ab.load(tmp_path / "gate").policy().equals(gate.policy())


def test_other_ratios_start_the_estimates_afresh():
    """What was lost is not kept by kind: no price is better than a wrong one. Open cases count at the new prices."""
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=KINDS, labels="both", thresholds=12, seed=0)
    cases = log(200)
    play(gate, cases)
    case = gate.decide(cases[0])
    gate.mistake_price = {("y", "x"): 8.0, "other": 1.0}
    assert gate.policy()["price"].null_count() == 24
    assert gate.round == 201
    gate.learn(case, "x")
    assert gate.policy()["price"].null_count() == 0
    play(gate, cases)
    fresh = ab.Gate(
        MODELS, review_price=1.0, mistake_price={("y", "x"): 8.0, "other": 1.0}, labels="both", thresholds=12, seed=0
    )
    play(fresh, [cases[0], *cases])
    gate.learner._weights.mix[:] = fresh.learner._weights.mix
    same_policy(gate, fresh, rtol=0.05)  # guesses of the open case were made before


def test_a_newcomer_has_no_price_until_it_is_learnt():
    gate = ab.Gate(["good"], review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    cases = log(300)
    play(gate, [{"good": answers["good"]} for answers in cases])
    case = gate.decide({"good": cases[0]["good"]})
    gate.add_model("poor")
    prices = gate.policy().filter(model="poor")["price"]
    assert prices.null_count() == 12
    assert gate.policy().filter(model="good")["price"].null_count() == 0
    gate.learn(case, "x")  # decided before it came
    assert gate.policy().filter(model="poor")["price"].null_count() == 12
    play(gate, cases)
    rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
    assert rows["poor", -1.0] == pytest.approx(5.0 * (1.0 - RIGHT["poor"]), rel=0.3)
    assert rows["poor", None] == pytest.approx(1.0)
    gate.review_price = 2.0
    rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
    assert rows["poor", None] == pytest.approx(2.0)


@pytest.mark.parametrize("learner", [ab.DoublyRobust, pytest.param(ab.Exp3Abs, marks=pytest.mark.long)])
def test_prices_with_a_capacity(learner):
    """They leave out the price of the capacity itself."""
    gate = ab.Gate(
        MODELS, review_price=0.2, mistake_price=5.0, labels="both", thresholds=12, capacity=0.05, learner=learner,
        seed=0,
    )  # fmt: skip
    play(gate, log(1_000))
    assert gate.learner._weights.beyond.any()
    rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
    assert rows["good", None] == pytest.approx(0.2)
    assert rows["good", -1.0] == pytest.approx(5.0 * (1.0 - RIGHT["good"]), rel=0.3)
    gate.review_price = 2.0
    rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
    assert rows["good", None] == pytest.approx(2.0)


def test_a_capacity_that_comes_changes_and_goes(tmp_path):
    gate = ab.Gate(MODELS, review_price=0.1, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    cases = log(1_500)
    early = gate.decide(cases[0])
    play(gate, cases[:300])
    gate.capacity = 0.05
    assert gate.capacity == ab.Capacity(share=0.05)
    gate.learn(early, "x")  # it was decided without a price
    limited = [gate.decide(answers) for answers in cases[300:900]]
    assert sum(case.action == "review" for case in limited) <= 0.05 * 600 + 50
    assert any(case.over_capacity for case in limited)
    gate.capacity = ab.Capacity(share=0.5, burst=10)
    more = [gate.decide(answers) for answers in cases[900:1_200]]
    assert 0.4 * 300 <= sum(case.action == "review" for case in more) <= 0.5 * 300 + 10
    gate.save(tmp_path / "gate")
    assert ab.load(tmp_path / "gate").capacity == ab.Capacity(share=0.5, burst=10)
    gate.capacity = None
    for case in limited + more:
        gate.learn(case.to_json(), "x")
    rest = [gate.decide(answers) for answers in cases[1_200:]]
    assert not any(case.over_capacity for case in rest)
    assert sum(case.action == "review" for case in rest) > 0.8 * 300


@pytest.mark.parametrize("capacity", [None, 0.3])
def test_another_capacity_forgets_nothing(capacity, tmp_path):
    """How many rounds were answered counts where prices change: in a gate that was saved and read, too."""
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, capacity=capacity, seed=0)
    play(gate, log(200))
    gate.save(tmp_path / "gate")
    again = ab.load(tmp_path / "gate")
    for one in (gate, again):
        one.capacity, one.review_price = 0.2, 0.1
    assert gate.policy().equals(again.policy())


def test_without_a_capacity_again_it_is_as_if_there_had_been_none():
    free = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, capacity=0.05, seed=0)
    cases = log(400)
    play(free, cases)
    play(gate, cases)
    gate.capacity = None
    np.testing.assert_allclose(gate.learner._weights.losses, free.learner._weights.losses, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_set():
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, seed=0)
    for name, value, message in (
        ("review_price", 6.0, "at most 5"),
        ("mistake_price", 0.5, "at most 0.5"),
        ("mistake_price", ab.PerStake(1.0), "do not go by the stake"),
        ("max_stake", 10.0, "expected none"),
        ("capacity", 2.0, r"share in \[0, 1\]"),
    ):
        with pytest.raises(InputError, match=message):
            setattr(gate, name, value)
    assert (gate.review_price, gate.mistake_price, gate.max_stake, gate.capacity) == (1.0, 5.0, None, None)
    other = ab.Gate(MODELS, cost=0.2, learner=ab.UCBGT, seed=0)
    with pytest.raises(InputError, match="UCBGT cannot change them"):
        other.review_price = 0.3
    with pytest.raises(InputError, match="UCBGT has none"):
        other.capacity = 0.3
    assert other.review_price == 0.2


def test_threads_that_change_prices_and_models_while_others_decide():
    gate = ab.Gate(MODELS, review_price=1.0, mistake_price=5.0, labels="both", thresholds=12, seed=0)
    cases, errors = log(150), []

    def decide():
        try:
            for answers in cases:
                gate.learn(gate.decide({"good": answers["good"]}), "x")
        except Exception as error:  # pragma: no cover
            errors.append(error)

    def change():
        try:
            for k in range(30):
                gate.review_price = 0.5 + 0.1 * k
                gate.mistake_price = 5.0 + k
                gate.capacity = None if k % 2 else 0.3
                gate.add_model(f"new{k}")
                gate.remove_model(f"new{k}")
        except Exception as error:  # pragma: no cover
            errors.append(error)

    threads = [threading.Thread(target=one) for one in (decide, decide, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert gate.round == 300
    assert gate.learner.cost.value == pytest.approx(gate.review_price / gate.mistake_price)
    rows = {(row.model, row.threshold): row.price for row in gate._policy().rows()}
    assert rows["good", None] == pytest.approx(gate.review_price)
