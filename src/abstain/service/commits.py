"""The group commit: what the calls of all gates change is written together, and counted."""

import asyncio
import logging
import time
from collections import Counter, defaultdict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .problems import NotReady, ServiceError, StoreUnavailable
from .store import Changes, Fenced, RowRefused, Store

LOG = logging.getLogger("abstain.service")

MOST_AT_ONCE = 256
"""The operations of a gate that are applied at once, and the events that are written at once."""


@dataclass
class Counters:
    """What has happened since the start, as plain numbers that the metrics read."""

    decisions: Counter[tuple[str, str, str, bool, bool]] = field(default_factory=Counter)
    """By gate, action, model ("" in paused mode), explored and over_capacity."""
    labels: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By gate, source ("" if it was not given) and status."""
    prices: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """The sum of what decisions cost, as first known, by gate and action."""
    expired: Counter[str] = field(default_factory=Counter)
    """Cases whose window passed without a label, by gate."""
    held: Counter[str] = field(default_factory=Counter)
    """Labels that came before their case, by gate."""
    unmatched: Counter[str] = field(default_factory=Counter)
    """Held labels whose case did not come in time, or that did not fit it, by gate."""
    mismatches: Counter[str] = field(default_factory=Counter)
    """Events that were decided otherwise when they were replayed, by gate."""
    alarms: Counter[str] = field(default_factory=Counter)
    """Models in alarm now, by gate."""
    commits: int = 0
    failed_commits: int = 0
    committed_events: int = 0
    commit_times: list[float] = field(default_factory=list)
    """The seconds of the commits since somebody last took them (at most 10,000); a histogram empties the list."""


class Commits:
    """Writes what gates change, in their order. While a transaction is written, others wait and share the next one.

    Args:
        store: The store.
        counters: Where commits are counted.
        patience: The seconds after which a store that does not answer counts as unavailable; None: never.
    """

    def __init__(self, store: Store, counters: Counters, patience: float | None) -> None:
        self._store = store
        self._counters = counters
        self._patience = patience
        self._waiting: deque[tuple[Changes, asyncio.Future[None]]] = deque()
        self._awake = asyncio.Event()
        self._writer = ThreadPoolExecutor(1, "abstain-commit")

    def close(self) -> None:
        """Let the thread go that writes."""
        self._writer.shutdown(wait=self._patience is None)

    async def write(self, changes: Changes) -> None:
        """Write the changes of a gate together with those of others that wait.

        Raises:
            StoreUnavailable: If they could not be written, or it is not known whether they were.
            NotReady: If another replica has taken the gate.
        """
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((changes, done))
        self._awake.set()
        await done

    async def run(self) -> None:
        """Write what waits, transaction after transaction; what comes meanwhile goes into the next one."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            while self._waiting:
                taken = [self._waiting.popleft()]
                events = len(taken[0][0].events)
                while self._waiting and events + len(self._waiting[0][0].events) <= MOST_AT_ONCE:
                    taken.append(self._waiting.popleft())
                    events += len(taken[-1][0].events)
                await self._write_these(taken)

    async def _write_these(self, taken: list[tuple[Changes, asyncio.Future[None]]]) -> None:
        counters = self._counters
        while taken:
            began = time.perf_counter()
            error: ServiceError | None = None
            failed = taken
            try:
                every = [changes for changes, _ in taken]
                writing = asyncio.get_running_loop().run_in_executor(self._writer, self._store.commit, every)
                await asyncio.wait_for(writing, self._patience)
            except TimeoutError:  # if it is written after all, the next commit is fenced, and the gate read back
                error = StoreUnavailable("store: it does not answer")
                self._writer.shutdown(wait=False)
                self._writer = ThreadPoolExecutor(1, "abstain-commit")
            except Fenced as fenced:
                error = NotReady(str(fenced))
                failed = [one for one in taken if one[0].gate.name == fenced.gate]
            except RowRefused as refused:
                if len(taken) > 1:  # the others must not fail with the gate whose row it is
                    for one in taken:
                        await self._write_these([one])
                    return
                error = StoreUnavailable(str(refused))
            except Exception as problem:
                error = StoreUnavailable(str(problem))
            spent = time.perf_counter() - began
            if error is None:
                counters.commits += 1
                counters.committed_events += sum(len(changes.events) for changes in every)
                if len(counters.commit_times) < 10_000:
                    counters.commit_times.append(spent)
            else:
                counters.failed_commits += 1
                LOG.error("commit failed", extra={"fields": {"error": error.detail}})
            for _, done in failed:
                if not done.done():
                    if error is None:
                        done.set_result(None)
                    else:
                        done.set_exception(error)
            taken = [one for one in taken if one not in failed]
