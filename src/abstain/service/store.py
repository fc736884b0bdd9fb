"""What the service keeps, and where: the contract of a store, and the store in SQLite or PostgreSQL."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import sqlalchemy as sa
from sqlalchemy import delete, func, insert, select, update

from .._core.files import lock
from ..errors import AbstainError, FileError, InputError, shown
from .tables import CASES, EVENTS, GATES, HELD, KEYS, SNAPSHOTS

KEPT_SNAPSHOTS = 2
CLOSING = ("learnt", "expired", "forgotten", "dropped")
"""Kinds of events after which a gate learns no more from a case."""


class StoreError(AbstainError):
    """The store cannot be opened, read or written. Nothing was written then, unless the connection was cut."""


class RowRefused(StoreError):  # noqa: N818
    """The database refuses a row; nothing was written, and other rows may be."""


class Fenced(StoreError):  # noqa: N818 -- it says what happened to the writer
    """Another replica has taken the gate; nothing was written."""

    def __init__(self, gate: str) -> None:
        super().__init__(f"gate {gate!r}: another replica owns it now")
        self.gate = gate


@dataclass(slots=True)
class GateRecord:
    """A gate: its settings as JSON and where its journal ends."""

    name: str
    settings: str
    mode: str
    created: float
    state: str = "running"
    next_seq: int = 1
    mismatches: int = 0
    epoch: int = 0
    owner: str | None = None


@dataclass(slots=True)
class EventRecord:
    """An event of a gate's journal; the body is JSON."""

    gate: str
    seq: int
    kind: str
    case: str | None
    at: float
    version: str
    body: str


@dataclass(slots=True)
class CaseRecord:
    """A decided case; request, reply, label and correction are JSON."""

    gate: str
    case: str
    seq: int
    at: float
    mode: str
    action: str
    state: str
    digest: str
    request: str
    reply: str
    handle: str | None
    review_price: float
    label: str | None = None
    label_source: str | None = None
    label_at: float | None = None
    correction: str | None = None
    price: float | None = None


@dataclass(slots=True)
class HeldRecord:
    """A label whose case is not known yet."""

    gate: str
    case: str
    label: str
    source: str | None
    at: float
    deadline: float


@dataclass(slots=True)
class SnapshotRecord:
    """A gate as its own file, after an event."""

    gate: str
    seq: int
    version: str
    at: float
    mode: str
    settings: str
    """Those of the service at that time, as JSON."""
    file: bytes


@dataclass(slots=True)
class KeyRecord:
    """An API key, as a hash."""

    id: str
    hash: str
    gate: str
    scopes: tuple[str, ...]
    name: str
    created: float
    revoked: float | None = None


@dataclass(slots=True)
class Changes:
    """What one transaction changes of a gate. Events have the numbers from ``gate.next_seq - len(events)`` on."""

    gate: GateRecord
    """The gate as it is afterwards; its epoch must be the stored one."""
    created: bool = False
    deleted: bool = False
    events: list[EventRecord] = field(default_factory=list)
    cases: list[CaseRecord] = field(default_factory=list)
    """New ones."""
    updated: dict[str, CaseRecord] = field(default_factory=dict)
    """Old ones whose state, label, correction or price changes, by their id."""
    handles: dict[str, str] = field(default_factory=dict)
    """New handles of old cases, by their id."""
    held: list[HeldRecord] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    """Held labels that go, by their case."""
    snapshot: SnapshotRecord | None = None


