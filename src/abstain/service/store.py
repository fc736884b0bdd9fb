"""What the service keeps, and where: the contract of a store, and stores in SQLite and PostgreSQL."""

from typing import Protocol


class StoreError(OSError):
    """The store cannot be opened, read or written."""


class Store(Protocol):
    """A store; written out in the next commit."""
