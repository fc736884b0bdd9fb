"""One gate and its journal: apply an operation, collect what the store has to write, replay events, snapshot."""

import hashlib
import json
import math
import secrets
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..capacity import Capacity, as_capacity
from ..errors import AbstainError, DecisionError, InputError, LabelError, shown
from ..gate import Gate
from ..gate.answers import ANSWER, NUMBER, REVIEW, Labels, Task
from ..gate.case import Case
from ..gate.maturity import as_maturity
from ..gate.prices import PerStake, Prices
from .bodies import DecisionBody, DecisionReply, GateBody, LabelBody, LabelReply, as_seconds
from .problems import Conflict, Invalid
from .store import CaseRecord, Changes, EventRecord, GateRecord, HeldRecord, SnapshotRecord

CHANGEABLE = (
    "models",
    "cost",
    "review_price",
    "mistake_price",
    "max_stake",
    "capacity",
    "window",
    "on_expiry",
    "today",
)
AS_GIVEN = (
    "cost", "review_price", "max_stake", "task", "classes", "max_error", "maturity", "on_alarm", "thresholds",
    "combine", "seed",
)  # fmt: skip
"""Settings that `Gate` takes as they are."""
ASSUMED = "assumed"
ASSUME = "assume:"
RUNNING, STOPPED = "running", "stopped: "
MOST_AHEAD = 86_400.0
"""The seconds that the time of a case may be ahead of the server's clock: callers may have mistaken their time zone."""
CLOSE = 1e-9
"""How far replayed probabilities may be from journalled ones: processors differ in the last bits."""


# Settings.


def _price(given: Any) -> Any:
    return PerStake(given["per_stake"]) if isinstance(given, Mapping) else given


def _mistake_price(given: Any) -> Any:
    """Return the price of mistakes as `Gate` takes it."""
    if isinstance(given, Mapping) and "kinds" in given:
        kinds: dict[Any, Any] = {(one["said"], one["true"]): _price(one["price"]) for one in given["kinds"]}
        return kinds if given.get("other") is None else {**kinds, "other": _price(given["other"])}
    return _price(given)


def _capacity(given: Any) -> Capacity | None:
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if value is not None}
    return as_capacity(given)


def prices_of(settings: Mapping[str, Any]) -> Prices:
    """Return the prices of a gate.

    Args:
        settings: Its settings, as in PUT.

    >>> prices_of({"cost": 0.2}).review, prices_of({"review_price": 1.0, "mistake_price": 5.0}).unit
    (0.2, 5.0)
    """
    task = Task(settings.get("task", "classes"), settings.get("classes"), settings.get("max_error", 1.0))
    mistake = _mistake_price(settings.get("mistake_price"))
    review = settings["cost"] if settings.get("cost") is not None else settings["review_price"]
    return Prices(task, review, 1.0 if mistake is None else mistake, settings.get("max_stake"))


def labels_of(settings: Mapping[str, Any]) -> Any:
    """Return which labels a gate sees, as `Gate` takes it."""
    labels = settings.get("labels", "both")
    return labels if isinstance(labels, str) else tuple(labels)


def make_gate(settings: Mapping[str, Any]) -> Gate:
    """Make a gate from the settings that the service keeps.

    Raises:
        InputError: If they do not fit together.
    """
    start = settings["start"]
    return Gate(
        settings["models"],
        labels=labels_of(settings),
        start=None if start is None else tuple(start),
        capacity=_capacity(settings["capacity"]),
        mistake_price=_mistake_price(settings["mistake_price"]),
        **{name: settings[name] for name in AS_GIVEN},
    )


def window_of(settings: Mapping[str, Any]) -> float | None:
    """Return how long labels may take, in seconds; None: for ever.

    Raises:
        InputError: If it is not a span of time above 0.
    """
    given = settings["window"]
    if given is None:
        return None
    seconds = given
    if isinstance(given, str):
        try:
            span = as_maturity(given)
        except InputError:
            span = None
        seconds = 0.0 if span is None or span.span is None else span.span / 1e6
    if not 0.0 < seconds <= 86_400 * 36_525:
        wanted = 'seconds, or a span such as "14 days", above 0 and up to a century'
        raise InputError(f"window: expected {wanted}, got {shown(given)}")
    return float(seconds)


