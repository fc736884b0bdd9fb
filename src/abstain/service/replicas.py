"""Replicas that share a store in PostgreSQL: which of them owns which gate, and how calls reach it.

A replica lives as long as it renews its lease. It owns a gate if the gate names it as its owner. Each time a gate
changes hands its epoch rises, and every transaction checks the epoch, so that a stale owner writes nothing. Besides,
an owner holds an advisory lock per gate on a connection of its own. If its process dies, PostgreSQL frees the locks,
and others need not wait until the lease ends.
"""

import asyncio
import hashlib
import secrets
import threading
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, NamedTuple

import httpx
import sqlalchemy as sa
from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .problems import NotReady
from .store import GateRecord, SqlStore, store_errors
from .tables import GATES, REPLICAS

if TYPE_CHECKING:
    from .service import Service

NOW = sa.cast(func.extract("epoch", func.clock_timestamp()), sa.Float)
_ADVISORY_LOCKS = sa.text(
    "select classid, objid from pg_locks where locktype = 'advisory' and objsubid = 1 and granted "
    "and database = (select oid from pg_database where datname = current_database())"
)
LONG_DEAD = 86_400.0
"""Replicas that have not renewed their lease for so many seconds are forgotten."""


class Owner(NamedTuple):
    """Who owns a gate."""

    id: str
    address: str | None
    """The URL at which others reach it."""


def lock_key(gate: str) -> int:
    """Return the number of a gate's advisory lock."""
    return int.from_bytes(hashlib.sha256(f"abstain gate {gate}".encode()).digest()[:8], "big", signed=True)


