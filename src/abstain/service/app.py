"""The HTTP interface: routes, keys, limits, and every error as a problem."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import math
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Path, Query
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Match

from .. import __version__
from ..errors import shown
from .bodies import (
    GATE_NAME,
    CaseId,
    CaseReply,
    DecisionBody,
    DecisionReply,
    DecisionsBody,
    DecisionsReply,
    GateBody,
    GateReply,
    LabelBody,
    LabelsBody,
    LabelsReply,
    ModeBody,
    ReviewReply,
    StatusReply,
)
from .front import LOG, Door, Front, GateRoute, problem, refusal, segment_of
from .keys import Keyring
from .metrics import Metrics
from .problems import Invalid, NotReady, ServiceError
from .savings import savings_of
from .service import Service
from .store import KeyRecord

LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names by which a program on the same machine calls this server."""

CASES_LOGGED = 20
"""Case ids of a call with many rows that the log shows."""

_EVENTS_A_PAGE = 1_000
_ERRORS_SHOWN = 50

# Names that pydantic puts into a path for the members of a union; nobody wrote them into a body.
_MEMBER = re.compile(
    r"one|many|float|int|str|bool|[A-Z]\w*(Body|Price|Prices)|(literal|list|function-|constrained-|nullable).*"
)


class ProblemDetails(BaseModel):
    """What is wrong with a call (RFC 9457)."""

    type: str = Field(description="The kind of problem, as a URI.")
    title: str = Field(description="The kind of problem, in a few words.")
    status: int = Field(description="The status of the response.")
    detail: str = Field(description="What was expected and what came.")
    errors: list[dict[str, str]] = Field(description="Fields with their path and a message.")


GateName = Annotated[
    str, Path(pattern=f"^{GATE_NAME.pattern}$", max_length=64, description="The gate's name.", examples=["g"])
]
PathCase = Annotated[
    CaseId, BeforeValidator(segment_of), Path(description="The caller's own id of the case, percent-encoded.")
]
AnyDecisions = Annotated[
    Annotated[DecisionBody, Tag("one")] | Annotated[DecisionsBody, Tag("many")],
    Discriminator(lambda body: "many" if isinstance(body, dict) and "decisions" in body else "one"),
]
Seq = Annotated[int, Query(ge=0, le=2**53)]
Moment = Annotated[float | None, Query(ge=0, le=253_402_300_799, description="Seconds since 1970.")]


def make_app(
    service: Service,
    *,
    keys_required: bool = False,
    allowed_hosts: Collection[str] | None = LOOPBACK_HOSTS,
) -> FastAPI:
    """Make the application. It starts the service when the server starts, unless somebody has, and then stops it.

    Args:
        service: The gates.
        keys_required: Whether calls need a key even while the store has none.
        allowed_hosts: Host names (without a port) that requests may be addressed to; `None` allows all.

    Returns:
        The application. `app.state.on_ready` and `app.state.on_failure` may be set to functions that are called when
        all gates are replayed, and with the reason if the service cannot start.
    """
    metrics = Metrics(service)
    door = Door(service, Keyring(service.store, required=keys_required))

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if service.ready:
            yield
            return
        starting = asyncio.create_task(_start(app, service))
        try:
            yield
        finally:
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
            await service.stop()
            await door.close()

    app = FastAPI(
        title="abstain",
        summary="Gates that answer, or hand over to a person, and learn from labels.",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        responses={
            "4XX": {"description": "The call is refused; nothing has changed.", **_PROBLEM},
            "5XX": {"description": "The call failed; it may be repeated.", **_PROBLEM},
        },
        openapi_url=None,
    )
    app.router.route_class = GateRoute
    app.state.door = door
    app.state.on_ready = app.state.on_failure = None
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    _add_cases(app, service)  # the first routes are found first
    _add_gates(app, service)
    _add_operations(app, service, metrics)
    _add_readings(app, service)
    _add_page(app, service, door)
    app.add_middleware(Front, allowed_hosts=allowed_hosts, observe=metrics.observe)
    return app


