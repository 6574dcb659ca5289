"""Which user of this machine is at the other end of a connection.

Of a Unix socket the kernel says it (SO_PEERCRED, unix(7)); of TCP on loopback, ``/proc/net/tcp``
has the owner of the client's end (proc(5)).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from pathlib import Path

__all__ = ["peer_of"]

_CREDENTIALS = struct.Struct("3i")
_ESTABLISHED = "01"
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
    table = "tcp6" if connection.family == socket.AF_INET6 else "tcp"
    return _owner(table, _hexadecimal(*there), _hexadecimal(*here))


def _owner(table: str, local: str, remote: str) -> int | None:
    """The owner of the end `local` of an established connection to `remote`."""
    try:
        lines = Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        if fields[1:4] == [local, remote, _ESTABLISHED]:
            return int(fields[7])
    return None


def _hexadecimal(address: str, port: int) -> str:
    """An address as the table has it: words of 32 bits in the machine's own order."""
    packed = ipaddress.ip_address(address).packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
