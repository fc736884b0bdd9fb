"""The meter: exact where labels are there, estimates that cover the truth, bounds where nothing identifies a price."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.errors import InputError

pytest.importorskip("sqlalchemy", reason="the service needs abstain[service]")
from abstain.service.hosted import prices_of
from abstain.service.savings import BOUNDS, ESTIMATED, EXACT, Savings, Scored, measure

PRICES = prices_of({"review_price": 1.0, "mistake_price": 5.0})


def row(at: float, **given: Any) -> Scored:
    """A case as the journal has it: a answered, and was right."""
    plain: dict[str, Any] = {
        "mode": "live", "action": "answer", "answer": "x", "model": "a", "threshold": 0.5, "probability": 1.0,
        "answers": {}, "stake": None, "label": "x", "label_at": at,
    }  # fmt: skip
    return Scored(at=at, **{**plain, **given})


UNKNOWN: dict[str, Any] = {"label": None, "label_at": None}
REVIEWED: dict[str, Any] = {"action": "review", "answer": None}


def rows(n: int, seed: int = 0) -> list[Scored]:
    """Cases of two models; b is right more often than a, and confidences are honest. The truth is always x."""
    rng = np.random.default_rng(seed)
    made = []
    for k in range(n):
        sure = {"a": float(rng.uniform(0.4, 1.0)), "b": float(rng.uniform(0.6, 1.0))}
        said = {name: {"answer": "x" if rng.random() < p else "y", "confidence": p} for name, p in sure.items()}
        made.append(row(float(k), answers=said, answer=said["a"]["answer"]))
    return made


def played(n: int, seed: int) -> tuple[list[Scored], list[Scored]]:
    """What a gate that sees only the labels of its answers logged, and the same with all labels."""
    gate = ab.Gate(["a", "b"], cost=0.2, seed=seed)
    logged, known = [], []
    for one in rows(n, seed):
        case = gate.decide({name: (said["answer"], said["confidence"]) for name, said in one.answers.items()})
        done = replace(one, action=case.action, answer=case.answer, model=case.model, threshold=case.threshold,
                       probability=case.probability)  # fmt: skip
        known.append(done)
        if case.action == "answer":
            gate.learn(case, "x")
            logged.append(done)
        else:
            logged.append(replace(done, **UNKNOWN))
    return logged, known


def row_of(found: Savings, kind: str, model: str | None = None) -> Any:
    return next(one for one in found.policies if one.kind == kind and model in (None, one.model))


def test_with_all_labels_every_price_is_exact() -> None:
    cases = rows(400)
    found = measure(cases, PRICES, now=1e6, today=("b", 0.8))
    wrong = np.array([[one.answers[m]["answer"] != "x" for m in "ab"] for one in cases])
    sure = np.array([one.answers["b"]["confidence"] for one in cases])
    assert found.policies[0].price == pytest.approx(5.0 * wrong[:, 0].mean())  # a answered everything
    assert row_of(found, "always", "b").price == pytest.approx(5.0 * wrong[:, 1].mean())
    today = np.where(sure > 0.8, 5.0 * wrong[:, 1], 1.0).mean()
    assert found.baseline is not None
    assert found.baseline.price == pytest.approx(today)
    assert found.baseline.name == "b above 0.8"
    assert found.saved == pytest.approx(400 * (today - found.policies[0].price))
    assert {one.known for one in found.policies} == {EXACT}
    assert row_of(found, "review").price == 1.0
    assert found.labelled == found.settled == found.cases == 400
    assert found.saved_low < found.saved < found.saved_high  # type: ignore[operator]


@pytest.mark.long
def test_intervals_cover_the_truth_under_adaptive_logging() -> None:
    runs, covered, estimated = 24, {("b", 0.7): 0, ("b", -1.0): 0}, 0
    for seed in range(runs):
        logged, known = played(400, seed)
        for pair in covered:
            found = measure(logged, PRICES, now=1e6, labels="answered", asked=pair)
            truth = measure(known, PRICES, now=1e6, asked=pair)
            assert found.policies[0].price == pytest.approx(truth.policies[0].price)  # what was done is known
            assert found.policies[0].known == EXACT
            estimated += found.baseline is not None and found.baseline.known == ESTIMATED
            covered[pair] += found.saved_low <= truth.saved <= found.saved_high  # type: ignore[operator]
    assert estimated > runs
    assert min(covered.values()) >= 0.87 * runs


def test_bounds_contain_the_price_if_nothing_identifies_it() -> None:
    """A rule that never answers the hard cases shows no label of them."""
    cases = [
        one if one.answers["a"]["confidence"] > 0.7 else replace(one, probability=0.0, **REVIEWED, **UNKNOWN)
        for one in rows(400)
    ]
    found = measure(cases, PRICES, now=1e6, labels="answered")
    full = measure(rows(400), PRICES, now=1e6)
    alone, truth = row_of(found, "always", "b"), row_of(full, "always", "b")
    assert alone.known == BOUNDS
    assert alone.lowest <= truth.price <= alone.highest
    assert alone.highest - alone.lowest > 1.0
    assert row_of(found, "review").known == EXACT


def test_an_estimate_says_that_it_is_one() -> None:
    rng = np.random.default_rng(1)
    cases = [replace(one, probability=0.5, **({} if rng.random() < 0.5 else REVIEWED | UNKNOWN)) for one in rows(2_000)]
    found = measure(cases, PRICES, now=1e6, labels="answered")
    alone, truth = row_of(found, "always", "b"), row_of(measure(rows(2_000), PRICES, now=1e6), "always", "b")
    assert alone.known == ESTIMATED
    assert abs(alone.price - truth.price) < 0.15
    assert found.effective == pytest.approx(sum(one.label is not None for one in cases), rel=0.01)


def test_cases_whose_labels_are_on_their_way_wait() -> None:
    cases = [replace(one, label_at=one.at + 50.0) if one.at < 150 else replace(one, **UNKNOWN) for one in rows(200)]
    found = measure(cases, PRICES, now=199.0)
    assert (found.cases, found.settled, found.labelled) == (200, 150, 150)
    assert found.delay == 50.0
    assert found.policies[0].known == EXACT
    assert found.over_time.price["the gate"][-1] is None
    assert found.over_time.followed["a"] == [1.0, 1.0]


def test_stakes_and_kinds_of_mistakes_count() -> None:
    prices = prices_of(
        {"review_price": 1.0, "mistake_price": {"kinds": [{"said": "y", "true": "x", "price": 7.0}], "other": 2.0}}
    )
    said = {"a": {"answer": "y", "confidence": 0.9}}
    cases = [row(0.0, answers=said, answer="y"), row(1.0, answers=said, answer="z"), row(2.0, answers=said, **REVIEWED)]
    assert measure(cases, prices, now=1e6).policies[0].price == pytest.approx((7.0 + 2.0 + 1.0) / 3)
    staked = prices_of({"review_price": 1.0, "mistake_price": {"per_stake": 0.5}})
    case = row(0.0, answers=said, answer="y", stake=60.0)
    assert measure([case], staked, now=1e6).policies[0].price == pytest.approx(30.0)


def test_numbers_and_probabilities_are_read_as_the_gate_reads_them() -> None:
    numbers = prices_of({"cost": 0.2, "task": "number", "max_error": 10.0})
    case = row(0.0, answers={"a": {"answer": 12.0, "error": 3.0}}, answer=12.0, label=17.0)
    found = measure([case], numbers, now=1e6, asked=("a", 0.5))
    assert found.policies[0].price == pytest.approx(0.5)
    assert found.policies[1].price == pytest.approx(0.5)  # a confidence of 0.7
    two = prices_of({"cost": 0.2, "task": "binary", "classes": ["ham", "spam"]})
    case = row(0.0, answers={"a": {"probability": 0.1}}, answer="ham", label="spam")
    assert measure([case], two, now=1e6).policies[0].price == 1.0


def test_a_shadow_gate_has_the_price_of_what_was_done() -> None:
    cases = [replace(one, mode="shadow") for one in rows(150)]
    found = measure(cases, PRICES, now=1e6)
    assert found.policies[0].name == "what was done"
    both = measure([*cases, *(replace(one, at=one.at + 1e3) for one in rows(120, 1))], PRICES, now=1e6)
    assert (both.policies[0].name, both.cases) == ("the gate", 120)


def test_reviews_in_shadow_mode_count_with_the_probability_that_the_caller_gives() -> None:
    """A caller who answers some cases at random, and gets labels of answers alone, learns the price of all policies."""
    rng, cases, n = np.random.default_rng(5), [], 1500
    for one in rows(n, 5):
        chance = 0.9 if one.answers["a"]["confidence"] > 0.8 else 0.25
        answered = rng.random() < chance
        rest: dict[str, Any] = {} if answered else {**REVIEWED, **UNKNOWN, "model": None}
        cases.append(replace(one, mode="shadow", threshold=None, probability=chance, **rest))
    found = row_of(measure(cases, PRICES, now=1e6, labels="answered"), "always", "a")
    true = 5.0 * float(np.mean([one.answers["a"]["answer"] != "x" for one in cases]))
    assert found.known == ESTIMATED
    assert abs(found.price - true) < 0.2
    assert found.saved_low < true - (found.price - found.saved) < found.saved_high


def test_complaints_do_not_count_as_audits() -> None:
    """Answers are audited at random; complaints about the others come, too, and only about mistakes."""
    rng, audited, complained = np.random.default_rng(6), [], []
    for one in rows(400, 6):
        if rng.random() < 0.2:
            audited.append(replace(one, label_source="audit"))
            complained.append(audited[-1])
        else:
            audited.append(replace(one, **UNKNOWN))
            wrong = one.answer != "x"
            complained.append(replace(one, label_source="outcome") if wrong else audited[-1])
    fair, found = (measure(cases, PRICES, now=1e6, labels=(0.2, 1.0)) for cases in (audited, complained))
    assert found.labelled > fair.labelled + 50
    for model in "ab":
        assert row_of(found, "always", model).price == row_of(fair, "always", model).price
    assert found.policies[0].lowest > fair.policies[0].lowest  # they are known mistakes of what was done


def test_no_cases_and_unknown_models_do_no_harm() -> None:
    empty = measure([], PRICES, now=0.0, today=("a", 0.5))
    assert (empty.cases, empty.policies, empty.saved) == (0, [], None)
    assert measure(rows(10), PRICES, now=1e6, today=("gone", 0.5)).baseline is None
    with pytest.raises(InputError, match="model: expected one of a, b, got 'gone'"):
        measure(rows(10), PRICES, now=1e6, asked=("gone", 0.5))


def test_nothing_saved_has_no_sign() -> None:
    """A gate that did what today's rule does saved 0.0, and not -0.0."""
    saved = measure(
        [row(0.0, answers={"a": {"answer": "x", "confidence": 0.9}})], PRICES, now=1e9, today=("a", 0.5)
    ).saved
    assert str(saved) == "0.0"
