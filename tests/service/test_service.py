"""What callers may rely on: acknowledged means committed, calls are idempotent, refused calls change nothing."""

import asyncio
import json
import time

import numpy as np
import pytest

from abstain.service import service as service_module
from abstain.service.bodies import DecisionBody, GateBody, LabelRow, Problem
from abstain.service.problems import Conflict, Invalid, NotFound, NotReady, StoreUnavailable
from abstain.service.savings import Scored
from abstain.service.store import RowRefused, SqlStore, StoreError

from .running import Clock, FaultyStore, case, crash, gate, label, play, running, stream, url_of


def scenario_with(tmp_path, steps, settings=None, **options):
    """Run steps on a service with one gate, "g"."""

    async def scenario():
        async with running(tmp_path, **options) as service:
            await service.put_gate("g", gate(**(settings or {})))
            await steps(service)

    play(scenario)


def gate_of(service):
    return service._slots["g"].hosted.gate


def weights(service):
    return gate_of(service).learner.weights.copy()


# Gates.


def test_a_gate_is_created_once_and_the_same_body_changes_nothing(tmp_path):
    async def scenario():
        async with running(tmp_path) as service:
            body = GateBody(models=["a", "b"], cost=0.2)
            first, created = await service.put_gate("g", body)
            assert created
            assert first.settings["seed"] is not None  # drawn, and kept for the replay
            assert first.settings["labels"] == "both"
            assert await service.put_gate("g", body) == (first, False)
            assert first.seq == 1
            await service.set_mode("g", "paused")
            again, _ = await service.put_gate("g", body)
            assert again.mode == "paused"  # a field that is not named stays
            assert [one.name for one in await service.gates()] == ["g"]

    play(scenario)


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"cost": 2.0}, "cost"),
        ({"cost": None}, "cost"),
        ({"models": ["a", "a"]}, "models"),
        ({"models": None}, "models"),
        ({"window": "soon"}, "window"),
        ({"window": -1.0}, "window"),
        ({"on_expiry": "assume:z", "classes": ["x", "y"]}, "on_expiry"),
        ({"on_expiry": "later"}, "on_expiry"),
        ({"today": ["c", 0.5]}, "today"),
        ({"start": ["c", 0.5]}, "start"),
        ({"maturity": "soon"}, "maturity"),
    ],
)
def test_bad_settings_are_refused_with_their_path(tmp_path, settings, path):
    async def scenario():
        async with running(tmp_path) as service:
            with pytest.raises(Invalid) as caught:
                await service.put_gate("g", gate(**settings))
            assert caught.value.errors[0]["path"] == path
            assert await service.gates() == []
            with pytest.raises(Invalid):
                await service.put_gate("no/name", gate())

    play(scenario)


def test_what_cannot_change_is_a_conflict_and_a_bad_change_changes_nothing(tmp_path):
    async def steps(service):
        before, learnt = await service.gate("g"), weights(service)
        with pytest.raises(Conflict) as caught:
            await service.put_gate("g", gate(labels="answered", seed=6))
        assert {one["path"] for one in caught.value.errors} == {"labels", "seed"}
        with pytest.raises(Invalid):  # the models are fine, the price is not
            await service.put_gate("g", gate(models=["a", "b", "c"], cost=2.0))
        assert await service.gate("g") == before
        np.testing.assert_array_equal(weights(service), learnt)
        assert service._slots["g"].hosted.gate.models == ["a", "b"]
        reply, _ = await service.put_gate("g", gate(models=["b", "c"], cost=0.3, capacity=0.5, today=["c", 0.5]))
        assert reply.settings["models"] == ["b", "c"]
        assert service._slots["g"].hosted.gate.review_price == 0.3
        reply, _ = await service.put_gate("g", GateBody(review_price=1.0, mistake_price=4.0))
        assert (reply.settings["cost"], reply.settings["review_price"]) == (None, 1.0)
        assert reply.settings["capacity"] == 0.5
        assert service._slots["g"].hosted.gate.mistake_price == 4.0

    scenario_with(tmp_path, steps)


def test_a_deleted_gate_is_gone_and_can_be_made_anew(tmp_path):
    async def steps(service):
        await service.decide("g", case("one"))
        await service.delete_gate("g")
        for call in (service.gate("g"), service.decide("g", case("one")), service.delete_gate("g")):
            with pytest.raises(NotFound):
                await call
        _, created = await service.put_gate("g", gate())
        assert created
        assert not (await service.decide("g", case("one"))).replayed

    scenario_with(tmp_path, steps)


