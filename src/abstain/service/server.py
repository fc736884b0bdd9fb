"""`abstain serve`: one process that serves the gates of a store over HTTP until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import InputError, shown
from .app import LOOPBACK_HOSTS, make_app
from .front import HEADER_LIMIT
from .service import Service
from .store import open_store

LOG = logging.getLogger("abstain.service")

LEVELS = ("debug", "info", "warning", "error")
"""What `log_level` can be."""

HEAD_SECONDS = 30.0
"""How long a connection may take to send the line and headers of a request."""

CONNECTION_LIMIT = 1_024
"""Connections at a time; further ones are answered 503 at once."""

GRACE_SECONDS = 20
"""How long calls under way may take once the server was told to stop."""


def serve(
    store: str | None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    fast: bool = False,
    insecure: bool = False,
    demo: bool = False,
    check: bool = False,
    snapshot_every: int = 5_000,
    log_level: str = "info",
    allowed_hosts: Sequence[str] = (),
    address: str | None = None,
    lease: float = 10.0,
    say: Callable[[str], None] = print,
) -> int:
    """Serve the gates of a store until SIGTERM or SIGINT; then finish the calls under way, commit and snapshot.

    Args:
        store: Where gates are kept: `sqlite:///gates.db` or `postgresql://...`; None: in a temporary folder.
        host: The address to listen on. Any but the loopback needs keys in the store, or `insecure`.
        port: The port; 0 takes a free one.
        fast: With SQLite, let the system decide when to write to disk: a power cut can lose the last seconds.
        insecure: Serve without keys on an address that others can reach.
        demo: Stream the demo's month through a gate.
        check: Open the store, replay all gates, report, and stop.
        snapshot_every: How many events of a gate are journalled between two snapshots.
        log_level: The least important lines that are logged: "debug", "info", "warning", "error".
        allowed_hosts: Further names that requests may be addressed to (their Host header).
        address: The URL at which other replicas reach this one, with a shared store; by default that of host and port.
        lease: With a shared store: the seconds after which others may take the gates of a replica that is silent.
        say: Where the few lines for people go.

    Returns:
        The exit code: 0, or 1 if the gates cannot be served; `check` returns 1 if a gate is stopped.

    Raises:
        InputError: If an argument cannot be used, the address needs keys, the port is taken, or the store is locked.
    """
    if log_level not in LEVELS:
        raise InputError(f"log_level must be one of {', '.join(LEVELS)}, not {shown(log_level)}")
    if not 0 <= port <= 65_535:
        raise InputError(f"port must be a number from 0 to 65535, not {shown(port)}")
    log_to_stderr(log_level)
    with contextlib.ExitStack() as stack:
        if store is None:
            store = f"sqlite:///{stack.enter_context(tempfile.TemporaryDirectory(prefix='abstain-'))}/gates.db"
        opened = stack.enter_context(contextlib.closing(open_store(store, fast=fast)))
        opened.lock()
        if check:
            return _check(Service(opened, snapshot_every=snapshot_every), say)
        local = is_loopback(host)
        known = opened.keys()
        has_keys = any(record.revoked is None for record in known)
        if not local and not has_keys and not insecure:
            raise InputError(
                f"host {shown(host)} can be reached from other machines, but the store has no API keys: "
                "add one (`abstain keys add`), or say --insecure"
            )
        with listening(host, port) as listener:
            url = address or _url(listener)
            # Other names than those of this machine are unknown here: the keys protect, and allowed_hosts can.
            named = {*_bracketed(host), *_bracketed(urlsplit(url).hostname or ""), *allowed_hosts}
            hosts = LOOPBACK_HOSTS | named if local or allowed_hosts else None
            service = Service(opened, snapshot_every=snapshot_every, address=url, lease=lease)
            app = make_app(service, keys_required=not local and not insecure, allowed_hosts=hosts)
            if demo:
                from .demo import start_demo

                start_demo(app, service)
            return _run(app, listener, say)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Args:
        host: A name or an address.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class _Server(uvicorn.Server):
    """uvicorn, which would end the process by the signal itself once it has stopped."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Protocol(H11Protocol):
    """HTTP/1.1 with a deadline for the head of a request; uvicorn would wait for ever."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:  # half a head
            self._expect_head()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def server_of(app: Any) -> uvicorn.Server:
    """The server of an application, with the limits that hold before a call reaches it.

    Args:
        app: The application.
    """
    config = uvicorn.Config(
        app,
        lifespan="on",
        http=_Protocol,  # others know no limit on headers
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTION_LIMIT,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=HEADER_LIMIT,
    )
    return _Server(config)


def _run(app: Any, listener: socket.socket, say: Callable[[str], None]) -> int:
    server = server_of(app)
    failed: list[str] = []

    def stop(reason: str) -> None:
        failed.append(reason)
        server.should_exit = True

    app.state.on_failure = stop
    app.state.on_ready = lambda: say(f"abstain serves {_url(listener)} (page: /ui, stop: Ctrl-C)")
    server.run(sockets=[listener])
    if failed:
        LOG.error("stopped", extra={"fields": {"reason": failed[0]}})
        raise InputError(f"the gates cannot be served: {failed[0]}")
    return 0


def _check(service: Service, say: Callable[[str], None]) -> int:
    async def look() -> int:
        await service.start()
        try:
            gates = await service.gates()
            for gate in gates:
                say(f"{gate.name}: {gate.state}")
            stopped = [gate for gate in gates if gate.state != "running"]
            say(f"{len(gates)} gates, {len(stopped)} stopped")
            return 1 if stopped else 0
        finally:
            await service.stop()

    return asyncio.run(look())


@contextlib.contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen on an address.

    Args:
        host: The address, or its name.
        port: The port; 0 takes a free one.

    Raises:
        InputError: If that cannot be.
    """
    try:
        # The protocol must be named: without it asyncio sends small parts late (Nagle), and a reply takes 40 ms.
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(2048)
            yield listener
    except OSError as error:
        raise InputError(f"cannot listen on {host} port {port}: {error.strerror or error}") from error


def _url(listener: socket.socket) -> str:
    address, port = listener.getsockname()[:2]
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _bracketed(host: str) -> set[str]:
    return {f"[{host.strip('[]')}]", host} if ":" in host else {host}


class JsonLines(logging.Formatter):
    """One JSON object per line: time, level, logger, event, and the fields of the record."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json.dumps(line, default=str)


def log_to_stderr(level: str) -> None:
    """Log as JSON lines on standard error.

    Args:
        level: The least important lines that are logged.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    LOG.setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