def assumed_by(settings: Mapping[str, Any], task: Task) -> Any:
    """Return the label that is assumed after the window; None: such cases are forgotten.

    Raises:
        InputError: If it is neither "forget" nor "assume:" and a label of the gate.
    """
    given = settings["on_expiry"]
    if given == "forget":
        return None
    if given.startswith(ASSUME):
        text = given.removeprefix(ASSUME)
        found: list[Any] = [text]
        try:
            read = json.loads(text)
            # A text that is known as a class is meant as such; else "0" is the number.
            known = task.classes is not None and text in task.classes
            found = [text] if known or isinstance(read, (list, dict)) or read is None else [read]
        except ValueError:
            pass
        try:
            return task.label(found[0])
        except LabelError as error:
            raise InputError(f"on_expiry: expected a label after {ASSUME!r}; {error}") from None
    raise InputError(f"on_expiry: expected forget, or assume: and a label, got {shown(given)}")


def invalid(error: AbstainError, models: Iterable[str] = ()) -> Invalid:
    """Turn an error of the library into a problem with the path of the field."""
    head, _, message = str(error).partition(": ")
    if head in models:
        head = f"answers.{head}"
    if not message or " " in head.split("[")[0]:
        return Invalid(str(error))
    return Invalid(str(error), errors=[{"path": head, "message": message}])


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_SORTING = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True)


def as_json(value: Any) -> str:
    """Write JSON for the store."""
    return _ENCODER.encode(value)


def _answers(record: CaseRecord) -> list[Any]:
    """What the models said."""
    return [None if one is None else one.get("answer") for one in json.loads(record.request)["answers"].values()]


def _same(one: str | None, other: str | None) -> bool:
    """Return whether two labels, as JSON, are the same: 1 is 1.0."""
    return one == other or (one is not None and other is not None and bool(json.loads(one) == json.loads(other)))


class Outcome(NamedTuple):
    """What came out of a decision, as far as a replay compares it."""

    action: str
    answer: Any
    model: str | None
    threshold: float | None
    probability: float
    explored: bool
    over_capacity: bool

    @classmethod
    def of(cls, case: Case) -> "Outcome":
        """Return that of a case."""
        return cls(*(getattr(case, name) for name in cls._fields))

    def agrees(self, other: "Outcome") -> bool:
        """Return whether two outcomes are the same, up to the last bits of floats."""

        def close(a: float | None, b: float | None) -> bool:
            return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE))

        same = self._replace(threshold=None, probability=0.0) == other._replace(threshold=None, probability=0.0)
        return same and close(self.threshold, other.threshold) and close(self.probability, other.probability)

    def __str__(self) -> str:
        what = f"answer {shown(self.answer)}" if self.action == ANSWER else REVIEW
        return f"{what} by {self.model} above {self.threshold} with probability {self.probability!r}"


def digest_of(content: Mapping[str, Any]) -> str:
    """Return the digest of a case's payload: the same request has the same, whatever the order of its fields."""
    return hashlib.sha256(_SORTING.encode(content).encode()).hexdigest()