def test_calls_that_meet_a_deletion_are_told_that_the_gate_is_gone_and_put_makes_it_anew(tmp_path):
    async def steps(service):
        await service.decide("g", case("one"))
        calls = [
            service.delete_gate("g"),
            service.label("g", "one", label("x")),
            service.label_many("g", [LabelRow(case="one", label="x")]),
            service.decide("g", case("two")),
            service.set_mode("g", "paused"),
            service.health("g"),
            service.delete_gate("g"),
        ]
        gone, *found = await asyncio.gather(*calls, return_exceptions=True)  # in one batch
        assert gone is None
        assert {(type(one), one.detail) for one in found} == {(NotFound, "gate 'g': it was deleted")}
        await service.put_gate("g", gate())
        _, (reply, created) = await asyncio.gather(service.delete_gate("g"), service.put_gate("g", gate()))
        assert created
        assert (reply.seq, reply.decided) == (1, 0)
        assert (await service.label("g", "one", label("x"))).status == "unknown"

    scenario_with(tmp_path, steps)


# Decisions.


def test_the_same_case_returns_the_stored_decision_and_another_payload_is_a_conflict(tmp_path):
    async def steps(service):
        first = await service.decide("g", case("one", context={"text": "hello"}))
        learnt, seq = weights(service), (await service.gate("g")).seq
        again = await service.decide("g", case("one", context={"text": "hello"}))
        assert again == first.model_copy(update={"replayed": True})
        for other in (case("one"), case("one", a=("x", 0.91), context={"text": "hello"})):
            with pytest.raises(Conflict):
                await service.decide("g", other)
        assert (await service.gate("g")).seq == seq
        np.testing.assert_array_equal(weights(service), learnt)
        both = await asyncio.gather(*(service.decide("g", case("two")) for _ in range(2)))  # in one batch
        assert [one.replayed for one in both] == [False, True]

    scenario_with(tmp_path, steps)


def test_refused_rows_have_a_problem_in_their_place(tmp_path):
    async def steps(service):
        bad = case("three").model_copy(update={"answers": {"z": None}})
        rows = [case("one"), case("two", stake=3.0), bad, case("four"), case("one", b=None)]
        found = await service.decide_many("g", rows)
        assert [one.status if isinstance(one, Problem) else one.case for one in found] == ["one", 422, 422, "four", 409]
        assert found[1].errors[0]["path"] == "stake"
        assert (await service.gate("g")).decided == 2
        with pytest.raises(NotFound):
            await service.decide_many("h", rows)

    scenario_with(tmp_path, steps)


def test_a_case_can_be_looked_up_with_its_label(tmp_path):
    async def steps(service):
        reply = await service.decide("g", case("a/b é", context=[1, None], time="2024-05-01T10:00:00"))
        found = await service.decision("g", "a/b é")
        assert (found.state, found.label, found.decision) == ("open", None, reply)
        assert found.request["context"] == [1, None]
        await service.label("g", "a/b é", label("y"))
        found = await service.decision("g", "a/b é")
        wrong = reply.action == "answer" and reply.answer != "y"
        assert (found.state, found.label) == ("closed", "y")
        assert found.price == (0.2 if reply.action == "review" else float(wrong))
        with pytest.raises(NotFound):
            await service.decision("g", "other")

    scenario_with(tmp_path, steps)


def test_times_out_of_order_count_as_the_last_one_and_the_default_is_now(tmp_path):
    async def steps(service):
        for i, when in enumerate([100.0, 50.0, "1970-01-12T13:46:00Z", None]):
            await service.decide("g", case(f"case {i}", time=when))
        times = [one.body["time"] for one in await service.events("g", after=1)]
        assert times == [100.0, 100.0, 999_960.0, 1_000_000.0]

    scenario_with(tmp_path, steps, {"capacity": {"per_day": 10}}, clock=Clock())


@pytest.mark.parametrize("mode", ["live", "paused"])
def test_a_time_far_ahead_of_the_clock_is_refused_and_a_time_ahead_of_it_counts_as_now(tmp_path, mode):
    """Else the capacity would earn nothing until that time has come."""
    clock = Clock()

    async def steps(service):
        for ahead in (86_401.0, "2030-01-01", "9999-12-31T23:59:59Z"):
            when = clock.now + ahead if isinstance(ahead, float) else ahead
            with pytest.raises(Invalid, match="at most a day after the server's clock .1970-01-12T13:46:40") as caught:
                await service.decide("g", case("bad", time=when))
            assert caught.value.errors[0]["path"] == "time"
        await service.decide("g", case("early", time=clock.now + 86_399.0))
        clock.now += 1.0
        await service.decide("g", case("next"))
        expected = [1_000_000.0, 1_000_001.0] if mode == "live" else [None, None]
        assert [one.body["time"] for one in await service.events("g", after=1)][-2:] == expected

    scenario_with(tmp_path, steps, {"capacity": {"per_day": 10} if mode == "live" else 0.5, "mode": mode}, clock=clock)


# Labels.


