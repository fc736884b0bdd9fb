"""The routes of the page: all gates, one gate, its reviews, and the form for a key.

The page changes nothing itself. Its script calls the same HTTP interface as everybody else, with the key in a cookie.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..._core.pages import environment
from ..bodies import GATE_NAME
from ..front import COOKIE, LOG, Door, GateRoute
from ..keys import permits
from ..problems import NotFound, ServiceError, Unauthorized
from ..savings import Savings, savings_of
from ..service import Service
from . import views

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing comes from elsewhere, and no script or style stands in a page."""
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
FORM_LIMIT = 4_096
MOST_MEASURED = 20
"""Gates whose savings the overview shows; with more gates it would read too many cases, and alarms are those that
somebody has asked for."""
LEAST_SECONDS, TIMES = 2.0, 5.0
"""A measurement holds for so many seconds, and at least for so many times as long as it took."""
STATIC = {
    "base.css": ("abstain._core.templates", "text/css"),
    "page.css": (f"{__package__}.static", "text/css"),
    "icon.svg": (f"{__package__}.static", "image/svg+xml"),
    "page.js": (f"{__package__}.static", "text/javascript"),
    "plotly.js": ("", "text/javascript"),
}

GateName = Annotated[str, Path(pattern=f"^{GATE_NAME.pattern}$", max_length=64)]


class PageRoute(GateRoute):
    """A route of the page: without a key it leads to the form for one, and errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Wrap the handler of `GateRoute`."""
        handle: Callable[[Request], Awaitable[Response]] = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                reply = await handle(request)
                reply.headers.update(HEADERS)  # also of a page that another replica made
                return reply
            except Unauthorized:
                asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
                return RedirectResponse(f"/ui/login?next={quote(asked)}", status_code=303)
            except ServiceError as error:
                return page("problem.html", error.status, title=error.title, detail=error.detail,
                            again=error.status == 503, other_key=error.status == 403)  # fmt: skip

        return shown


def page(template: str, status: int = 200, **values: Any) -> Response:
    """Render a page; whatever is put into it is escaped.

    Args:
        template: The name of the template.
        status: The status of the response.
        values: What the template shows.
    """
    made = _environment().get_template(template).render(**values)
    return Response(made, status_code=status, headers=HEADERS, media_type="text/html")


@cache
def _environment() -> Any:
    made = environment(__package__)
    made.filters |= {"money": views.money, "share": views.share, "count": views.count, "span": views.span,
                     "when": views.when, "label": views.label, "signed": views.signed}  # fmt: skip
    made.globals["plotly_styles"] = _plotly_styles
    return made


@dataclass
class Meters:
    """The savings of gates, measured again only once in a while: that reads all cases of the period."""

    service: Service
    _kept: dict[tuple[str, str], tuple[float, Savings]] = field(default_factory=dict)
    _locks: dict[tuple[str, str], asyncio.Lock] = field(default_factory=dict)

    async def read(self, gate: str, period: str, now: float) -> Savings:
        """The savings of a gate over a period that ends now."""
        key = (gate, period)
        async with self._locks.setdefault(key, asyncio.Lock()):
            began = time.monotonic()
            holds, found = self._kept.get(key, (0.0, None))
            if found is None or began >= holds:
                seconds = views.PERIODS[period].seconds
                since = None if seconds is None else now - seconds
                found = await savings_of(self.service, gate, now=now, since=since)
                took = time.monotonic() - began
                if len(self._kept) > 1_000:
                    self._kept.clear()
                self._kept[key] = time.monotonic() + max(LEAST_SECONDS, TIMES * took), found
            return found