class Store(Protocol):
    """What the service needs of a store. Methods block, may be called by many threads, and raise `StoreError`.

    `abstain.checks.check_store` tests yours.
    """

    shared: bool
    """Whether several replicas may use it at once."""

    def lock(self) -> None:
        """Make sure that no other server uses the store; for shared stores, nothing."""

    def close(self) -> None:
        """Release everything. May be called twice."""

    def commit(self, changes: Sequence[Changes]) -> None:
        """Write the changes of several gates in one transaction: all of them, durably, or none.

        Raises:
            Fenced: If the epoch of a gate is not the stored one, its journal does not end where it should, or a gate
                that is created is there already.
            RowRefused: If the store is fine, but cannot take a row; the service then writes gate by gate.
        """

    def gates(self) -> list[GateRecord]:
        """Return all gates, by name."""

    def gate(self, name: str) -> GateRecord | None:
        """Return a gate, if there is one of that name."""

    def find(self, gate: str, cases: Sequence[str]) -> tuple[dict[str, CaseRecord], dict[str, HeldRecord]]:
        """Return those of some cases, and of the labels held for them, that are there."""

    def cases(self, gate: str, *, state: str, action: str, after: int = 0, limit: int = 50) -> list[CaseRecord]:
        """Return the cases of a state and an action after a number, by their number."""

    def count(self, gate: str, *, state: str, action: str) -> tuple[int, float | None]:
        """Return how many cases have a state and an action, and when the oldest of them was decided."""

    def decided(self, gate: str, since: float | None, until: float | None) -> list[CaseRecord]:
        """Return the cases decided from one time to another, by their number."""

    def late_labels(self, gate: str, now: float, limit: int) -> list[HeldRecord]:
        """Return held labels whose deadline has passed."""

    def events(self, gate: str, *, after: int = 0, limit: int = 1000) -> list[EventRecord]:
        """Return events after a number, in their order."""

    def snapshots(self, gate: str) -> list[SnapshotRecord]:
        """Return the snapshots of a gate, the newest first."""

    def keys(self) -> list[KeyRecord]:
        """Return all keys, revoked ones included."""

    def add_key(self, key: KeyRecord) -> None:
        """Add a key."""

    def revoke_key(self, id: str, at: float) -> bool:
        """Revoke a key; return whether there was one that was not revoked."""


def open_store(url: str, *, fast: bool = False) -> "SqlStore":
    """Open a store, and bring its tables up to date.

    Args:
        url: ``sqlite:///gates.db`` (three slashes and a path) or ``postgresql://user:password@host/database``.
        fast: With SQLite, let the system decide when to write to disk: a power cut can lose the last seconds.

    Raises:
        InputError: If the URL is something else.
        StoreError: If the store cannot be opened.
    """
    return SqlStore(url, fast=fast)


_LABELLED = ("state", "label", "label_source", "label_at", "correction", "price")


