"""The service under load, on the loopback: what durability costs, many gates, many open cases, memory.

`python -m benchmarks.service` runs all of it in some ten minutes, `--quick` a small form of it in one or two;
`python -m benchmarks.service load gates` some sections. Client and server share the machine.
"""

import argparse
import asyncio
import json
import math
import os
import random
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .load import Call, Load, play
from .table import at_least, console, number, show

CLIENTS = 64
HALF = 0.5
MIB = 2**20


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    seconds: float
    turns: int
    gates: int
    open_cases: int
    decided_cases: int
    hours: float


WHOLE = Size(seconds=8.0, turns=5, gates=1_000, open_cases=1_000_000, decided_cases=100_000, hours=1.0)
QUICK = Size(seconds=2.0, turns=3, gates=50, open_cases=6_000, decided_cases=2_000, hours=0.05)


# The server, in a process of its own.


def serve(url: str, port: int, free: bool) -> None:
    """Serve a store until SIGTERM; ``free``: the same, but decisions and labels are never written."""
    from abstain.service import server, store
    from abstain.service.app import make_app
    from abstain.service.service import Service

    class Uncommitted(store.SqlStore):
        def commit(self, changes: Sequence[store.Changes]) -> None:
            if any(one.created for one in changes):
                super().commit(changes)

    server.log_to_stderr("info")
    kept = Uncommitted(url) if free else store.SqlStore(url)
    with server.listening("127.0.0.1", port) as listener:
        server.server_of(make_app(Service(kept))).run(sockets=[listener])


