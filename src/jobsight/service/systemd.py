"""Telling systemd the state of the service: ready, alive, stopping (sd_notify(3)).

The protocol: lines of ``NAME=value`` in one datagram to the Unix socket named by ``NOTIFY_SOCKET``;
a name that begins with ``@`` is in Linux's abstract namespace. ``WATCHDOG_USEC`` says how often
(µs) the service must show that it is alive, ``WATCHDOG_PID`` which process is meant.
"""

from __future__ import annotations

import contextlib
import os
import socket
from time import monotonic

from jobsight.text import printable

__all__ = ["Notifier"]

_STATUS_WIDTH = 200


class Notifier:
    """Sends the state to systemd where it listens; never fails and never blocks.

    Attributes:
        interval: seconds between two signs of life, half of systemd's limit; None: it has none.
    """

    def __init__(self) -> None:
        name = os.environ.get("NOTIFY_SOCKET", "")
        self._address = b"\0" + os.fsencode(name[1:]) if name.startswith("@") else name
        self._socket: socket.socket | None = None
        if name.startswith(("@", "/")):
            self._socket = socket.socket(
                socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
            )
        micros = os.environ.get("WATCHDOG_USEC", "")
        ours = os.environ.get("WATCHDOG_PID") in (None, "", str(os.getpid()))
        wanted = ours and micros.isascii() and micros.isdigit()
        self.interval = (int(micros) / 2e6 or None) if wanted else None
        self._due = monotonic()

    def ready(self) -> None:
        """Report that everything is open."""
        self._send("READY=1")

    def stopping(self) -> None:
        """Report that the service is about to end."""
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        """Set the line that ``systemctl status`` shows."""
        self._send(f"STATUS={printable(text, _STATUS_WIDTH)}")

    def alive(self) -> None:
        """Send a sign of life, if one is due."""
        if self.interval is not None and monotonic() >= self._due:
            self._due = monotonic() + self.interval
            self._send("WATCHDOG=1")

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()

    def _send(self, text: str) -> None:
        if self._socket is not None:
            # systemd may be restarting: what it misses now, it gets the next time.
            with contextlib.suppress(OSError):
                self._socket.sendto(text.encode(), self._address)
