"""Runs the application until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import signal
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from jobsight.errors import OutputError
from jobsight.modes import make_folder
from jobsight.runtime import socket_paths
from jobsight.service.logs import log
from jobsight.service.systemd import Notifier
from jobsight.service.web.application import application

if TYPE_CHECKING:
    from jobsight.service.web.site import Site
    from jobsight.settings import ServeSettings

__all__ = ["peer_of", "serve"]

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
    with _listening(settings.listen) as listener, _local(settings) as local:
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
        if _answers(path):
            log("another service has the socket", path=path)
            yield []
            return
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
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


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