def test_the_same_label_again_is_a_duplicate_and_another_one_a_conflict(tmp_path):
    async def steps(service):
        await service.decide("g", case("one"))
        assert (await service.label("g", "one", label("x"))).status == "learnt"
        learnt, seq = weights(service), (await service.gate("g")).seq
        assert (await service.label("g", "one", label("x"))).status == "duplicate"
        with pytest.raises(Conflict):
            await service.label("g", "one", label("y"))
        assert (await service.gate("g")).seq == seq
        assert (await service.label("g", "one", label("y", correction=True))).status == "corrected"
        assert (await service.label("g", "one", label("y", correction=True))).status == "duplicate"
        assert (await service.label("g", "one", label("x"))).status == "duplicate"
        np.testing.assert_array_equal(weights(service), learnt)
        found = await service.decision("g", "one")
        assert (found.label, found.correction) == ("x", "y")
        assert Scored.of(service.store.decided("g", None, None)[0]).label == "y"  # what savings count

    scenario_with(tmp_path, steps)


def test_a_number_as_a_label_where_answers_are_texts_is_refused_and_changes_nothing(tmp_path):
    async def steps(service):
        await service.decide("g", case("one"))
        seq = (await service.gate("g")).seq
        with pytest.raises(Invalid, match="expected a text, as the answers are"):
            await service.label("g", "one", label(3))
        assert (await service.gate("g")).seq == seq
        assert (await service.label("g", "two", label(3))).status == "unknown"  # held: its case is not here yet
        await service.decide("g", case("two"))
        assert [(await service.label("g", name, label("x"))).status for name in ("one", "two")] == ["learnt"] * 2

    scenario_with(tmp_path, steps)


def test_many_labels_have_a_status_each(tmp_path):
    async def steps(service):
        await service.decide_many("g", [case("one"), case("two")])
        pairs = [("one", "x"), ("one", "x"), ("one", "y"), ("none", "x"), ("two", 3)]
        rows = [LabelRow(case=name, label=value) for name, value in pairs]
        found = await service.label_many("g", rows)
        assert [one.status for one in found] == ["learnt", "duplicate", "conflict", "unknown", "invalid"]
        assert service.counters.labels["g", "", "learnt"] == 1

    scenario_with(tmp_path, steps, {"classes": ["x", "y", "z"]})


def test_a_label_for_an_unknown_case_is_held_and_learnt_with_its_decision(tmp_path):
    async def steps(service):
        for _ in range(2):
            assert (await service.label("g", "one", label("x"))).status == "unknown"
        with pytest.raises(Conflict):
            await service.label("g", "one", label("y"))
        assert service.counters.held["g"] == 1
        await service.decide("g", case("one"))
        assert [one.kind for one in await service.events("g", after=1)] == ["decided", "learnt"]
        assert (await service.decision("g", "one")).state == "closed"
        assert (await service.label("g", "one", label("x"))).status == "duplicate"

    scenario_with(tmp_path, steps)


def test_a_held_label_whose_source_does_not_fit_its_case_is_dropped(tmp_path):
    """As one that comes after the case is refused."""

    async def steps(service):
        base = {"action": "answer", "model": "a", "probability": 1.0}
        for name, source in (("one", "review"), ("two", "audit")):
            assert (await service.label("g", name, label("x", source=source))).status == "unknown"
            await service.decide("g", case(name, baseline=base))
        assert [one.kind for one in await service.events("g", after=1)] == ["watched", "watched", "learnt"]
        assert (await service.decision("g", "one")).state == "open"
        assert (await service.decision("g", "two")).label_source == "audit"
        assert service.counters.unmatched["g"] == 1
        assert service.store.find("g", ["one", "two"])[1] == {}
        assert (await service.label("g", "one", label("y", source="outcome"))).status == "learnt"

    scenario_with(tmp_path, steps, {"mode": "shadow"})


def test_no_label_is_assumed_for_a_review(tmp_path):
    clock = Clock()

    async def steps(service):
        answer = {"action": "answer", "model": "a", "probability": 1.0}
        await service.decide("g", case("answered", baseline=answer))
        await service.decide("g", case("reviewed", baseline={"action": "review", "probability": 0.0}))
        clock.now += 61.0
        await service.sweep()
        found = [await service.decision("g", name) for name in ("answered", "reviewed")]
        assert [(one.state, one.label) for one in found] == [("expired", "z"), ("expired", None)]
        assert {one.kind for one in await service.events("g", after=3)} == {"expired", "forgotten"}
        assert (await service.gate("g")).open == 0
        service._slots["g"].hosted = None  # read back
        assert (await service.health("g"))["pending"] == 0

    scenario_with(tmp_path, steps, {"mode": "shadow", "window": 60.0, "on_expiry": "assume:z"}, clock=clock)


def test_a_label_just_before_its_case_is_learnt_in_the_same_commit(tmp_path):
    async def steps(service):
        calls = [service.label("g", "one", label("x")), service.decide("g", case("one"))]
        early, _ = await asyncio.gather(*calls)
        assert early.status == "unknown"
        assert (await service.decision("g", "one")).label == "x"
        assert service.store.find("g", ["one"])[1] == {}

    scenario_with(tmp_path, steps)


