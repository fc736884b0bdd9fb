"""The bodies of requests and replies: the contract of the HTTP interface."""

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from .store import CaseRecord, EventRecord

MOST_CONTEXT = 64 * 1024
"""The bytes that the context of a case may take, as JSON."""
MOST_ROWS = 1_000
"""The decisions, or labels, of one request."""
MOST_MODELS = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
GATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

Mode = Literal["live", "shadow", "paused"]
Action = Literal["answer", "review"]
Source = Literal["review", "outcome", "audit"]
Status = Literal["learnt", "duplicate", "expired", "unknown", "unused", "corrected", "conflict", "invalid"]


def _printable(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("expected text without control characters")
    return text


def _plain(value: Any) -> Any:
    """Check a class or a number; pydantic's union would turn True into 1.0."""
    if isinstance(value, str):
        if len(value) > 1_000:
            raise ValueError("expected a text of at most 1,000 characters")
        if re.search("[\ud800-\udfff]", value):
            raise ValueError("expected text that UTF-8 can encode")
        return value
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and abs(value) <= 2**53:  # so that NaN fails, too
        return value
    raise ValueError("expected a text, a number of at most 2^53, true or false")


def _context(value: Any) -> Any:
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (ValueError, RecursionError):
        raise ValueError("expected JSON with finite numbers and valid text") from None
    if size > MOST_CONTEXT:
        raise ValueError(f"expected at most {MOST_CONTEXT} bytes of JSON, got {size}")
    return value


def _time(value: Any) -> Any:
    """Check a time: text in ISO format, or seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("expected a date and time in ISO format, or seconds since 1970")
    as_seconds(value)
    return value


def as_seconds(time: str | float) -> float:
    """Return a time in seconds since 1970; text without a time zone is read as UTC.

    Raises:
        ValueError: If it is not a time before the year 10000.
    """
    if isinstance(time, str):
        try:
            read = datetime.fromisoformat(time)
            return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            raise ValueError("expected a date and time in ISO format, or seconds since 1970") from None
    if not abs(time) < 253_402_300_800:
        raise ValueError("expected seconds before the year 10000; are these milliseconds?")
    return float(time)


CaseId = Annotated[
    str,
    Field(min_length=1, max_length=200, description="The caller's own id of the case."),
    AfterValidator(_printable),
]
ModelName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
Plain = Annotated[
    Any,
    BeforeValidator(_plain),
    Field(json_schema_extra={"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}),
]
Time = Annotated[
    Any,
    BeforeValidator(_time),
    Field(json_schema_extra={"anyOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]}),
]


class Body(BaseModel):
    """What all bodies share: unknown fields, other types and infinite numbers are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class Reply(BaseModel):
    """What all replies share."""

    model_config = ConfigDict(extra="forbid")


# Gates.


class PerStakePrice(Body):
    """A price in proportion to what is at stake."""

    per_stake: float = Field(gt=0, description="A mistake costs so many times the stake.")


class KindPrice(Body):
    """The price of one kind of mistake."""

    said: Plain = Field(description="What was answered.")
    true: Plain = Field(description="What was true.")
    price: float | PerStakePrice = Field(description="What that costs.")


class KindPrices(Body):
    """The prices of mistakes by kind."""

    kinds: list[KindPrice] = Field(max_length=10_000, description="What was said, what was true, and the price.")
    other: float | PerStakePrice | None = Field(default=None, description="The price of all other kinds.")


class CapacityBody(Body):
    """A limit on reviews: a share of the cases, or a number per day, and at most ``burst`` at once.

    The first ``burst`` reviews are there from the start, so that a capacity of 0 allows as many, and no more.
    """

    share: float | None = Field(default=None, ge=0, le=1, description="The share of the cases that may be reviewed.")
    per_day: int | None = Field(default=None, ge=0, le=10**9, description="The number of reviews per day.")
    burst: int | None = Field(
        default=None,
        ge=1,
        le=10**7,
        description="The reviews that may come at once; by default what 1,000 cases, or a day, earn, and at least 1.",
    )


def _threshold(pair: list[Any]) -> list[Any]:
    model, threshold = pair
    fits = isinstance(threshold, (int, float)) and not isinstance(threshold, bool) and -1 <= threshold <= 1
    if not isinstance(model, str) or not (threshold is None or fits):
        raise ValueError("expected a model and a threshold from -1 to 1, or null")
    return pair


Threshold = Annotated[
    list[Any],
    AfterValidator(_threshold),
    Field(
        min_length=2,
        max_length=2,
        description="A model and the threshold that its confidence has to exceed (null: review every case).",
        json_schema_extra={
            "prefixItems": [{"type": "string"}, {"anyOf": [{"type": "number"}, {"type": "null"}]}],
            "items": {},
        },
    ),
]


class GateBody(Body):
    """A gate: its models and prices, and how it learns.

    A field that a change does not name stays as it is. Only ``models``, prices, ``max_stake``, ``capacity``,
    ``window``, ``on_expiry``, ``today`` and ``mode`` can change.
    """

    models: list[ModelName] | None = Field(
        default=None, min_length=1, max_length=MOST_MODELS, description="The names of the models; needed to create."
    )
    cost: float | None = Field(default=None, ge=0, description="The price of a review if a mistake costs 1.")
    review_price: float | None = Field(default=None, ge=0, description="The price of a review, in your money.")
    mistake_price: float | PerStakePrice | KindPrices | None = Field(
        default=None, description="The price of a mistake: one for all, in proportion to the stake, or by kind."
    )
    max_stake: float | None = Field(default=None, gt=0, description="The largest stake that a case may have.")
    task: Literal["classes", "binary", "number"] = Field(default="classes", description="How models answer.")
    classes: list[Plain] | None = Field(default=None, max_length=10_000, description="The possible answers, if known.")
    max_error: float = Field(default=1.0, gt=0, description="The error of a number that counts as a whole mistake.")
    labels: Literal["answered", "reviewed", "both"] | Annotated[list[float], Field(min_length=2, max_length=2)] = Field(
        default="both", description="Which labels come back, or two probabilities (after answering, after a review)."
    )
    thresholds: (
        Annotated[int, Field(ge=1, le=1_000)] | Annotated[list[float], Field(min_length=1, max_length=1_000)]
    ) = Field(default=48, description="How many thresholds each model has, or the thresholds themselves.")
    capacity: float | CapacityBody | None = Field(
        default=None, description="A limit on reviews: a share of the cases, or a share or a number per day."
    )
    maturity: int | str | None = Field(
        default=None, description='The age at which cases are learnt: a number of cases, or a span such as "14 days".'
    )
    on_alarm: Literal["report", "review"] = Field(
        default="review", description="What to do with a model that suddenly behaves otherwise."
    )
    start: Threshold | None = Field(default=None, description="The policy to begin with, a model and its threshold.")
    combine: bool = Field(default=False, description="Whether the gate combines its models.")
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, description="The seed of the random numbers; drawn if it is not given."
    )
    window: float | str | None = Field(
        default=None, description='How long labels may take: seconds, or a span such as "14 days". Null: for ever.'
    )
    on_expiry: Annotated[str, Field(max_length=1_100)] = Field(
        default="forget",
        description='What follows the window: "forget", or "assume:" and a label for answers (reviews are forgotten).',
    )
    mode: Mode = Field(
        default="live",
        description='"live" decides; "shadow" watches the caller\'s decisions; "paused" sends every case to review.',
    )
    today: Threshold | None = Field(
        default=None, description="The policy that savings are compared with: a model and its threshold."
    )


