"""The service: all gates of a store, a queue for each, and the group commit."""

import asyncio
import contextlib
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

from ..errors import AbstainError, shown
from ..gate import Gate
from .bodies import (
    GATE_NAME,
    CaseReply,
    DecisionBody,
    DecisionReply,
    EventReply,
    GateBody,
    GateReply,
    LabelBody,
    LabelReply,
    LabelRow,
    Mode,
    Problem,
    ReviewReply,
)
from .commits import MOST_AT_ONCE, Commits, Counters
from .hosted import RUNNING, STOPPED, Batch, Hosted
from .problems import Conflict, GateStopped, Invalid, NotFound, NotReady, ServiceError, StoreUnavailable
from .replicas import Replicas
from .restore import DAMAGED, restore
from .store import Changes, GateRecord, SqlStore, Store, StoreError

LOG = logging.getLogger("abstain.service")
T = TypeVar("T")
P = ParamSpec("P")

MOST_WAITING = 10_000
"""The operations that may wait for one gate."""
SWEEP_SECONDS = 5.0
STOP_SECONDS = 15.0
"""How long snapshots are written at the end; a gate without one has more events to replay at the next start."""
SOME = 8
"""How many gates are read, or written, at a time."""


class _Operation(NamedTuple):
    """A call that waits for its turn."""

    cases: tuple[str, ...]
    """The cases that it is about."""
    run: Callable[[Hosted, Batch], Any]
    reply: asyncio.Future[Any]


class _Slot:
    """A gate's place in the service: what waits for it, and the gate itself if it is in memory."""

    def __init__(self, record: GateRecord) -> None:
        self.record = record
        """As committed."""
        self.hosted: Hosted | None = None
        """None: it has to be read back first."""
        self.decided = self.open = 0
        """As committed."""
        self.waiting: deque[_Operation] = deque()
        self.awake = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()
        self.deleted = False
        self.task: asyncio.Task[None] | None = None
        self.next_sweep = 0.0

    @property
    def stopped(self) -> str | None:
        return self.record.state if self.record.state.startswith(STOPPED) else None

    def refusal(self) -> GateStopped:
        """What callers of a stopped gate get."""
        name = self.record.name
        how = f"`abstain gates accept {name}` resumes it"
        if DAMAGED in self.record.state:
            how = f"restore a backup, or repair the journal; then {how}"
        return GateStopped(f"gate {name!r} is {self.stopped}; {how}")