def test_held_labels_survive_a_restart_and_go_when_their_case_does_not_come(tmp_path):
    clock = Clock()

    async def scenario():
        async with running(tmp_path, clock=clock, hold=100.0) as service:
            await service.put_gate("g", gate())
            await service.label("g", "early", label("x"))
            await service.label("g", "never", label("x"))
        async with running(tmp_path, clock=clock, hold=100.0) as service:
            clock.now += 99.0
            await service.sweep()
            await service.decide("g", case("early"))
            assert (await service.decision("g", "early")).label == "x"
            clock.now += 2.0
            await service.sweep()
            assert service.counters.unmatched["g"] == 1
            await service.decide("g", case("never"))
            assert (await service.decision("g", "never")).label is None

    play(scenario)


def test_labels_that_the_gate_does_not_learn_from_are_kept(tmp_path):
    async def steps(service):
        replies = await service.decide_many("g", [body for body, _ in stream(60)])
        reviewed = next(one.case for one in replies if one.action == "review")
        answered = next(one.case for one in replies if one.action == "answer")
        assert (await service.label("g", reviewed, label("x"))).status == "unused"
        assert (await service.label("g", reviewed, label("x"))).status == "duplicate"
        assert (await service.decision("g", reviewed)).label == "x"
        with pytest.raises(Invalid) as caught:
            await service.label("g", answered, label("x", source="review"))
        assert caught.value.errors[0]["path"] == "source"
        assert (await service.label("g", answered, label("x", source="outcome"))).status == "learnt"

    scenario_with(tmp_path, steps, {"labels": "answered"})


def test_an_audit_is_learnt_also_if_an_outcome_that_does_not_count_came_before(tmp_path):
    """Else audits would count only where nobody complained, and mistakes look rarer than they are."""
    clock = Clock()

    async def steps(service):
        replies = await service.decide_many("g", [body for body, _ in stream(60)])
        one, two, three, four = [reply.case for reply in replies if reply.action == "answer"][:4]
        for name in (one, two, three):
            assert (await service.label("g", name, label("y", source="outcome"))).status == "unused"
            assert (await service.label("g", name, label("y", source="outcome"))).status == "duplicate"
        assert (await service.label("g", one, label("y", source="audit"))).status == "learnt"
        assert (await service.label("g", one, label("y", source="audit"))).status == "duplicate"
        assert (await service.label("g", two, label("x", correction=True))).status == "corrected"
        found = await service.decision("g", one)
        assert (found.state, found.label_source) == ("closed", "audit")
        assert (await service.gate("g")).open == len(gate_of(service).pending) == 59
        clock.now += 100.0
        await service.sweep()
        for name, said in ((three, "y"), (four, "x")):  # what is known is not overwritten with what silence means
            found = await service.decision("g", name)
            assert (found.state, found.label) == ("expired", said)
        assert (await service.gate("g")).open == len(gate_of(service).pending) == 0

    settings = {"labels": [0.05, 1.0], "window": 60.0, "on_expiry": "assume:x"}
    scenario_with(tmp_path, steps, settings, clock=clock)


@pytest.mark.parametrize("correction", [False, True])
def test_an_audit_that_contradicts_an_outcome_is_learnt(tmp_path, correction):
    """The mistakes that outcomes hide are what audits are for."""

    async def steps(service):
        replies = await service.decide_many("g", [body for body, _ in stream(60)])
        one, two = [reply.case for reply in replies if reply.action == "answer"][:2]
        for name in (one, two):
            assert (await service.label("g", name, label("y", source="outcome"))).status == "unused"
        assert (await service.label("g", two, label("z", source="outcome", correction=True))).status == "corrected"
        for name in (one, two):
            audit = label("x", source="audit", correction=correction)
            assert (await service.label("g", name, audit)).status == "learnt"
            found = await service.decision("g", name)
            assert (found.state, found.label, found.label_source, found.correction) == ("closed", "x", "audit", None)
        with pytest.raises(Conflict):
            await service.label("g", one, label("y", source="audit"))
        assert (await service.gate("g")).open == len(gate_of(service).pending) == 58
        service._slots["g"].hosted = None  # read back
        assert (await service.health("g"))["pending"] == 58
        assert (await service.gate("g")).mismatches == 0

    scenario_with(tmp_path, steps, {"labels": [0.05, 1.0]})


@pytest.mark.parametrize("at_once", [False, True])
def test_a_held_label_can_be_corrected(tmp_path, at_once):
    async def steps(service):
        calls = [service.label("g", "one", label(said, correction=said == "y")) for said in "xy"]
        replies = await asyncio.gather(*calls) if at_once else [await call for call in calls]
        assert [reply.status for reply in replies] == ["unknown", "unknown"]
        with pytest.raises(Conflict, match="correction: true"):
            await service.label("g", "one", label("x"))
        await service.decide("g", case("one"))
        assert (await service.decision("g", "one")).label == "y"
        assert service.store.find("g", ["one"])[1] == {}

    scenario_with(tmp_path, steps)


