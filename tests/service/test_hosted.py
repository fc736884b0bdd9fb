"""A snapshot and the journalled calls restore a gate exactly; a difference stops it."""

import json

import numpy as np
import pytest

import abstain
from abstain.errors import DecisionError
from abstain.service import hosted as hosted_module
from abstain.service.bodies import DecisionBody, GateBody, LabelRow
from abstain.service.problems import GateStopped, Invalid
from abstain.service.store import SqlStore

from .running import Clock, case, crash, gate, label, play, running, stream, url_of


def gate_of(service, name="g"):
    return service._slots[name].hosted.gate


async def use(service, n, seed=0, start=0, labels=True):
    """Decide cases; every third label comes at once, every third late, every third never."""
    replies, late = [], []
    for i, (body, truth) in enumerate(stream(n, seed, start)):
        replies.append(await service.decide("g", body))
        if labels and i % 3 == 0:
            await service.label("g", body.case, label(truth))
        elif labels and i % 3 == 1:
            late.append((body.case, truth))
        if len(late) == 5:
            for name, value in late:
                await service.label("g", name, label(value))
            late = []
    return replies


def same_state(one, two):
    assert one.round == two.round
    np.testing.assert_array_equal(one.learner.weights, two.learner.weights)
    assert one.pending == two.pending
    assert str(one.health()) == str(two.health())


@pytest.mark.parametrize(
    ("snapshot_every", "settings"),
    [(10_000, {}), (40, {}), (40, {"capacity": 0.3}), (40, {"combine": True}), (40, {"maturity": 7})],
)
@pytest.mark.sample(2)
def test_a_crashed_gate_goes_on_as_an_undisturbed_one(tmp_path, snapshot_every, settings):
    (tmp_path / "calm").mkdir()

    async def scenario():
        async with running(tmp_path / "calm") as calm:
            await calm.put_gate("g", gate(**settings))
            expected = await use(calm, 60) + await use(calm, 30, seed=1, start=60)
            async with running(tmp_path, snapshot_every=snapshot_every) as service:
                await service.put_gate("g", gate(**settings))
                got = await use(service, 60)
                crash(service)
                service._slots.clear()
                service._tasks.clear()
            async with running(tmp_path, snapshot_every=snapshot_every) as service:
                assert service.counters.mismatches["g"] == 0
                got += await use(service, 30, seed=1, start=60)
                assert got == expected
                same_state(gate_of(calm), gate_of(service))
                late = await service.label("g", "case 2", label("x"))  # decided before the crash
                assert late.status in ("learnt", "unused")

    play(scenario)


@pytest.mark.long
def test_changes_of_prices_capacity_models_and_mode_are_replayed(tmp_path):
    (tmp_path / "calm").mkdir()

    async def changes(service):
        await service.put_gate("g", gate(review_price=1.0, mistake_price=5.0, cost=None))
        await use(service, 20)
        await service.put_gate("g", gate(review_price=2.0, mistake_price=8.0, cost=None))
        await use(service, 20, seed=1, start=100)
        await service.put_gate("g", gate(models=["a", "b", "c"], review_price=2.0, cost=None, capacity=0.2))
        await use(service, 20, seed=2, start=200)
        await service.set_mode("g", "shadow")
        for body, truth in stream(10, 3, 300):
            base = {"action": "answer", "model": "a", "probability": 1.0}
            await service.decide("g", body.model_validate({**body.model_dump(exclude_unset=True), "baseline": base}))
            await service.label("g", body.case, label(truth))
        await service.set_mode("g", "paused")
        await use(service, 5, seed=4, start=400)
        await service.set_mode("g", "live")
        kinds = {"kinds": [{"said": "x", "true": "y", "price": 9.0}], "other": 3.0}
        await service.put_gate("g", gate(models=["a", "c"], review_price=2.0, cost=None, mistake_price=kinds))

    async def scenario():
        async with running(tmp_path / "calm") as calm:
            await changes(calm)
            async with running(tmp_path, snapshot_every=25) as service:
                await changes(service)
                crash(service)
                service._slots.clear()
                service._tasks.clear()
            async with running(tmp_path) as service:
                reply = await service.gate("g")
                assert reply.settings == (await calm.gate("g")).settings
                assert reply.mode == "live"
                same_state(gate_of(calm), gate_of(service))
                assert service.counters.mismatches["g"] == 0
                for i in range(5):
                    body = case(f"more {i}").model_copy(update={"answers": {"a": case("z").answers["a"], "c": None}})
                    assert await service.decide("g", body) == await calm.decide("g", body)

    play(scenario)


def change_event(tmp_path, seq, version=None):
    """Write another outcome, and perhaps another version, into the journal."""
    import sqlalchemy as sa

    from abstain.service.tables import EVENTS

    store = SqlStore(url_of(tmp_path))
    with store.engine.begin() as to:
        ours = EVENTS.c.seq == seq
        if version is not None:
            to.execute(sa.update(EVENTS).values(version=version))
        body = json.loads(to.scalar(sa.select(EVENTS.c.body).where(ours)))
        outcome = body["outcome"]
        outcome["action"] = "review" if outcome["action"] == "answer" else "answer"
        outcome["answer"] = None if outcome["action"] == "review" else "x"
        to.execute(sa.update(EVENTS).where(ours).values(body=json.dumps(body)))
    store.close()