class GateReply(Reply):
    """A gate as it is now."""

    name: str = Field(description="The gate's name.")
    settings: dict[str, Any] = Field(description="What it was made with, and what was changed since, as in PUT.")
    mode: Mode = Field(description="The mode.")
    state: str = Field(description='"running", or "stopped: " and the reason.')
    created: float = Field(description="When it was created, in seconds since 1970.")
    seq: int = Field(description="The number of its last event.")
    decided: int = Field(
        description="The cases that the gate itself has decided or watched; in a list of gates those of other replicas "
        "also count cases that came while they were paused."
    )
    open: int = Field(description="The cases whose label the gate still waits for.")
    mismatches: int = Field(default=0, description="Events that another version of the library decided otherwise.")


class ModeBody(Body):
    """The mode of a gate."""

    mode: Mode = Field(description='"live", "shadow" or "paused".')


# Decisions.


class Answer(Body):
    """What one model says: an answer and its confidence, a probability, or a number and its expected error."""

    answer: Plain | None = Field(default=None, description="The class, or the number.")
    confidence: float | None = Field(default=None, ge=0, le=1, description="How sure the model is of its class.")
    probability: float | None = Field(
        default=None, ge=0, le=1, description="The probability of the second of two classes, instead of an answer."
    )
    error: float | None = Field(default=None, ge=0, description="The expected error of a number.")

    @model_validator(mode="after")
    def _one_kind(self) -> "Answer":
        given = {name for name in ("answer", "confidence", "probability", "error") if getattr(self, name) is not None}
        if given not in ({"answer", "confidence"}, {"probability"}, {"answer", "error"}):
            raise ValueError("expected answer and confidence, probability alone, or answer and error")
        return self

    def as_given(self) -> Any:
        """Return the answer as `Gate.decide` takes it."""
        if self.probability is not None:
            return self.probability
        return (self.answer, float(self.confidence if self.confidence is not None else self.error or 0.0))


