"""PostgreSQL as the store: restarts, cuts, and replicas that share the gates."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from abstain.checks import check_store
from abstain.service.problems import NotReady, ServiceError, StoreUnavailable
from abstain.service.service import Service
from abstain.service.store import Changes, Fenced, SqlStore, StoreError
from abstain.service.tables import METADATA

from .postgres import Proxy, server_or_skip
from .running import case, gate, label, play, running, stream

ROOT = Path(__file__).parents[2]
LEASE = 2.0


@pytest.fixture(scope="module")
def server():
    with server_or_skip() as found:
        yield found


@pytest.fixture
def url(server, request):
    return server.database(request.node.originalname[:60])


@pytest.fixture
def proxy(server):
    made = Proxy(server.port)
    yield made
    made.close()


def through(proxy, url, server):
    return url.replace(f":{server.port}/", f":{proxy.port}/")


def replica(url, **options):
    return Service(SqlStore(url, patience=3.0), lease=LEASE, **options)


@contextlib.asynccontextmanager
async def replicas(*services):
    for one in services:
        await one.start()
    try:
        yield services
    finally:
        for one in services:
            await one.stop()


async def until(condition, seconds=15.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not await condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        await asyncio.sleep(0.05)


async def again(call, seconds=20.0):
    """Repeat a call while the service says that it may be repeated."""
    end = time.monotonic() + seconds
    while True:
        try:
            return await call()
        except ServiceError as error:
            if error.status != 503 or time.monotonic() > end:
                raise
        await asyncio.sleep(0.05)


async def die(service):
    """Leave a service as kill -9 would: its connections close, nothing else happens."""
    for slot in service._slots.values():
        slot.task.cancel()
    for task in service._tasks:
        task.cancel()
    await asyncio.sleep(0.3)  # threads that hold a connection give it back
    service._slots.clear()
    service._tasks.clear()
    service._replicas._end_session()
    service.store.close()


def test_postgresql_obeys_the_rules_of_stores(url):
    store = SqlStore(url)
    check_store(store)
    store.close()


def test_migrations_and_tables_say_the_same(url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    store = SqlStore(url)
    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    store.close()


async def use(service, cases):
    replies = []
    for i, (body, truth) in enumerate(cases):
        replies.append(await again(lambda body=body: service.decide("g", body)))
        if i % 2:
            await again(lambda body=body, truth=truth: service.label("g", body.case, label(truth)))
    return replies


def weights(service):
    return service._slots["g"].hosted.gate.learner.weights


def test_a_gate_in_postgresql_goes_on_after_a_crash_as_one_in_sqlite(url, tmp_path):
    cases = list(stream(40))

    async def scenario():
        async with running(tmp_path) as calm:
            await calm.put_gate("g", gate())
            expected = await use(calm, cases)
            first, second = replica(url), replica(url)
            await first.start()
            await first.put_gate("g", gate())
            got = await use(first, cases[:20])
            await die(first)
            async with replicas(second):
                await until(lambda: _owns(second))
                got += await use(second, cases[20:])
                assert got == expected
                np.testing.assert_array_equal(weights(calm), weights(second))

    play(scenario)


async def _owns(service):
    return "g" in service._slots


@pytest.mark.long
def test_a_restart_of_postgresql_loses_nothing(server, url):
    cases = list(stream(30))

    async def scenario():
        service = replica(url)
        async with replicas(service):
            await service.put_gate("g", gate())
            got = await use(service, cases[:10])
            server.stop()
            with pytest.raises(StoreUnavailable):
                await service.decide("g", cases[10][0])
            server.start()
            got += await use(service, cases[10:])
            assert len({one.case for one in got}) == 30
            events = await service.events("g")
            assert [one.case for one in events if one.kind == "decided"] == [body.case for body, _ in cases]
            assert service.counters.mismatches["g"] == 0

    play(scenario)


def test_a_connection_that_is_cut_in_the_middle_of_a_commit_is_found_out_by_asking(server, url, proxy):
    async def scenario():
        service = replica(through(proxy, url, server))
        async with replicas(service):
            await service.put_gate("g", gate())
            await service.decide("g", case("first"))
            proxy.cut_at = b"COMMIT"  # it arrives, its reply does not
            with pytest.raises(StoreUnavailable):
                await service.decide("g", case("one"))
            proxy.cut_at = None
            reply = await again(lambda: service.decide("g", case("one")))
            assert reply.replayed  # it had been committed
            proxy.cut_at = b"INSERT INTO cases"
            with pytest.raises(StoreUnavailable):
                await service.decide("g", case("two"))
            proxy.cut_at = None
            reply = await again(lambda: service.decide("g", case("two")))
            assert not reply.replayed  # it had not
            kinds = [(one.kind, one.case) for one in await service.events("g", after=1)]
            assert kinds == [("decided", name) for name in ("first", "one", "two")]

    play(scenario)


def test_a_gate_belongs_to_one_replica_and_the_other_says_which(url):
    async def scenario():
        one, two = replica(url, address="http://one"), replica(url, address="http://two")
        async with replicas(one, two):
            await one.put_gate("g", gate(capacity=0.1))
            assert await one.owner_of("g") is None
            assert await two.owner_of("g") == "http://one"
            assert await two.owner_of("none") is None
            with pytest.raises(NotReady, match="http://one"):
                await two.put_gate("g", gate())
            await one.decide("g", case("first"))
            assert [(found.name, found.decided) for found in await two.gates()] == [("g", 1)]
            await two.put_gate("h", gate())
            assert await one.owner_of("h") == "http://two"
            await one.stop()  # gives its gates back
            assert await two.owner_of("g") is None
            assert (await two.decide("g", case("first"))).replayed

    play(scenario)


def test_a_stale_owner_writes_nothing(url):
    async def scenario():
        one, two = replica(url), replica(url)
        async with replicas(one, two):
            await one.put_gate("g", gate())
            await one.decide("g", case("first"))
            stale = one._slots["g"].record
            taken = None
            while taken is None:  # it may have renewed its lock meanwhile
                with one._replicas._guard:
                    one._replicas._end_session()  # its lock is free, and it does not know
                taken = await asyncio.to_thread(two._replicas.claim, "g")
            assert taken.epoch == stale.epoch + 1
            with pytest.raises(Fenced):
                one.store.commit([Changes(stale)])
            with pytest.raises(NotReady, match="another replica owns it"):
                await one.decide("g", case("second"))
            assert [found.case for found in two.store.events("g", after=1)] == ["first"]
            with pytest.raises(ServiceError):
                await one.decide("g", case("second"))
            assert "g" not in one._slots

    play(scenario)


@pytest.mark.parametrize("how", ["dies", "is cut off"])
@pytest.mark.sample(1)
def test_another_replica_takes_over_within_the_lease(server, url, proxy, how):
    async def scenario():
        one = replica(through(proxy, url, server), address="http://one")
        two = replica(url, address="http://two")
        await one.start()
        await two.start()
        try:
            names = [f"gate-{i}" for i in range(3)]
            for name in names:
                await one.put_gate(name, gate())
                await one.decide(name, case("first"))
            lost = None
            if how == "dies":
                await die(one)
            else:
                proxy.silent = True
                lost = asyncio.create_task(one.decide(names[0], case("lost")))
            began = time.monotonic()

            async def all_taken():
                return all(name in two._slots for name in names)

            await until(all_taken, 3 * LEASE + 5)
            took = time.monotonic() - began
            for name in names:
                assert await two.owner_of(name) is None
                assert (await again(lambda name=name: two.decide(name, case("first")))).replayed
                assert not (await two.decide(name, case("second"))).replayed
            assert took < 2 * LEASE + 5  # a busy machine is slow
            if lost is not None:
                with pytest.raises(ServiceError):
                    await lost
                proxy.silent = False  # it is back, and finds that it owns nothing

                async def knows():
                    return not one._slots

                await until(knows)
                assert await again(lambda: one.owner_of(names[0])) == "http://two"
        finally:
            proxy.silent = False
            if how != "dies":
                await one.stop()
            await two.stop()

    play(scenario)


SERVE = """
import sys
from abstain.service.server import serve
serve(sys.argv[1], port=int(sys.argv[2]), lease=float(sys.argv[3]))
"""


@pytest.mark.long
def test_servers_pass_calls_on_and_a_killed_one_is_replaced(url):
    import httpx

    from .postgres import free_port

    ports = [free_port(), free_port()]
    command = [sys.executable, "-c", SERVE, url]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    servers = [
        subprocess.Popen(
            [*command, str(port), str(LEASE)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for port in ports
    ]

    def call(port, method, path, body=None, good=(200, 201, 202), seconds=30.0):
        end = time.monotonic() + seconds
        while True:
            reply = None
            with contextlib.suppress(httpx.HTTPError):
                reply = client.request(method, f"http://127.0.0.1:{port}{path}", json=body)
            if reply is not None and reply.status_code in good:
                return reply.json()
            assert time.monotonic() < end, reply and (reply.status_code, reply.text)
            time.sleep(0.1)

    def body(name):
        return {"case": name, "answers": {"a": {"answer": "x", "confidence": 0.9}, "b": None}}

    try:
        with httpx.Client(timeout=10.0, trust_env=False) as client:
            for port in ports:
                call(port, "GET", "/readyz", seconds=60.0)
            capacity = {"share": 0.0, "burst": 3}
            call(ports[0], "PUT", "/v1/gates/g", {"models": ["a", "b"], "cost": 0.2, "capacity": capacity, "seed": 1})
            replies = [call(ports[i % 2], "POST", "/v1/gates/g/decisions", body(f"case {i}")) for i in range(60)]
            assert sum(one["action"] == "review" for one in replies) <= 3  # of both together
            assert call(ports[1], "PUT", "/v1/gates/g/decisions/case%200/label", {"label": "x"})["status"] == "learnt"
            servers[0].send_signal(signal.SIGKILL)
            servers[0].wait()
            assert call(ports[1], "POST", "/v1/gates/g/decisions", body("case 0"))["replayed"]
            for i in range(60):
                found = call(ports[1], "GET", f"/v1/gates/g/decisions/case%20{i}")
                assert {**found["decision"], "replayed": replies[i]["replayed"]} == replies[i]
            assert (
                call(ports[1], "PUT", "/v1/gates/g/decisions/case%200/label", {"label": "x"})["status"] == "duplicate"
            )
            events = client.get(f"http://127.0.0.1:{ports[1]}/v1/gates/g/events").text.splitlines()
            assert [json.loads(one)["kind"] for one in events].count("decided") == 60
    finally:
        for one in servers:
            if one.poll() is None:
                one.terminate()
        for one in servers:
            one.wait(30)


def test_a_server_that_is_not_there_is_a_clear_error():
    with pytest.raises(StoreError, match="cannot be opened"):
        SqlStore("postgresql://abstain@127.0.0.1:1/none", patience=1.0)
