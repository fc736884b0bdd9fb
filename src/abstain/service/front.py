"""What every request passes before the routes: its id, host, path, key and body, and the line in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Collection
from math import isfinite
from typing import Any
from urllib.parse import unquote, urlsplit

from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .keys import OWN, Keyring
from .problems import Forbidden, NotReady, ServiceError, TooLarge
from .replicas import Passing
from .service import Service
from .store import KeyRecord

HEADER_LIMIT = 32 * 1024
"""Bytes of a request's line and headers."""

BODY_LIMIT = 1 << 20
"""Bytes of a request's body."""

BODY_SECONDS = 30.0
"""How long a body may take to arrive."""

DEPTH_LIMIT = 32
"""Levels of lists and objects in a body."""

UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods that change something."""

LOG = logging.getLogger("abstain.service")

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_SURROGATE = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
_LARGEST = 1 << 63


def refusal(status: int, title: str, detail: str, headers: dict[str, str] | None = None) -> ServiceError:
    """A problem of HTTP itself.

    Args:
        status: The status.
        title: The kind of problem, in a few words.
        detail: What was expected and what came.
        headers: Headers that go with the reply.
    """
    error = ServiceError(detail, headers=headers)
    error.status, error.title = status, title
    return error


def problem(error: ServiceError) -> Response:
    """An error as RFC 9457 wants it, of type `application/problem+json`.

    Args:
        error: What went wrong.
    """
    # Escapes keep half of a surrogate pair, which somebody may have sent, from breaking the reply.
    return Response(
        json.dumps(error.body), status_code=error.status, headers=error.headers, media_type="application/problem+json"
    )


class Front:
    """The outermost layer: request ids, the Host and Origin checks, raw paths, logs, and errors nobody expected.

    Args:
        app: What comes behind it.
        allowed_hosts: Host names (without a port) that requests may be addressed to; `None` allows all.
        observe: Called after every request with the route's path, the method, the status and the seconds it took.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        allowed_hosts: Collection[str] | None,
        observe: Callable[[str, str, int, float], None],
    ) -> None:
        self._app = app
        self._hosts = None if allowed_hosts is None else frozenset(host.lower() for host in allowed_hosts)
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSockets here
            await send({"type": "websocket.close", "code": 1003})
            return
        began = time.perf_counter()
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.match(given) else secrets.token_hex(8)
        about: dict[str, Any] = {}
        scope["state"] = {**scope.get("state", {}), "about": about, "request_id": request_id}
        status = 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                named = MutableHeaders(scope=message)
                named["x-request-id"] = request_id
                named["x-content-type-options"] = "nosniff"
                named.setdefault("cache-control", "no-store")
                named.setdefault("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
            await send(message)

        try:
            try:
                check_head(scope)
                self._check_host(headers)
                check_origin(scope["method"], headers)
                scope["path"] = routed_path(scope)
                await self._app(scope, receive, answer)
            except ServiceError as error:
                await problem(error)(scope, receive, answer)
        except ClientDisconnect:
            about["disconnected"] = True
        except asyncio.CancelledError:  # the server stops, and the time of calls under way is over
            about["cancelled"] = True
            if not status:
                await problem(NotReady("The server stops."))(scope, receive, answer)
        except Exception:
            LOG.exception("unexpected error", extra={"fields": {"request_id": request_id, **about}})
            if not status:
                hidden = refusal(500, "Internal error", f"The log has more under request id {request_id}.")
                await problem(hidden)(scope, receive, answer)
            else:
                raise
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", None) or "unmatched"
            self._observe(route, scope["method"], status, seconds)
            if LOG.isEnabledFor(logging.INFO):
                fields = {
                    "request_id": request_id,
                    "method": scope["method"],
                    "path": scope.get("raw_path", b"").decode("ascii", "replace")[:500],
                    "status": status,
                    "ms": round(seconds * 1e3, 3),
                    **about,
                }
                LOG.info("request", extra={"fields": fields})

    def _check_host(self, headers: Headers) -> None:
        if self._hosts is None:
            return
        host = headers.get("host", "")
        name = host_name(host)
        if name not in self._hosts:
            raise refusal(
                400,
                "Unknown host",
                f"This server does not answer for the host {host[:200]!r}; start it with that name.",
            )


def check_head(scope: Scope) -> None:
    """Refuse long heads. The parser counts only those that arrive in several pieces.

    Args:
        scope: The request's scope.

    Raises:
        ServiceError: 431, if the line and the headers are longer than `HEADER_LIMIT`.
    """
    target = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if target + sum(len(name) + len(value) + 4 for name, value in scope["headers"]) > HEADER_LIMIT:  # ": ", CR, LF
        raise refusal(
            431,
            "Request header fields too large",
            f"The line and the headers of a request have at most {HEADER_LIMIT} bytes.",
            headers={"Connection": "close"},
        )


def host_name(host: str) -> str:
    """The name in a Host header, without its port, in small letters.

    Args:
        host: The header's value.

    Returns:
        The name; an IPv6 address keeps its brackets.
    """
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and (port.isdigit() or not port) and not port.endswith("]") else host.strip().lower()


def check_origin(method: str, headers: Headers) -> None:
    """Refuse calls that change something and that a page of another site made a browser send.

    Args:
        method: The request's method.
        headers: Its headers.

    Raises:
        ServiceError: 403, if the browser says that the call comes from elsewhere.
    """
    if method not in UNSAFE:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    foreign = site not in (None, "same-origin", "none")
    if origin is not None and not foreign:
        foreign = urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    if foreign:
        raise Forbidden("A page of another site may not change anything here.")


def same_origin(headers: Headers) -> bool:
    """Whether the browser vouches that a page of this server made the call: what a cookie needs to change something.

    Args:
        headers: The request's headers.
    """
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    return headers.get("sec-fetch-site") == "same-origin"


def routed_path(scope: Scope) -> str:
    """The path that routes match: decoded, but with "/" and "%" inside a segment still encoded.

    Args:
        scope: The request's scope.

    Returns:
        The path. `segment_of` decodes what a route took from it.

    Raises:
        ServiceError: 400, if the path is not UTF-8.
    """
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    if b"%" not in raw:
        path: str = scope["path"]
        return path
    try:
        segments = [unquote(segment, errors="strict") for segment in raw.decode("ascii").split("/")]
    except UnicodeDecodeError:
        raise refusal(400, "Bad path", "The path must be percent-encoded UTF-8.") from None
    return "/".join(segment.replace("%", "%25").replace("/", "%2F") for segment in segments)


def segment_of(text: str) -> str:
    """A segment of a routed path as the caller meant it.

    Args:
        text: What a route took from the path.
    """
    return text.replace("%2F", "/").replace("%25", "%") if "%" in text else text


async def read_body(request: Request) -> bytes:
    """Read a request's body.

    Args:
        request: The request.

    Returns:
        The body.

    Raises:
        ServiceError: 415 if it is not JSON by its own account, 413 if it is too long, 408 if it does not arrive.
    """
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise refusal(
            415, "Unsupported media type", f"The body must be application/json, not {kind[:100]!r} (curl: --json)."
        )
    length = request.headers.get("content-length", "")
    if length.isdigit() and (len(length) > 15 or int(length) > BODY_LIMIT):
        raise _too_long()
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > BODY_LIMIT:
                    raise _too_long()
                parts.append(part)
    except TimeoutError:
        raise refusal(408, "Body too slow", f"The body did not arrive within {BODY_SECONDS:g} seconds.") from None
    return b"".join(parts)


def parse_json(data: bytes) -> Any:
    """Parse JSON strictly.

    NaN, infinities, integers beyond 64 bits, names that come twice, deep nesting, U+0000 and half surrogate pairs are
    refused: other parsers and stores would each make something else of them.

    Args:
        data: The text, in UTF-8.

    Returns:
        What it says.

    Raises:
        ServiceError: 400, with the reason.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise _bad_json("it is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _bad_json(f"{error.msg[:1].lower()}{error.msg[1:]}, at character {error.pos}") from None
    except RecursionError:
        raise _bad_json(f"it is nested more than {DEPTH_LIMIT} levels deep") from None
    except _RefusedError as refused:
        raise _bad_json(str(refused)) from None
    if data.count(b"[") + data.count(b"{") > DEPTH_LIMIT:
        _check_depth(value)
    if _SURROGATE.search(data):
        _check_text(value)
    return value


class _RefusedError(Exception):
    """A part of a body that the parser itself would accept."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _RefusedError(f"the name {name[:100]!r} comes twice in an object")
            seen.add(name)
    return found


def _integer(text: str) -> int:
    if len(text) > 20 or not -_LARGEST <= (number := int(text)) < _LARGEST:
        raise _RefusedError(f"the integer {text[:40]} needs more than 64 bits")
    return number


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise _RefusedError(f"the number {text[:40]} is too large")
    return number


def _constant(text: str) -> float:
    raise _RefusedError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant, strict=True
)


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise _bad_json(f"it is nested more than {DEPTH_LIMIT} levels deep")


