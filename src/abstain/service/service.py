"""The service: all gates of a store, a queue for each, and the group commit."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .bodies import (
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
from .store import Store


@dataclass
class Counters:
    """What has happened since the start, as plain numbers that the metrics read."""

    decisions: Counter[tuple[str, str, str, bool, bool]] = field(default_factory=Counter)
    """By gate, action, model ("" in paused mode), explored and over_capacity."""
    labels: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """By gate, source ("" if it was not given) and status."""
    prices: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The sum of what decisions cost, as far as known, by gate and action."""
    expired: Counter[str] = field(default_factory=Counter)
    """Cases whose window passed without a label, by gate."""
    held: Counter[str] = field(default_factory=Counter)
    """Labels that came before their case, by gate."""
    unmatched: Counter[str] = field(default_factory=Counter)
    """Held labels whose case did not come in time, by gate."""
    mismatches: Counter[str] = field(default_factory=Counter)
    """Events that were decided otherwise when they were replayed, by gate."""
    alarms: Counter[str] = field(default_factory=Counter)
    """Models in alarm now, by gate."""
    commits: int = 0
    failed_commits: int = 0
    committed_events: int = 0
    commit_seconds: float = 0.0
    """The sum over all commits."""
    commit_times: list[float] = field(default_factory=list)
    """The seconds of the commits since somebody last took them (at most 10,000); a histogram empties the list."""


@dataclass(frozen=True)
class ScoredCase:
    """A decided case for `savings`."""

    case: str
    seq: int
    at: float
    """Seconds since 1970, by the server's clock."""
    time: Any
    """As the caller gave it."""
    mode: str
    action: str
    """What was done: in shadow mode, by the caller."""
    answer: Any
    model: str | None
    threshold: float | None
    probability: float
    answers: dict[str, Any]
    """What each model said, as in the request: ``{"a": {"answer": "x", "confidence": 0.9}, "b": None}``."""
    stake: float | None
    review_price: float
    """The price of a review at the time."""
    label: Any
    """None if no label has come."""
    label_source: str | None
    price: float | None
    """What the decision cost, in the user's money, as far as that is known."""
    baseline: dict[str, Any] | None


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

    async def start(self) -> None:
        """Open the store, compile the kernels, read all gates and replay their journals; then `ready` is True.

        Raises:
            StoreError: If the store cannot be opened, or another server uses it.
        """
        raise NotImplementedError

    async def stop(self) -> None:
        """Finish what waits, commit it, write snapshots and close the store."""
        raise NotImplementedError

    async def owner_of(self, name: str) -> str | None:
        """Return the URL of the replica that owns a gate, if that is another one; `replicas.pass_on` calls it.

        Args:
            name: The gate.

        Returns:
            The URL; None if this replica serves the gate (it takes a gate that nobody owns), or if there is no such
            gate.
        """
        raise NotImplementedError

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
        raise NotImplementedError

    async def gates(self) -> list[GateReply]:
        """Return all gates, by name."""
        raise NotImplementedError

    async def gate(self, name: str) -> GateReply:
        """Return a gate; `NotFound` if there is none of that name."""
        raise NotImplementedError

    async def delete_gate(self, name: str) -> None:
        """Delete a gate with its journal, cases and snapshots."""
        raise NotImplementedError

    async def set_mode(self, name: str, mode: Mode) -> GateReply:
        """Change the mode of a gate: "live", "shadow" or "paused"."""
        raise NotImplementedError

    async def accept(self, name: str) -> GateReply:
        """Resume a gate that was stopped because its journal did not replay exactly.

        The journalled decisions count for callers; the gate goes on from the state that the replay reached.
        """
        raise NotImplementedError

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
        raise NotImplementedError

    async def decide_many(self, name: str, bodies: Sequence[DecisionBody]) -> list[DecisionReply | Problem]:
        """Decide on many cases, in their order; a row that is refused has a `Problem` in its place."""
        raise NotImplementedError

    async def decision(self, name: str, case: str) -> CaseReply:
        """Return a case with its decision, its state and its label, if that has come."""
        raise NotImplementedError

    async def label(self, name: str, case: str, body: LabelBody) -> LabelReply:
        """Take the label of a case.

        Returns:
            The status: learnt, duplicate, expired, unknown (no such case yet: the label is held), unused or corrected.

        Raises:
            Conflict: If another label came before and this is no correction.
            Invalid: If it is no label of this gate, or cannot come from its source.
        """
        raise NotImplementedError

    async def label_many(self, name: str, rows: Sequence[LabelRow]) -> list[LabelReply]:
        """Take many labels, in their order; a row that is refused has the status conflict or invalid."""
        raise NotImplementedError

    # Reading.

    async def reviews(self, name: str, *, state: str = "open", limit: int = 50, after: int = 0) -> list[ReviewReply]:
        """Return cases that were sent to review, the oldest first.

        Args:
            name: The gate.
            state: "open", "closed" or "expired".
            limit: At most so many.
            after: Only cases whose event has a larger number.
        """
        raise NotImplementedError

    async def events(self, name: str, *, after: int = 0, limit: int = 1000) -> list[EventReply]:
        """Return events of a gate's journal, in their order.

        Args:
            name: The gate.
            after: Only events with a larger number.
            limit: At most so many.
        """
        raise NotImplementedError

    async def policy(self, name: str) -> list[dict[str, Any]]:
        """Return what the gate has learnt: the rows of `Gate.policy`."""
        raise NotImplementedError

    async def health(self, name: str) -> dict[str, Any]:
        """Return how the gate is doing: `Gate.health` as plain values, with counts of cases.

        Returns:
            ``sentences``; ``models`` (the rows of `Health.frame`); ``alarms`` (models in alarm); ``open`` and
            ``oldest`` (open reviews, and the age of the oldest in seconds); ``pending`` (labels awaited);
            ``capacity_left`` (reviews, or None).
        """
        raise NotImplementedError

    async def scored(self, name: str, since: float | None = None, until: float | None = None) -> list[ScoredCase]:
        """Return the cases decided in a period, in their order, with their labels as far as they have come.

        Args:
            name: The gate.
            since: Seconds since 1970, by the server's clock; None: from the first.
            until: Seconds since 1970, not included; None: to the last.
        """
        raise NotImplementedError
