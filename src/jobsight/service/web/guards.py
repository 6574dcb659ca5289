"""Checks of every request and response, as ASGI middleware.

A request is refused before anything reads it: of a host that is not the service's (DNS rebinding),
from a page of another site (CSRF), without a valid token from anyone but the service's own user
(and, where they may, users of this machine on the Unix socket, whom the kernel names),
too often, or with too large or too slow a body. Each request is in the audit log when it is
admitted and when it is over: who, what, with which result; never a token, a query or a body.
"""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import hashlib
import itertools
import json
import os
import pwd
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anyio.to_thread import run_sync
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobsight.clock import format_micros, now_micros
from jobsight.modes import make_file, make_folder
from jobsight.service.logs import log
from jobsight.service.web.tokens import Caller
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.service.web.tokens import Tokens
    from jobsight.settings import ServeSettings

__all__ = ["COOKIE", "POLICY", "BrowserHeaders", "Gate", "RefusedError", "Tags"]

COOKIE = "jobsight"
"""Name of the cookie that has the token of a browser."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy: nothing inline, nothing from elsewhere."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-cache",
}
_OPEN = ("/api/v1/health", "/metrics", "/openapi.json", "/login", "/static/")
"""Paths that need no caller: nothing there is of a job or a user."""
_SIGNING_IN = ("/login", "/logout", "/static/")
"""Paths that a browser needs whose token has expired."""
_PROXIES = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_BURST = 10
_MOST_CALLERS = 10_000
_BODY_SECONDS = 20.0
_MOST_TAGGED = 1 << 20


class RefusedError(HTTPException):
    """A request that is not served."""


class BrowserHeaders:
    """Adds the headers that keep browsers from running or showing what is not the service's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, guarded if scope["type"] == "http" else send)