def test_the_store_counts_as_open_what_the_gate_waits_for(tmp_path):
    """Other replicas ask the store: a case of a paused gate waits for a person, but the gate for no label."""

    async def steps(service):
        await service.decide_many("g", [body for body, _ in stream(5)])
        await service.label("g", "case 0", label("x"))
        await service.set_mode("g", "paused")
        await service.decide("g", case("paused"))
        assert (await service.gate("g")).open == 4
        assert service.store.counts() == {"g": (6, 4)}

    scenario_with(tmp_path, steps)


def test_cases_expire_also_if_the_clock_was_ahead_and_was_set_back(tmp_path, monkeypatch):
    monkeypatch.setattr(service_module, "MOST_AT_ONCE", 8)
    clock = Clock()

    async def steps(service):
        clock.now += 86_400.0
        await service.decide_many("g", [body for body, _ in stream(50)])
        clock.now -= 86_400.0
        await service.decide_many("g", [body for body, _ in stream(50, start=50)])
        clock.now += 100.0
        await service.sweep()
        states = [(await service.decision("g", f"case {k}")).state for k in range(100)]
        assert states == 50 * ["open"] + 50 * ["expired"]
        clock.now += 86_400.0
        await service.sweep()
        assert (await service.gate("g")).open == 0

    scenario_with(tmp_path, steps, {"window": 60.0}, clock=clock)


def test_a_gate_awaits_as_many_labels_after_a_restart_as_before(tmp_path):
    async def scenario():
        async with running(tmp_path) as service:
            await service.put_gate("g", gate(labels="reviewed"))
            replies = await service.decide_many("g", [body for body, _ in stream(60)])
            reviewed = [reply.case for reply in replies if reply.action == "review"]
            for name in reviewed[:5]:
                assert (await service.label("g", name, label("x", source="outcome"))).status == "unused"
            expected = (await service.gate("g")).open
            assert expected == len(reviewed) - 5 == len(gate_of(service).pending)
            crash(service)
            service._slots.clear()
            service._tasks.clear()
        async with running(tmp_path) as service:
            assert (await service.gate("g")).open == expected == len(gate_of(service).pending)

    play(scenario)


def test_an_error_is_not_read_as_a_confidence_nor_the_other_way_round(tmp_path):
    async def steps(service):
        await service.put_gate("n", gate(task="number", max_error=2.0))
        for name, wrong, said in (("g", "error", "x"), ("n", "confidence", 3.0)):
            body = DecisionBody.model_validate({"case": "one", "answers": {"a": {"answer": said, wrong: 0.5}}})
            with pytest.raises(Invalid) as caught:
                await service.decide(name, body)
            assert caught.value.errors[0]["path"] == f"answers.a.{wrong}"
            assert (await service.gate(name)).seq == 1

    scenario_with(tmp_path, steps)


def test_a_gate_cannot_have_both_kinds_of_prices(tmp_path):
    async def steps(service):
        with pytest.raises(Invalid) as caught:
            await service.put_gate("g", GateBody(cost=0.3, review_price=1.0))
        assert caught.value.errors[0]["path"] == "cost"
        await service.put_gate("g", GateBody(review_price=1.0, mistake_price=5.0))
        with pytest.raises(Invalid):
            await service.put_gate("g", GateBody(cost=0.3, review_price=1.0))
        assert (await service.gate("g")).settings["cost"] is None

    scenario_with(tmp_path, steps)


def test_a_price_is_counted_once_and_a_case_has_that_of_its_last_label(tmp_path):
    clock = Clock()

    async def steps(service):
        base = {"action": "answer", "model": "a", "probability": 1.0}
        await service.decide("g", case("one", baseline=base))
        clock.now += 61.0
        await service.sweep()
        seen = []
        for change in (None, label("y"), label("x", correction=True), label("z", correction=True)):
            if change is not None:
                await service.label("g", "one", change)
            found = await service.decision("g", "one")
            seen.append((found.label, found.correction, found.price, service.counters.prices["g", "answer"]))
        assert seen == [("z", None, 1.0, 1.0), ("y", None, 1.0, 1.0), ("y", "x", 0.0, 1.0), ("y", "z", 1.0, 1.0)]

    scenario_with(tmp_path, steps, {"mode": "shadow", "window": 60.0, "on_expiry": "assume:z"}, clock=clock)


