"""A server in a thread of the tests, or in a process of its own, and a client for it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from abstain.service.app import LOOPBACK_HOSTS, make_app
from abstain.service.server import listening, server_of
from abstain.service.service import Service
from abstain.service.store import open_store

GATE = {"models": ["a", "b"], "cost": 0.2, "seed": 1}
"""The gate that other tests compile anyway."""


def case(name: str, confidence: float = 0.9) -> dict:
    return {"case": name, "answers": {"a": {"answer": "x", "confidence": confidence}, "b": None}}


@contextlib.contextmanager
def serving(store, *, keys_required=False, allowed_hosts=LOOPBACK_HOSTS, **options) -> Iterator[httpx.Client]:
    """Serve a store in a thread, and yield a client of it; `client.service` is the service."""
    service = Service(store, **options)
    app = make_app(service, keys_required=keys_required, allowed_hosts=allowed_hosts)
    server = server_of(app)
    failed: list[str] = []
    app.state.on_failure = failed.append
    with listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
        try:
            wait_until_ready(client, lambda: not failed and thread.is_alive())
            client.service = service
            client.app = app
            yield client
        finally:
            client.close()
            server.should_exit = True
            thread.join(30)


def wait_until_ready(client: httpx.Client, alive) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert alive(), "the server has stopped"
        with contextlib.suppress(httpx.TransportError):
            if client.get("/readyz").status_code == 200:
                return
        time.sleep(0.02)
    raise AssertionError("the server is not ready")


class Process:
    """`abstain serve` as a process."""

    def __init__(self, store: Path, *words: str, log: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "abstain",
                "serve",
                "--store",
                f"sqlite:///{store}",
                "--port",
                str(self.port),
                *words,
            ],
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60, trust_env=False)

    def wait(self) -> "Process":
        wait_until_ready(self.client, lambda: self.process.poll() is None)
        return self

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(60)
        self.client.close()
        self._log.close()
        return code


@contextlib.contextmanager
def sqlite(path: Path):
    store = open_store(f"sqlite:///{path}")
    try:
        yield store
    finally:
        store.close()