async def _start(app: FastAPI, service: Service) -> None:
    try:
        await service.start()
    except Exception as error:
        LOG.exception("the service cannot start")
        if app.state.on_failure is not None:
            app.state.on_failure(str(error))
    else:
        if app.state.on_ready is not None:
            app.state.on_ready()


# Errors.

_PROBLEM: dict[str, Any] = {
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
}


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    request.state.about["problem"] = error.detail[:500]
    return problem(error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    rows = [{"path": _path(row["loc"]), "message": _message(row)} for row in found[:_ERRORS_SHOWN]]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return await _service_error(request, Invalid(": ".join(filter(None, rows[0].values())) + more, errors=rows))


def _path(loc: Sequence[str | int]) -> str:
    """Say where in a body something is wrong, such as `decisions.3.answers.gbm.confidence`."""
    parts: list[str] = []
    for part in loc[1:]:
        free = bool(parts) and parts[-1] == "answers"  # a model may have any name
        if part != "[key]" and (free or not (isinstance(part, str) and _MEMBER.fullmatch(part))):
            parts.append(str(part))
    return ".".join(parts)


def _message(row: Mapping[str, Any]) -> str:
    if row["type"] == "model_attributes_type":
        return f"expected an object, got {shown(row['input'])}"
    text = str(row["msg"]).removeprefix("Value error, ")
    value = row.get("input")
    return text if isinstance(value, (dict, list)) or row["type"] == "missing" else f"{text}, got {shown(value)}"


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 404:
        return await _service_error(request, refusal(404, "Not found", "There is nothing at this path."))
    if error.status_code == 405:
        allowed = _allowed(request)
        headers["Allow"] = ", ".join(allowed)
        detail = f"This path knows {headers['Allow']}, not {request.method[:20]}."
        return await _service_error(request, refusal(405, "Method not allowed", detail, headers))
    return await _service_error(request, refusal(error.status_code, "Refused", str(error.detail), headers))


def _allowed(request: Request) -> list[str]:
    methods: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= set(getattr(route, "methods", None) or ())
    return sorted(methods)


# Routes.


def _json(reply: BaseModel, status: int = 200, *, exclude_none: bool = False) -> Response:
    text = reply.model_dump_json(exclude_none=exclude_none)
    return Response(text, status_code=status, media_type="application/json")


def _plain_json(value: Any) -> Response:
    return Response(json.dumps(_without_nan(value), allow_nan=False), media_type="application/json")


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, bool)) else _without_nan(value.item())


def _needs(permission: str) -> dict[str, Any]:
    return {"x-permission": permission, "security": [{"key": []}]}


def _add_operations(app: FastAPI, service: Service, metrics: Metrics) -> None:
    @app.get("/healthz", summary="Whether the process answers", tags=["operations"])
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz", summary="Whether kernels are compiled and journals replayed", tags=["operations"])
    async def readyz() -> dict[str, str]:
        if not service.ready:
            raise NotReady("The service is starting: it compiles, and replays its journals.")
        return {"status": "ready"}

    @app.get(
        "/metrics",
        summary="Metrics for Prometheus",
        tags=["operations"],
        openapi_extra=_needs("read"),
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "The metrics."}},
    )
    async def read_metrics() -> Response:
        text, kind = await metrics.render()
        return Response(text, headers={"content-type": kind})

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return _plain_json(_document(app))


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        found = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.routes, openapi_version="3.1.0"
        )
        parts = found.setdefault("components", {})
        parts.setdefault("schemas", {})["ProblemDetails"] = ProblemDetails.model_json_schema()
        parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}}
        app.openapi_schema = found
    return app.openapi_schema