def test_labels_are_learnt_after_a_capacity_went_and_models_came(tmp_path):
    """What a case carries is as long with one model and a capacity as with three models and none."""

    async def scenario():
        async with running(tmp_path) as service:
            await service.put_gate("g", gate(models=["a"], capacity=0.5))
            said = {"a": {"answer": "x", "confidence": 0.9}}
            for name in "123":
                await service.decide("g", DecisionBody.model_validate({"case": name, "answers": said}))
            await service.put_gate("g", gate(models=["a", "b", "c"], capacity=None))
            statuses = [(await service.label("g", name, label("x"))).status for name in "123"]
            assert statuses == ["learnt"] * 3

    play(scenario)


@pytest.mark.parametrize("on_expiry", ["forget", "assume:x"])
def test_a_case_that_the_gate_refuses_does_no_harm_to_others(tmp_path, monkeypatch, on_expiry):
    clock = Clock()

    async def scenario():
        async with running(tmp_path, clock=clock) as service:
            await service.put_gate("g", gate(window=60.0, on_expiry=on_expiry))
            for name in "1234":
                await service.decide("g", case(name))
            bad = {one.handle for one in service.store.find("g", ["1", "3"])[0].values()}
            real = {name: getattr(abstain.Gate, name) for name in ("learn", "forget")}

            def refusing(name):
                def call(self, handle, *rest):
                    if handle in bad:
                        raise DecisionError("decision: it does not fit")
                    return real[name](self, handle, *rest)

                return call

            for name in real:
                monkeypatch.setattr(abstain.Gate, name, refusing(name))
            rows = [LabelRow(case=name, label="x") for name in "12"]
            statuses = [(one.status, one.detail) for one in await service.label_many("g", rows)]
            assert statuses == [("unused", "decision: it does not fit"), ("learnt", None)]
            assert (await service.gate("g")).open == 2
            clock.now += 100.0
            await service.sweep()
            assert [(await service.decision("g", name)).state for name in "34"] == ["expired", "expired"]
            assert (await service.gate("g")).open == 0
            monkeypatch.undo()
            crash(service)
            service._slots.clear()
            service._tasks.clear()
        async with running(tmp_path, clock=clock) as service:
            assert (await service.gate("g")).state == "running"

    play(scenario)


def test_a_price_of_mistakes_goes_with_a_review_price_and_not_with_a_cost(tmp_path):
    async def scenario():
        async with running(tmp_path) as service:
            await service.put_gate("g", gate())
            for change in ({"mistake_price": 5.0}, {"mistake_price": 5.0, "cost": 0.1}):
                with pytest.raises(Invalid, match="mistake_price: expected review_price"):
                    await service.put_gate("g", GateBody.model_validate(change))
            prices = {"mistake_price": 5.0, "review_price": 1.0}
            reply, _ = await service.put_gate("g", GateBody.model_validate(prices))
            assert reply.settings["cost"] is None
            with pytest.raises(Invalid, match="mistake_price: expected review_price"):
                await service.put_gate("g", GateBody.model_validate({"mistake_price": 5.0, "cost": 0.1}))
            reply, _ = await service.put_gate("g", GateBody.model_validate({"cost": 0.1}))
            assert (reply.settings["review_price"], reply.settings["mistake_price"]) == (None, None)

    play(scenario)


async def decided_without_snapshot(tmp_path, **settings):
    async with running(tmp_path) as service:
        await service.put_gate("g", gate(**settings))
        await use(service, 20)
        crash(service)
        service._slots.clear()
        service._tasks.clear()


@pytest.mark.parametrize("settings", [{}, {"capacity": 0.5}, {"labels": "answered"}])
def test_a_difference_stops_the_gate_until_it_is_accepted(tmp_path, settings):
    async def scenario():
        await decided_without_snapshot(tmp_path, **settings)
        change_event(tmp_path, 2)
        for _ in range(2):  # it stays stopped
            async with running(tmp_path) as service:
                state = (await service.gate("g")).state
                assert state.startswith("stopped: event 2 (decided): it decided")
                with pytest.raises(GateStopped, match="event 2"):
                    await service.decide("g", case("new"))
                with pytest.raises(GateStopped):
                    await service.set_mode("g", "paused")
        async with running(tmp_path) as service:
            reply = await service.accept("g")
            assert reply.state == "running"
            assert reply.mismatches >= 1
            assert (await service.decide("g", case("new"))).replayed is False
            assert (await service.events("g"))[-2].kind == "accepted"
        async with running(tmp_path) as service:
            assert (await service.gate("g")).state == "running"
            assert (await service.decide("g", case("new"))).replayed is True

    play(scenario)


