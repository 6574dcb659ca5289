"""Which user of this machine is at the other end of a connection.

Of a Unix socket the kernel says it (SO_PEERCRED, unix(7)); of TCP on loopback it names the owner
of the end of the client (sock_diag(7)).
"""

from __future__ import annotations

import ipaddress
import socket
import struct

__all__ = ["peer_of"]

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