def _add_gates(app: FastAPI, service: Service) -> None:
    @app.get("/v1/gates", summary="All gates that the key may see", tags=["gates"], openapi_extra=_needs("list"))
    async def list_gates(request: Request) -> list[GateReply]:
        key: KeyRecord | None = request.state.key
        return [gate for gate in await service.gates() if key is None or key.gate in ("*", gate.name)]

    @app.put(
        "/v1/gates/{gate}",
        summary="Create a gate, or change it",
        tags=["gates"],
        openapi_extra=_needs("admin"),
        response_model=GateReply,
        responses={201: {"description": "The gate was created.", "model": GateReply}},
    )
    async def put_gate(gate: GateName, body: GateBody) -> Response:
        reply, created = await service.put_gate(gate, body)
        return _json(reply, 201 if created else 200)

    @app.get("/v1/gates/{gate}", summary="A gate as it is now", tags=["gates"], openapi_extra=_needs("read"))
    async def get_gate(gate: GateName) -> GateReply:
        return await service.gate(gate)

    @app.delete(
        "/v1/gates/{gate}",
        summary="Delete a gate, its cases and its journal",
        tags=["gates"],
        openapi_extra=_needs("admin"),
        status_code=204,
        response_class=Response,
    )
    async def delete_gate(gate: GateName) -> Response:
        await service.delete_gate(gate)
        return Response(status_code=204)

    @app.post("/v1/gates/{gate}/mode", summary="Change the mode", tags=["gates"], openapi_extra=_needs("admin"))
    async def set_mode(gate: GateName, body: ModeBody) -> GateReply:
        return await service.set_mode(gate, body.mode)


def _add_cases(app: FastAPI, service: Service) -> None:
    @app.post(
        "/v1/gates/{gate}/decisions",
        summary="Decide on one case, or on many",
        tags=["cases"],
        openapi_extra=_needs("decide"),
        response_model=DecisionReply | DecisionsReply,
    )
    async def decide(gate: GateName, body: AnyDecisions, request: Request) -> Response:
        about = request.state.about
        if isinstance(body, DecisionBody):
            about["case"] = body.case
            reply = await service.decide(gate, body)
            about["action"] = reply.action
            return _json(reply)
        _note_cases(about, [row.case for row in body.decisions])
        return _json(DecisionsReply(decisions=await service.decide_many(gate, body.decisions)))

    @app.get("/v1/gates/{gate}/decisions/{case}", summary="A case", tags=["cases"], openapi_extra=_needs("case"))
    async def get_decision(gate: GateName, case: PathCase, request: Request) -> CaseReply:
        request.state.about["case"] = case
        return await service.decision(gate, case)

    @app.put(
        "/v1/gates/{gate}/decisions/{case}/label",
        summary="Bring the label of a case",
        tags=["cases"],
        openapi_extra=_needs("label"),
        response_model=StatusReply,
        responses={202: {"description": "No such case yet: the label is held for a while.", "model": StatusReply}},
    )
    async def label(gate: GateName, case: PathCase, body: LabelBody, request: Request) -> Response:
        about = request.state.about
        about["case"] = case
        reply = await service.label(gate, case, body)
        about["label_status"] = reply.status
        status = StatusReply(status=reply.status, detail=reply.detail)
        return _json(status, 202 if reply.status == "unknown" else 200, exclude_none=True)

    @app.post(
        "/v1/gates/{gate}/labels",
        summary="Bring many labels",
        tags=["cases"],
        openapi_extra=_needs("label"),
        response_model=LabelsReply,
    )
    async def label_many(gate: GateName, body: LabelsBody, request: Request) -> Response:
        _note_cases(request.state.about, [row.case for row in body.labels])
        replies = await service.label_many(gate, body.labels)
        counts: dict[str, int] = {}
        for reply in replies:
            counts[reply.status] = counts.get(reply.status, 0) + 1
        return _json(LabelsReply(labels=replies, counts=counts), exclude_none=True)

    @app.get(
        "/v1/gates/{gate}/reviews",
        summary="Cases that were sent to review, oldest first",
        tags=["cases"],
        openapi_extra=_needs("read"),
    )
    async def reviews(
        gate: GateName,
        state: Annotated[
            Literal["open", "closed", "expired"], Query(description="Whether a label is awaited.")
        ] = "open",
        limit: Annotated[int, Query(ge=1, le=1_000, description="The most cases to return.")] = 50,
        after: Annotated[Seq, Query(description="Only cases after this `seq`.")] = 0,
    ) -> list[ReviewReply]:
        return await service.reviews(gate, state=state, limit=limit, after=after)