class Served:
    """A server process and its port."""

    def __init__(self, file: Path, free: bool = False) -> None:
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.port: int = found.getsockname()[1]
        words = ["serve", f"sqlite:///{file}", str(self.port), *(["free"] if free else [])]
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.service", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while not self._ready():
            if self._process.poll() is not None:
                sys.exit("the server has stopped")
            time.sleep(0.02)
        self.started = time.perf_counter() - began

    def _ready(self) -> bool:
        try:
            return play(self.port, iter([("GET", "/readyz", b"")]), clients=1).refused == 0
        except OSError:
            return False

    def play(self, calls: Iterator[Call], *, clients: int, seconds: float = math.inf) -> Load:
        """Send calls, and note what they cost the server."""
        before = self._cpu()
        load = play(self.port, calls, clients=clients, seconds=seconds)
        load.cpu = (self._cpu() - before) / max(1, len(load.times))
        return load

    def _cpu(self) -> float:
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def mib(self) -> float:
        """Memory of the process now."""
        return resident(self._process.pid)

    def end(self) -> None:
        """Stop it as an operator would."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(120)


def resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


@contextmanager
def served(file: Path, free: bool = False) -> Iterator[Served]:
    server = Served(file, free)
    try:
        yield server
    finally:
        server.end()


# What clients send.


def put_gate(name: str) -> Call:
    body = {"models": ["a", "b"], "cost": 0.2, "seed": 1}
    return "PUT", f"/v1/gates/{name}", json.dumps(body).encode()


def case(name: str, random_: random.Random) -> dict[str, object]:
    answers = {
        model: {"answer": random_.choice("xy"), "confidence": round(random_.uniform(0.5, 1.0), 4)} for model in "ab"
    }
    return {"case": name, "answers": answers}


def decisions(prefix: str, gates: Sequence[str], seed: int = 0) -> Iterator[Call]:
    random_, i = random.Random(seed), 0
    while True:
        gate = gates[i % len(gates)]
        yield "POST", f"/v1/gates/{gate}/decisions", json.dumps(case(f"{prefix}{i}", random_)).encode()
        i += 1


def labels(names: Sequence[str], gate: str) -> Iterator[Call]:
    for name in names:
        yield "PUT", f"/v1/gates/{gate}/decisions/{name}/label", b'{"label": "x"}'


def row(name: str, load: Load) -> list[str]:
    numbers = (load.rate, load.percentile(50), load.percentile(99), load.cpu * 1e3)
    return [name, *map(number, numbers), str(load.refused)]


COLUMNS = ["", "calls/s", "p50, ms", "p99, ms", "server's CPU, ms", "refused"]


# The sections.


def load_test(size: Size, folder: Path) -> None:
    """Durable decisions against the same app that commits nothing, in turns."""
    with served(folder / "durable.db") as durable, served(folder / "free.db", free=True) as free:
        both = {"durable": durable, "without commits": free}
        runs: dict[str, list[Load]] = {name: [] for name in both}
        for turn in range(size.turns + 1):
            for name, server in both.items():
                if turn == 0:
                    server.play(iter([put_gate("g")]), clients=1)
                calls = decisions(f"{turn}-", ["g"], turn)
                run = server.play(calls, clients=CLIENTS, seconds=size.seconds if turn else 1.0)
                if turn:
                    runs[name].append(run)
        singles = {
            name: server.play(decisions("s-", ["g"], 99), clients=1, seconds=size.seconds / 2)
            for name, server in both.items()
        }
    ratio = statistics.median(a.rate / b.rate for a, b in zip(*runs.values(), strict=True))
    middle = {name: sorted(found, key=lambda run: run.rate)[len(found) // 2] for name, found in runs.items()}
    rows = [row(f"{name}, {CLIENTS} clients", run) for name, run in middle.items()]
    rows += [row(f"{name}, 1 client", run) for name, run in singles.items()]
    show("Decisions one by one, SQLite with full durability", COLUMNS, rows)
    console.print(f"durable / without commits: {ratio:.2f} (target: at least {HALF}) {at_least(ratio, HALF)}")


def gates_test(size: Size, folder: Path) -> None:
    """Many gates in one process."""
    names = [f"gate-{i}" for i in range(size.gates)]
    file = folder / "gates.db"
    with served(file) as server:
        empty = server.mib
        created = server.play(iter([put_gate(name) for name in names]), clients=8)
        after = server.mib
        spread = server.play(decisions("c", names), clients=CLIENTS, seconds=size.seconds * 2)
        metrics = server.play(iter([("GET", "/metrics", b"")] * 2), clients=1)
        used = server.mib
    with served(file) as again:
        started = again.started
    rows = [row("create", created), row("decide, over all gates", spread), row("metrics", metrics)]
    show(f"{size.gates:,} gates", COLUMNS, rows)
    console.print(
        f"memory: {empty:.0f} MiB empty, {after:.0f} MiB with the gates "
        f"({(after - empty) / size.gates * 1024:.0f} KiB each), "
        f"{used:.0f} MiB after decisions; restart until ready: {started:.1f} s"
    )


def open_test(size: Size, folder: Path) -> None:
    """Many cases that wait for a label: some decided by the gate, the others copies of these in the store."""
    from abstain.service.bodies import DecisionBody, GateBody
    from abstain.service.service import Service
    from abstain.service.store import SqlStore
    from abstain.service.tables import CASES

    file = folder / "open.db"

    async def fill() -> tuple[float, float]:
        service = Service(SqlStore(f"sqlite:///{file}", fast=True), snapshot_every=size.open_cases)
        await service.start()
        await service.put_gate("g", GateBody(models=["a", "b"], cost=0.2, seed=1))
        random_, began, before = random.Random(0), time.perf_counter(), 0.0
        for start in range(0, size.decided_cases, 1_000):
            rows = [case(f"c{i}", random_) for i in range(start, min(size.decided_cases, start + 1_000))]
            await service.decide_many("g", [DecisionBody.model_validate(one) for one in rows])
            before = before or resident(os.getpid())  # everything is loaded then
        seconds, grown = time.perf_counter() - began, resident(os.getpid()) - before
        await service.stop()
        return seconds, grown

    filled, grown = asyncio.run(fill())
    copies = size.open_cases // size.decided_cases - 1
    names = [column.name for column in CASES.c]
    taken = ", ".join("\"case\" || '-' || n" if name == "case" else f'"{name}"' for name in names)
    quoted = ", ".join(f'"{name}"' for name in names)
    with closing(sqlite3.connect(file)) as to, to:
        to.execute(
            f"with recursive copy(n) as (select 1 union all select n + 1 from copy where n < {copies}) "
            f"insert into cases ({quoted}) select {taken} from cases, copy"
        )
    with served(file) as server:
        started, before = server.started, server.mib
        more = server.play(decisions("m", ["g"], 1), clients=CLIENTS, seconds=size.seconds)
        chosen = random.Random(2).sample(range(size.decided_cases), min(size.decided_cases, 5_000))
        told = server.play(labels([f"c{i}" for i in chosen], "g"), clients=CLIENTS, seconds=size.seconds)
        first = server.play(iter([("GET", "/v1/gates/g/reviews?limit=50", b"")] * 20), clients=1)
        health = server.play(iter([("GET", "/v1/gates/g/health", b"")] * 20), clients=1)
        used = server.mib
    rows = [row("decide", more), row("label", told), row("50 oldest reviews", first), row("health", health)]
    show(f"{size.open_cases:,} open cases in one gate", COLUMNS, rows)
    console.print(
        f"{size.decided_cases:,} of them decided by the gate in {filled:.0f} s "
        f"({size.decided_cases / filled:,.0f}/s in lists of 1,000, without HTTP; "
        f"{grown / size.decided_cases * MIB:,.0f} bytes of memory each), the others copied; "
        f"file {file.stat().st_size / MIB:,.0f} MiB; start until ready {started:.1f} s; "
        f"memory {before:.0f} MiB after the start, {used:.0f} MiB after the calls"
    )


def memory_test(size: Size, folder: Path) -> None:
    """Memory over simulated hours: ten cases a second, half of them labelled after a minute, the others expire."""
    from abstain.service.bodies import DecisionBody, GateBody, LabelRow
    from abstain.service.service import Service
    from abstain.service.store import SqlStore

    per_second, seconds = 10, round(size.hours * 3600)
    marks: list[tuple[float, float]] = []

    async def traffic() -> None:
        now = 1.7e9
        service = Service(SqlStore(f"sqlite:///{folder / 'memory.db'}", fast=True), clock=lambda: now)
        await service.start()
        await service.put_gate("g", GateBody(models=["a", "b"], cost=0.2, seed=1, window=120.0))
        random_ = random.Random(0)
        for second in range(seconds):
            now += 1.0
            rows = [case(f"{second}-{i}", random_) for i in range(per_second)]
            await service.decide_many("g", [DecisionBody.model_validate(one) for one in rows])
            if second >= 60:
                told = [
                    LabelRow(case=f"{second - 60}-{i}", label=random_.choice("xy")) for i in range(0, per_second, 2)
                ]
                await service.label_many("g", told)
            if second % max(1, seconds // 8) == 0:
                await service.sweep()
                marks.append((second / 3600, resident(os.getpid())))
        await service.stop()

    asyncio.run(traffic())
    rows = [[f"{hour:.2f} h", number(mib)] for hour, mib in marks]
    show(f"Memory over {size.hours:g} simulated hours, {per_second} cases per second", ["time", "MiB"], rows)
    half = len(marks) // 2
    console.print(f"growth over the second half: {marks[-1][1] - marks[half][1]:.1f} MiB")


SECTIONS: dict[str, Callable[[Size, Path], None]] = {
    "load": load_test,
    "gates": gates_test,
    "open": open_test,
    "memory": memory_test,
}


def main(words: list[str]) -> None:
    if words[:1] == ["serve"]:
        serve(words[1], int(words[2]), words[3:] == ["free"])
        return
    parser = argparse.ArgumentParser(prog="benchmarks.service")
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=[])  # [] is looked up among them
    parser.add_argument("--quick", action="store_true", help="a small form of everything")
    given = parser.parse_args(words)
    for name in given.sections or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[name](QUICK if given.quick else WHOLE, Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
