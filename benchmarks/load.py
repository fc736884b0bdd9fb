"""A client for load tests: many connections of one process, one call at a time on each, with little Python."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Call = tuple[str, str, bytes]
"""Method, path and body."""


@dataclass
class Load:
    """What a load test saw."""

    seconds: float
    times: "np.ndarray[tuple[int], np.dtype[np.float64]]"
    """Of every call, in seconds."""
    refused: int
    """Replies other than 2xx."""
    cpu: float = 0.0
    """What a call cost the server, in seconds of its processor time, if that was measured."""

    @property
    def rate(self) -> float:
        """Calls per second."""
        return len(self.times) / self.seconds

    def percentile(self, q: float) -> float:
        """A percentile of the calls' times, in milliseconds."""
        return float(np.percentile(self.times, q) * 1e3)


class _Connection(asyncio.Protocol):
    """One connection: sends a call, waits for the whole reply, sends the next."""

    def __init__(self, calls: Iterator[Call], ends: Callable[[], bool], done: "asyncio.Future[None]") -> None:
        self._calls, self._ends, self._done = calls, ends, done
        self._buffer = b""
        self.times: list[float] = []
        self.refused = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def _send(self) -> None:
        call = None if self._ends() else next(self._calls, None)
        if call is None:
            self._transport.close()
            return
        method, path, body = call
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        self._sent = time.perf_counter()
        self._transport.write(head.encode() + str(len(body)).encode() + b"\r\n\r\n" + body)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(rest) < length:
            return
        self.times.append(time.perf_counter() - self._sent)
        self.refused += head[9:10] != b"2"
        self._buffer = rest[length:]
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)


def play(port: int, calls: Iterator[Call], *, clients: int, seconds: float = float("inf")) -> Load:
    """Send calls from many clients, each one after the other.

    Args:
        port: Where the server listens, on the loopback.
        calls: The calls; clients take them in turns.
        clients: How many connections.
        seconds: How long, if the calls do not end before.
    """

    async def run() -> Load:
        loop = asyncio.get_running_loop()
        began = time.perf_counter()
        waiting, protocols = [], []
        for _ in range(clients):
            done: asyncio.Future[None] = loop.create_future()
            connection = _Connection(calls, lambda: time.perf_counter() - began > seconds, done)
            await loop.create_connection(lambda connection=connection: connection, "127.0.0.1", port)  # type: ignore[misc]
            waiting.append(done)
            protocols.append(connection)
        await asyncio.gather(*waiting)
        times = np.array([one for protocol in protocols for one in protocol.times])
        return Load(time.perf_counter() - began, times, sum(protocol.refused for protocol in protocols))

    return asyncio.run(run())
