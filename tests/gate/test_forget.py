"""Closing cases whose label will never come, and where labels may come from."""

from datetime import UTC, datetime, timedelta

import pytest

import abstain as ab
from abstain.errors import DecisionError, InputError

SAID = {"m": ("x", 0.8)}
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def gate(**options):
    return ab.Gate(["m"], **{"cost": 0.2, "labels": "both", "thresholds": [0.6, 0.7], "seed": 0} | options)


def test_cases_before_a_round_are_closed():
    one = gate()
    cases = [one.decide(SAID) for _ in range(10)]
    one.learn(cases[0], "x")
    assert one.forget(before=5) == 3
    assert one.pending == (5, 6, 7, 8, 9, 10)
    with pytest.raises(DecisionError, match="forgotten"):
        one.learn(cases[2], "x")
    one.learn(cases[4], "x")
    assert one.forget(before=5) == 0


def test_it_is_as_if_each_was_forgotten_by_itself():
    one, other = gate(), gate()
    for g, at_once in ((one, True), (other, False)):
        cases = [g.decide(SAID) for _ in range(10)]
        if at_once:
            g.forget(before=6)
        else:
            assert sum(g.forget(case) for case in cases[:5]) == 5
        for case in cases[5:]:
            g.learn(case, "x")
    assert one.policy().equals(other.policy())
    assert one.pending == other.pending == ()


def test_cases_before_a_time_are_closed(tmp_path):
    one = gate()
    cases = [one.decide(SAID, time=DAY + timedelta(days=k)) for k in range(5)]
    untimed = one.decide(SAID)
    one.save(tmp_path / "gate")
    for g in (one, ab.load(tmp_path / "gate")):
        assert g.forget(before=DAY + timedelta(days=2)) == 2
        assert g.pending == (*(case.round for case in cases[2:]), untimed.round)
        assert g.forget(before=7) == 4
    seconds = gate()
    for k in range(3):
        seconds.decide(SAID, time=float(k))
    assert seconds.forget(before=1.5) == 2


def test_what_cannot_be_forgotten():
    one = gate()
    one.decide(SAID, time=DAY)
    for case, before, message in ((None, None, "either a case or before="), ("{}", 3, "either a case or before=")):
        with pytest.raises(InputError, match=message):
            one.forget(case, before=before)
    with pytest.raises(InputError, match="time: expected datetimes with a time zone"):
        one.forget(before=3.5)
    with pytest.raises(InputError, match="each case by itself"):
        gate(labels=(0.05, 1.0)).forget(before=3)
    learner = ab.UCBGT(ab.experts.thresholds(1, [0.5]), cost=0.2)
    with pytest.raises(InputError, match="each by itself"):
        learner.forget_rounds([1])
    assert one.pending == (1,)


@pytest.mark.parametrize(
    ("labels", "sources"),
    [
        ("answered", {"outcome", "audit"}),
        ("reviewed", {"review"}),
        ("both", {"outcome", "audit", "review"}),
        ((0.05, 1.0), {"audit", "review"}),
        ((1.0, 0.5), {"outcome", "audit", "review"}),
    ],
)
def test_labels_come_from_where_the_table_says(labels, sources):
    """Outcomes that happen to show are no audit, which chooses at random."""
    one, taken = gate(labels=labels, cost=0.5), set()
    for source in ("outcome", "audit", "review"):
        for _ in range(200):
            case = one.decide({"m": ("x", 0.65)})
            if case.action == ("review" if source == "review" else "answer") and one._labels.after[case.action] > 0.0:
                try:
                    one.learn(case, "x", source=source)
                    taken.add(source)
                except DecisionError as error:
                    assert str(error).startswith("source: expected")  # noqa: PT017
                break
    assert taken == sources


def test_a_capacity_per_day_may_be_a_float():
    assert ab.Capacity(per_day=50.0) == ab.Capacity(per_day=50)
    for wrong in (2.5, float("nan"), float("inf"), "50"):
        with pytest.raises(InputError, match="per_day: expected a whole number"):
            ab.Capacity(per_day=wrong)