class Tags:
    """Gives answers to GET an ETag of their content, and 304 to who has that already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification; an answer that comes in parts has no tag."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        start: list[Message] = []

        async def tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == 200 and "etag" not in Headers(raw=message["headers"]):
                    start.append(message)
                    return
            elif start:
                first = start.pop()
                body = message.get("body", b"")
                if not message.get("more_body") and len(body) <= _MOST_TAGGED:
                    tag = f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
                    headers = MutableHeaders(scope=first)
                    headers["etag"] = tag
                    if tag in Headers(scope=scope).get("if-none-match", ""):
                        first["status"] = 304
                        del headers["content-length"]
                        message = {**message, "body": b""}
                await send(first)
            await send(message)

        await self._app(scope, receive, tagged)


class Gate:
    """Decides who asks, and whether that is served. Belongs to one event loop."""

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, tokens: Tokens, refused: Any, served: Any
    ) -> None:
        self._app, self._served = app, served
        self._settings, self._tokens, self._refused = settings, tokens, refused
        host = settings.listen.rpartition(":")[0]
        self._hosts = {"localhost", "127.0.0.1", "[::1]", host, *settings.hosts}
        self._own = Caller(getpass.getuser(), "admin")
        self._rates: dict[str, tuple[float, float]] = {}
        self._numbers = itertools.count(1)
        self._proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD" and not scope["path"].endswith("/events"):
            scope = {**scope, "method": "GET"}  # the server, which has its own, leaves out the body
        status, started, number = [0], time.monotonic(), next(self._numbers)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            await send(message)

        try:
            await self._admit(scope)
            self._audit(scope, number, "begin")
            limited = _Body(receive, scope, self._settings.body_bytes)
            await self._app(scope, limited.receive, noted)
        except RefusedError as refusal:
            if status[0]:
                raise
            response: Response = self._refused(scope, refusal)
            await response(scope, receive, noted)
        finally:
            self._served(scope, status[0], time.monotonic() - started)
            self._audit(scope, number, "end", status[0])

    async def _admit(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        forwarded = "x-forwarded-for" in headers and not self._settings.trusted_proxies
        if forwarded and not self._proxy:
            self._proxy = True
            log(
                "requests are forwarded; name the proxy in serve.trusted_proxies", by=_client(scope)
            )
        local = scope.get("client") is None  # the Unix socket
        host = headers.get("host", "")
        name = (
            host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0].lower()
        )
        if not local and name not in self._hosts:
            raise RefusedError(
                400, "the service has no such host name; see the setting serve.hosts"
            )
        if scope["method"] not in ("GET", "HEAD", "OPTIONS"):
            if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
                raise RefusedError(403, "a page of another site sent this request")
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
                raise RefusedError(403, "a page of another site sent this request")
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        kind, _, text = headers.get("authorization", "").partition(" ")
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        token = text.strip() if kind.lower() == "bearer" else None
        token = token or headers.get("x-slurm-user-token") or cookie
        connection, caller = scope["state"].get("connection"), None
        if token is not None:
            caller = self._tokens.caller(token)
            if caller is None and not path.startswith(_SIGNING_IN):
                self._count(_client(scope))
                raise RefusedError(401, "this token is not valid, or not any more")
        elif connection is not None and not any(name in headers for name in _PROXIES):
            if connection.user == os.getuid():
                caller = self._own
            elif local and self._settings.local_users and connection.user is not None:
                with contextlib.suppress(KeyError):
                    caller = await run_sync(_local_user, connection.user)
        scope["state"]["caller"] = caller
        self._count(caller.name if caller else _client(scope))
        if caller is None and not path.startswith(_OPEN):
            raise RefusedError(401, "a token is needed: `jobsight token add`, or `scontrol token`")

    def _count(self, who: str) -> None:
        """Refuse a caller that asks too often: a bucket of tokens for each."""
        now, rate = time.monotonic(), self._settings.requests_per_second
        if len(self._rates) >= _MOST_CALLERS:
            self._rates.clear()
        left, then = self._rates.get(who, (rate * _BURST, now))
        left = min(left + (now - then) * rate, rate * _BURST) - 1
        self._rates[who] = (max(left, 0.0), now)
        if left < 0:
            raise RefusedError(429, "too many requests; wait a second")

    def _audit(self, scope: Scope, number: int, stage: str, status: int | None = None) -> None:
        caller: Caller | None = scope["state"].get("caller")
        entry = {
            "time": format_micros(now_micros()),
            "request": number,
            "stage": stage,
            "user": None if caller is None else caller.name,
            "role": None if caller is None else caller.role,
            "client": _client(scope),
            "method": scope["method"],
            "path": printable(scope["path"], 300),
            "status": status,
        }
        if self._settings.audit is None:
            log("request", **{key: value for key, value in entry.items() if key != "time"})
            return
        path = self._settings.audit.expanduser()
        if not path.exists():
            make_folder(path.parent)
            make_file(path)
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(entry) + "\n")


@lru_cache(_MOST_CALLERS)
def _local_user(number: int) -> Caller:
    """The user of this machine with a number; KeyError: it has no name."""
    return Caller(pwd.getpwuid(number).pw_name, "user")


class _Body:
    """The body of a request, up to a size and in time."""

    def __init__(self, receive: Receive, scope: Scope, most: int) -> None:
        self._receive, self._left = receive, most
        self._due = time.monotonic() + _BODY_SECONDS
        self._open = True
        named = Headers(scope=scope).get("content-length", "0")
        if not named.isdecimal() or len(named) > 18 or int(named) > most:
            raise RefusedError(413, f"a body may have {most} bytes at most")

    async def receive(self) -> Message:
        """The next message; see the ASGI specification."""
        if not self._open:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._due - time.monotonic())
        except TimeoutError:
            raise RefusedError(408, "the body came too slowly") from None
        self._open = bool(message.get("more_body"))
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise RefusedError(413, "the body is too large")
        return message


def _client(scope: Scope) -> str:
    """The address of the other end, or of the client that a trusted proxy names."""
    return printable((scope.get("client") or ["socket"])[0], 60)
