"""Read a gate back: its newest snapshot, and the journalled events after it, each of which must come out as before."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..errors import AbstainError, InputError
from ..gate.answers import REVIEW
from ..gate.case import Case
from ..loading import load
from .hosted import STOPPED, Batch, Hosted, Outcome, make_gate
from .store import CLOSING, CaseRecord, EventRecord, GateRecord, Store

PAGE = 1_000
"""Events that are read at once."""
DAMAGED = "the journal is damaged: "
"""Why no replay can pass an event; begins the reason."""


class Restored(NamedTuple):
    """A gate that was read back."""

    hosted: Hosted
    batch: Batch
    """What has to be written before anybody uses the gate; may be empty."""
    mismatches: int
    """Events that were decided otherwise than the journal says."""
    stopped: str | None
    """Why the gate may not be used."""


def restore(store: Store, record: GateRecord, now: float, *, accept: bool = False) -> Restored:
    """Read a gate back: its newest snapshot, and the events after it.

    Every decision must come out as in the journal. If one does not, and the same version of the library made it, the
    gate is stopped. If another version made it, or with ``accept``, the gate takes note of the journalled decision as
    of one that somebody else made (`Gate.watch`), and the difference is counted.

    Args:
        store: The store.
        record: The gate.
        now: The time.
        accept: Whether differences are accepted.

    Returns:
        The gate, what has to be written (new handles of its open cases, and a snapshot), and what differed.

    Raises:
        StoreError: If the store cannot be read.
        InputError: If an event is missing, or cannot be read.
    """
    hosted = _start(store, record)
    replay = _Replay(store, hosted, accept)
    seq = started = hosted.last_snapshot
    while seq < record.next_seq - 1 and replay.stopped is None:
        events = store.events(record.name, after=seq, limit=PAGE)
        missing = next((n for n, one in enumerate(events, seq + 1) if one.seq != n), None if events else seq + 1)
        if missing is not None:
            raise InputError(f"{DAMAGED}event {missing} is missing")
        replay.play(events)
        seq = events[-1].seq
    hosted.record, hosted.n_open = record, len(hosted.gate.pending)
    batch = hosted.begin({}, {}, now)
    batch.changes.gate.mismatches += replay.mismatches if replay.stopped is None else 0
    if replay.stopped is None and (replay.decided or replay.mismatches or accept):
        batch.changes.handles = {name: case.to_json() for name, case in replay.decided.items()}
        batch.changes.snapshot = hosted.snapshot(now)
    hosted.last_snapshot = started if batch.changes.snapshot is None else record.next_seq - 1
    return Restored(hosted, batch, replay.mismatches, replay.stopped)


def _start(store: Store, record: GateRecord) -> Hosted:
    """Return the gate as it was at the newest snapshot that can be read, or when it was created."""
    then = GateRecord(*(getattr(record, name) for name in GateRecord.__slots__))
    for snapshot in store.snapshots(record.name):
        with tempfile.TemporaryDirectory(prefix="abstain-") as folder:
            path = Path(folder) / "gate"
            path.write_bytes(snapshot.file)
            try:
                gate = load(path)
            except AbstainError:
                continue  # an older one and more events do as well
        then.mode, then.next_seq = snapshot.mode, snapshot.seq + 1
        return Hosted(then, gate, json.loads(snapshot.settings))
    first = next(iter(store.events(record.name, limit=1)), None)
    if first is None or first.kind != "created":
        raise InputError(f"{DAMAGED}event 1, the gate's creation, is missing")
    with _reading(first):
        made = json.loads(first.body)
        then.mode, then.next_seq = made["mode"], 2
        return Hosted(then, make_gate(made["settings"]), made["settings"])


@contextlib.contextmanager
def _reading(event: EventRecord) -> Iterator[None]:
    """Turn whatever goes wrong with an event that somebody has changed into an `InputError`."""
    try:
        yield
    except AbstainError:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{DAMAGED}event {event.seq} ({event.kind}) cannot be read ({error!r})") from error


class _Replay:
    """Applies events to a gate again."""

    def __init__(self, store: Store, hosted: Hosted, accept: bool) -> None:
        self.hosted = hosted
        self.decided: dict[str, Case] = {}
        """Cases that were decided again, and are open."""
        self.mismatches = 0
        self.stopped: str | None = None
        self._store = store
        self._accept = accept
        self._known: dict[str, CaseRecord] = {}

    def play(self, events: list[EventRecord]) -> None:
        """Apply some events, up to the first difference that stops the gate."""
        decided = {one.case for one in events if one.kind in ("decided", "watched")}
        earlier = {one.case for one in events if one.kind in CLOSING and one.case is not None}
        wanted = sorted(case for case in earlier if case not in decided and case not in self.decided)
        self._known = self._store.find(self.hosted.record.name, wanted)[0] if wanted else {}
        for event in events:
            with _reading(event):
                why = self._apply(event, json.loads(event.body))
            if why is None:
                continue
            self.mismatches += 1
            if not self._is_lenient(event):
                self.stopped = f"{STOPPED}event {event.seq} ({event.kind}): {why}"
                return

    def _is_lenient(self, event: EventRecord) -> bool:
        return self._accept or event.version != __version__

    def _apply(self, event: EventRecord, body: dict[str, Any]) -> str | None:
        """Apply an event; return what came out otherwise, if anything did."""
        hosted = self.hosted
        try:
            if event.kind in ("decided", "watched"):
                return self._decide(event, body)
            if event.kind == "settings":
                hosted.apply_settings(body["settings"])
            elif event.kind == "mode":
                hosted.limit(body["mode"])
                hosted.record.mode = body["mode"]
            elif event.kind in CLOSING and body.get("in_gate", True):
                self._close(event, body)
        except AbstainError as error:
            return f"it was done before, but now: {error}"
        return None

    def _decide(self, event: EventRecord, body: dict[str, Any]) -> str | None:
        gate, then, why = self.hosted.gate, Outcome(**body["outcome"]), None
        if body["mode"] == "paused":
            return None
        asked: dict[str, Any] = {"stake": body["stake"], "time": body["time"]}
        answers = {name: tuple(one) if isinstance(one, list) else one for name, one in body["answers"].items()}
        watched: dict[str, Any] = {"decided": then.model or REVIEW, "probability": then.probability}
        if then.action == REVIEW:
            watched["decided"] = REVIEW
        if event.kind == "watched":
            case = gate.watch(answers, **watched, **asked)
        else:
            now = Outcome.of(gate.peek(answers, **asked)) if self._is_lenient(event) else None
            if now is None or now.agrees(then):
                case = gate.decide(answers, **asked)
                now = Outcome.of(case)
            else:
                try:
                    case = gate.watch(answers, **watched, **asked)
                except AbstainError:  # a capacity, or what has no probability
                    case = gate.decide(answers, **asked)
            if not now.agrees(then):
                why = f"it decided {then}, but now {now}"
        if event.case is not None and self.hosted.labels.after[case.action] > 0.0:
            self.decided[event.case] = case
        return why

    def _close(self, event: EventRecord, body: dict[str, Any]) -> None:
        name = event.case or ""
        record = self._known.get(name)
        case = self.decided.pop(name, None) or (None if record is None else record.handle)
        if case is None:
            raise InputError(f"case {name!r}: expected one that can be learnt")
        if event.kind in ("forgotten", "dropped"):
            self.hosted.gate.forget(case)
        else:
            self.hosted.gate.learn(case, body["label"], body.get("source"))