def router(service: Service, door: Door) -> APIRouter:
    """Make the routes of the page.

    Args:
        service: The gates.
        door: Who may come in.

    Returns:
        The routes, under /ui.
    """
    routes = APIRouter(prefix="/ui", route_class=PageRoute, include_in_schema=False)
    meters = Meters(service)
    read = {"x-permission": "read"}

    def may(request: Request, permission: str) -> bool:
        key = request.state.key
        return key is None or permits(key, permission)

    @routes.get("", openapi_extra={"x-permission": "list"})
    async def gates(request: Request) -> Response:
        key, now = request.state.key, service.clock()
        shown = [gate for gate in await service.gates() if key is None or key.gate in ("*", gate.name)]
        running = [gate for gate in shown if gate.state == "running"]
        found: dict[str, Savings] = {}
        alarms = dict(service.counters.alarms)
        unread: set[str] = set()
        if len(running) <= MOST_MEASURED:
            for gate in running:
                try:  # a gate that cannot be read hides no others
                    found[gate.name] = await meters.read(gate.name, views.DEFAULT, now)
                    alarms[gate.name] = len((await service.health(gate.name))["alarms"])
                except ServiceError:
                    unread.add(gate.name)
                except Exception:
                    LOG.exception("gate not shown", extra={"fields": {"gate": gate.name}})
                    unread.add(gate.name)
        rows = [
            views.overview(gate, found.get(gate.name), alarms.get(gate.name, 0), unread=gate.name in unread)
            for gate in shown
        ]
        return page("gates.html", rows=rows, host=request.url.netloc, has_key=key is not None, now=now)

    @routes.get("/gates/{gate}", openapi_extra=read)
    async def one(
        request: Request, gate: GateName, period: Annotated[str, Query(max_length=10)] = views.DEFAULT
    ) -> Response:
        period = period if period in views.PERIODS else views.DEFAULT
        reply, now = await service.gate(gate), service.clock()
        admin, reviewer = may(request, "admin"), may(request, "label")
        common: dict[str, Any] = {
            "gate": reply,
            "admin": admin,
            "reviewer": reviewer,
            "has_key": request.state.key is not None,
            "now": now,
        }
        if reply.state != "running":
            return page("stopped.html", **common)
        savings, health, policy, reviews = await asyncio.gather(
            meters.read(gate, period, now), service.health(gate), service.policy(gate), service.reviews(gate, limit=5)
        )
        shown = views.gate(reply, savings, health, policy, service.counters)
        return page("gate.html", **common, shown=shown, reviews=reviews, period=period, periods=views.PERIODS)

    @routes.get("/gates/{gate}/review", openapi_extra=read)
    async def review(
        request: Request,
        gate: GateName,
        after: Annotated[int, Query(ge=0, le=2**53)] = 0,
        case: Annotated[str | None, Query(max_length=200)] = None,
    ) -> Response:
        reply = await service.gate(gate)
        if case is not None:
            found = await service.decision(gate, case)
            waiting = [views.reopened(found, service.clock())] if found.label is not None else []
        else:
            waiting = await service.reviews(gate, limit=1, after=after)
        closed = await service.reviews(gate, state="closed", limit=50) if reply.settings.get("classes") is None else []
        shown = views.review(reply, waiting[0], closed) if waiting else None
        return page("review.html", gate=reply, case=shown, after=after, correct=case is not None,
                    reviewer=may(request, "label"), has_key=request.state.key is not None)  # fmt: skip

    @routes.get("/login")
    async def login_form(next: Annotated[str, Query(max_length=500)] = "/ui") -> Response:
        return page("login.html", next=_inside(next), wrong=None)

    @routes.post("/login")
    async def login(request: Request) -> Response:
        form = await _form(request)
        target, key = _inside(form.get("next", "/ui")), form.get("key", "").strip()
        try:
            await door.known(_with_key(request, key))
        except (Unauthorized, UnicodeEncodeError):
            return page("login.html", 401, next=target, wrong="This key is not valid. Copy it again, without spaces.")
        reply = RedirectResponse(target, status_code=303)
        # Whoever sends this header without a proxy only makes the own cookie stricter.
        tls = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
        reply.set_cookie(COOKIE, key, path="/", httponly=True, samesite="strict", secure=tls)
        return reply

    @routes.post("/logout")
    async def logout() -> Response:
        reply = RedirectResponse("/ui/login", status_code=303)
        reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
        return reply

    @routes.get("/static/{name}")
    async def static(request: Request, name: Annotated[str, Path(max_length=40)]) -> Response:
        if name not in STATIC:
            raise NotFound("There is nothing at this path.")
        content, packed, tag = await asyncio.to_thread(_static, name)
        headers = {**HEADERS, "etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            content, headers["content-encoding"] = packed, "gzip"
        return Response(content, headers=headers, media_type=STATIC[name][1])

    return routes


def _inside(target: str) -> str:
    """A path of the page; whatever else was asked for is not followed."""
    safe = target.startswith("/ui") and "\\" not in target and target.isprintable() and "//" not in target
    return target if safe else "/ui"


def _with_key(request: Request, key: str) -> Request:
    """The request as it would be with a key."""
    return Request({**request.scope, "headers": [(b"authorization", f"Bearer {key}".encode("ascii"))]})


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_LIMIT:
            return {}
    found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=5)
    return {name: values[0] for name, values in found.items()}


@cache
def _plotly_styles() -> list[str]:
    """The ids of style sheets that Plotly would put into the page for its maps, were there no elements with these ids.

    The page's policy forbids such styles, and we draw no maps.
    """
    content = _static("plotly.js")[0].decode()
    return sorted(set(re.findall(r'getElementById\("([0-9a-f]{64})"\)', content)))


@cache
def _static(name: str) -> tuple[bytes, bytes, str]:
    """A file, the same packed, and its tag."""
    if name == "plotly.js":
        from plotly.offline import get_plotlyjs

        content = get_plotlyjs().encode()
    else:
        content = files(STATIC[name][0]).joinpath(name).read_bytes()
    packed = gzip.compress(content, 6, mtime=0)
    return content, packed, f'"{hashlib.sha256(content).hexdigest()[:16]}"'