@pytest.mark.parametrize("on_expiry", ["forget", "assume:x"])
def test_cases_whose_label_does_not_come_expire(tmp_path, on_expiry):
    clock, base = Clock(), {"action": "answer", "model": "a", "probability": 1.0}

    async def scenario():
        async with running(tmp_path, clock=clock) as service:
            await service.put_gate("g", gate(window="10 minutes", on_expiry=on_expiry))
            await service.set_mode("g", "shadow")  # so that cases are answered
            await service.decide_many("g", [case("old", baseline=base), case("labelled", baseline=base)])
            await service.label("g", "labelled", label("y"))
            clock.now += 599.0
            await service.decide("g", case("young", baseline=base))
            await service.sweep()
            assert (await service.gate("g")).open == 2
            clock.now += 2.0
            before = weights(service)
            await service.sweep()
            await service.sweep()
            assert service.counters.expired["g"] == 1
            assert (await service.gate("g")).open == 1
            found = await service.decision("g", "old")
            assumed = on_expiry != "forget"
            assert (found.state, found.label) == ("expired", "x" if assumed else None)
            assert found.label_source == ("assumed" if assumed else None)
            assert np.array_equal(before, weights(service)) is not assumed
            assert (await service.label("g", "old", label("y"))).status == "expired"
            assert (await service.decision("g", "old")).label == "y"
            assert (await service.label("g", "old", label("y"))).status == "duplicate"
            after = weights(service)
            service._slots["g"].hosted = None  # read back
            await service.health("g")
            np.testing.assert_array_equal(weights(service), after)

    play(scenario)


# Modes.


def test_in_shadow_mode_the_baseline_is_returned_and_the_gate_watches(tmp_path):
    base = {"action": "answer", "model": "a", "probability": 1.0}

    async def steps(service):
        with pytest.raises(Invalid) as caught:
            await service.decide("g", case("one"))
        assert caught.value.errors[0]["path"] == "baseline"
        before = weights(service)
        reply = await service.decide("g", case("one", baseline=base))
        assert (reply.action, reply.answer, reply.model, reply.mode) == ("answer", "x", "a", "shadow")
        assert (await service.label("g", "one", label("y"))).status == "learnt"
        assert not np.array_equal(before, weights(service))
        assert (await service.decision("g", "one")).price == 1.0
        with pytest.raises(Invalid):
            await service.decide("g", case("two", a=None, baseline=base))
        reply = await service.decide("g", case("three", baseline={"action": "review", "probability": 0.0}))
        assert (reply.action, reply.model) == ("review", None)
        assert (await service.set_mode("g", "live")).mode == "live"
        assert (await service.decide("g", case("four", baseline=base))).mode == "live"

    scenario_with(tmp_path, steps, {"mode": "shadow", "capacity": 0.1})


def test_a_paused_gate_sends_every_case_to_review_and_learns_nothing(tmp_path):
    async def steps(service):
        await service.set_mode("g", "paused")
        before = weights(service)
        for body, truth in stream(10):
            reply = await service.decide("g", body)
            assert (reply.action, reply.model, reply.mode) == ("review", None, "paused")
            assert (await service.label("g", body.case, label(truth))).status == "unused"
        np.testing.assert_array_equal(weights(service), before)
        assert (await service.gate("g")).decided == 0

    scenario_with(tmp_path, steps)


# Faults.


@pytest.mark.parametrize("when", ["before", "after"])
def test_after_a_failed_commit_callers_get_503_and_the_gate_is_read_back(tmp_path, when):
    (tmp_path / "calm").mkdir()
    store = FaultyStore(url_of(tmp_path))

    async def scenario():
        async with running(tmp_path / "calm") as calm, running(tmp_path, store=store) as service:
            for one in (calm, service):
                await one.put_gate("g", gate())
                await one.decide("g", case("first"))
            setattr(store, when, "disk full")
            learnt, seq = weights(service), (await service.gate("g")).seq
            calls = [service.decide("g", case("one")), service.label("g", "first", label("x"))]
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(one, StoreUnavailable) and "disk full" in one.detail for one in found)
            assert (await service.gate("g")).seq == seq
            setattr(store, when, None)
            # Whether it was written is found out by asking again.
            reply = await service.decide("g", case("one"))
            assert reply.replayed is (when == "after")
            status = (await service.label("g", "first", label("x"))).status
            assert status == ("duplicate" if when == "after" else "learnt")
            assert reply.model_copy(update={"replayed": False}) == await calm.decide("g", case("one"))
            await calm.label("g", "first", label("x"))
            np.testing.assert_array_equal(weights(service), weights(calm))
            assert not np.array_equal(weights(service), learnt)
            assert service.counters.failed_commits >= 1

    play(scenario)


