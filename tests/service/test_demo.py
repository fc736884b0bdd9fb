"""The demo's month through a gate of the service."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service needs abstain[service]")
pytest.importorskip("sklearn", reason="the demo's digits come with scikit-learn")

from sklearn.datasets import load_digits

from abstain.replay import demo as month
from abstain.service import demo
from abstain.service.app import make_app
from abstain.service.savings import savings_of
from abstain.service.service import Service

from .serving import sqlite

ROWS = 300


@pytest.fixture(scope="module")
def coming() -> list[demo.Shown]:
    return list(demo.cases(ROWS))


@pytest.mark.long
def test_cases_are_those_of_the_month_with_their_pictures(coming, tmp_path):
    assert len(coming) == ROWS
    assert coming[0].time >= demo.START
    assert all(a.time < b.time for a, b in pairwise(coming))
    assert {round(one.due - one.time) for one in coming} == {round(month.LATE.total_seconds())}
    away = [one for one in coming if one.body.answers["boosting"] is None]
    days = [(one.time - demo.START) / 86_400 for one in away]
    assert days
    assert month.AWAY[0] - 0.01 <= min(days) <= max(days) <= month.AWAY[1] + 0.01
    X, y = load_digits(return_X_y=True)
    drawn = month.write(tmp_path / "log.csv", ROWS, 0)
    near = ((drawn[:, np.newaxis] - X[np.newaxis]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(y[near] == [one.label for one in coming]) > 0.7  # what reviewers see is what the models saw
    assert [one.body.context["picture"] for one in coming] == list(map(demo.picture, drawn))


def test_the_clock_never_goes_back():
    clock = demo.DemoClock()
    clock.set(demo.START + 100.0)
    clock.set(demo.START + 50.0)
    assert clock() >= demo.START + 100.0


def test_the_month_passes_and_leaves_the_last_reviews_open(tmp_path, coming, monkeypatch):
    monkeypatch.setattr(demo, "cases", lambda rows, seed: iter(coming))

    async def play(store):
        clock = demo.DemoClock()
        service = Service(store, clock=clock)
        await service.start()
        try:
            await demo.stream(service, clock, rows=ROWS, seconds=0.0)
            gate = await service.gate(demo.GATE)
            reviews = await service.reviews(demo.GATE, limit=1_000)
            savings = await savings_of(service, demo.GATE, now=clock())
            await demo.stream(service, clock, rows=ROWS, seconds=0.0)  # a store that was kept is not filled again
            assert (await service.gate(demo.GATE)).seq == gate.seq
            return gate, reviews, savings, clock()
        finally:
            await service.stop()

    with sqlite(tmp_path / "demo.db") as store:
        store.lock()
        gate, reviews, savings, now = asyncio.run(play(store))
    assert gate.decided == ROWS
    assert gate.open == len(reviews)
    last = coming[-1].time
    assert now >= last + month.LATE.total_seconds()
    assert all(last - month.LATE.total_seconds() - 2 * 86_400 < demo_time(one) for one in reviews)
    assert savings.cases == ROWS
    assert savings.baseline is not None
    assert savings.delay >= month.LATE.total_seconds()  # in the month's time; batches of few rows take days


def demo_time(review) -> float:
    from abstain.service.bodies import as_seconds

    return as_seconds(review.time)


@pytest.mark.parametrize("other", [False, True])
def test_the_page_tells_the_time_of_the_month_but_other_gates_keep_theirs(tmp_path, monkeypatch, other):
    done = asyncio.Event()

    async def short(service, clock):
        await service.put_gate(demo.GATE, demo.GateBody(models=["a", "b"], cost=0.2))
        done.set()

    monkeypatch.setattr(demo, "stream", short)

    async def begin(store):
        service = Service(store)
        if other:
            await service.start()
            await service.put_gate("mine", demo.GateBody(models=["a", "b"], cost=0.2))
        app = make_app(service)
        demo.start_demo(app, service)
        async with app.router.lifespan_context(app):
            await asyncio.wait_for(done.wait(), 60)
            return (await service.gate(demo.GATE)).created, isinstance(service.clock, demo.DemoClock)

    with sqlite(tmp_path / "gates.db") as store:
        store.lock()
        created, has_clock = asyncio.run(begin(store))
    assert has_clock is not other
    assert (created < demo.START + 3_600) is not other