class Batch:
    """Operations on a gate that are written together: what they found, and what they change.

    Args:
        record: The gate; the batch changes a copy of it.
        known: The cases that the operations are about, as far as they are in the store.
        held: The labels that are held for such cases.
        now: The time, in seconds since 1970.
    """

    def __init__(
        self, record: GateRecord, known: dict[str, CaseRecord], held: dict[str, HeldRecord], now: float
    ) -> None:
        copy = GateRecord(*(getattr(record, name) for name in GateRecord.__slots__))
        self.changes = Changes(copy)
        self.known = known
        self.held = held
        self.now = now
        self.fresh: dict[str, Case] = {}
        """What the gate decided in this batch."""
        self.prices: defaultdict[str, float] = defaultdict(float)
        """The sum of the prices that became known in this batch, by action."""
        self.unfit = 0
        """Held labels that did not fit their case when it came."""

    @property
    def empty(self) -> bool:
        """Whether nothing has to be written."""
        one = self.changes
        rows = one.events or one.cases or one.updated or one.held or one.released or one.handles
        return not (rows or one.snapshot or one.created or one.deleted)

    def add_event(self, kind: str, case: str | None, body: Any) -> int:
        """Add an event; return its number."""
        gate = self.changes.gate
        seq = gate.next_seq
        event = EventRecord(gate.name, seq, kind, case, self.now, __version__, as_json(body))
        self.changes.events.append(event)
        gate.next_seq += 1
        return seq

    def add_case(self, record: CaseRecord) -> None:
        """Add a case that was decided."""
        self.changes.cases.append(record)
        self.known[record.case] = record
        if record.price is not None:
            self.prices[record.action] += record.price

    def update(self, record: CaseRecord, **new: Any) -> None:
        """Change a case that is in the store, or new in this batch."""
        if record.price is None and new.get("price") is not None:
            self.prices[record.action] += new["price"]
        for name, value in new.items():
            setattr(record, name, value)
        if record.seq < self.changes.gate.next_seq - len(self.changes.events):
            self.changes.updated[record.case] = record