def test_a_full_disk_is_503_and_the_gate_goes_on_when_there_is_room(tmp_path):
    from sqlalchemy import event

    store = SqlStore(url_of(tmp_path))

    async def steps(service):
        first = [body for body, _ in stream(20)]
        await service.decide_many("g", first)
        with store.engine.connect() as at:
            pages = at.exec_driver_sql("PRAGMA page_count").scalar()

        def fill(connection, _):
            connection.execute(f"PRAGMA max_page_count={pages}")

        event.listen(store.engine, "connect", fill)
        store.engine.dispose()
        more = [case(f"more {i}", context="x" * 10_000) for i in range(40)]
        with pytest.raises(StoreUnavailable, match="full"):
            await service.decide_many("g", more)
        assert (await service.decision("g", "case 0")).state == "open"  # reading goes on
        event.remove(store.engine, "connect", fill)
        store.engine.dispose()
        found = await service.decide_many("g", more)
        assert not any(one.replayed for one in found)
        assert service.counters.mismatches["g"] == 0
        assert (await service.gate("g")).decided == 60

    scenario_with(tmp_path, steps, store=store)


def test_on_a_slow_disk_calls_wait_and_are_committed_together(tmp_path, monkeypatch):
    class Slow(SqlStore):
        def commit(self, changes):
            time.sleep(0.2)
            super().commit(changes)

    monkeypatch.setattr(service_module, "MOST_WAITING", 60)

    async def steps(service):
        commits = service.counters.commits
        first = asyncio.create_task(service.decide("g", case("first")))
        await asyncio.sleep(0.1)  # it is being written
        found = await service.decide_many("g", [case(f"case {i}") for i in range(80)])
        assert (await first).case == "first"
        assert service.counters.commits - commits <= 3
        refused = [one for one in found if isinstance(one, Problem)]
        assert len(refused) == 20  # no more may wait
        assert {one.status for one in refused} == {503}

    scenario_with(tmp_path, steps, store=Slow(url_of(tmp_path)))


def test_a_store_that_cannot_be_read_is_503_and_changes_nothing(tmp_path):
    class Unreadable(SqlStore):
        broken = False

        def find(self, gate, cases):
            if self.broken:
                raise StoreError("store: it cannot be read")
            return super().find(gate, cases)

    store = Unreadable(url_of(tmp_path))

    async def steps(service):
        before = weights(service)
        store.broken = True
        for call in (service.decide("g", case("one")), service.decision("g", "one")):
            with pytest.raises(StoreUnavailable):
                await call
        store.broken = False
        np.testing.assert_array_equal(weights(service), before)
        assert not (await service.decide("g", case("one"))).replayed

    scenario_with(tmp_path, steps, store=store)


@pytest.mark.long
def test_a_failed_snapshot_harms_nobody(tmp_path):
    class NoSnapshots(SqlStore):
        def commit(self, changes):
            if any(one.snapshot is not None for one in changes):
                raise StoreError("store: full")
            super().commit(changes)

    async def steps(service):
        for body, truth in stream(30):
            await service.decide("g", body)
            assert (await service.label("g", body.case, label(truth))).status == "learnt"

    scenario_with(tmp_path, steps, store=NoSnapshots(url_of(tmp_path)), snapshot_every=10)


def test_an_operation_that_fails_unexpectedly_leaves_no_trace(tmp_path, monkeypatch):
    async def steps(service):
        await service.decide("g", case("one"))
        before = weights(service)
        gate = service._slots["g"].hosted.gate
        learn = type(gate).learn

        def broken(self, *arguments):
            learn(self, *arguments)
            raise RuntimeError("after learning")

        monkeypatch.setattr(type(gate), "learn", broken)
        with pytest.raises(NotReady, match="after learning"):
            await service.label("g", "one", label("x"))
        monkeypatch.undo()
        await service.health("g")
        np.testing.assert_array_equal(weights(service), before)
        assert (await service.label("g", "one", label("x"))).status == "learnt"

    scenario_with(tmp_path, steps)


def test_an_operation_that_fails_unexpectedly_fails_alone(tmp_path, monkeypatch):
    async def steps(service):
        kind = type(service._slots["g"].hosted.gate)
        decide = kind.decide

        def broken(self, answers, **rest):
            case = decide(self, answers, **rest)
            if answers["b"] is None:
                raise RuntimeError("after deciding")
            return case

        monkeypatch.setattr(kind, "decide", broken)
        bodies = [case("one"), case("two", b=None), case("three")]
        found = await service.decide_many("g", bodies)
        monkeypatch.undo()
        assert [one.status if isinstance(one, Problem) else one.case for one in found] == ["one", 503, "three"]
        assert [one.case for one in await service.events("g", after=1)] == ["one", "three"]
        assert (await service.gate("g")).decided == 2

    scenario_with(tmp_path, steps)


def test_what_is_committed_is_acknowledged_whatever_fails_after_it(tmp_path, monkeypatch):
    async def steps(service):
        counting = service._count
        monkeypatch.setattr(service, "_count", lambda batch: 1 / 0)
        for cases in (["one", "two"], ["three"]):
            found = await asyncio.gather(*(service.decide("g", case(name)) for name in cases))
            assert [(one.case, one.replayed) for one in found] == [(name, False) for name in cases]
        monkeypatch.setattr(service, "_count", counting)
        assert (await service.decide("g", case("one"))).replayed
        assert (await service.gate("g")).seq == 4

    scenario_with(tmp_path, steps)


