"""A typed client of the service (`abstain serve`): `Client`, and `AsyncClient` for asyncio. The extra is ``service``.

>>> from abstain.client import Client
>>> with Client("http://127.0.0.1:8000", key="...") as client:                      # doctest: +SKIP
...     client.put_gate("spam", models=["gbm", "rules"], review_price=1.0, mistake_price=5.0)
...     decision = client.decide("spam", "mail-17", {"gbm": ("spam", 0.93), "rules": None})
...     client.label("spam", "mail-17", "ham", source="outcome")
"""

import asyncio
import json
import math
import random
import time as clock
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from .errors import AbstainError, InputError, shown
from .service.bodies import CaseReply, DecisionReply, EventReply, GateReply, LabelReply, ReviewReply

__all__ = ["AsyncClient", "Client", "ServiceProblem"]

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Answer = tuple[str | int, float] | Mapping[str, Any] | float | None
"""What a model said: a class and a confidence, a probability, None; or, as the service takes it, a mapping."""
Time = datetime | str | float | None
"""When a case came: seconds since 1970, or a date and time, read as UTC unless it says otherwise."""
Moment = datetime | float | None
"""When by the service's clock: seconds since 1970, or a date and time, read as UTC unless it says otherwise."""

URL = "http://127.0.0.1:8000"
TIMEOUT, RETRIES = 10.0, 5
AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same call may succeed."""
STOPPED = b"urn:abstain:problem:gate-stopped"
"""In the body of a 503 that nobody need wait for."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds before the first retry, and at most before any other; each wait is twice the one before."""
PAGE = 1000
"""Events in one answer."""


