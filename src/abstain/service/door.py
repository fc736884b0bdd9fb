"""The door: who may come in, with which key, and where calls go that belong to another replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .front import UNSAFE, parse_json, read_body, same_origin
from .keys import OWN, Keyring
from .problems import Forbidden, NotReady
from .service import Service
from .store import KeyRecord

COOKIE = "abstain_key"
"""The cookie that holds the key of somebody who uses the page."""

PASSED_ON = "x-abstain-passed-on"
"""The header of a call that another replica passed on: it goes no further."""

_PASS_SECONDS = 30.0
_PASSED_BACK = (
    "content-type", "retry-after", "www-authenticate", "allow", "location", "etag", "cache-control", "set-cookie",
    "content-security-policy", "referrer-policy",
)  # fmt: skip


class Door:
    """Who may come in, and where calls go that belong to another replica.

    Args:
        service: The gates.
        keys: The keys.
    """

    def __init__(self, service: Service, keys: Keyring) -> None:
        self._service = service
        self._keys = keys
        self._client: httpx.AsyncClient | None = None

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
            return await self._pass_on(request, gate, owner, body)
        return await handle(_Parsed(request, body, parse_json(body)) if has_body else request)

    async def _pass_on(self, request: Request, gate: str, owner: str, body: bytes) -> Response:
        if PASSED_ON in request.headers:
            raise NotReady("The gate is moving between replicas.")
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=_PASS_SECONDS, trust_env=False, limits=httpx.Limits(max_connections=256)
            )
        kept = ("authorization", "cookie", "content-type", "accept", "origin", "sec-fetch-site")
        headers = {name: request.headers[name] for name in kept if name in request.headers}
        target = request.scope["raw_path"].decode("ascii")
        if request.scope["query_string"]:
            target += "?" + request.scope["query_string"].decode("ascii")
        # The key was checked here, and is checked again there; so was the origin, for this host's name.
        headers.pop("origin", None)
        if "cookie" in headers and "authorization" not in headers and COOKIE in request.cookies:
            headers["authorization"] = f"Bearer {request.cookies[COOKIE]}"
        headers.pop("cookie", None)
        headers |= {PASSED_ON: "1", "x-request-id": request.state.request_id}
        sent = self._client.build_request(request.method, owner.rstrip("/") + target, headers=headers, content=body)
        sending = asyncio.create_task(self._client.send(sent, stream=True))
        try:
            while not (await asyncio.wait({sending}, timeout=self._service.lease / 4))[0]:
                if await self._service.owner_of(gate) != owner:  # it was cut off, and has lost the gate
                    raise NotReady("The gate has moved to another replica.")
            reply = await sending
        except httpx.HTTPError as error:
            raise NotReady(f"The replica that owns the gate does not answer ({type(error).__name__}).") from error
        finally:
            sending.cancel()
        passed = {name: reply.headers[name] for name in _PASSED_BACK if name in reply.headers}

        async def content() -> AsyncIterator[bytes]:
            try:
                async for part in reply.aiter_bytes():
                    yield part
            finally:
                await reply.aclose()

        return StreamingResponse(content(), status_code=reply.status_code, headers=passed)

    async def close(self) -> None:
        """Close the connections to other replicas."""
        if self._client is not None:
            await self._client.aclose()


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
