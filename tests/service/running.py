"""Services in tests: a clock that tests set, stores that fail when told to, and short ways to call."""

import asyncio
import random
from contextlib import asynccontextmanager

from abstain.service.bodies import DecisionBody, GateBody, LabelBody
from abstain.service.service import Service
from abstain.service.store import SqlStore, StoreError


class Clock:
    """A clock that stands still."""

    def __init__(self, now=1_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


class FaultyStore(SqlStore):
    """A store whose commits fail when they are told to: before they are written, or after."""

    before = after = None

    def commit(self, changes):
        if self.before is not None:
            raise StoreError(self.before)
        super().commit(changes)
        if self.after is not None:
            raise StoreError(self.after)


def url_of(folder):
    return f"sqlite:///{folder / 'gates.db'}"


@asynccontextmanager
async def running(folder, *, store=None, **options):
    """A service that has started; it is stopped at the end."""
    service = Service(store or SqlStore(url_of(folder)), **options)
    await service.start()
    try:
        yield service
    finally:
        await service.stop()


def crash(service):
    """Leave a service as kill -9 would: nothing is finished, no snapshot is written."""
    for slot in service._slots.values():
        slot.task.cancel()
    for task in service._tasks:
        task.cancel()
    service.store.close()


def play(scenario):
    """Run a coroutine function."""
    return asyncio.run(scenario())


def gate(**settings):
    return GateBody.model_validate({"models": ["a", "b"], "cost": 0.2, "seed": 5, **settings})


def case(name, a=("x", 0.9), b=("y", 0.6), **rest):
    def said(pair):
        return None if pair is None else {"answer": pair[0], "confidence": pair[1]}

    return DecisionBody.model_validate({"case": name, "answers": {"a": said(a), "b": said(b)}, **rest})


def label(value, **rest):
    return LabelBody.model_validate({"label": value, **rest})


def stream(n, seed=0, start=0):
    """Cases with their true labels: "a" is usually right, and knows when it is not."""
    rng = random.Random(seed)
    for i in range(n):
        truth, sure = rng.choice("xy"), rng.random()
        said = truth if rng.random() < 0.5 + sure / 2 else "xy".replace(truth, "")
        yield case(f"case {start + i}", a=(said, 0.5 + sure / 2), b=(rng.choice("xy"), rng.random())), truth