class Baseline(Body):
    """What the caller's own system did: in shadow mode it is what counts."""

    action: Action = Field(description='"answer" or "review".')
    model: ModelName | None = Field(default=None, description="The model whose answer was used; needed for an answer.")
    answer: Plain | None = Field(default=None, description="The answer, if it is not that of the model.")
    probability: float = Field(
        ge=0, le=1, description="The probability of answering, before it was decided: 1 or 0 for a fixed rule."
    )

    @model_validator(mode="after")
    def _fits(self) -> "Baseline":
        if (self.action == "answer") != (self.model is not None):
            raise ValueError("expected a model with an answer, and none with a review")
        if self.action == "review" and self.answer is not None:
            raise ValueError("expected no answer with a review")
        if (self.probability if self.action == "answer" else 1.0 - self.probability) == 0.0:
            raise ValueError("expected a probability with which the action can happen")
        return self


class DecisionBody(Body):
    """A case to decide on."""

    case: CaseId
    answers: dict[ModelName, Answer | None] = Field(
        max_length=MOST_MODELS, description="What each model says; null, or not named: it has no answer."
    )
    stake: float | None = Field(default=None, ge=0, description="What is at stake, for gates with stakes.")
    time: Time | None = Field(
        default=None,
        description="When the case came: ISO text (UTC unless it says otherwise) or seconds since 1970. A time before "
        "that of the last case counts as that of the last case, one after the server's clock as now; more than a day "
        "after it is refused. Where the gate needs a time, the default is now.",
    )
    context: Annotated[Any, AfterValidator(_context)] = Field(
        default=None, description="Anything reviewers need to see, at most 64 KiB of JSON."
    )
    baseline: Baseline | None = Field(
        default=None, description="What the caller's own system did; needed in shadow mode, kept in others."
    )


class DecisionsBody(Body):
    """Many cases, decided in their order."""

    decisions: list[DecisionBody] = Field(min_length=1, max_length=MOST_ROWS, description="The cases.")


class DecisionReply(Reply):
    """What to do with a case."""

    case: str = Field(description="The caller's id.")
    action: Action = Field(description='"answer" or "review".')
    answer: Any = Field(description="What to answer; null for a review.")
    model: str | None = Field(description="The model that was followed; null in paused mode.")
    threshold: float | None = Field(description="What the model's confidence had to exceed; -1: always answers.")
    probability: float = Field(description="The probability of answering, before the draw.")
    explored: bool = Field(description="Whether this was done only to see the label.")
    over_capacity: bool = Field(description="Whether it was answered only because no review was left.")
    mode: Mode = Field(description="The gate's mode at the time.")
    replayed: bool = Field(description="Whether the case was decided before, and this is the stored decision.")


class Problem(Reply):
    """A row that was refused, in the place of its reply."""

    case: str | None = Field(description="The caller's id.")
    status: int = Field(description="The status that the row alone would have got.")
    title: str = Field(description="The kind of problem.")
    detail: str = Field(description="What is wrong.")
    errors: list[dict[str, str]] = Field(default_factory=list, description="Fields with their path and a message.")


class DecisionsReply(Reply):
    """The replies to many cases, in their order."""

    decisions: list[DecisionReply | Problem] = Field(description="A decision, or a problem, per case.")


