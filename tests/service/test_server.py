import asyncio
import contextlib
import inspect
import json
import random
import signal
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from abstain.errors import InputError
from abstain.service.front import HEADER_LIMIT
from abstain.service.keys import new_key
from abstain.service.server import _Protocol, is_loopback, serve, server_of
from abstain.service.store import StoreError

from .serving import GATE, Process, case, serving, sqlite


@pytest.fixture
def file(tmp_path):
    return tmp_path / "gates.db"


def test_an_address_that_others_can_reach_needs_keys(file):
    with pytest.raises(InputError, match="has no API keys"):
        serve(f"sqlite:///{file}", host="0.0.0.0", port=0)
    with sqlite(file) as store:
        _, record = new_key(["admin"])
        store.add_key(record)
        store.revoke_key(record.id, 1.0)
    with pytest.raises(InputError, match="has no API keys"):  # one that was revoked opens no door
        serve(f"sqlite:///{file}", host="::", port=0)


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.8.8.8", True), ("0.0.0.0", False), ("::", False),
     ("192.0.2.1", False), ("127.0.0.1.example", False), ("", False)],
)  # fmt: skip
def test_only_the_loopback_is_local(host, local):
    assert is_loopback(host) is local


def test_a_port_that_is_taken_is_an_error_of_one_line(file):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on 127.0.0.1 port {port}: Address already in use"):
            serve(f"sqlite:///{file}", port=port)


def test_a_store_that_another_server_uses_is_refused(file):
    with sqlite(file) as store:
        store.lock()
        with pytest.raises(StoreError, match="another server uses"):
            serve(f"sqlite:///{file}", port=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"log_level": "loud"}, "log_level must be one of"),
        ({"port": 70_000}, "port must be"),
        ({"port": -1}, "port must be"),
    ],
)
def test_wrong_options_are_refused(file, options, message):
    with pytest.raises(InputError, match=message):
        serve(f"sqlite:///{file}", **options)


def test_uvicorn_has_what_the_deadline_of_a_head_builds_on():
    """Its classes are no public interface: if this fails, `_Protocol` and `_Server` must follow a new uvicorn."""
    config = server_of(lambda scope, receive, send: None).config
    config.load()
    assert config.http_protocol_class is _Protocol  # also where httptools is installed
    loop = asyncio.new_event_loop()
    try:
        protocol = _Protocol(config=config, server_state=ServerState(), app_state={}, _loop=loop)
        assert isinstance(protocol, asyncio.Protocol)
        assert protocol.conn.__class__.__module__.startswith("h11")
        assert protocol.conn._max_incomplete_event_size == HEADER_LIMIT
        assert protocol.cycle is None  # no request has come
        assert protocol.loop is loop
        assert protocol.transport is None
    finally:
        loop.close()
    assert "response_complete" in inspect.getsource(h11_impl.RequestResponseCycle.__init__)
    for kind, method in (
        (H11Protocol, "connection_made"), (H11Protocol, "data_received"), (H11Protocol, "connection_lost"),
        (uvicorn.Server, "capture_signals"), (uvicorn.Server, "handle_exit"),
    ):  # fmt: skip
        assert method in vars(kind), f"{kind.__name__} has no {method}"


def lines_of(log):
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def events_of(client: httpx.Client, gate: str = "g") -> list[dict]:
    return [json.loads(line) for line in client.get(f"/v1/gates/{gate}/events").text.splitlines()]


@pytest.mark.long
def test_a_server_that_is_told_to_stop_snapshots_and_ends_well(file, tmp_path):
    log = tmp_path / "log"
    server = Process(file, log=log).wait()
    try:
        server.client.put("/v1/gates/g", json=GATE)
        server.client.post("/v1/gates/g/decisions", json={"decisions": [case(f"c{i}") for i in range(20)]})
        server.client.put("/v1/gates/g/decisions/c3/label", json={"label": "x"})
        second = Process(file, log=tmp_path / "second")
        assert second.process.wait(60) == 2
        assert "another server uses" in (tmp_path / "second").read_text()
        second.end()
    finally:
        code = server.end()
    assert code == 0
    with sqlite(file) as store:
        last = store.events("g", after=0, limit=100)[-1]
        assert store.snapshots("g")[0].seq == last.seq
    lines = lines_of(log)
    assert {"c3", "c0"} <= {line.get("case") or (line.get("cases") or [""])[0] for line in lines}
    assert all({"time", "level", "logger", "event"} <= set(line) for line in lines)
    said: list[str] = []
    assert serve(f"sqlite:///{file}", check=True, say=said.append) == 0
    assert said == ["g: running", "1 gates, 0 stopped"]


