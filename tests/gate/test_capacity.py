"""Gates with a limit on reviews."""

from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.errors import InputError

UNSURE = {"a": ("x", 0.3), "b": ("y", 0.2)}


def play(gate, cases, label="x", **options):
    done = []
    for said in cases:
        case = gate.decide(said, **options)
        done.append(case)
        if case.action == "answer" and gate.labels != "reviewed":
            gate.learn(case, label)
    return done


@pytest.mark.long
@given(
    share=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]), burst=st.integers(1, 4), seed=st.integers(0, 1000),
    labels=st.sampled_from(["answered", "reviewed", "both"]),
)  # fmt: skip
def test_any_cases_in_a_row_have_at_most_share_n_plus_burst_reviews(share, burst, seed, labels):
    rng = np.random.default_rng(seed)
    capacity = ab.Capacity(share=share, burst=burst)
    gate = ab.Gate(["a", "b"], cost=0.0, capacity=capacity, thresholds=4, labels=labels, seed=seed)
    cases = [{m: ("x", float(rng.random())) for m in gate.models if rng.random() < 0.6} for _ in range(60)]
    done = play(gate, cases)
    unanswered = [not said for said in cases]
    counted = [case.action == "review" and not none for case, none in zip(done, unanswered, strict=True)]
    assert all(case.action == "review" for case, none in zip(done, unanswered, strict=True) if none)
    for i in range(60):
        for j in range(i + 1, 61):
            assert sum(counted[i:j]) <= Fraction(str(share)) * (j - i) + burst


@pytest.mark.filterwarnings("ignore::abstain.errors.LabelWarning")
def test_forced_cases_are_answered_by_a_model_that_has_an_answer():
    gate = ab.Gate(["a", "b"], cost=0.05, capacity=ab.Capacity(share=0.0, burst=1), thresholds=4, seed=0)
    done = play(gate, [{"a": None, "b": ("y", 0.2)}] * 200)
    assert sum(case.action == "review" for case in done) == 1
    forced = [case for case in done if case.over_capacity]
    assert len(forced) > 20
    assert all((case.action, case.answer, case.model, case.probability) == ("answer", "y", "b", 1.0) for case in forced)


def test_the_share_is_kept_and_survives_a_restart(tmp_path):
    gate = ab.Gate(["a", "b"], cost=0.05, capacity=0.1, thresholds=4, seed=0)
    rng = np.random.default_rng(0)
    done = []
    for i in range(3000):
        if i % 1000 == 999:
            gate.save(tmp_path / "gate.abstain")
            gate = ab.load(tmp_path / "gate.abstain")
            assert gate.capacity == ab.Capacity(share=0.1)
        case = gate.decide(UNSURE)
        done.append(case.action == "review")
        if case.action == "answer":
            gate.learn(case, str(rng.choice(["x", "y"])))
    assert sum(done) <= 0.1 * 3000 + gate.capacity.burst
    assert gate.learner.price > 0.0


def test_so_many_a_day():
    gate = ab.Gate(["a", "b"], cost=0.0, capacity=ab.Capacity(per_day=24, burst=2), thresholds=4, seed=0)
    with pytest.raises(InputError, match="time: expected one for every case"):
        gate.decide(UNSURE)
    start, reviews = datetime(2026, 1, 1), []
    for i in range(600):
        at = start + timedelta(minutes=10 * i)
        if gate.decide(UNSURE, time=at).action == "review":
            reviews.append(at)
    assert len(reviews) > 20
    for i, since in enumerate(reviews):
        for j, until in enumerate(reviews[i:], 1):
            assert j <= 2 + 24 * ((until - since) / timedelta(days=1)) + 1e-9


@pytest.mark.parametrize("capacity", [-0.1, 1.1, "much", float("nan"), True])
def test_bad_capacities(capacity):
    with pytest.raises(InputError, match="capacity"):
        ab.Gate(["a"], cost=0.2, capacity=capacity)


def test_learners_without_a_capacity_say_so():
    with pytest.raises(InputError, match="UCBGT"):
        ab.Gate(["a"], cost=0.2, capacity=0.1, learner=ab.UCBGT)
