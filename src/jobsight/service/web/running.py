"""Runs the application until it is stopped."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import uvicorn

from jobsight.errors import OutputError
from jobsight.service.logs import log
from jobsight.service.systemd import Notifier
from jobsight.service.web.application import application

if TYPE_CHECKING:
    from jobsight.service.web.site import Site

__all__ = ["serve"]

_BACKLOG = 512


def serve(site: Site) -> None:
    """Serve a site where its settings say, until SIGTERM or SIGINT.

    Raises:
        OutputError: the address cannot be listened on.
    """
    with _listening(site.settings.serve.listen) as listener:
        config = uvicorn.Config(
            application(site), log_config=None, access_log=False, server_header=False,
            proxy_headers=False, timeout_graceful_shutdown=5,
        )  # fmt: skip
        host, port = listener.getsockname()[:2]
        log("service started", address=f"http://{host}:{port}{site.settings.serve.base_path}/")
        notifier = Notifier()
        notifier.ready()
        uvicorn.Server(config).run(sockets=[listener])
        notifier.stopping()
        log("service stopped")


def _listening(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), int(port)), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise OutputError(f"cannot listen on {address}: {error.strerror or error}") from None