class CaseReply(Reply):
    """A case: its decision, and its label if that has come."""

    case: str = Field(description="The caller's id.")
    seq: int = Field(description="The number of the event that decided it.")
    at: float = Field(description="When it was decided, in seconds since 1970, by the server's clock.")
    state: Literal["open", "closed", "expired"] = Field(
        description="Whether a label is awaited, came, or came too late."
    )
    decision: DecisionReply = Field(description="The decision.")
    request: dict[str, Any] = Field(description="The request, with context and baseline.")
    label: Any = Field(default=None, description="The label, if it has come or was assumed.")
    label_source: str | None = Field(default=None, description='Where it came from; "assumed" after the window.')
    label_at: float | None = Field(default=None, description="When it came, in seconds since 1970.")
    correction: Any = Field(default=None, description="A later correction of the label; it was not learnt.")
    price: float | None = Field(default=None, description="What it cost, by its last label or correction, if known.")

    @classmethod
    def of(cls, record: "CaseRecord") -> "CaseReply":
        """Return the case that the store has."""
        label, correction = (None if one is None else json.loads(one) for one in (record.label, record.correction))
        return cls(
            case=record.case,
            seq=record.seq,
            at=record.at,
            state=record.state,  # type: ignore[arg-type]
            decision=DecisionReply(**json.loads(record.reply)),
            request=json.loads(record.request),
            label=label,
            label_source=record.label_source,
            label_at=record.label_at,
            correction=correction,
            price=record.price,
        )


class ReviewReply(Reply):
    """A case that was sent to review."""

    case: str = Field(description="The caller's id.")
    seq: int = Field(description="The number of its event; `after` takes it.")
    at: float = Field(description="When it was decided, in seconds since 1970.")
    age: float = Field(description="The seconds since then.")
    time: Any = Field(description="The time that the caller gave.")
    stake: float | None = Field(description="What is at stake, if that was given.")
    answers: dict[str, Any] = Field(description="What each model said.")
    context: Any = Field(description="What the caller wants reviewers to see.")
    state: Literal["open", "closed", "expired"] = Field(description="Whether a label is awaited.")
    label: Any = Field(default=None, description="The label, if it has come.")

    @classmethod
    def of(cls, case: CaseReply, now: float) -> "ReviewReply":
        """Return what reviewers see of a case."""
        asked = case.request
        return cls(
            case=case.case,
            seq=case.seq,
            at=case.at,
            age=max(0.0, now - case.at),
            time=asked.get("time"),
            stake=asked.get("stake"),
            answers=asked["answers"],
            context=asked.get("context"),
            state=case.state,
            label=case.label,
        )


# Labels.


class LabelBody(Body):
    """The truth of a case."""

    label: Plain = Field(description="The true class or number.")
    source: Source | None = Field(default=None, description="Where it comes from, to have that checked.")
    correction: bool = Field(
        default=False,
        description="Whether it corrects a label that came before; kept for evaluation, not learnt, unless it is the "
        "audit that the gate waits for, or its case is not known yet.",
    )


class LabelRow(LabelBody):
    """The truth of one of many cases."""

    case: CaseId


class LabelsBody(Body):
    """Many labels, taken in their order."""

    labels: list[LabelRow] = Field(min_length=1, max_length=MOST_ROWS, description="The labels.")


class StatusReply(Reply):
    """What became of a label."""

    status: Status = Field(
        description="learnt; duplicate: it came before; expired: after the window; unknown: no such case yet, it is "
        "held for a while; unused: the gate does not learn from such cases, it is kept for evaluation; corrected. In "
        "lists also conflict (another label came before) and invalid."
    )
    detail: str | None = Field(default=None, description="Why, where that needs a word.")


class LabelReply(StatusReply):
    """What became of the label of one of many cases."""

    case: str = Field(description="The caller's id.")


class LabelsReply(Reply):
    """What became of many labels, in their order."""

    labels: list[LabelReply] = Field(description="One status per label.")
    counts: dict[str, int] = Field(description="How many labels have each status.")


# The journal.


class EventReply(Reply):
    """An event of the journal."""

    seq: int = Field(description="Its number; a gate's events have the numbers 1, 2, 3, ...")
    kind: str = Field(description="What happened: created, settings, mode, decided, watched, learnt, ...")
    case: str | None = Field(description="The case, if it is about one.")
    at: float = Field(description="When, in seconds since 1970, by the server's clock.")
    version: str = Field(description="The version of the library that wrote it.")
    body: dict[str, Any] = Field(description="What went in and what came out.")

    @classmethod
    def of(cls, record: "EventRecord") -> "EventReply":
        """Return the event that the store has."""
        body = json.loads(record.body)
        return cls(seq=record.seq, kind=record.kind, case=record.case, at=record.at, version=record.version, body=body)