def _note_cases(about: dict[str, Any], cases: list[str]) -> None:
    about["rows"] = len(cases)
    about["cases"] = cases[:CASES_LOGGED]


def _add_readings(app: FastAPI, service: Service) -> None:
    @app.get(
        "/v1/gates/{gate}/events",
        summary="The journal, one event per line",
        tags=["readings"],
        openapi_extra=_needs("read"),
        response_class=StreamingResponse,
        responses={200: {"description": "Events as NDJSON, in their order.", **_NDJSON}},
    )
    async def events(
        gate: GateName,
        after: Annotated[Seq, Query(description="Only events after this `seq`.")] = 0,
        limit: Annotated[int | None, Query(ge=1, le=2**53, description="The most events to return.")] = None,
    ) -> Response:
        first = await service.events(gate, after=after, limit=min(limit or _EVENTS_A_PAGE, _EVENTS_A_PAGE))

        async def lines() -> AsyncIterator[bytes]:
            page, left = first, math.inf if limit is None else limit
            while page:
                yield b"".join(event.model_dump_json().encode() + b"\n" for event in page)
                left -= len(page)
                if len(page) < _EVENTS_A_PAGE or left <= 0:
                    return
                page = await service.events(gate, after=page[-1].seq, limit=int(min(left, _EVENTS_A_PAGE)))

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    @app.get(
        "/v1/gates/{gate}/policy",
        summary="The weight of every model and threshold",
        tags=["readings"],
        openapi_extra=_needs("read"),
        response_model=list[dict[str, Any]],
    )
    async def policy(gate: GateName) -> Response:
        return _plain_json(await service.policy(gate))

    @app.get(
        "/v1/gates/{gate}/health",
        summary="How the models behave: agreement, missing answers, alarms",
        tags=["readings"],
        openapi_extra=_needs("read"),
        response_model=dict[str, Any],
    )
    async def health(gate: GateName) -> Response:
        return _plain_json(await service.health(gate))

    @app.get(
        "/v1/gates/{gate}/savings",
        summary="What the gate cost over a period, and what another policy would have cost",
        description="All cases of the period are valued at the prices that hold now, also those decided before prices "
        "changed. The call reads all of them into memory.",
        tags=["readings"],
        openapi_extra=_needs("read"),
        response_model=dict[str, Any],
    )
    async def savings(
        gate: GateName,
        since: Moment = None,
        until: Moment = None,
        model: Annotated[str | None, Query(max_length=200, description="Compare with this model ...")] = None,
        threshold: Annotated[float | None, Query(ge=-1, le=1, description="... and this threshold.")] = None,
    ) -> Response:
        if (model is None) != (threshold is None):
            missing = "model" if model is None else "threshold"
            raise Invalid.at(missing, "expected a model and a threshold, or neither (today's policy)")
        asked = None if model is None else (model, threshold)
        found = await savings_of(service, gate, now=service.clock(), since=since, until=until, asked=asked)
        return _plain_json(dataclasses.asdict(found))


_NDJSON: dict[str, Any] = {
    "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "EventReply, one per line."}}}
}


def _add_page(app: FastAPI, service: Service, door: Door) -> None:
    try:
        from .page.routes import router
    except ModuleNotFoundError:
        return
    app.include_router(router(service, door))

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return RedirectResponse("/ui", status_code=307)
