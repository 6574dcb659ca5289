"""The remote TCP connections of a process tree, and the bytes they moved, from the kernel."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from contextlib import suppress

from jobsight.program.procfs import DIAG_REQUESTS, Socket, parse_sockets

__all__ = ["Connections", "same_network"]

_NETLINK_SOCK_DIAG = 4
_REPLY = 1 << 17


class Connections:
    """The remote TCP connections of some processes, looked up now and then.

    A connection between two of the processes is not remote.

    Attributes:
        moved: bytes that they moved since the first look, without what a connection moved after
            the last look at it.
        opened: connections that are new since the first look.
    """

    def __init__(self, *, fresh: bool) -> None:
        """Connections of processes that start now, or that had some before."""
        self.moved = self.opened = 0
        self._bytes: dict[int, int] = {}
        self._known: set[int] = set()
        self._remote: set[int] = set()
        self._fresh = fresh

    def look(self, processes: Iterable[int]) -> None:
        """Read which sockets the processes have, and what those moved."""
        self._known = {inode for pid in processes for inode in _sockets_of(pid)}
        if not self._known:
            self._remote, self._fresh = set(), True
            return
        found = _all_sockets()
        own = {one.ends for one in found if one.inode in self._known}
        remote = [one for one in found if one.inode in self._known and one.ends[::-1] not in own]
        for one in remote:
            self.opened += self._fresh and one.inode not in self._bytes
            before = self._bytes.get(one.inode, 0 if self._fresh else one.moved)
            self.moved += max(one.moved - before, 0)
        self._bytes = {one.inode: one.moved for one in remote}
        self._remote = set(self._bytes)
        self._fresh = True

    def waits(self, pid: int, descriptor: int | None) -> bool | None:
        """Whether a process that waits for a descriptor waits for such a connection.

        Args:
            pid: of the process.
            descriptor: None: it waits for some that are not known.

        Returns:
            None: a socket is new since the last look.
        """
        inodes = set(_sockets_of(pid, descriptor))
        if inodes.isdisjoint(self._remote):
            return False if inodes <= self._known else None
        return True


def _sockets_of(pid: int, descriptor: int | None = None) -> list[int]:
    """The inodes of the sockets of a process, or of the one behind a descriptor."""
    found = []
    with suppress(OSError):
        names = os.listdir(f"/proc/{pid}/fd") if descriptor is None else [descriptor]  # noqa: PTH208
        for name in names:
            with suppress(OSError):
                target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
                if target.startswith("socket:["):
                    found.append(int(target[8:-1]))
    return found


def same_network(pid: int) -> bool:
    """Whether the connections of a process can be looked up here, as far as is known."""
    try:
        return os.path.samefile(f"/proc/{pid}/ns/net", "/proc/self/ns/net")  # noqa: PTH121
    except OSError:
        return True


def _all_sockets() -> list[Socket]:
    """The TCP sockets of this network namespace; none where the kernel does not list them."""
    found: list[Socket] = []
    with (
        suppress(OSError),
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel,
    ):
        kernel.settimeout(1.0)
        for request in DIAG_REQUESTS:
            kernel.send(request)
            last = False
            while not last:
                some, last = parse_sockets(kernel.recv(_REPLY))
                found += some
    return found
