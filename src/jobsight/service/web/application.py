"""The application: the API and the pages over one `Site`, behind the checks of every request."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.registry import Collector
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Scope
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from jobsight import __version__
from jobsight.errors import (
    JobError,
    JobsightError,
    OutputError,
    SourceError,
    StoreUnavailableError,
    UsageError,
)
from jobsight.modes import make_folder
from jobsight.runtime import socket_paths
from jobsight.service import status
from jobsight.service.acting import acting_in
from jobsight.service.logs import log
from jobsight.service.systemd import Notifier
from jobsight.service.web import api, pages
from jobsight.service.web.guards import BrowserHeaders, Gate, Tags
from jobsight.service.web.tokens import Caller
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.service.web.site import Site
    from jobsight.service.web.tokens import Caller
    from jobsight.settings import ServeSettings

__all__ = ["Metrics", "application", "peer_of", "serve"]

_STATIC = Path(pages.__file__).parent / "static"
_LEAST_GZIPPED = 1000
_MOST_SHOWN = 20
_ALSO = {
    401: {"www-authenticate": "Bearer"}, 429: {"retry-after": "2"}, 503: {"retry-after": "5"},
}  # fmt: skip
"""Headers of answers with a status, seconds where they are times."""


def application(
    site: Site, command: Callable[[dict[str, Any]], Awaitable[bytes | None]] | None = None
) -> FastAPI:
    """The application of a site, which is `app.state.site`; it runs while the application does.

    `command` runs commands of the command line, for the service's own user.
    """
    settings, metrics = site.settings.serve, Metrics(site)
    app = FastAPI(
        title="Jobsight",
        version=__version__,
        summary="How batch jobs of HTCondor and Slurm will behave.",
        docs_url=None,
        redoc_url=None,
        root_path=settings.base_path,
        lifespan=_running,
        middleware=[
            Middleware(BrowserHeaders),
            Middleware(ProxyHeadersMiddleware, trusted_hosts=[*map(str, settings.trusted_proxies)]),
            Middleware(
                Gate,
                settings=settings,
                tokens=site.tokens,
                served=metrics.served,
                refused=lambda scope, error: _problem(scope, error.status_code, error.detail),
            ),
            Middleware(GZipMiddleware, minimum_size=_LEAST_GZIPPED, compresslevel=4),
            Middleware(Tags),
        ],
    )
    app.state.site, app.state.command = site, command
    app.add_api_route(
        "/metrics", lambda: PlainTextResponse(metrics.text()), include_in_schema=False
    )
    app.include_router(api.router)
    app.include_router(pages.router)
    if _STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    for kind in (JobsightError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _explained)
    return app


@asynccontextmanager
async def _running(app: FastAPI) -> AsyncIterator[None]:
    site: Site = app.state.site
    site.follower.start()
    yield
    await site.analysts.close()
    site.follower.stop()


async def _explained(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        status, detail = error.status_code, printable(error.detail, 300)
    elif isinstance(error, RequestValidationError):
        wrong = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors()[:_MOST_SHOWN]
        ]
        status, detail = 422, printable("; ".join(wrong), 1000)
    else:
        assert isinstance(error, JobsightError)
        kinds = {JobError: 404, UsageError: 422, SourceError: 422, StoreUnavailableError: 503}
        status = next((code for kind, code in kinds.items() if isinstance(error, kind)), 500)
        caller: Caller | None = request.scope["state"].get("caller")
        detail = request.app.state.site.explained(caller, error)
    return _problem(request.scope, status, detail)


def _problem(scope: Scope, status: int, detail: str) -> Response:
    """What is wrong: as JSON, or for a browser that asks for a page as the pages show it."""
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    accepts = dict(scope["headers"]).get(b"accept", b"")
    if path.startswith("/api/") or b"text/html" not in accepts:
        return JSONResponse({"detail": detail}, status, _ALSO.get(status))
    if status == 401 and scope["method"] == "GET":
        base = scope.get("root_path", "")
        return RedirectResponse(f"{base}/login?next={quote(path)}", 303)
    shown: Response = pages.problem(Request(scope), status, detail)
    shown.headers.update(_ALSO.get(status, {}))
    return shown


_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics(Collector):
    """Counts requests; and reads the rest from the site when it is asked for."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter(
            "jobsight_requests", "Requests served.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "jobsight_request_seconds", "Time to the last byte.", ("route",),
            buckets=_BOUNDS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(self)

    def served(self, scope: Scope, code: int, seconds: float) -> None:
        """Count a request; by the route that served it, never by its path."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        self._requests.labels(method, route, str(code)).inc()
        if not route.endswith("/events"):
            self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """In the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Gauge]:
        """What the site says of itself now; see prometheus_client."""
        site, ready = self._site, self._site.follower.current
        yield Gauge("jobsight_ready", "Whether the store has been read.", ready is not None)
        yield Gauge("jobsight_event_streams", "Open event streams.", site.events.open)
        if ready is not None:
            jobs = Gauge("jobsight_jobs", "Jobs in the store.", labels=["state"])
            for state, count in ready.tables.jobs.table["state"].value_counts().iter_rows():
                jobs.add_metric([str(state)], float(count))
            yield jobs
            words = "When the latest record of a job was written."
            yield Gauge("jobsight_last_record_seconds", words, ready.end / 1e6)
        labels = ["question", "cluster", "model"]
        models = Gauge("jobsight_champion", "Models that answer.", labels=labels)
        for one in site.models(Caller("", "user")):
            if one["champion"]:
                names = [printable(one[key], 100) for key in ("question", "cluster", "digest")]
                models.add_metric(names, 1.0)
        yield models
        try:
            healthy = status.read(site.settings.collect).healthy
        except JobsightError:
            return
        yield Gauge("jobsight_collector_healthy", "Whether the collector is well.", healthy)