def _check_text(value: Any) -> None:
    # Not every store can keep these as text.
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting += found
            waiting += found.values()
        elif isinstance(found, list):
            waiting += found
        elif isinstance(found, str):
            if "\0" in found:
                raise _bad_json("it holds the character U+0000")
            try:
                found.encode()
            except UnicodeEncodeError:
                raise _bad_json("it holds half of a surrogate pair") from None


def _bad_json(reason: str) -> ServiceError:
    return refusal(400, "Bad JSON", f"The body cannot be read: {reason}.")


def _too_long() -> ServiceError:
    return TooLarge(f"A body has at most {BODY_LIMIT} bytes.", headers={"Connection": "close"})


# The door.

COOKIE = "abstain_key"
"""The cookie that holds the key of somebody who uses the page."""


class Door:
    """Who may come in, and where calls go that belong to another replica.

    Args:
        service: The gates.
        keys: The keys.
    """

    def __init__(self, service: Service, keys: Keyring) -> None:
        self._service = service
        self._keys = keys
        self._passing = Passing()

    async def authorise(self, request: Request, permission: str, gate: str | None) -> KeyRecord | None:
        """Check the key that a call brings, in its Authorization header or in the page's cookie.

        Args:
            request: The call.
            permission: What it needs: "read", "case", "label", "decide" or "admin".
            gate: The gate it is about; `None` for calls about all gates, which need a key for all; `OWN` for those that
                the key is for.

        Returns:
            The key's record, or `None` where no key is required.

        Raises:
            ServiceError: 401 without a valid key, 403 if the key does not permit the call.
        """
        return await self._keys.check(self._key_of(request), permission, gate)

    async def known(self, request: Request) -> KeyRecord | None:
        """Find the key that a call brings, whatever it permits.

        Args:
            request: The call.

        Returns:
            The key's record, or `None` where no key is required.

        Raises:
            ServiceError: 401 without a valid key.
        """
        return await self._keys.known(self._key_of(request))

    def _key_of(self, request: Request) -> str | None:
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, text = header.partition(" ")
            return text.strip() if scheme.lower() == "bearer" else ""
        cookie = request.cookies.get(COOKIE)
        if cookie is not None and request.method in UNSAFE and not same_origin(request.headers):
            raise Forbidden("The page's cookie changes something only for calls that this server's own page makes.")
        return cookie

    async def enter(
        self, request: Request, handle: Callable[[Request], Awaitable[Response]], permission: str, has_body: bool
    ) -> Response:
        """Let a call through to its route, after all checks that do not depend on it.

        Args:
            request: The call.
            handle: The route.
            permission: What the call needs; "" is nothing, "list" is to read the gates that the key is for.
            has_body: Whether the route takes a body.

        Returns:
            The response.

        Raises:
            ServiceError: If the call may not come in.
        """
        gate: str | None = request.path_params.get("gate")
        about = request.state.about
        if gate is not None:
            about["gate"] = gate
        if permission:
            wanted = ("read", OWN) if permission == "list" else (permission, gate)
            record = request.state.key = await self.authorise(request, *wanted)
            if record is not None:
                about["key"] = record.id
        if gate is not None and not self._service.ready:
            raise NotReady("The service is starting: it compiles, and replays its journals.")
        body = await read_body(request) if has_body else b""
        if gate is not None and (owner := await self._service.owner_of(gate)) is not None:
            about["owner"] = owner
            return await self._passing.pass_on(self._service, request, gate, owner, body, self._key_of(request))
        return await handle(_Parsed(request, body, parse_json(body)) if has_body else request)

    async def close(self) -> None:
        """Close the connections to other replicas."""
        await self._passing.close()


class GateRoute(APIRoute):
    """A route whose calls come through the door. `openapi_extra` says what they need."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """Wrap FastAPI's handler, which would read the body before anybody has checked the key."""
        handle = super().get_route_handler()
        permission = (self.openapi_extra or {}).get("x-permission", "")
        has_body = self.body_field is not None

        async def checked(request: Request) -> Response:
            door: Door = request.app.state.door
            return await door.enter(request, handle, permission, has_body)

        return checked


class _Parsed(Request):
    """A request whose body was read and parsed already."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._raw, self._value = body, value

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._value