class ServiceProblem(AbstainError):  # noqa: N818 (a name of RFC 9457)
    """The service refused a call, could not serve it, or did not answer.

    Args:
        status: The HTTP status; 0 if no answer came.
        title: What went wrong, in a few words.
        detail: What went wrong with this call.
        errors: One mapping with ``path`` and ``message`` for each wrong field.
    """

    def __init__(self, status: int, title: str, detail: str = "", errors: Iterable[Mapping[str, Any]] = ()) -> None:
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = [dict(one) for one in errors]
        fields = "; ".join(f"{one.get('path')}: {one.get('message')}" for one in self.errors)
        text = ": ".join(part for part in (title, detail) if part)
        super().__init__(f"{status or 'no answer'}: {text}" + (f" ({fields})" if fields else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.title, self.detail, self.errors)


@dataclass(frozen=True)
class _Call(Generic[T]):
    """One request, and how to read its answer. Every call may be sent twice: the service knows cases by their ids."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    body: Any = None
    query: Mapping[str, Any] | None = None

    def options(self) -> dict[str, Any]:
        """What httpx needs to send it."""
        found: dict[str, Any] = {"method": self.method, "url": self.path}
        if self.query is not None:
            found["params"] = {name: value for name, value in self.query.items() if value is not None}
        if self.body is not None:
            found |= {"content": _json(self.body), "headers": {"Content-Type": "application/json"}}
        return found


def _json(body: Any) -> bytes:
    try:
        return json.dumps(body, default=_plain, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"expected what JSON can hold, with finite numbers, got something else ({error})") from None


def _plain(value: Any) -> Any:
    """Numbers of NumPy and times as JSON has them."""
    if isinstance(value, datetime):
        return value.isoformat()
    if callable(getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"{type(value).__name__}: {shown(value)}")


def _seconds(moment: Moment) -> float | None:
    if not isinstance(moment, datetime):
        return moment
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _segment(text: str, what: str) -> str:
    """A part of a path; dots alone would be taken for folders."""
    if not isinstance(text, str) or not text:
        raise InputError(f"{what}: expected a text, got {shown(text)}")
    try:
        quoted = quote(text, safe="")
    except UnicodeEncodeError:
        raise InputError(f"{what}: expected a text that UTF-8 can hold, got {shown(text)}") from None
    return quoted.replace(".", "%2E") if text.strip(".") == "" else quoted


def _gate(gate: str, *rest: str) -> str:
    return "/".join(("/v1/gates", _segment(gate, "gate"), *rest))


def _said(answer: Answer) -> Any:
    if answer is None or isinstance(answer, Mapping):
        return answer
    if isinstance(answer, tuple | list):
        if len(answer) != 2:
            raise InputError(f"answers: expected an answer and a confidence, got {shown(answer)}")
        return {"answer": answer[0], "confidence": answer[1]}
    return {"probability": answer}


def _case(
    case: str,
    answers: Mapping[str, Answer],
    stake: float | None = None,
    time: Time = None,
    context: Any = None,
    baseline: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A case as the service takes it, without what was not given."""
    given = {"stake": stake, "time": time, "context": context, "baseline": baseline}
    body = {"case": case, "answers": {model: _said(answer) for model, answer in answers.items()}}
    return body | {name: value for name, value in given.items() if value is not None}


def _known(model: type[M], body: dict[str, Any]) -> M:
    """Read a reply without the fields that only a newer service knows."""
    return model.model_validate(_trimmed(model, body))


def _trimmed(model: type[BaseModel], body: dict[str, Any]) -> dict[str, Any]:
    fields = {name: field.annotation for name, field in model.model_fields.items() if name in body}
    inner = {name: kind for name, kind in fields.items() if isinstance(kind, type) and issubclass(kind, BaseModel)}
    return {name: _trimmed(inner[name], body[name]) if name in inner else body[name] for name in fields}


def _one(model: type[M]) -> Callable[[httpx.Response], M]:
    return lambda answer: _known(model, answer.json())


def _many(model: type[M]) -> Callable[[httpx.Response], list[M]]:
    return lambda answer: [_known(model, one) for one in answer.json()]


def _labelled(answer: httpx.Response) -> list[LabelReply]:
    return [_known(LabelReply, one) for one in answer.json()["labels"]]


def _plainly(answer: httpx.Response) -> Any:
    return answer.json()


def _nothing(answer: httpx.Response) -> None:
    return None


def _decided(answer: httpx.Response) -> "list[DecisionReply | ServiceProblem]":
    """The rows of an answer: a refused case has a problem in its place."""
    return [_problem(one) if "status" in one else _known(DecisionReply, one) for one in answer.json()["decisions"]]


def _lines(answer: httpx.Response) -> list[EventReply]:
    return [_known(EventReply, json.loads(line)) for line in answer.text.split("\n") if line.strip()]


def _problem(body: Any, status: int = 0, text: str = "") -> ServiceProblem:
    """Problem details (RFC 9457) as an exception; a proxy may have answered something else."""
    if not isinstance(body, dict):
        return ServiceProblem(status, "the answer is not the service's", text[:200])
    errors = body.get("errors")
    return ServiceProblem(
        int(body.get("status") or status),
        str(body.get("title") or "refused"),
        str(body.get("detail") or ""),
        [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else [],
    )


def _checked(call: _Call[T], answer: httpx.Response, attempt: int) -> T:
    """Read an answer, or raise what it says is wrong."""
    if call.method == "DELETE" and attempt > 0 and answer.status_code == 404:
        return call.read(answer)  # an earlier attempt deleted it, and its answer was lost
    if answer.is_success:
        try:
            return call.read(answer)
        except (ValueError, KeyError, TypeError) as error:
            raise ServiceProblem(answer.status_code, "the answer is not the service's", str(error)[:500]) from None
    try:
        body = answer.json()
    except ValueError:
        body = None
    raise _problem(body, answer.status_code, answer.text)


def _may_succeed(answer: httpx.Response) -> bool:
    """Whether the same call may succeed later: not if the gate waits for somebody to accept its journal."""
    return answer.status_code in AGAIN and STOPPED not in answer.content


def _wait(attempt: int, answer: httpx.Response | None) -> float:
    """Seconds before the next attempt: what the service asks for, or twice as many each time, with jitter."""
    try:
        asked = float(answer.headers["Retry-After"]) if answer is not None else math.nan
    except (KeyError, ValueError):
        asked = math.nan
    if 0.0 <= asked < math.inf:
        return min(asked, LONGEST_WAIT)
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt) * random.uniform(0.5, 1.0)


class _Calls:
    """What both clients share: the settings, and every call of the service."""

    def __init__(self, url: str, key: str | None, timeout: float, retries: int) -> None:
        if not isinstance(retries, int) or retries < 0:
            raise InputError(f"retries: expected a whole number of 0 or more, got {shown(retries)}")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InputError(f"url: expected one that begins with http:// or https://, got {shown(url)}")
        if key is not None and not (
            isinstance(key, str) and key.isascii() and key.isprintable() and key == key.strip()
        ):
            raise InputError("key: expected an API key: printable ASCII without spaces around it")  # it stays a secret
        self._retries = retries
        headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
        self._options: dict[str, Any] = {"base_url": url, "headers": headers, "timeout": timeout}

    @staticmethod
    def _put_gate(gate: str, settings: Mapping[str, Any]) -> _Call[GateReply]:
        return _Call("PUT", _gate(gate), _one(GateReply), settings)

    @staticmethod
    def _decide(gate: str, body: Mapping[str, Any]) -> _Call[DecisionReply]:
        return _Call("POST", _gate(gate, "decisions"), _one(DecisionReply), body)

    @staticmethod
    def _decide_many(gate: str, cases: Iterable[Mapping[str, Any]]) -> "_Call[list[DecisionReply | ServiceProblem]]":
        body = {"decisions": [_case(**one) for one in cases]}
        return _Call("POST", _gate(gate, "decisions"), _decided, body)

    @staticmethod
    def _decision(gate: str, case: str) -> _Call[CaseReply]:
        return _Call("GET", _gate(gate, "decisions", _segment(case, "case")), _one(CaseReply))

    @staticmethod
    def _label(gate: str, case: str, label: Any, source: str | None, correction: bool) -> _Call[LabelReply]:
        body = {"label": label} | ({} if source is None else {"source": source})
        path = _gate(gate, "decisions", _segment(case, "case"), "label")

        def read(answer: httpx.Response) -> LabelReply:
            return _known(LabelReply, {"case": case, **answer.json()})

        return _Call("PUT", path, read, body | ({"correction": True} if correction else {}))

    @staticmethod
    def _label_many(gate: str, labels: Iterable[Mapping[str, Any]]) -> _Call[list[LabelReply]]:
        return _Call("POST", _gate(gate, "labels"), _labelled, {"labels": list(labels)})

    @staticmethod
    def _reviews(gate: str, state: str, limit: int, after: int) -> _Call[list[ReviewReply]]:
        query = {"state": state, "limit": limit, "after": after}
        return _Call("GET", _gate(gate, "reviews"), _many(ReviewReply), query=query)

    @staticmethod
    def _events(gate: str, after: int) -> _Call[list[EventReply]]:
        return _Call("GET", _gate(gate, "events"), _lines, query={"after": after, "limit": PAGE})

    @staticmethod
    def _savings(
        gate: str, since: Moment, until: Moment, model: str | None, threshold: float | None
    ) -> _Call[dict[str, Any]]:
        times = {"since": _seconds(since), "until": _seconds(until)}
        return _Call("GET", _gate(gate, "savings"), _plainly, query={**times, "model": model, "threshold": threshold})

    @staticmethod
    def _gates() -> _Call[list[GateReply]]:
        return _Call("GET", "/v1/gates", _many(GateReply))

    @staticmethod
    def _simple(method: str, gate: str, *rest: str, read: Callable[[httpx.Response], T], body: Any = None) -> _Call[T]:
        return _Call(method, _gate(gate, *rest), read, body)


class Client(_Calls):
    """A client of the service. Use it as a context manager, or close it; threads may share one.

    Every call is safe to repeat, so one that fails for want of a connection, or with 429, 502, 503 or 504, is sent
    again after a wait that doubles.

    Args:
        url: Where the service is.
        key: The API key, if the service asks for one.
        timeout: Seconds to wait for a connection, and for each answer.
        retries: How often a call is sent again.
        transport: Another transport of httpx, such as one for tests.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, timeout, retries)
        self._http = httpx.Client(**self._options, transport=transport)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, call: _Call[T]) -> T:
        options, answer = call.options(), None
        for attempt in range(self._retries + 1):
            if attempt > 0:
                clock.sleep(_wait(attempt - 1, answer))
            try:
                answer = self._http.request(**options)
            except httpx.TransportError as error:
                answer, failure = None, error
                continue
            if not _may_succeed(answer):
                break
        if answer is None:
            raise ServiceProblem(0, "the service did not answer", f"{type(failure).__name__}: {failure}") from None
        return _checked(call, answer, attempt)

    def put_gate(self, gate: str, **settings: Any) -> GateReply:
        """Create a gate, or change one: what is not given stays as it is, and the same settings change nothing.

        Args:
            gate: The gate's name.
            settings: ``models``, ``cost`` or ``review_price`` and ``mistake_price``, and all else that the service
                takes, such as ``capacity``, ``mode`` or ``today``.

        Returns:
            The gate.

        Raises:
            ServiceProblem: If the service refuses the settings.
        """
        return self._send(self._put_gate(gate, settings))

    def gates(self) -> list[GateReply]:
        """Return all gates that the key may read."""
        return self._send(self._gates())

    def gate(self, gate: str) -> GateReply:
        """Return a gate: its settings, its mode and its state.

        Args:
            gate: The gate's name.
        """
        return self._send(self._simple("GET", gate, read=_one(GateReply)))

    def delete_gate(self, gate: str) -> None:
        """Delete a gate with its journal.

        Args:
            gate: The gate's name.
        """
        self._send(self._simple("DELETE", gate, read=_nothing))

    def set_mode(self, gate: str, mode: str) -> GateReply:
        """Change the mode of a gate.

        Args:
            gate: The gate's name.
            mode: "live", "shadow" (it watches what you decide) or "paused" (every case goes to review).

        Returns:
            The gate.
        """
        return self._send(self._simple("POST", gate, "mode", read=_one(GateReply), body={"mode": mode}))

    def decide(
        self,
        gate: str,
        case: str,
        answers: Mapping[str, Answer],
        *,
        stake: float | None = None,
        time: Time = None,
        context: Any = None,
        baseline: Mapping[str, Any] | None = None,
    ) -> DecisionReply:
        """Decide on a case. The same case again returns the stored decision; with other answers it is refused.

        Args:
            gate: The gate's name.
            case: Your own id of the case.
            answers: What each model said: ``("spam", 0.93)``, a probability, None, or a mapping as the service takes
                it, such as ``{"answer": 12.5, "error": 0.7}`` for a number.
            stake: What is at stake.
            time: When the case came; the service's clock by default.
            context: Any JSON to show to reviewers.
            baseline: In shadow mode, what is done today: ``{"action": "answer", "model": "gbm", "probability": 1.0}``.

        Returns:
            The decision: act on its ``action`` and ``answer``.

        Raises:
            ServiceProblem: If the service refuses the case or cannot decide.
        """
        return self._send(self._decide(gate, _case(case, answers, stake, time, context, baseline)))

    def decide_many(self, gate: str, cases: Iterable[Mapping[str, Any]]) -> "list[DecisionReply | ServiceProblem]":
        """Decide on many cases, at most 1,000.

        Args:
            gate: The gate's name.
            cases: For each case the arguments of `decide` by name: ``case``, ``answers``, ``stake`` and so on.

        Returns:
            For each case the decision, or, in its place, why it was refused.

        Raises:
            ServiceProblem: If the service refuses all of them.
        """
        return self._send(self._decide_many(gate, cases))

    def decision(self, gate: str, case: str) -> CaseReply:
        """Return what was decided on a case, and its label if that is known.

        Args:
            gate: The gate's name.
            case: Your own id of the case.
        """
        return self._send(self._decision(gate, case))

    def label(
        self, gate: str, case: str, label: str | int | float, *, source: str | None = None, correction: bool = False
    ) -> LabelReply:
        """Tell the true label of a case. The same label again changes nothing; another one is refused.

        Args:
            gate: The gate's name.
            case: Your own id of the case.
            label: The truth.
            source: "review", "outcome" or "audit": where it comes from, to have that checked.
            correction: Whether an earlier label was wrong: the new one is kept for evaluation. It replaces a label
                that is held for a case not known yet.

        Returns:
            The case and the status: learnt, duplicate, expired, unknown (held until the case comes), unused or
            corrected.

        Raises:
            ServiceProblem: If another label came before, or the gate does not take this one.
        """
        return self._send(self._label(gate, case, label, source, correction))

    def label_many(self, gate: str, labels: Iterable[Mapping[str, Any]]) -> list[LabelReply]:
        """Tell many labels.

        Args:
            gate: The gate's name.
            labels: Mappings with ``case``, ``label`` and, if you like, ``source``.

        Returns:
            Case and status of each row; one that differs from an earlier label has the status "conflict".
        """
        return self._send(self._label_many(gate, labels))

    def reviews(self, gate: str, *, state: str = "open", limit: int = 50, after: int = 0) -> list[ReviewReply]:
        """Return cases for reviewers, the oldest first.

        Args:
            gate: The gate's name.
            state: Which cases: "open" ones wait for a label.
            limit: How many at most.
            after: The ``seq`` of the last case of the page before.
        """
        return self._send(self._reviews(gate, state, limit, after))

    def events(self, gate: str, *, after: int = 0) -> Iterator[EventReply]:
        """Yield the events of a gate's journal, up to the last one there is.

        Args:
            gate: The gate's name.
            after: The ``seq`` of the last event that you have seen.
        """
        while page := self._send(self._events(gate, after)):
            yield from page
            after = page[-1].seq

    def policy(self, gate: str) -> list[dict[str, Any]]:
        """Return what the gate has learnt: models and thresholds with their weights and prices.

        Args:
            gate: The gate's name.
        """
        found: list[dict[str, Any]] = self._send(self._simple("GET", gate, "policy", read=_plainly))
        return found

    def health(self, gate: str) -> dict[str, Any]:
        """Return how the models and the labels are doing.

        Args:
            gate: The gate's name.
        """
        found: dict[str, Any] = self._send(self._simple("GET", gate, "health", read=_plainly))
        return found

    def savings(
        self,
        gate: str,
        *,
        since: Moment = None,
        until: Moment = None,
        model: str | None = None,
        threshold: float | None = None,
    ) -> dict[str, Any]:
        """Return what the gate saved over a period.

        Args:
            gate: The gate's name.
            since: The beginning of the period; the gate's own by default.
            until: The end of the period; now by default.
            model: The model of the policy to compare with; the gate's ``today`` by default.
            threshold: The threshold of that policy.

        Returns:
            Among others ``saved`` with its interval (``saved_low``, ``saved_high``), and ``policies``: the price per
            case of the gate, of the policy it is compared with, of each model alone and of reviewing everything.
        """
        return self._send(self._savings(gate, since, until, model, threshold))


class AsyncClient(_Calls):
    """The client for asyncio: the methods of `Client`, to be awaited; `events` is an asynchronous iterator.

    Args:
        url: Where the service is.
        key: The API key, if the service asks for one.
        timeout: Seconds to wait for a connection, and for each answer.
        retries: How often a call is sent again.
        transport: Another transport of httpx, such as one for tests.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(url, key, timeout, retries)
        self._http = httpx.AsyncClient(**self._options, transport=transport)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(self, call: _Call[T]) -> T:
        options, answer = call.options(), None
        for attempt in range(self._retries + 1):
            if attempt > 0:
                await asyncio.sleep(_wait(attempt - 1, answer))
            try:
                answer = await self._http.request(**options)
            except httpx.TransportError as error:
                answer, failure = None, error
                continue
            if not _may_succeed(answer):
                break
        if answer is None:
            raise ServiceProblem(0, "the service did not answer", f"{type(failure).__name__}: {failure}") from None
        return _checked(call, answer, attempt)

    async def put_gate(self, gate: str, **settings: Any) -> GateReply:
        """As `Client.put_gate`."""
        return await self._send(self._put_gate(gate, settings))

    async def gates(self) -> list[GateReply]:
        """As `Client.gates`."""
        return await self._send(self._gates())

    async def gate(self, gate: str) -> GateReply:
        """As `Client.gate`."""
        return await self._send(self._simple("GET", gate, read=_one(GateReply)))

    async def delete_gate(self, gate: str) -> None:
        """As `Client.delete_gate`."""
        await self._send(self._simple("DELETE", gate, read=_nothing))

    async def set_mode(self, gate: str, mode: str) -> GateReply:
        """As `Client.set_mode`."""
        return await self._send(self._simple("POST", gate, "mode", read=_one(GateReply), body={"mode": mode}))

    async def decide(
        self,
        gate: str,
        case: str,
        answers: Mapping[str, Answer],
        *,
        stake: float | None = None,
        time: Time = None,
        context: Any = None,
        baseline: Mapping[str, Any] | None = None,
    ) -> DecisionReply:
        """As `Client.decide`."""
        return await self._send(self._decide(gate, _case(case, answers, stake, time, context, baseline)))

    async def decide_many(
        self, gate: str, cases: Iterable[Mapping[str, Any]]
    ) -> "list[DecisionReply | ServiceProblem]":
        """As `Client.decide_many`."""
        return await self._send(self._decide_many(gate, cases))

    async def decision(self, gate: str, case: str) -> CaseReply:
        """As `Client.decision`."""
        return await self._send(self._decision(gate, case))

    async def label(
        self, gate: str, case: str, label: str | int | float, *, source: str | None = None, correction: bool = False
    ) -> LabelReply:
        """As `Client.label`."""
        return await self._send(self._label(gate, case, label, source, correction))

    async def label_many(self, gate: str, labels: Iterable[Mapping[str, Any]]) -> list[LabelReply]:
        """As `Client.label_many`."""
        return await self._send(self._label_many(gate, labels))

    async def reviews(self, gate: str, *, state: str = "open", limit: int = 50, after: int = 0) -> list[ReviewReply]:
        """As `Client.reviews`."""
        return await self._send(self._reviews(gate, state, limit, after))

    async def events(self, gate: str, *, after: int = 0) -> AsyncIterator[EventReply]:
        """As `Client.events`."""
        while page := await self._send(self._events(gate, after)):
            for event in page:
                yield event
            after = page[-1].seq

    async def policy(self, gate: str) -> list[dict[str, Any]]:
        """As `Client.policy`."""
        found: list[dict[str, Any]] = await self._send(self._simple("GET", gate, "policy", read=_plainly))
        return found

    async def health(self, gate: str) -> dict[str, Any]:
        """As `Client.health`."""
        found: dict[str, Any] = await self._send(self._simple("GET", gate, "health", read=_plainly))
        return found

    async def savings(
        self,
        gate: str,
        *,
        since: Moment = None,
        until: Moment = None,
        model: str | None = None,
        threshold: float | None = None,
    ) -> dict[str, Any]:
        """As `Client.savings`."""
        return await self._send(self._savings(gate, since, until, model, threshold))
