"""API keys: made once and shown once, stored as hashes, each for one gate or all, with the scopes it grants."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import math
import re
import secrets
import time
from collections.abc import Sequence

from ..errors import InputError, shown
from .problems import Forbidden, StoreUnavailable, Unauthorized
from .store import KeyRecord, Store

SCOPES: dict[str, frozenset[str]] = {
    "read": frozenset({"read", "case"}),
    "review": frozenset({"read", "case", "label"}),
    "decide": frozenset({"case", "label", "decide"}),
    "admin": frozenset({"read", "case", "label", "decide", "admin"}),
}
"""What each scope permits. "case" is reading one decision by its case id, which a caller needs to look up its own."""

OWN = "*own*"
"""Stands for the gates that a key is for, whichever they are. No gate has such a name."""

REFRESH_SECONDS = 1.0
"""How soon a key that another process added or revoked counts here."""

_FORM = re.compile(r"abk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})\Z")


def new_key(scopes: Sequence[str], *, gate: str = "*", name: str = "") -> tuple[str, KeyRecord]:
    """Make a key.

    Args:
        scopes: What it permits: "read", "review", "decide", "admin".
        gate: The gate it is for; "*" is all of them.
        name: A note on who uses it.

    Returns:
        The key itself, which nobody can read again, and the record to store.

    Raises:
        InputError: If a scope is unknown, or none is named.
    """
    if not scopes or any(scope not in SCOPES for scope in scopes):
        raise InputError(f"scopes must be some of {', '.join(SCOPES)}, not {shown(list(scopes))}")
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    text = f"abk_{key_id}_{secret}"
    record = KeyRecord(
        id=key_id,
        hash=hash_of(text),
        gate=gate,
        scopes=tuple(dict.fromkeys(scopes)),
        name=name,
        created=time.time(),
        revoked=None,
    )
    return text, record


def hash_of(text: str) -> str:
    """What the store keeps of a key. A key holds 256 random bits, so one round of SHA-256 is enough.

    Args:
        text: The key.
    """
    return hashlib.sha256(text.encode()).hexdigest()


def permits(record: KeyRecord, permission: str) -> bool:
    """Whether one of a key's scopes grants a permission.

    Args:
        record: The key.
        permission: "read", "case", "label", "decide" or "admin".
    """
    return any(permission in SCOPES.get(scope, ()) for scope in record.scopes)


class Keyring:
    """The keys of a store, read again every second.

    Args:
        store: The store.
        required: Whether calls need a key even while the store has none.
    """

    def __init__(self, store: Store, *, required: bool) -> None:
        self._store = store
        self._required = required
        self._records: dict[str, KeyRecord] = {}
        self._read = -math.inf
        self._lock = asyncio.Lock()

    async def required(self) -> bool:
        """Whether calls need a key: if the server was started so, or if the store has or had any."""
        await self._refresh()
        return self._required or bool(self._records)

    async def check(self, text: str | None, permission: str, gate: str | None) -> KeyRecord | None:
        """Check the key of a call.

        Args:
            text: The key as the caller sent it, or `None`.
            permission: What the call needs: "read", "case", "label", "decide" or "admin".
            gate: The gate it is about; `None` if it is about all of them, `OWN` if about those that the key is for.

        Returns:
            The key's record, or `None` where no key is required.

        Raises:
            ServiceError: 401 if there is no valid key, 403 if the key does not permit the call.
        """
        record = await self.known(text)
        if record is None:
            return None
        if not permits(record, permission):
            raise Forbidden(f"This key does not permit the call; it needs {_granting(permission)}.")
        if gate != OWN and record.gate not in ("*", gate):
            raise Forbidden("This key is for another gate.")
        return record

    async def known(self, text: str | None) -> KeyRecord | None:
        """Find the key of a call, whatever it permits.

        Args:
            text: The key as the caller sent it, or `None`.

        Returns:
            The key's record, or `None` where no key is required.

        Raises:
            ServiceError: 401 if there is no valid key.
        """
        if not await self.required():
            return None
        match = _FORM.match(text or "")
        record = self._records.get(match[1]) if match else None
        # Compared also if there is no such id, so that both take the same time.
        same = hmac.compare_digest(hash_of(text or ""), record.hash if record else "0" * 64)
        if record is None or not same or record.revoked is not None:
            what = "This call needs an API key." if text is None else "The API key is not valid."
            raise Unauthorized(
                f"{what} Send it as `Authorization: Bearer <key>`; `abstain keys add` makes one.",
                headers={"WWW-Authenticate": 'Bearer realm="abstain"'},
            )
        return record

    async def _refresh(self) -> None:
        if time.monotonic() - self._read < REFRESH_SECONDS:
            return
        async with self._lock:
            if time.monotonic() - self._read < REFRESH_SECONDS:
                return
            try:
                records = await asyncio.to_thread(self._store.keys)
            except Exception as error:
                if self._read < 0:  # never read: nobody can be let in
                    raise StoreUnavailable("The API keys cannot be read.") from error
                logging.getLogger("abstain.service").warning("keys not read again", exc_info=True)
            else:
                self._records = {record.id: record for record in records}
            self._read = time.monotonic()


def _granting(permission: str) -> str:
    return "scope " + " or ".join(scope for scope, granted in SCOPES.items() if permission in granted)
