"""Telling systemd how the service is: ready, alive, stopping (sd_notify(3)).

The protocol: lines of ``NAME=value`` in one datagram to the Unix socket named by ``NOTIFY_SOCKET``;
a name that begins with ``@`` lies in Linux's abstract namespace. ``WATCHDOG_USEC`` says how often
(µs) the service must tell that it lives, ``WATCHDOG_PID`` which process is meant.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping

from jobsight.text import printable

__all__ = ["Notifier"]

_STATUS_WIDTH = 200


class Notifier:
    """Speaks to systemd where it listens, else to nobody; never fails and never blocks."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        told = os.environ if environment is None else environment
        self._address = _address(told.get("NOTIFY_SOCKET", ""))
        self._every = _watchdog_seconds(told)
        self._now = now
        self._due = now()
        self._socket: socket.socket | None = None

    @property
    def interval(self) -> float | None:
        """Seconds between two signs of life: half of what systemd waits for; None: it does not."""
        return self._every

    def ready(self) -> None:
        """Started: everything is open."""
        self._send("READY=1")

    def stopping(self) -> None:
        """About to end."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """One line for ``systemctl status``."""
        self._send(f"STATUS={printable(text, _STATUS_WIDTH)}")

    def alive(self) -> None:
        """A sign of life, if one is due."""
        if self._every is not None and self._now() >= self._due:
            self._due = self._now() + self._every
            self._send("WATCHDOG=1")

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, text: str) -> None:
        if self._address is None:
            return
        # systemd may be restarting: what it misses now, it hears the next time.
        with contextlib.suppress(OSError):
            if self._socket is None:
                self._socket = socket.socket(
                    socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                )
            self._socket.sendto(text.encode(), self._address)


def _address(name: str) -> str | bytes | None:
    if name.startswith("@"):
        return b"\0" + os.fsencode(name[1:])
    return name if name.startswith("/") else None


def _watchdog_seconds(told: Mapping[str, str]) -> float | None:
    micros = told.get("WATCHDOG_USEC", "")
    pid = told.get("WATCHDOG_PID", "")
    if not micros.isascii() or not micros.isdigit() or int(micros) == 0:
        return None
    if pid and pid != str(os.getpid()):
        return None
    return int(micros) / 2e6