class Service:
    """All gates of a store. Calls are durable: what a call returns has been committed.

    Every gate has a queue. Its worker applies what waits there, at most 256 operations at once, to the gate in memory,
    and a committer writes the results of all gates that wait in one transaction. Only then do callers get replies.
    If a commit fails, its callers get `StoreUnavailable`, and the gates are read back from the store.

    All methods are coroutines of one event loop. All raise a `ServiceError`; nothing has changed then.

    Args:
        store: The store.
        snapshot_every: A snapshot of a gate is written after so many events.
        hold: The seconds for which a label is held if its case is not known yet.
        clock: Returns the time in seconds since 1970.
        address: The URL at which other replicas reach this one, with a shared store.
        lease: With a shared store: the seconds after which another replica may take the gates of one that is silent.
    """

    def __init__(
        self,
        store: Store,
        *,
        snapshot_every: int = 5_000,
        hold: float = 3600.0,
        clock: Callable[[], float] = time.time,
        address: str | None = None,
        lease: float = 10.0,
    ) -> None:
        self.store = store
        self.ready = False
        """Whether kernels are compiled and journals replayed."""
        self.counters = Counters()
        self._snapshot_every = snapshot_every
        self._hold = hold
        self.clock = clock
        """Returns the time in seconds since 1970."""
        self.lease = lease
        """With a shared store: the seconds after which a silent replica loses its gates."""
        self._slots: dict[str, _Slot] = {}
        self._creating = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._replicas = Replicas(store, address, lease) if store.shared and isinstance(store, SqlStore) else None
        self._patience = None if self._replicas is None else max(lease, 5.0)
        """The seconds after which a store that does not answer counts as unavailable."""
        self._commits = Commits(store, self.counters, self._patience)

    async def start(self) -> None:
        """Open the store, compile the kernels, read all gates and replay their journals; then `ready` is True.

        Raises:
            StoreError: If the store cannot be read, or another server uses it.
        """
        await asyncio.to_thread(self.store.lock)
        await asyncio.to_thread(_compile)
        self._tasks = [asyncio.create_task(self._commits.run())]
        if self._replicas is None:
            records = await asyncio.to_thread(self.store.gates)
            for i in range(0, len(records), SOME):
                await asyncio.gather(*(self._serve(record) for record in records[i : i + SOME]))
        else:
            await asyncio.to_thread(self._replicas.join)
            self._tasks.append(asyncio.create_task(self._renew_now_and_then(self._replicas)))
            await self._adopt(self._replicas)
            self._tasks.append(asyncio.create_task(self._adopt_now_and_then(self._replicas)))
        self._tasks.append(asyncio.create_task(self._sweep_now_and_then()))
        self.ready = True

    async def stop(self) -> None:
        """Finish what waits, commit it, write snapshots and close the store."""
        self.ready = False
        for task in self._tasks[1:]:
            await _cancelled(task)
        behind: list[tuple[int, _Slot]] = []
        for slot in list(self._slots.values()):
            await slot.idle.wait()
            if slot.task is not None:
                await _cancelled(slot.task)
            if slot.hosted is not None:
                behind.append((slot.record.next_seq - 1 - slot.hosted.last_snapshot, slot))
        behind = sorted((one for one in behind if one[0] > 0), key=lambda one: -one[0])
        end = time.monotonic() + STOP_SECONDS
        while behind and time.monotonic() < end:
            some, behind = behind[:SOME], behind[SOME:]
            await asyncio.gather(*(self._snapshot(slot) for _, slot in some))
        for task in self._tasks[:1]:
            await _cancelled(task)
        if self._replicas is not None:
            with contextlib.suppress(ServiceError):  # then the others wait until the lease ends
                await self._read(self._replicas.leave)
        self._commits.close()
        await asyncio.to_thread(self.store.close)

    async def owner_of(self, name: str) -> str | None:
        """Return the URL of the replica that owns a gate, if that is another one; `replicas.pass_on` calls it.

        Args:
            name: The gate.

        Returns:
            The URL; None if this replica serves the gate (it takes a gate that nobody owns), or if there is no such
            gate.
        """
        replicas = self._replicas
        if replicas is None or name in self._slots:
            return None
        owner = await self._read(replicas.owner, name)
        if owner is None or owner.id == replicas.id:
            async with self._creating:
                if name in self._slots or await self._read(self.store.gate, name) is None:
                    return None
                record = await self._read(replicas.claim, name)
                if record is not None:
                    self._add(record)
                    return None
            owner = await self._read(replicas.owner, name)
        if owner is None:
            raise NotReady(f"gate {name!r}: it is moving between replicas")
        if owner.address is None:
            raise NotReady(f"gate {name!r}: another replica owns it, which has no address")
        return owner.address

    # Gates.

    async def put_gate(self, name: str, body: GateBody) -> tuple[GateReply, bool]:
        """Create a gate, or change its settings.

        Args:
            name: The gate's name: letters, digits, ``.``, ``_`` and ``-``, at most 64.
            body: The settings. Of a gate that exists, those that are not named stay as they are.

        Returns:
            The gate, and whether it was created.

        Raises:
            Invalid: If a setting is out of range, or settings do not fit together.
            Conflict: If a setting cannot change.
        """
        if GATE_NAME.fullmatch(name) is None:
            raise Invalid.at("gate", f"expected letters, digits, '.', '_' and '-', at most 64, got {shown(name)}")
        await self._check_owner(name)
        while True:
            async with self._creating:
                if name not in self._slots:
                    return await self._create(name, body), True
            with contextlib.suppress(NotFound):  # it was deleted meanwhile: make it anew
                await self._do(name, (), lambda hosted, batch: hosted.change(body, batch))
                return await self.gate(name), False

    async def _create(self, name: str, body: GateBody) -> GateReply:
        self._check_ready()
        hosted, batch = await asyncio.to_thread(Hosted.create, name, body, self.clock())
        hosted.hold = self._hold
        if self._replicas is not None:
            batch.changes.gate.owner = self._replicas.id
        await self._commits.write(batch.changes)
        slot = self._add(batch.changes.gate)
        slot.hosted = hosted
        if self._replicas is not None:
            replicas = self._replicas
            with contextlib.suppress(ServiceError):  # the next renewal does it
                await self._read(replicas.hold, name)
        return self._reply_of(slot)

    async def gates(self) -> list[GateReply]:
        """Return all gates, by name; those of other replicas with what the store says."""
        self._check_ready()
        slots = dict(self._slots)
        if self._replicas is not None and isinstance(self.store, SqlStore):
            counts = await self._read(self.store.counts)
            for record in await self._read(self.store.gates):
                if record.name not in slots:
                    elsewhere = slots[record.name] = _Slot(record)
                    elsewhere.decided, elsewhere.open = counts.get(record.name, (0, 0))
        return [self._reply_of(slots[name]) for name in sorted(slots)]

    async def gate(self, name: str) -> GateReply:
        """Return a gate; `NotFound` if there is none of that name."""
        return self._reply_of(self._slot(name))

    def _reply_of(self, slot: _Slot) -> GateReply:
        record = slot.record
        return GateReply(
            name=record.name,
            settings=json.loads(record.settings),
            mode=record.mode,  # type: ignore[arg-type]
            state=record.state,
            created=record.created,
            seq=record.next_seq - 1,
            decided=slot.decided,
            open=slot.open,
            mismatches=record.mismatches,
        )

    async def delete_gate(self, name: str) -> None:
        """Delete a gate with its journal, cases and snapshots."""
        await self._check_owner(name)
        slot = self._slot(name)
        if slot.hosted is None and slot.stopped is not None:
            await self._commits.write(Changes(slot.record, deleted=True))
            await self._forget(slot, NotFound(f"gate {name!r}: it was deleted"))
            return

        def remove(_: Hosted, batch: Batch) -> None:
            batch.changes.deleted = True

        await self._do(name, (), remove)

    async def _forget(self, slot: _Slot, error: ServiceError) -> ServiceError:
        """Let go of a gate that was deleted, or that another replica has taken; ``error`` is what callers get."""
        name = slot.record.name
        slot.deleted, slot.hosted = True, None
        if self._slots.get(name) is slot:
            del self._slots[name]
        for one in slot.waiting:
            _fail(one, error)
        slot.waiting.clear()
        slot.awake.set()
        slot.idle.set()
        if self._replicas is not None:
            replicas = self._replicas
            with contextlib.suppress(ServiceError):
                await self._read(replicas.release, name)
        return error

    async def set_mode(self, name: str, mode: Mode) -> GateReply:
        """Change the mode of a gate: "live", "shadow" or "paused"."""
        await self._do(name, (), lambda hosted, batch: hosted.set_mode(mode, batch))
        return await self.gate(name)

    async def accept(self, name: str) -> GateReply:
        """Resume a gate that was stopped because its journal did not replay exactly.

        The journalled decisions count for callers: the gate takes note of those that it would decide otherwise as of
        decisions that somebody else made, and goes on from there.
        """
        slot = self._slot(name)
        async with self._creating:
            if slot.stopped is None:
                raise Conflict(f"gate {name!r}: expected a gate that is stopped, got one that is running")
            await self._read_back(slot, accept=True)
        return self._reply_of(slot)

    # Decisions and labels.

    async def decide(self, name: str, body: DecisionBody) -> DecisionReply:
        """Decide on a case.

        Args:
            name: The gate.
            body: The case.

        Returns:
            The decision; the stored one, marked as ``replayed``, if the same request came before.

        Raises:
            Conflict: If the case was decided with another payload.
            Invalid: If the answers, the stake or the time do not fit the gate.
        """
        return await self._do(name, (body.case,), lambda hosted, batch: hosted.decide(body, batch))

    async def decide_many(self, name: str, bodies: Sequence[DecisionBody]) -> list[DecisionReply | Problem]:
        """Decide on many cases, in their order; a row that is refused has a `Problem` in its place."""
        self._slot(name)
        calls = [self.decide(name, body) for body in bodies]
        found = await _all(calls)
        failed = [one for one in found if isinstance(one, ServiceError)]
        if len(failed) == len(found) and failed and all(one.status == 503 for one in failed):
            raise failed[0]
        return [
            Problem(case=body.case, status=one.status, title=one.title, detail=one.detail, errors=one.errors)
            if isinstance(one, ServiceError)
            else one
            for body, one in zip(bodies, found, strict=True)
        ]

    async def decision(self, name: str, case: str) -> CaseReply:
        """Return a case with its decision, its state and its label, if that has come."""
        self._slot(name)
        known, _ = await self._read(self.store.find, name, [case])
        if case not in known:
            raise NotFound(f"case {shown(case)}: the gate {name!r} has not decided it")
        return CaseReply.of(known[case])

    async def label(self, name: str, case: str, body: LabelBody) -> LabelReply:
        """Take the label of a case.

        Returns:
            The status: learnt, duplicate, expired, unknown (no such case yet: the label is held), unused or corrected.

        Raises:
            Conflict: If another label came before and this is no correction.
            Invalid: If it is no label of this gate, or cannot come from its source.
        """
        source = body.source or ""
        try:
            reply = await self._do(name, (case,), lambda hosted, batch: hosted.label(case, body, batch))
        except (Conflict, Invalid) as error:
            self.counters.labels[name, source, "conflict" if error.status == 409 else "invalid"] += 1
            raise
        self.counters.labels[name, source, reply.status] += 1
        return reply

    async def label_many(self, name: str, rows: Sequence[LabelRow]) -> list[LabelReply]:
        """Take many labels, in their order; a row that is refused has the status conflict or invalid."""
        self._slot(name)
        found = await _all([self.label(name, row.case, row) for row in rows])
        replies = []
        for row, one in zip(rows, found, strict=True):
            if isinstance(one, LabelReply):
                replies.append(one)
            elif isinstance(one, (Conflict, Invalid)):
                status: Any = "conflict" if isinstance(one, Conflict) else "invalid"
                replies.append(LabelReply(case=row.case, status=status, detail=one.detail))
            else:
                raise one
        return replies

    # Reading.

    async def reviews(self, name: str, *, state: str = "open", limit: int = 50, after: int = 0) -> list[ReviewReply]:
        """Return cases that were sent to review, the oldest first.

        Args:
            name: The gate.
            state: "open", "closed" or "expired".
            limit: At most so many.
            after: Only cases whose event has a larger number.
        """
        self._slot(name)
        found = await self._read(self.store.cases, name, state=state, action="review", after=after, limit=limit)
        now = self.clock()
        return [ReviewReply.of(CaseReply.of(record), now) for record in found]

    async def events(self, name: str, *, after: int = 0, limit: int = 1000) -> list[EventReply]:
        """Return events of a gate's journal, in their order.

        Args:
            name: The gate.
            after: Only events with a larger number.
            limit: At most so many.
        """
        self._slot(name)
        found = await self._read(self.store.events, name, after=after, limit=limit)
        return [EventReply.of(record) for record in found]

    async def policy(self, name: str) -> list[dict[str, Any]]:
        """Return what the gate has learnt: the rows of `Gate.policy`."""

        def rows(hosted: Hosted, _: Batch) -> list[dict[str, Any]]:
            return [_finite(row) for row in hosted.gate.policy().to_dicts()]

        return await self._do(name, (), rows)

    async def health(self, name: str) -> dict[str, Any]:
        """Return how the gate is doing: `Gate.health` as plain values, with counts of cases.

        Returns:
            ``sentences``; ``models`` (the rows of `Health.frame`); ``alarms`` (models in alarm); ``cases``,
            ``reviewed``, ``explored``, ``over_capacity``, ``labels``, ``delay``, ``price``, ``price_interval`` as in
            `Health`; ``pending`` (labels that the gate awaits); ``open`` and ``oldest`` (open reviews, and the age of
            the oldest in seconds); ``capacity_left`` (the reviews that are left now, or None).
        """

        def look(hosted: Hosted, _: Batch) -> dict[str, Any]:
            health = hosted.gate.health()
            names = "cases reviewed explored over_capacity muted labels delay price price_interval".split()  # noqa: SIM905
            number, oldest = self.store.count(name, state="open", action="review")
            self.counters.alarms[name] = len(health.alarms)
            return _finite(
                {
                    "sentences": list(health.sentences),
                    "models": [_finite(one._asdict()) for one in health.models],
                    "alarms": list(health.alarms),
                    **{one: getattr(health, one) for one in names},
                    "pending": hosted.n_open,
                    "open": number,
                    "oldest": None if oldest is None else max(0.0, self.clock() - oldest),
                    "capacity_left": hosted.capacity_left(),
                }
            )

        return await self._do(name, (), look)

    # The queue of a gate.

    def _check_ready(self) -> None:
        if not self.ready:
            raise NotReady("the service is starting or stopping")

    def _slot(self, name: str) -> _Slot:
        self._check_ready()
        slot = self._slots.get(name)
        if slot is None:
            raise NotFound(f"gate {shown(name)}: there is none of that name")
        return slot

    def _add(self, record: GateRecord) -> _Slot:
        slot = self._slots[record.name] = _Slot(record)
        slot.task = asyncio.create_task(self._work(slot))
        return slot

    async def _do(self, name: str, cases: tuple[str, ...], run: Callable[[Hosted, Batch], T]) -> T:
        """Put an operation on a gate's queue, and wait until what it changes is committed."""
        slot = self._slot(name)
        if slot.stopped is not None:
            raise slot.refusal()
        if len(slot.waiting) >= MOST_WAITING:
            raise NotReady(f"gate {name!r}: {MOST_WAITING} calls wait already")
        return await self._put(slot, cases, run)

    async def _put(self, slot: _Slot, cases: tuple[str, ...], run: Callable[[Hosted, Batch], T]) -> T:
        operation = _Operation(cases, run, asyncio.get_running_loop().create_future())
        slot.waiting.append(operation)
        slot.idle.clear()
        slot.awake.set()
        result: T = await operation.reply
        return result

    async def _work(self, slot: _Slot) -> None:
        """Apply what waits for a gate, batch after batch."""
        while not slot.deleted:
            await slot.awake.wait()
            slot.awake.clear()
            while slot.waiting:
                taken = [slot.waiting.popleft() for _ in range(min(len(slot.waiting), MOST_AT_ONCE))]
                await self._try(slot, taken)
            slot.idle.set()

    async def _try(self, slot: _Slot, taken: list[_Operation]) -> None:
        """Apply operations; whatever happens, each gets a reply or an error."""
        try:
            await self._apply(slot, taken)
        except ServiceError as error:
            slot.hosted = None
            for one in taken:
                _fail(one, error)
        except Exception as error:
            slot.hosted = None
            if len(taken) > 1:  # the others must not fail with the one that does
                for one in taken:
                    if not one.reply.done():  # what was committed has its reply
                        await self._try(slot, [one])
                return
            LOG.exception("operation failed", extra={"fields": {"gate": slot.record.name}})
            _fail(taken[0], NotReady(f"gate {slot.record.name!r}: an operation failed ({error!r}); try again"))

    async def _apply(self, slot: _Slot, taken: list[_Operation]) -> None:
        if slot.hosted is None:
            await self._read_back(slot)
        hosted = slot.hosted
        assert hosted is not None
        try:
            work = asyncio.to_thread(self._run, hosted, taken)
            batch, results = await asyncio.wait_for(work, self._patience)
        except StoreError as error:  # it could not be read: nothing has changed
            for one in taken:
                _fail(one, StoreUnavailable(str(error)))
            return
        except TimeoutError:
            raise StoreUnavailable("store: it does not answer") from None
        if not batch.empty:
            await self._commits.write(batch.changes)
        for one, result in zip(taken, results, strict=True):  # first of all: what is committed is acknowledged
            if isinstance(result, ServiceError):
                _fail(one, result)
            elif not one.reply.done():
                one.reply.set_result(result)
        slot.record = batch.changes.gate
        slot.decided, slot.open = hosted.gate.round, hosted.n_open
        self._count(batch)
        if batch.changes.deleted:
            await self._forget(slot, NotFound(f"gate {slot.record.name!r}: it was deleted"))
        elif slot.record.next_seq - 1 - hosted.last_snapshot >= max(self._snapshot_every, hosted.n_open // 10):
            await self._snapshot(slot)

    def _run(self, hosted: Hosted, taken: list[_Operation]) -> tuple[Batch, list[Any]]:
        """Apply operations to a gate in memory, one after the other."""
        cases = list(dict.fromkeys(case for one in taken for case in one.cases))
        known, held = self.store.find(hosted.record.name, cases) if cases else ({}, {})
        batch = hosted.begin(known, held, self.clock())
        results: list[Any] = []
        for one in taken:
            if batch.changes.deleted:
                results.append(NotFound(f"gate {hosted.record.name!r}: it was deleted"))
                continue
            try:
                results.append(one.run(hosted, batch))
            except ServiceError as error:
                results.append(error)
            except StoreError as error:  # of operations that only read
                results.append(StoreUnavailable(str(error)))
        return batch, results

    async def _read_back(self, slot: _Slot, accept: bool = False) -> None:
        """Read a gate from the store: its newest snapshot, and the events after it."""
        name = slot.record.name
        try:
            record = await self._read(self.store.gate, name)
            if record is None:
                raise await self._forget(slot, NotFound(f"gate {name!r}: it was deleted"))
            if self._replicas is not None and record.owner != self._replicas.id:
                raise await self._forget(slot, NotReady(f"gate {name!r}: another replica owns it now"))
            slot.record = record
            if slot.stopped is not None and not accept:
                raise slot.refusal()
            found = await asyncio.to_thread(restore, self.store, record, self.clock(), accept=accept)
        except StoreError as error:
            raise StoreUnavailable(str(error)) from error
        except AbstainError as error:  # the journal cannot be read
            await self._stop_gate(slot, f"{STOPPED}{error}")
        hosted, batch = found.hosted, found.batch
        hosted.hold = self._hold
        self.counters.mismatches[name] += found.mismatches
        if found.stopped is not None:
            await self._stop_gate(slot, found.stopped)
        if accept:
            batch.changes.gate.state = RUNNING
            batch.add_event("accepted", None, {"mismatches": found.mismatches})
        if found.mismatches:
            fields = {"gate": name, "mismatches": found.mismatches}
            LOG.warning("journal replayed with differences", extra={"fields": fields})
        if not batch.empty or found.mismatches:
            await self._commits.write(batch.changes)
        slot.record, slot.hosted = batch.changes.gate, hosted
        slot.decided, slot.open = hosted.gate.round, hosted.n_open

    async def _stop_gate(self, slot: _Slot, state: str) -> NoReturn:
        """Stop a gate whose journal did not replay, also for later starts."""
        LOG.error("gate stopped", extra={"fields": {"gate": slot.record.name, "why": state}})
        stopped = replace(slot.record, state=state)
        await self._commits.write(Changes(stopped))
        slot.record = stopped
        raise slot.refusal()

    async def _snapshot(self, slot: _Slot) -> None:
        """Write a snapshot. If that fails, the journal still has everything: the next one will do."""
        hosted = slot.hosted
        assert hosted is not None
        seq = slot.record.next_seq - 1
        try:
            made = await asyncio.to_thread(hosted.snapshot, self.clock())
            await self._commits.write(Changes(slot.record, snapshot=made))
        except (ServiceError, AbstainError, OSError) as error:
            LOG.warning("snapshot failed", extra={"fields": {"gate": slot.record.name, "error": str(error)}})
            seq -= self._snapshot_every * 9 // 10  # try again soon
        hosted.last_snapshot = seq

    def _count(self, batch: Batch) -> None:
        """Count what was committed."""
        counters, name = self.counters, batch.changes.gate.name
        for one in batch.changes.cases:
            reply = json.loads(one.reply)
            kind = one.action, reply["model"] or "", reply["explored"], reply["over_capacity"]
            counters.decisions[name, *kind] += 1
        for action, price in batch.prices.items():
            counters.prices[name, action] += price
        counters.held[name] += len(batch.changes.held)
        counters.unmatched[name] += batch.unfit
        for event in batch.changes.events:
            if event.kind in ("expired", "forgotten"):
                counters.expired[name] += 1

    # What happens by itself.

    async def sweep(self) -> None:
        """Close the cases whose window has passed, and drop held labels whose case did not come; all gates."""
        for slot in list(self._slots.values()):
            if slot.hosted is not None and slot.stopped is None:
                await self._sweep(slot)

    async def _sweep(self, slot: _Slot) -> None:
        name, now = slot.record.name, self.clock()
        window = None if slot.hosted is None else slot.hosted.window
        before = now - (window or 0.0)
        for action in ("answer", "review") if window is not None else ():
            after, more = 0, True
            while more:  # the oldest first: those after one that is young enough are younger
                oldest = await self._read(
                    self.store.cases, name, state="open", action=action, after=after, limit=MOST_AT_ONCE
                )
                late = [one.case for one in oldest if one.at < before]
                for one in await _all(
                    [self._do(name, (case,), partial(Hosted.expire, case=case, before=before)) for case in late]
                ):
                    if isinstance(one, ServiceError):
                        raise one
                ahead = sum(one.at > now for one in oldest)  # decided before somebody set the clock back
                more = len(late) + ahead == MOST_AT_ONCE
                after = oldest[-1].seq if more else 0
        dropped = await self._read(self.store.late_labels, name, now, MOST_AT_ONCE)
        if dropped:
            cases = tuple(one.case for one in dropped)
            self.counters.unmatched[name] += await self._do(name, cases, partial(Hosted.drop_held, cases=cases))

    async def _sweep_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            for slot in list(self._slots.values()):
                now = time.monotonic()
                if now < slot.next_sweep or slot.hosted is None or slot.stopped is not None:
                    continue
                spans = [self._hold] if slot.hosted.window is None else [self._hold, slot.hosted.window]
                slot.next_sweep = now + min(60.0, max(SWEEP_SECONDS, min(spans) / 100))
                try:
                    await self._sweep(slot)
                except ServiceError as error:
                    LOG.warning("sweep failed", extra={"fields": {"gate": slot.record.name, "error": str(error)}})

    async def _read(self, read: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call the store in a thread."""
        try:
            return await asyncio.wait_for(asyncio.to_thread(read, *arguments, **options), self._patience)
        except StoreError as error:
            raise StoreUnavailable(str(error)) from error
        except TimeoutError:
            raise StoreUnavailable("store: it does not answer") from None

    # Replicas.

    async def _check_owner(self, name: str) -> None:
        owner = await self.owner_of(name)
        if owner is not None:
            raise NotReady(f"gate {name!r}: expected a call to its owner, {owner}")

    async def _serve(self, record: GateRecord) -> None:
        """Take a gate in, and read it."""
        slot = self._add(record)
        with contextlib.suppress(ServiceError):  # a stopped gate says so when it is asked
            await self._touch(slot)

    async def _touch(self, slot: _Slot) -> None:
        """Have a gate read back, in its turn."""
        await self._put(slot, (), lambda hosted, batch: None)

    async def _adopt(self, replicas: Replicas) -> None:
        """Take gates without a living owner, up to a fair share."""
        names, share = await self._read(replicas.orphans)
        for name in names:
            if len(self._slots) >= share:
                break
            async with self._creating:
                record = None if name in self._slots else await self._read(replicas.claim, name)
                slot = None if record is None else self._add(record)
            if slot is not None:
                LOG.info("gate taken", extra={"fields": {"gate": name, "epoch": slot.record.epoch}})
                with contextlib.suppress(ServiceError):
                    await self._touch(slot)

    async def _adopt_now_and_then(self, replicas: Replicas) -> None:
        while True:
            await asyncio.sleep(replicas.lease / 3)
            try:
                await self._adopt(replicas)
            except ServiceError as error:
                LOG.warning("gates not taken", extra={"fields": {"error": str(error)}})

    async def _renew_now_and_then(self, replicas: Replicas) -> None:
        while True:
            await asyncio.sleep(replicas.lease / 4)
            owned = {slot.record.name: slot for slot in self._slots.values()}
            try:
                lost = await self._read(replicas.renew, [slot.record for slot in owned.values()])
            except ServiceError as error:
                LOG.warning("lease not renewed", extra={"fields": {"error": str(error)}})
                continue
            for name in lost:
                if self._slots.get(name) is owned[name]:
                    LOG.warning("gate lost", extra={"fields": {"gate": name}})
                    await self._forget(owned[name], NotReady(f"gate {name!r}: another replica owns it now"))


def _fail(operation: _Operation, error: ServiceError) -> None:
    if not operation.reply.done():
        operation.reply.set_exception(error)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    except Exception:
        LOG.exception("task failed")


async def _all(calls: Sequence[Any]) -> list[Any]:
    """Await calls in their order; return results and `ServiceError`s, raise other errors."""
    found = await asyncio.gather(*calls, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException) and not isinstance(one, ServiceError):
            raise one
    return found


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Return plain values; JSON has no NaN and no tuples."""
    plain = {name: list(one) if isinstance(one, tuple) else one for name, one in row.items()}
    return {name: None if isinstance(one, float) and one != one else one for name, one in plain.items()}


def _compile() -> None:
    """Compile what gates with the usual settings need."""
    gate = Gate(["a", "b"], cost=0.2, labels="both", seed=0)
    gate.learn(gate.decide({"a": ("x", 0.9), "b": None}), "x")
    gate.learn(gate.watch({"a": ("x", 0.9), "b": None}, decided="a", probability=1.0), "x")