class SqlStore:
    """A store in SQLite or PostgreSQL.

    Args:
        url: See `open_store`.
        fast: See `open_store`.
        patience: How many seconds to wait for a lock that another process holds.
    """

    def __init__(self, url: str, *, fast: bool = False, patience: float = 5.0) -> None:
        try:
            parsed = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise InputError(f"store: expected sqlite:///FILE or postgresql://..., got {shown(url)}") from None
        self.shared = parsed.get_backend_name() == "postgresql"
        self._lock: BinaryIO | None = None
        self.path: Path | None = None
        """The file, with SQLite."""
        options: dict[str, Any] = {}
        if self.shared:
            parsed = parsed.set(drivername="postgresql+psycopg")
            options = {"pool_pre_ping": True, "connect_args": _connecting(patience)}
        elif parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
            self.path = Path(str(parsed.database))
            if not self.path.parent.is_dir():
                raise StoreError(f"store: expected a file in a folder that exists, got {shown(str(self.path))}")
            options = {"connect_args": {"timeout": patience}}
            with contextlib.suppress(OSError):  # it has the keys that sign cases; what is wrong, SQLite says below
                self.path.touch(mode=0o600, exist_ok=False)
        else:
            raise InputError(f"store: expected sqlite:///FILE or postgresql://..., got {shown(url)}")
        try:
            self.engine = sa.create_engine(parsed, **options)
        except ImportError:
            raise InputError("store: postgresql:// needs psycopg: pip install 'abstain[postgres]'") from None
        if not self.shared:
            sa.event.listen(self.engine, "connect", _pragmas("NORMAL" if fast else "FULL"))
        with store_errors("opened"):
            self._migrate()

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
        with self.engine.begin() as connection:
            if self.shared:  # two replicas may start at once
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK_OF_MIGRATIONS)))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def lock(self) -> None:
        """Make sure that no other server uses the file.

        Raises:
            StoreError: If one does.
        """
        if self.path is None or self._lock is not None:
            return
        stream = None
        try:
            stream = self.path.with_name(f"{self.path.name}.lock").open("ab")
            lock(stream, f"store: another server uses {self.path}; expected one at a time")
        except (FileError, OSError) as error:
            if stream is not None:
                stream.close()
            raise StoreError(str(error)) from None
        self._lock = stream

    def close(self) -> None:
        """Close all connections and give the lock back."""
        self.engine.dispose()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Writing.

    def commit(self, changes: Sequence[Changes]) -> None:
        """Write the changes of several gates in one transaction; see `Store.commit`."""
        with store_errors("written"), self.engine.begin() as to:
            for one in sorted(changes, key=lambda one: one.gate.name):  # in one order, so that nobody waits in a ring
                self._fence(to, one)
            living = [one for one in changes if not one.deleted]
            for table, rows in (
                (EVENTS, [_row(row) for one in living for row in one.events]),
                (CASES, [_row(row) for one in living for row in one.cases]),
            ):
                if rows:
                    to.execute(insert(table), rows)
            updated = [row for one in living for row in one.updated.values()]
            if updated:
                to.execute(_UPDATE_CASE, [_as_update(row) for row in updated])
            for one in living:
                self._write_rest(to, one)

    def _fence(self, to: sa.Connection, one: Changes) -> None:
        gate = one.gate
        if one.created:
            if to.scalar(select(GATES.c.name).where(GATES.c.name == gate.name)) is not None:
                raise Fenced(gate.name)
            to.execute(insert(GATES), [_row(gate)])
            return
        ours = (GATES.c.name == gate.name) & (GATES.c.epoch == gate.epoch)
        if one.deleted:
            found = to.execute(delete(GATES).where(ours)).rowcount
            for table in (EVENTS, CASES, HELD, SNAPSHOTS):
                to.execute(delete(table).where(table.c.gate == gate.name))
        else:
            ours &= GATES.c.next_seq == gate.next_seq - len(one.events)
            new = {name: getattr(gate, name) for name in ("settings", "mode", "state", "next_seq", "mismatches")}
            found = to.execute(update(GATES).where(ours).values(new)).rowcount
        if found != 1:
            raise Fenced(gate.name)

    def _write_rest(self, to: sa.Connection, one: Changes) -> None:
        name = one.gate.name
        if one.handles:
            rows = [{"of_gate": name, "of_case": case, "new": new} for case, new in one.handles.items()]
            to.execute(_UPDATE_HANDLE, rows)
        if one.released:
            to.execute(_RELEASE, [{"of_gate": name, "of_case": case} for case in one.released])
        if one.held:
            to.execute(insert(HELD), [_row(row) for row in one.held])
        if one.snapshot is not None:
            self._write_snapshot(to, one.snapshot)

    def _write_snapshot(self, to: sa.Connection, new: SnapshotRecord) -> None:
        """Write a snapshot, drop all but the last ones, and the handles that only the dropped ones needed."""
        ours = SNAPSHOTS.c.gate == new.gate
        to.execute(delete(SNAPSHOTS).where(ours, SNAPSHOTS.c.seq >= new.seq))
        older = list(to.scalars(select(SNAPSHOTS.c.seq).where(ours).order_by(SNAPSHOTS.c.seq.desc())))
        to.execute(insert(SNAPSHOTS), [_row(new)])
        there = [new.seq, *older]
        oldest, before = there[:KEPT_SNAPSHOTS][-1], [*there[KEPT_SNAPSHOTS:], 0][0]
        to.execute(delete(SNAPSHOTS).where(ours, SNAPSHOTS.c.seq < oldest))
        of = EVENTS.c
        closed = select(of.case).where(of.gate == new.gate, of.seq > before, of.seq <= oldest, of.kind.in_(CLOSING))
        to.execute(update(CASES).where(CASES.c.gate == new.gate, CASES.c.case.in_(closed)).values(handle=None))

    # Reading.

    def gates(self) -> list[GateRecord]:
        return self._read(GateRecord, select(GATES).order_by(GATES.c.name))

    def gate(self, name: str) -> GateRecord | None:
        return next(iter(self._read(GateRecord, select(GATES).where(GATES.c.name == name))), None)

    def find(self, gate: str, cases: Sequence[str]) -> tuple[dict[str, CaseRecord], dict[str, HeldRecord]]:
        wanted = {"of_gate": gate, "of_cases": list(cases)}
        with store_errors("read"), self.engine.connect() as at:
            known = [CaseRecord(*row) for row in at.execute(_FIND_CASES, wanted)]
            held = [HeldRecord(*row) for row in at.execute(_FIND_HELD, wanted)]
        return {row.case: row for row in known}, {row.case: row for row in held}

    def cases(self, gate: str, *, state: str, action: str, after: int = 0, limit: int = 50) -> list[CaseRecord]:
        of = CASES.c
        query = select(CASES).where(of.gate == gate, of.state == state, of.action == action, of.seq > after)
        return self._read(CaseRecord, query.order_by(of.seq).limit(limit))

    def count(self, gate: str, *, state: str, action: str) -> tuple[int, float | None]:
        of = CASES.c
        ours = (of.gate == gate) & (of.state == state) & (of.action == action)
        with store_errors("read"), self.engine.connect() as at:
            number = at.scalar(select(func.count()).select_from(CASES).where(ours)) or 0
            return number, at.scalar(select(of.at).where(ours).order_by(of.seq).limit(1))

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return how many cases each gate has, and of how many it waits for the label."""
        of = CASES.c
        awaited = select(of.gate, func.count()).group_by(of.gate)
        awaited = awaited.where(of.gate.in_(select(GATES.c.name)), of.state == "open", of.handle.is_not(None))
        with store_errors("read"), self.engine.connect() as at:
            cases = at.execute(select(of.gate, func.count()).group_by(of.gate)).all()
            waiting: dict[str, int] = {row[0]: row[1] for row in at.execute(awaited)}
        return {gate: (number, waiting.get(gate, 0)) for gate, number in cases}

    def decided(self, gate: str, since: float | None, until: float | None) -> list[CaseRecord]:
        of = CASES.c
        query = select(CASES).where(of.gate == gate).order_by(of.seq)
        query = query if since is None else query.where(of.at >= since)
        return self._read(CaseRecord, query if until is None else query.where(of.at < until))

    def late_labels(self, gate: str, now: float, limit: int) -> list[HeldRecord]:
        of = HELD.c
        query = select(HELD).where(of.gate == gate, of.deadline < now).order_by(of.deadline).limit(limit)
        return self._read(HeldRecord, query)

    def events(self, gate: str, *, after: int = 0, limit: int = 1000) -> list[EventRecord]:
        of = EVENTS.c
        return self._read(
            EventRecord, select(EVENTS).where(of.gate == gate, of.seq > after).order_by(of.seq).limit(limit)
        )

    def snapshots(self, gate: str) -> list[SnapshotRecord]:
        of = SNAPSHOTS.c
        return self._read(SnapshotRecord, select(SNAPSHOTS).where(of.gate == gate).order_by(of.seq.desc()))

    def _read(self, kind: Any, query: Any) -> list[Any]:
        with store_errors("read"), self.engine.connect() as at:
            return [kind(**row._mapping) for row in at.execute(query)]

    # Keys.

    def keys(self) -> list[KeyRecord]:
        with store_errors("read"), self.engine.connect() as at:
            rows = at.execute(select(KEYS).order_by(KEYS.c.created)).all()
        return [KeyRecord(**{**row._mapping, "scopes": tuple(row.scopes.split())}) for row in rows]

    def add_key(self, key: KeyRecord) -> None:
        with store_errors("written"), self.engine.begin() as to:
            to.execute(insert(KEYS), [{**_row(key), "scopes": " ".join(key.scopes)}])

    def revoke_key(self, id: str, at: float) -> bool:
        with store_errors("written"), self.engine.begin() as to:
            query = update(KEYS).where(KEYS.c.id == id, KEYS.c.revoked.is_(None)).values(revoked=at)
            return to.execute(query).rowcount == 1

    # Backups.

    def backup(self, path: Path) -> None:
        """Copy the whole store to a new SQLite file that only its owner can read, also while a server uses it.

        Args:
            path: The file, which must not exist.

        Raises:
            InputError: If the file exists, or the store is in PostgreSQL (use pg_dump).
            StoreError: If it cannot be written.
        """
        if self.path is None:
            raise InputError("backup: expected a store in SQLite, got PostgreSQL; use pg_dump")
        if path.exists():
            raise InputError(f"backup: expected a new file, got {shown(str(path))}, which exists")
        try:
            path.touch(mode=0o600, exist_ok=False)  # it has the keys that sign cases: private from the first byte on
            with (
                contextlib.closing(sqlite3.connect(self.path)) as source,
                contextlib.closing(sqlite3.connect(path)) as to,
            ):
                source.backup(to)
        except (sqlite3.Error, OSError) as error:
            path.unlink(missing_ok=True)
            raise StoreError(f"store: {path} cannot be written ({error})") from None


_LOCK_OF_MIGRATIONS = 0x6162_7374

_OURS = (CASES.c.gate == sa.bindparam("of_gate")) & (CASES.c.case == sa.bindparam("of_case"))
_UPDATE_CASE = update(CASES).where(_OURS).values({name: sa.bindparam(f"new_{name}") for name in _LABELLED})
_UPDATE_HANDLE = update(CASES).where(_OURS).values(handle=sa.bindparam("new"))
_RELEASE = delete(HELD).where(HELD.c.gate == sa.bindparam("of_gate"), HELD.c.case == sa.bindparam("of_case"))
_FIND_CASES, _FIND_HELD = (
    select(*(table.c[name] for name in kind.__slots__)).where(
        table.c.gate == sa.bindparam("of_gate"), table.c.case.in_(sa.bindparam("of_cases", expanding=True))
    )
    for table, kind in ((CASES, CaseRecord), (HELD, HeldRecord))
)


def _row(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _as_update(row: CaseRecord) -> dict[str, Any]:
    new = {f"new_{name}": getattr(row, name) for name in _LABELLED}
    return {"of_gate": row.gate, "of_case": row.case, **new}


def _connecting(patience: float) -> dict[str, Any]:
    """Return how to connect to PostgreSQL: a connection that was cut is noticed, and holds no locks for long."""
    wait = round(1000 * patience)
    return {
        "connect_timeout": max(2, round(patience)),
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": 2 * wait,
        "options": f"-c idle_in_transaction_session_timeout={wait} -c lock_timeout={wait} -c statement_timeout=60000",
    }


def _pragmas(synchronous: str) -> Any:
    def set_up(connection: Any, _: Any) -> None:
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute(f"PRAGMA synchronous={synchronous}")
        finally:
            cursor.close()

    return set_up


@contextlib.contextmanager
def store_errors(done: str) -> Iterator[None]:
    """Turn the errors of databases into a `StoreError`."""
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        kind = RowRefused if isinstance(error, (sa.exc.DataError, sa.exc.IntegrityError)) else StoreError
        raise kind(f"store: it cannot be {done} ({type(cause).__name__}: {str(cause).strip()})") from error
