"""The times of cases."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import abstain as ab
from abstain.errors import InputError

SAID = {"a": ("x", 0.3)}
NOON = datetime(2026, 1, 1, 12)


def daily(**options):
    capacity = ab.Capacity(per_day=24, burst=2)
    return ab.Gate(["a"], cost=0.0, thresholds=4, capacity=capacity, seed=0, **options)


def test_times_do_not_go_back():
    gate = ab.Gate(["a"], cost=0.2, thresholds=4)
    gate.decide(SAID, time=NOON)
    gate.decide(SAID, time=NOON + timedelta(seconds=2))
    assert gate.last_time == round((NOON.replace(tzinfo=UTC).timestamp() + 2) * 1e6)
    with pytest.raises(InputError, match=r"not before the last case's \(2026-01-01 12:00:02\), got datetime"):
        gate.decide(SAID, time=NOON)
    for wrong in ("noon", "12", float("nan"), float("inf"), True, 10**400):
        with pytest.raises(InputError, match="time: expected a datetime, or seconds"):
            gate.decide(SAID, time=wrong)


def test_milliseconds_for_seconds_are_refused():
    gate, now = daily(), NOON.replace(tzinfo=UTC).timestamp()
    gate.decide(SAID, time=now)
    with pytest.raises(InputError, match="are these milliseconds"):
        gate.decide(SAID, time=1000 * now)
    gate.decide(SAID, time=now + 1.0)
    assert gate.round == 2


def test_a_wrong_time_does_not_lock_a_gate(tmp_path):
    gate = daily()
    gate.decide(SAID, time=NOON.replace(year=2206))
    with pytest.raises(InputError, match="set gate.last_time = None"):
        gate.decide(SAID, time=NOON)
    gate.last_time = None
    gate.decide(SAID, time=NOON)
    gate.save(tmp_path / "gate.abstain")
    assert ab.load(tmp_path / "gate.abstain").last_time == gate.last_time == NOON.replace(tzinfo=UTC).timestamp() * 1e6
    with pytest.raises(InputError, match="last_time: expected None"):
        gate.last_time = 3


@pytest.mark.parametrize("how", ["in memory", "after a restart"])
def test_the_first_time_fixes_the_kind(how, tmp_path):
    aware, seconds = NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=UTC).timestamp()
    for first, others in ((NOON, (aware, seconds)), (aware, (NOON, seconds)), (seconds, (NOON, aware))):
        gate = daily()
        gate.decide(SAID, time=first)
        if how == "after a restart":
            gate.save(tmp_path / "gate.abstain")
            gate = ab.load(tmp_path / "gate.abstain")
        for other in others:
            with pytest.raises(InputError, match="like the times before"):
                gate.decide(SAID, time=other)
        gate.decide(SAID, time=first)
        gate.last_time = None
        gate.decide(SAID, time=others[0])


def test_time_zones_are_the_same_kind():
    gate = daily()
    gate.decide(SAID, time=NOON.replace(tzinfo=timezone(timedelta(hours=5))))
    gate.decide(SAID, time=NOON.replace(tzinfo=UTC))
    assert gate.last_time == NOON.replace(tzinfo=UTC).timestamp() * 1e6


def test_clock_changes_do_not_make_times_without_a_zone_go_back(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        gate = daily()
        for minute in range(0, 180, 20):  # an hour of that night comes twice
            gate.decide(SAID, time=datetime(2026, 10, 25, 1) + timedelta(minutes=minute))
        assert gate.round == 9
    finally:
        monkeypatch.undo()
        time.tzset()


def test_peek_leaves_the_clock_alone():
    gate = daily()
    gate.peek(SAID, time=NOON)
    assert gate.last_time is None
    gate.decide(SAID, time=3.0)
    assert gate.last_time == 3_000_000