_CREDENTIALS = struct.Struct("3i")
_HEAD = struct.Struct("=I2H2I")
_SOCK_DIAG, _BY_FAMILY, _REQUEST, _UID = 4, 20, 1, 64
"""NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST; where an inet_diag_msg has the owner."""
_ESTABLISHED = 1
"""Only such a connection has an owner: of one that is closing, the table says 0."""


def peer_of(connection: socket.socket) -> int | None:
    """The user id at the other end; None: it is of another machine, or not known."""
    try:
        if connection.family == socket.AF_UNIX:
            size = _CREDENTIALS.size
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            return int(_CREDENTIALS.unpack(raw)[1])
        here, there = connection.getsockname()[:2], connection.getpeername()[:2]
    except OSError:
        return None
    if not ipaddress.ip_address(there[0]).is_loopback:
        return None
    ends = (socket.inet_pton(connection.family, one[0]).ljust(16, b"\0") for one in (there, here))
    wanted = struct.pack("=4BI", connection.family, socket.IPPROTO_TCP, 0, 0, 1 << _ESTABLISHED)
    wanted += struct.pack("!2H", there[1], here[1]) + b"".join(ends) + bytes(4) + b"\xff" * 8
    head = _HEAD.pack(_HEAD.size + len(wanted), _BY_FAMILY, _REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.settimeout(1.0)
            kernel.send(head + wanted)
            reply = kernel.recv(4096)
    except OSError:
        return None
    if _HEAD.unpack_from(reply)[1] != _BY_FAMILY or reply[_HEAD.size + 1] != _ESTABLISHED:
        return None
    return int(struct.unpack_from("=I", reply, _HEAD.size + _UID)[0])


_BACKLOG = 512
_HEADERS_S = 20.0
"""For a new connection to send its first request line and headers."""
_MOST_CONNECTIONS = 2000
_STOP_S = 3


class _Connection:
    """The connection that a request came by."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._socket: socket.socket = transport.get_extra_info("socket")

    @cached_property
    def user(self) -> int | None:
        """User id of the other end, where that is on this machine."""
        return peer_of(self._socket)


class _Protocol(H11Protocol):
    """HTTP/1.1 that knows who is at the other end, and closes what sends no request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "connection": _Connection(transport)}
        self.loop.call_later(_HEADERS_S, self._close_if_silent)

    def _close_if_silent(self) -> None:
        if self.headers is None:  # set with the first request
            self.transport.close()  # type: ignore[unreachable]


def serve(
    site: Site, command: Callable[[dict[str, Any]], Awaitable[bytes | None]] | None = None
) -> None:
    """Serve a site where its settings say, until SIGTERM or SIGINT; `command`: see `application`.

    Raises:
        OutputError: an address cannot be listened on.
    """
    settings = site.settings.serve
    with (
        _listening(settings.listen) as listener,
        _local(settings) as local,
        acting_in(site.follower, site.store, site.settings),
    ):
        config = uvicorn.Config(
            application(site, command), http=_Protocol, ws="none", log_config=None,
            access_log=False, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=_STOP_S, limit_concurrency=_MOST_CONNECTIONS,
        )  # fmt: skip
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log("service started", address=f"http://{shown}:{port}{settings.base_path}/")
        notifier = Notifier()
        notifier.ready()
        for number in (signal.SIGTERM, signal.SIGINT):  # raised again after a graceful end
            signal.signal(number, lambda _number, _frame: None)
        uvicorn.Server(config).run(sockets=[listener, *local])
        notifier.stopping()
        log("service stopped")


def _listening(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        found = socket.create_server((host.strip("[]"), int(port)), family=family, backlog=_BACKLOG)
        # asyncio sets it only for sockets that name TCP as their protocol; without, small answers
        # wait 40 ms for the acknowledgement of their headers. Accepted connections inherit it.
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputError(f"cannot listen on {address}: {reason}") from None


@contextlib.contextmanager
def _local(settings: ServeSettings) -> Iterator[list[socket.socket]]:
    """The Unix socket, none where another service has it."""
    path = Path(settings.socket or socket_paths()[0]).expanduser()
    server = socket.socket(socket.AF_UNIX)
    try:
        make_folder(path.parent)
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                log("another service has the socket", path=path)
                yield []
                return
        path.unlink(missing_ok=True)
        before = os.umask(0o111 if settings.local_users else 0o177)
        try:
            server.bind(str(path))
        finally:
            os.umask(before)
        server.listen(_BACKLOG)
        yield [server]
        path.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot listen on {path}: {error.strerror or error}") from None
    finally:
        server.close()