def test_a_call_that_is_cut_off_at_the_end_gets_503(file, monkeypatch, caplog):
    monkeypatch.setattr("abstain.service.server.GRACE_SECONDS", 1)
    head = "POST /v1/gates/g/decisions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"
    with sqlite(file) as store, contextlib.ExitStack() as stack:
        with serving(store) as client:
            client.put("/v1/gates/g", json=GATE)
            address = client.base_url.host, client.base_url.port
            held_back = stack.enter_context(socket.create_connection(address, timeout=30))
            held_back.sendall(f"{head}{{".encode())
            client.get("/healthz")  # by another connection: the call is under way by then
        reply = held_back.recv(10_000)
    assert reply.startswith(b"HTTP/1.1 503 ")
    assert not [one for one in caplog.records if one.exc_info]


class Load:
    """Clients that decide and label until they are told to stop, and remember what was acknowledged."""

    def __init__(self, port: int, seed: int, clients: int = 4) -> None:
        self.decided: dict[str, dict] = {}
        self.labelled: dict[str, str] = {}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(port, seed, i)) for i in range(clients)]
        for thread in self._threads:
            thread.start()

    def _run(self, port: int, seed: int, number: int) -> None:
        random_ = random.Random(100 * seed + number)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as client:
            mine: list[str] = []
            for i in range(1_000_000):
                if self._stop.is_set():
                    return
                name = f"{seed}/{number}/{i}"
                try:
                    reply = client.post("/v1/gates/g/decisions", json=case(name, random_.random()))
                    if reply.status_code == 200:
                        self.decided[name] = reply.json()
                        mine.append(name)
                    if mine and random_.random() < 0.5:
                        chosen = random_.choice(mine)
                        label = random_.choice(["x", "y"])
                        path = f"/v1/gates/g/decisions/{chosen.replace('/', '%2F')}/label"
                        told = client.put(path, json={"label": label})
                        if told.status_code == 200 and told.json()["status"] in ("learnt", "unused"):
                            self.labelled[chosen] = label
                except httpx.TransportError:
                    return

    def wait(self) -> None:
        """Wait for the first decision, however busy the machine is."""
        until = time.monotonic() + 60
        while not self.decided:
            assert time.monotonic() < until
            time.sleep(0.01)

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)


def kill_and_restart(file, tmp_path, times: int) -> None:
    random_ = random.Random(times)
    decided: dict[str, dict] = {}
    labelled: dict[str, str] = {}
    log = tmp_path / "log"
    server = Process(file, "--log-level", "warning", "--snapshot-every", "200", log=log).wait()
    try:
        server.client.put("/v1/gates/g", json=GATE)
        for turn in range(times):
            load = Load(server.port, turn)
            load.wait()
            time.sleep(random_.uniform(0.0, 1.0))
            server.end(signal.SIGKILL)
            load.end()
            decided |= load.decided
            labelled |= load.labelled
            server = Process(file, "--log-level", "warning", "--snapshot-every", "200", log=log).wait()
        events = events_of(server.client)
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        once = [event["case"] for event in events if event["kind"] == "decided"]
        assert len(set(once)) == len(once)
        assert set(decided) <= set(once)
        learnt = [event["case"] for event in events if event["kind"] == "learnt"]
        assert len(set(learnt)) == len(learnt)
        for name in random_.sample(sorted(decided), min(200, len(decided))):
            found = server.client.get(f"/v1/gates/g/decisions/{name.replace('/', '%2F')}").json()
            assert {**found["decision"], "replayed": False} == decided[name]
        with sqlite(file) as store:
            cases, _ = store.find("g", list(labelled))
            assert {name: json.loads(record.label) for name, record in cases.items()} == labelled
        assert server.client.get("/v1/gates/g").json()["state"] == "running"
    finally:
        server.end()


@pytest.mark.long
def test_what_was_acknowledged_is_there_after_a_kill(file, tmp_path):
    kill_and_restart(file, tmp_path, 1)


@pytest.mark.long
def test_what_was_acknowledged_is_there_after_twenty_kills(file, tmp_path):
    kill_and_restart(file, tmp_path, 20)