def test_a_difference_from_another_version_is_counted_and_the_journal_holds(tmp_path):
    async def scenario():
        await decided_without_snapshot(tmp_path)
        change_event(tmp_path, 2, version="0.0.1")
        async with running(tmp_path) as service:
            reply = await service.gate("g")
            assert reply.state == "running"
            assert reply.mismatches == service.counters.mismatches["g"] >= 1
            assert reply.decided == 20
            status = (await service.label("g", "case 2", label("x"))).status
            assert status == "learnt"
        async with running(tmp_path) as service:  # the snapshot is of this version: nothing differs any more
            assert (await service.gate("g")).mismatches == reply.mismatches

    play(scenario)


@pytest.mark.long
def test_a_damaged_snapshot_is_replaced_by_an_older_one_and_more_events(tmp_path):
    import sqlalchemy as sa

    from abstain.service.tables import SNAPSHOTS

    async def scenario():
        async with running(tmp_path, snapshot_every=30) as service:
            await service.put_gate("g", gate())
            await use(service, 60)
        store = SqlStore(url_of(tmp_path))
        shots = store.snapshots("g")
        assert len(shots) == 2
        with store.engine.begin() as to:
            to.execute(sa.update(SNAPSHOTS).where(SNAPSHOTS.c.seq == shots[0].seq).values(file=b"damaged"))
        store.close()
        async with running(tmp_path) as service:
            assert (await service.gate("g")).decided == 60
            assert service.counters.mismatches["g"] == 0
            assert (await service.label("g", "case 59", label("x"))).status == "learnt"
        store = SqlStore(url_of(tmp_path))
        with store.engine.begin() as to:
            to.execute(sa.update(SNAPSHOTS).values(file=b"damaged"))
        store.close()
        async with running(tmp_path) as service:  # all events, from the first on
            assert (await service.gate("g")).decided == 60
            assert service.counters.mismatches["g"] == 0

    play(scenario)


@pytest.mark.parametrize(
    ("seq", "body", "reason"),
    [
        (5, None, "event 5 is missing"),
        (-1, None, "is missing"),
        (5, "{", "event 5 (decided) cannot be read"),
        (5, "{}", "event 5 (decided) cannot be read"),
        (1, "[]", "event 1 (created) cannot be read"),
    ],
)
def test_a_damaged_journal_stops_the_gate_until_it_is_repaired(tmp_path, seq, body, reason):
    import sqlalchemy as sa

    from abstain.service.tables import EVENTS

    async def scenario():
        await decided_without_snapshot(tmp_path)
        store = SqlStore(url_of(tmp_path))
        last = store.gate("g").next_seq - 1
        ours = EVENTS.c.seq == (last if seq == -1 else seq)
        with store.engine.begin() as to:
            kept = to.execute(sa.select(EVENTS).where(ours)).one()._mapping
            to.execute(sa.delete(EVENTS).where(ours))
            if body is not None:
                to.execute(sa.insert(EVENTS), {**kept, "body": body})
        async with running(tmp_path) as service:
            await service.put_gate("healthy", gate())
            assert (await service.gate("g")).state.startswith("stopped: the journal is damaged: event ")
            with pytest.raises(GateStopped, match="restore a backup") as caught:
                await service.decide("g", case("new"))
            assert reason in caught.value.detail
            with pytest.raises(GateStopped, match="restore a backup"):  # no replay can pass it
                await service.accept("g")
        assert reason in store.gate("g").state  # commands that read the store say it, too
        with store.engine.begin() as to:
            to.execute(sa.delete(EVENTS).where(EVENTS.c.gate == "g", ours))
            to.execute(sa.insert(EVENTS), dict(kept))
        store.close()
        async with running(tmp_path) as service:
            assert (await service.accept("g")).state == "running"
            assert (await service.gate("g")).decided == 20
            assert (await service.decide("g", case("new"))).replayed is False

    play(scenario)


def test_events_name_the_version_and_what_went_in_and_came_out(tmp_path):
    async def scenario():
        async with running(tmp_path, clock=Clock(7.0)) as service:
            await service.put_gate("g", gate())
            reply = await service.decide("g", case("one", stake=None))
            await service.label("g", "one", label("x", source="review" if reply.action == "review" else "outcome"))
            created, decided, learnt = await service.events("g")
            assert (created.kind, decided.kind, learnt.kind) == ("created", "decided", "learnt")
            assert {one.version for one in (created, decided, learnt)} == {abstain.__version__}
            assert decided.at == 7.0
            assert decided.body["answers"] == {"a": ["x", 0.9], "b": ["y", 0.6]}
            assert decided.body["outcome"]["action"] == reply.action
            assert learnt.body["label"] == "x"
            assert (await service.events("g", after=1, limit=1)) == [decided]

    play(scenario)


@pytest.mark.parametrize(
    ("text", "classes", "expected"),
    [("assume:ok", None, "ok"), ("assume:0", None, 0), ("assume:0", ["0", "1"], "0"), ("assume:0", [0, 1], 0)],
)
def test_assumed_labels_are_read_as_classes(text, classes, expected):
    task = hosted_module.Task("classes", classes, 1.0)
    assert hosted_module.assumed_by({"on_expiry": text}, task) == expected