def test_a_row_that_the_store_refuses_fails_no_other_gate(tmp_path):
    class Choosy(SqlStore):
        def commit(self, changes):
            if any(one.gate.name == "bad" and one.cases for one in changes):
                raise RowRefused("store: it cannot be written (a row)")
            super().commit(changes)

    async def steps(service):
        await service.put_gate("bad", gate())
        calls = [service.decide(name, case("one")) for name in ("g", "bad", "g")]
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(found[1], StoreUnavailable)
        assert [found[0].case, found[2].replayed] == ["one", True]
        assert (await service.gate("g")).seq == 2
        assert (await service.gate("bad")).seq == 1

    scenario_with(tmp_path, steps, store=Choosy(url_of(tmp_path)))


def test_calls_before_the_start_and_after_the_stop_are_refused(tmp_path):
    async def scenario():
        async with running(tmp_path) as service:
            await service.put_gate("g", gate())
        with pytest.raises(NotReady):
            await service.decide("g", case("one"))

    play(scenario)


# Reading, and many at once.


def test_reviews_come_oldest_first_with_what_reviewers_need(tmp_path):
    clock = Clock()

    async def steps(service):
        await service.set_mode("g", "paused")
        for i in range(5):
            await service.decide("g", case(f"case {i}", context={"n": i}, b=None))
        clock.now += 30.0
        await service.label("g", "case 1", label("x"))
        found = await service.reviews("g")
        assert [one.case for one in found] == ["case 0", "case 2", "case 3", "case 4"]
        assert (found[0].age, found[0].context) == (30.0, {"n": 0})
        assert found[0].answers == {"a": {"answer": "x", "confidence": 0.9}, "b": None}
        assert [one.case for one in await service.reviews("g", after=found[1].seq, limit=1)] == ["case 3"]
        assert [(one.case, one.label) for one in await service.reviews("g", state="closed")] == [("case 1", "x")]
        health = await service.health("g")
        assert (health["open"], health["oldest"]) == (4, 30.0)

    scenario_with(tmp_path, steps, clock=clock)


def test_policy_and_health_are_plain_values_and_metrics_count_what_the_store_has(tmp_path):
    async def steps(service):
        for body, truth in stream(30):
            await service.decide("g", body)
            await service.label("g", body.case, label(truth))
        policy, health = await service.policy("g"), await service.health("g")
        assert json.loads(json.dumps([policy, health], allow_nan=False)) == [policy, health]
        assert {"model", "threshold", "weight", "price", "share"} == set(policy[0])
        stored = service.store.decided("g", None, None)
        assert len(stored) == 30
        assert all(one.label in ('"x"', '"y"') and one.price is not None for one in stored)
        assert sum(service.counters.decisions.values()) == 30
        assert service.counters.prices["g", "answer"] == sum(one.price for one in stored if one.action == "answer")

    scenario_with(tmp_path, steps)


def test_calls_that_wait_are_committed_together_and_in_order(tmp_path):
    async def steps(service):
        await service.put_gate("h", gate())
        commits = service.counters.commits
        calls = [service.decide(name, case(f"case {i}")) for i in range(40) for name in ("g", "h")]
        await asyncio.gather(*calls)
        assert service.counters.commits - commits < 20
        for name in ("g", "h"):
            cases = [one.case for one in await service.events(name, after=1)]
            assert cases == [f"case {i}" for i in range(40)]

    scenario_with(tmp_path, steps)


@pytest.mark.long
def test_a_thousand_gates_decide_and_come_back(tmp_path):
    names = [f"gate-{i}" for i in range(1000)]

    async def scenario():
        async with running(tmp_path) as service:
            for name in names:
                await service.put_gate(name, gate())
            commits = service.counters.commits
            first = await asyncio.gather(*(service.decide(name, case("one")) for name in names))
            assert service.counters.commits - commits < 100
        async with running(tmp_path) as service:
            assert [one.decided for one in await service.gates()] == [1] * 1000
            again = await asyncio.gather(*(service.decide(name, case("one")) for name in names))
            assert again == [one.model_copy(update={"replayed": True}) for one in first]
            await service.sweep()

    play(scenario)


def test_the_settings_of_a_reply_change_nothing_when_they_are_sent_back(tmp_path):
    async def steps(service):
        before = await service.gate("g")
        after, created = await service.put_gate("g", GateBody.model_validate(before.settings))
        assert not created
        assert after == before

    scenario_with(tmp_path, steps, {"seed": None, "capacity": {"per_day": 5}, "window": "2 days", "today": ["a", 0.5]})