class Hosted:
    """A gate in memory. Operations change it and the `Batch`; what they refuse changes neither.

    Args:
        record: What the store knows of the gate.
        gate: The gate, in the state after the last event.
        settings: The settings that belong to this state.
        hold: The seconds for which a label is held if its case is not known yet.
    """

    def __init__(self, record: GateRecord, gate: Gate, settings: dict[str, Any], hold: float = 3600.0) -> None:
        self.record = record
        self.hold = hold
        self.gate = gate
        self.last_snapshot = record.next_seq - 1
        """The number of the event after which the newest snapshot was taken."""
        self.n_open = len(gate.pending)
        """Cases whose label is awaited."""
        self._adopt(settings)
        self.limit(record.mode)

    def _adopt(self, settings: dict[str, Any]) -> None:
        prices = prices_of(settings)
        self.window, self._assumed = window_of(settings), assumed_by(settings, prices.task)
        self.labels = Labels(labels_of(settings))
        self.task, self.prices, self.settings = prices.task, prices, settings
        self._capacity = _capacity(settings["capacity"])

    def limit(self, mode: str) -> None:
        """Obey the capacity, except in shadow mode: nobody limits what others decide."""
        self.gate.capacity = None if mode == "shadow" else self._capacity

    def begin(self, known: dict[str, CaseRecord], held: dict[str, HeldRecord], now: float) -> Batch:
        """Begin a batch of operations; see `Batch`. If it is not committed, the gate must be read back."""
        batch = Batch(self.record, known, held, now)
        self.record = batch.changes.gate
        return batch

    # Creating and changing.

    @classmethod
    def create(cls, name: str, body: GateBody, now: float) -> tuple["Hosted", Batch]:
        """Make a gate.

        Args:
            name: Its name.
            body: Its settings.
            now: The time.

        Returns:
            The gate, and what has to be written before anybody may use it.

        Raises:
            Invalid: If settings are missing or do not fit together.
        """
        if body.models is None:
            raise Invalid.at("models", "expected the names of the models")
        settings = body.model_dump(mode="json", exclude={"mode"})
        if settings["seed"] is None:
            settings["seed"] = secrets.randbits(53)  # what every reader of JSON takes exactly
        record = GateRecord(name, as_json(settings), body.mode, now)
        try:
            gate = make_gate(settings)
            _check_today(settings)
            hosted = cls(record, gate, settings)
        except AbstainError as error:
            raise invalid(error) from None
        batch = hosted.begin({}, {}, now)
        batch.add_event("created", None, {"settings": settings, "mode": body.mode})
        batch.changes.created = True
        hosted.last_snapshot = 0
        return hosted, batch

    def change(self, body: GateBody, batch: Batch) -> None:
        """Change the settings, and the mode if it is given."""
        given = body.model_dump(mode="json", include=body.model_fields_set - {"mode"})
        if given.get("cost") is not None and given.get("review_price") is not None:
            raise Invalid.at("cost", "expected either cost, or review_price (and mistake_price), got both")
        old = self.settings
        errors = [
            {"path": name, "message": f"cannot change from {shown(old[name])} to {shown(value)}; make another gate"}
            for name, value in given.items()
            if name not in CHANGEABLE and value != old[name] and not (name == "seed" and value is None)
        ]
        if errors:
            raise Conflict("; ".join(f"{one['path']} {one['message']}" for one in errors), errors=errors)
        new = {**old, **{name: value for name, value in given.items() if name in CHANGEABLE}}
        if given.get("cost") is not None and old["cost"] is None:
            new |= {name: None for name in ("review_price", "mistake_price") if given.get(name) is None}
        elif given.get("review_price") is not None and given.get("cost") is None:
            new["cost"] = None
        if new["models"] is None:
            new["models"] = old["models"]
        if set(new["models"]) == set(old["models"]):
            new["models"] = old["models"]
        if {"cost", "mistake_price"} & given.keys() and None not in (new["cost"], new["mistake_price"]):
            raise Invalid.at(
                "mistake_price", "expected review_price with it, not cost, which is for mistakes that cost 1"
            )
        if new != old:
            try:
                self.apply_settings(new)
            except AbstainError as error:
                raise invalid(error) from None
            batch.changes.gate.settings = as_json(self.settings)
            batch.add_event("settings", None, {"settings": self.settings})
        if "mode" in body.model_fields_set:
            self.set_mode(body.mode, batch)

    def apply_settings(self, new: dict[str, Any]) -> None:
        """Go on with other settings; after an exception everything is as before."""
        gate, old = self.gate, self.settings
        before = self.task, self.prices, self.settings, self.window, self._assumed, self._capacity
        try:
            with gate._all_or_nothing():
                for name in new["models"]:
                    if name not in old["models"]:
                        gate.add_model(name)
                for name in old["models"]:
                    if name not in new["models"]:
                        gate.remove_model(name)
                new = {**new, "models": gate.models}
                _check_today(new)
                self._adopt(new)
                names = ("cost", "review_price", "mistake_price", "max_stake")
                changed = [name for name in names if new[name] != old[name]]
                if changed:
                    prices = {"review": self.prices.review, "mistake": self.prices.mistake}
                    if "max_stake" in changed:
                        prices["max_stake"] = self.prices.max_stake
                    if not {"mistake_price", "cost"} & set(changed):
                        del prices["mistake"]
                    gate._change_prices(**prices)
                self.limit(self.record.mode)
        except BaseException:
            self.task, self.prices, self.settings, self.window, self._assumed, self._capacity = before
            raise

    def set_mode(self, mode: str, batch: Batch) -> None:
        """Change the mode."""
        gate = batch.changes.gate
        if mode == gate.mode:
            return
        self.limit(mode)
        gate.mode = mode
        batch.add_event("mode", None, {"mode": mode})

    # Cases.

    def decide(self, body: DecisionBody, batch: Batch) -> DecisionReply:
        """Decide on a case, or return the stored decision; learn the label that is held for it, if there is one."""
        content = body.model_dump(mode="json", exclude_defaults=True)
        digest, known = digest_of(content), batch.known.get(body.case)
        if known is not None:
            if known.digest != digest:
                raise Conflict(f"case {body.case!r} was decided before, with another payload")
            return DecisionReply(**{**json.loads(known.reply), "replayed": True})
        mode = batch.changes.gate.mode
        self._check_kinds(body)
        answers = {name: None if one is None else one.as_given() for name, one in body.answers.items()}
        seconds = self._time(body, batch.now)
        try:
            case, outcome = self._decide(mode, answers, body, seconds)
        except AbstainError as error:
            raise invalid(error, self.gate.models) from None
        kind = "watched" if mode == "shadow" else "decided"
        asked = {"answers": answers, "stake": body.stake, "time": seconds, "mode": mode}
        seq = batch.add_event(kind, body.case, {**asked, "outcome": outcome._asdict()})
        reply = DecisionReply(case=body.case, mode=mode, replayed=False, **outcome._asdict())  # type: ignore[arg-type]
        learns = case is not None and self.labels.after[outcome.action] > 0.0
        record = CaseRecord(
            gate=self.record.name,
            case=body.case,
            seq=seq,
            at=batch.now,
            mode=mode,
            action=outcome.action,
            state="open",
            digest=digest,
            request=as_json(content),
            reply=as_json(reply.model_dump()),
            handle=case.to_json() if case is not None and learns else None,
            review_price=self.prices.review,
            price=self.prices.review if outcome.action == REVIEW else None,
        )
        batch.add_case(record)
        if case is not None and learns:
            batch.fresh[body.case] = case
            self.n_open += 1
        waiting = batch.held.pop(body.case, None)
        if waiting is not None:
            label = LabelBody.model_construct(label=json.loads(waiting.label), source=waiting.source, correction=False)
            try:
                self.label(body.case, label, batch)
            except Invalid:  # its source does not fit the action, which shows only now: it is of another case
                batch.unfit += 1
            self._release(waiting, batch)
        return reply

    def _check_kinds(self, body: DecisionBody) -> None:
        """Refuse the confidence of a number and the error of a class: they are read as one another's."""
        number = self.task.kind == NUMBER
        wrong, wanted = ("confidence", "error") if number else ("error", "confidence")
        for name, one in body.answers.items():
            if one is not None and getattr(one, wrong) is not None:
                what = "a number" if number else "a class"
                raise Invalid.at(f"answers.{name}.{wrong}", f"expected {wanted} with {what}, not {wrong}")

    def _decide(
        self, mode: str, answers: dict[str, Any], body: DecisionBody, seconds: float | None
    ) -> tuple[Case | None, Outcome]:
        """Let the gate decide, watch, or (paused) do nothing; return its case and what the caller has to do."""
        if mode == "live":
            case = self.gate.decide(answers, stake=body.stake, time=seconds)
            return case, Outcome.of(case)
        said = dict(zip(self.gate.models, self.task.read_all(answers, self.gate.models), strict=True))
        if mode == "paused":
            if body.stake is not None or self.prices.staked:
                self.prices.as_stake(body.stake)
            return None, Outcome(REVIEW, None, None, None, 0.0, False, False)
        base = body.baseline
        if base is None:
            raise InputError("baseline: expected what was done with the case, because the gate is in shadow mode")
        if base.model is not None and said.get(base.model) is None:
            raise InputError(f"baseline: expected a model with an answer in this case, got {shown(base.model)}")
        answer = base.answer
        if base.model is not None:
            own = said[base.model]
            answer = own.answer if answer is None and own is not None else self.task.label(answer)
        case = self.gate.watch(
            answers, decided=base.model or REVIEW, probability=base.probability, stake=body.stake, time=seconds
        )
        return case, Outcome(base.action, answer, base.model, None, base.probability, False, False)

    def _time(self, body: DecisionBody, now: float) -> float | None:
        """Return the time that the gate needs, from its last one to now; None if it needs none.

        Raises:
            Invalid: If the time is far ahead of the server's clock: capacities per day would wait for it.
        """
        seconds = now if body.time is None else as_seconds(body.time)
        if seconds > now + MOST_AHEAD:
            at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds")
            raise Invalid.at("time", f"expected at most a day after the server's clock ({at}), got {shown(body.time)}")
        capacity, maturity = self.gate.capacity, self.gate.maturity
        if (capacity is None or capacity.per_day is None) and (maturity is None or isinstance(maturity, int)):
            return None
        seconds, last = min(seconds, now), self.gate.last_time
        return seconds if last is None else max(seconds, last / 1e6)

    def label(self, case: str, body: LabelBody, batch: Batch) -> LabelReply:
        """Take a label: learn it, hold it, or keep it for evaluation."""
        record = batch.known.get(case)
        try:
            label = self.task.label(body.label, () if record is None else _answers(record))
        except LabelError as error:
            raise invalid(error) from None
        written = as_json(label)
        if record is None:
            return self._hold(case, written, body, batch)
        if record.label is not None and record.label_source != ASSUMED and not self._audits(record, written, body):
            return self._again(record, written, body.correction, batch)
        fits = (body.source != "review" or record.action == REVIEW) and (
            body.source != "audit" or record.action == ANSWER
        )
        if not fits:
            raise Invalid.at("source", f"the case's action is {record.action!r}, so its label cannot be from there")
        new = {"label": written, "label_source": body.source, "label_at": batch.now, "correction": None}
        new["price"] = self._price_of(record, label)
        if record.state == "expired":
            batch.add_event("unused", case, {"label": label, "source": body.source, "why": "expired"})
            batch.update(record, **new)
            return LabelReply(case=case, status="expired", detail="the window has passed: it is kept for evaluation")
        unused = self._unused(record, body.source)
        why = unused or self._learn(record, label, body.source, batch)
        batch.add_event(
            "learnt" if why is None else "unused", case, {"label": label, "source": body.source, "why": why}
        )
        awaits = unused is not None and record.handle is not None  # a label from another source
        if awaits and record.action == REVIEW:
            batch.add_event("dropped", case, {"in_gate": self._forget(record, batch)})
        if awaits and record.action == ANSWER:  # an audit, which is chosen at random, counts whatever else is known
            batch.update(record, **new)
        else:
            self.n_open -= record.handle is not None
            batch.update(record, state="closed", **new)
        return LabelReply(case=case, status="learnt" if why is None else "unused", detail=why)

    def _hold(self, case: str, written: str, body: LabelBody, batch: Batch) -> LabelReply:
        waiting = batch.held.get(case)
        if waiting is not None and not _same(waiting.label, written):
            if not body.correction:
                raise Conflict(
                    f"case {case!r} is not known yet, and the label {waiting.label} is held for it; to replace that, "
                    "send correction: true"
                )
            self._release(waiting, batch)
            waiting = None
        if waiting is None:
            waiting = HeldRecord(self.record.name, case, written, body.source, batch.now, batch.now + self.hold)
            batch.held[case] = waiting
            batch.changes.held.append(waiting)
        return LabelReply(case=case, status="unknown", detail="no such case yet: the label is held for a while")

    def _release(self, waiting: HeldRecord, batch: Batch) -> None:
        """Hold a label no more."""
        if waiting in batch.changes.held:
            batch.changes.held.remove(waiting)
        else:
            batch.changes.released.append(waiting.case)

    def _again(self, record: CaseRecord, written: str, correction: bool, batch: Batch) -> LabelReply:
        latest = record.label if record.correction is None else record.correction
        if _same(written, latest) or (_same(written, record.label) and not correction):
            return LabelReply(case=record.case, status="duplicate")
        if not correction:
            raise Conflict(
                f"case {record.case!r} has the label {record.label}; to correct it, send correction: true",
                errors=[{"path": "label", "message": f"another label came before: {record.label}"}],
            )
        label = json.loads(written)
        batch.add_event("corrected", record.case, {"label": label})
        batch.update(record, correction=written, price=self._price_of(record, label))
        return LabelReply(case=record.case, status="corrected", detail="kept for evaluation, not learnt")

    def _audits(self, record: CaseRecord, written: str, body: LabelBody) -> bool:
        """Return whether a label is the one that the gate waits for, though another one was kept: an audit, whatever it
        says, or a label without a source that says the same.
        """
        same = _same(written, record.label) and not body.correction
        waits = record.state == "open" and (body.source == "audit" or same)
        return waits and self._unused(record, body.source) is None

    def _unused(self, record: CaseRecord, source: str | None) -> str | None:
        """Return why the gate does not learn from a label; None if it does."""
        if record.handle is None and record.mode == "paused":
            return "the gate was paused"
        try:
            self.labels.check(source, record.action)
        except DecisionError as error:
            return str(error)
        return "the gate cannot learn from this case" if record.handle is None else None

    def _learn(self, record: CaseRecord, label: Any, source: str | None, batch: Batch) -> str | None:
        """Learn a label. Return why the gate refuses it, if it does: other calls must not fail with it."""
        handle = batch.fresh.get(record.case) or record.handle
        assert handle is not None
        try:
            self.gate.learn(handle, label, source)
        except AbstainError as error:
            return str(error)
        return None

    def _forget(self, record: CaseRecord, batch: Batch) -> bool:
        """Close a case in the gate whose label does not come. Return whether the gate does, as in `_learn`."""
        handle = batch.fresh.get(record.case) or record.handle
        assert handle is not None
        try:
            self.gate.forget(handle)
        except AbstainError:
            return False
        return True

    def _price_of(self, record: CaseRecord, label: Any) -> float:
        if record.action == REVIEW:
            return record.review_price
        stake = json.loads(record.request).get("stake")
        answer = json.loads(record.reply)["answer"]
        return self.prices.full(answer, label, 1.0 if stake is None else float(stake)) * self.prices.unit

    def drop_held(self, batch: Batch, cases: Iterable[str]) -> int:
        """Drop the labels held for some cases whose deadline has passed; return how many there were."""
        late = [case for case in cases if case in batch.held and batch.held[case].deadline < batch.now]
        for case in late:
            del batch.held[case]
        batch.changes.released.extend(late)
        return len(late)

    def expire(self, batch: Batch, case: str, before: float) -> None:
        """Close a case if it is open and was decided before a time: forget it, or assume a label.

        No label is assumed for a review: silence means that nobody looked.
        """
        record = batch.known.get(case)
        if record is None or record.state != "open" or record.at >= before:
            return
        label = self._assumed if record.action == ANSWER and record.label is None else None
        if record.handle is not None:
            self.n_open -= 1
        in_gate = self._unused(record, None) is None
        if label is None:
            in_gate = in_gate and self._forget(record, batch)
            batch.add_event("forgotten", record.case, {"in_gate": in_gate})
            batch.update(record, state="expired")
            return
        in_gate = in_gate and self._learn(record, label, None, batch) is None
        batch.add_event("expired", record.case, {"label": label, "in_gate": in_gate})
        batch.update(
            record,
            state="expired",
            label=as_json(label),
            label_source=ASSUMED,
            label_at=batch.now,
            price=self._price_of(record, label),
        )

    def capacity_left(self) -> float | None:
        """Return how many reviews the capacity allows now; None if there is no limit."""
        if self.gate.capacity is None:
            return None
        left: float | None = getattr(self.gate.learner, "tokens", None)
        return left

    # Snapshots.

    def snapshot(self, now: float) -> SnapshotRecord:
        """Return a snapshot of the gate, in the state after its last event."""
        with tempfile.TemporaryDirectory(prefix="abstain-") as folder:
            path = Path(folder) / "gate"
            self.gate.save(path)
            file = path.read_bytes()
        seq, mode = self.record.next_seq - 1, self.record.mode
        return SnapshotRecord(self.record.name, seq, __version__, now, mode, as_json(self.settings), file)


def _check_today(settings: Mapping[str, Any]) -> None:
    today = settings["today"]
    if today is not None and today[0] not in settings["models"]:
        raise InputError(f"today: expected one of the models {', '.join(settings['models'])}, got {shown(today[0])}")