class Replicas:
    """One replica among those that share a store. Methods block and raise `StoreError`.

    Args:
        store: The store, in PostgreSQL.
        address: The URL at which other replicas reach this one.
        lease: The seconds after which others may take the gates of a replica that is silent.
    """

    def __init__(self, store: SqlStore, address: str | None, lease: float) -> None:
        self.id = secrets.token_hex(16)
        self.address = address
        self.lease = lease
        self._store = store
        self._session: sa.Connection | None = None
        """The connection that holds the locks."""
        self._locked: set[str] = set()
        self._unlocked: set[str] = set()
        """Gates that nobody had locked when this replica last looked."""
        self._guard = threading.Lock()

    def join(self) -> None:
        """Enter this replica into the list, or renew its lease."""
        new = {"id": self.id, "address": self.address, "lease": NOW + self.lease}
        with store_errors("written"), self._store.engine.begin() as to:
            row = insert(REPLICAS).values(new)
            to.execute(row.on_conflict_do_update(index_elements=["id"], set_={"lease": NOW + self.lease}))

    def leave(self) -> None:
        """Give all gates back, and leave the list."""
        with store_errors("written"), self._store.engine.begin() as to:
            to.execute(update(GATES).where(GATES.c.owner == self.id).values(owner=None, epoch=GATES.c.epoch + 1))
            to.execute(delete(REPLICAS).where((REPLICAS.c.id == self.id) | (REPLICAS.c.lease < NOW - LONG_DEAD)))
        with self._guard:
            self._end_session()

    def renew(self, owned: Iterable[GateRecord]) -> set[str]:
        """Renew the lease and the locks.

        Args:
            owned: The gates that this replica takes for its own.

        Returns:
            The names of those that it does not own any more.
        """
        self.join()
        expected = {one.name: one.epoch for one in owned}
        with store_errors("read"), self._store.engine.connect() as at:
            rows = at.execute(select(GATES.c.name, GATES.c.epoch).where(GATES.c.owner == self.id))
            epochs = {row.name: row.epoch for row in rows}
        with self._guard:
            for name in self._locked - epochs.keys():
                self._unlock(name)
            for name in epochs.keys() - self._locked:
                self._lock(name)
        return {name for name, epoch in expected.items() if epochs.get(name) != epoch}

    def owner(self, gate: str) -> Owner | None:
        """Return who owns a gate, if that replica is alive."""
        with store_errors("read"), self._store.engine.connect() as at:
            query = select(REPLICAS.c.id, REPLICAS.c.address).join(GATES, GATES.c.owner == REPLICAS.c.id)
            row = at.execute(query.where(GATES.c.name == gate, REPLICAS.c.lease >= NOW)).first()
            return None if row is None else Owner(row.id, row.address)

    def orphans(self) -> tuple[list[str], int]:
        """Return the gates without a living owner, and how many gates would be a fair share for each replica."""
        living = select(REPLICAS.c.id).where(REPLICAS.c.lease >= NOW)
        with store_errors("read"), self._store.engine.connect() as at:
            alive = set(at.scalars(living))
            gates = at.execute(select(GATES.c.name, GATES.c.owner).order_by(GATES.c.name)).all()
            locked = {(int(high) << 32) | int(low) for high, low in at.execute(_ADVISORY_LOCKS)}
        unlocked = {name for name, _ in gates if lock_key(name) % 2**64 not in locked}
        dead = unlocked & self._unlocked  # for a while: after a restart of PostgreSQL, nobody holds any at first
        self._unlocked = unlocked
        names = [name for name, owner in gates if owner != self.id and (owner not in alive or name in dead)]
        return names, -(-len(gates) // max(1, len(alive)))

    def claim(self, gate: str) -> GateRecord | None:
        """Take a gate whose owner has died, or that has none.

        Args:
            gate: Its name.

        Returns:
            The gate, with its new epoch; None if another replica owns it, or there is no such gate.
        """
        with self._guard:
            free = gate in self._locked or self._lock(gate)
        living = select(REPLICAS.c.id).where(REPLICAS.c.lease >= NOW)
        lonely = GATES.c.owner.is_(None) | GATES.c.owner.not_in(living)
        mine = (GATES.c.name == gate) & (lonely if not free else sa.true())
        new = {"owner": self.id, "epoch": GATES.c.epoch + 1}
        row = None
        try:
            with store_errors("written"), self._store.engine.begin() as to:
                row = to.execute(update(GATES).where(mine).values(new).returning(GATES)).first()
        finally:
            if row is None and free:
                with self._guard:
                    self._unlock(gate)
        return None if row is None else GateRecord(**row._mapping)

    def hold(self, gate: str) -> None:
        """Lock a gate that this replica has just created."""
        with self._guard:
            self._lock(gate)

    def release(self, gate: str) -> None:
        """Free the lock of a gate that was deleted or lost."""
        with self._guard:
            self._unlock(gate)

    # The locks; `_guard` is held.

    def _lock(self, gate: str) -> bool:
        """Take the lock of a gate, unless another session has it; a session that was cut is opened anew."""
        for attempt in (1, 2):
            try:
                if self._session is None:
                    engine = self._store.engine.execution_options(isolation_level="AUTOCOMMIT")
                    self._session = engine.connect()
                got = bool(self._session.scalar(select(func.pg_try_advisory_lock(lock_key(gate)))))
            except sa.exc.SQLAlchemyError:
                self._end_session()
                if attempt == 2:
                    with store_errors("read"):
                        raise
                continue
            if got:
                self._locked.add(gate)
            return got
        return False

    def _unlock(self, gate: str) -> None:
        if gate in self._locked:
            self._locked.discard(gate)
            try:
                assert self._session is not None
                self._session.scalar(select(func.pg_advisory_unlock(lock_key(gate))))
            except sa.exc.SQLAlchemyError:
                self._end_session()

    def _end_session(self) -> None:
        """Close the session; all its locks are free then, and `renew` takes them again."""
        self._locked.clear()
        if self._session is not None:
            session, self._session = self._session, None
            session.invalidate()
            session.close()


# Calls.

PASSED_ON = "x-abstain-passed-on"
"""The header of a call that another replica passed on: it goes no further."""

_PASS_SECONDS = 30.0
_PASSED_BACK = (
    "content-type", "retry-after", "www-authenticate", "allow", "location", "etag", "cache-control", "set-cookie",
    "content-security-policy", "referrer-policy",
)  # fmt: skip


class Passing:
    """Passes calls on to the replicas that own their gates."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def pass_on(
        self, service: "Service", request: Request, gate: str, owner: str, body: bytes, key: str | None
    ) -> Response:
        """Send a call to the owner of its gate, and return what it replies.

        Args:
            service: The gates of this replica.
            request: The call.
            gate: The gate it is about.
            owner: The URL of the replica that owns the gate.
            body: The call's body.
            key: The key that the call brings.

        Raises:
            NotReady: If the owner does not answer, or has lost the gate.
        """
        if PASSED_ON in request.headers:
            raise NotReady("The gate is moving between replicas.")
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=_PASS_SECONDS, trust_env=False, limits=httpx.Limits(max_connections=256)
            )
        kept = ("content-type", "accept", "sec-fetch-site")
        headers = {name: request.headers[name] for name in kept if name in request.headers}
        target = request.scope["raw_path"].decode("ascii")
        if request.scope["query_string"]:
            target += "?" + request.scope["query_string"].decode("ascii")
        # The key was checked here, and is checked again there; so was the origin, for this host's name.
        if key and key.isascii():
            headers["authorization"] = f"Bearer {key}"
        headers |= {PASSED_ON: "1", "x-request-id": request.state.request_id}
        sent = self._client.build_request(request.method, owner.rstrip("/") + target, headers=headers, content=body)
        sending = asyncio.create_task(self._client.send(sent, stream=True))
        try:
            while not (await asyncio.wait({sending}, timeout=service.lease / 4))[0]:
                if await service.owner_of(gate) != owner:  # it was cut off, and has lost the gate
                    raise NotReady("The gate has moved to another replica.")
            reply = await sending
        except httpx.HTTPError as error:
            raise NotReady(f"The replica that owns the gate does not answer ({type(error).__name__}).") from error
        finally:
            sending.cancel()
        passed = {name: reply.headers[name] for name in _PASSED_BACK if name in reply.headers}

        async def content() -> AsyncIterator[bytes]:
            try:
                async for part in reply.aiter_bytes():
                    yield part
            finally:
                await reply.aclose()

        return StreamingResponse(content(), status_code=reply.status_code, headers=passed)

    async def close(self) -> None:
        """Close the connections to other replicas."""
        if self._client is not None:
            await self._client.aclose()
