"""What Linux reports of processes and sockets, parsed: bytes in, numbers out, no I/O.

Formats: proc(5), https://docs.kernel.org/accounting/psi.html, and sock_diag(7). Every parser takes
any bytes: what it cannot read is None, or left out.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

__all__ = [
    "DIAG_REQUESTS",
    "Call",
    "Socket",
    "Stat",
    "Wait",
    "numbers",
    "parse_call",
    "parse_fields",
    "parse_pressure",
    "parse_sockets",
    "parse_stat",
]

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST = 1 << 63
"""No count of the kernel is larger."""


class Stat(NamedTuple):
    """``/proc/PID/stat`` of a process, or of one thread."""

    state: str
    """R, S, D, T, Z, … of the main thread."""
    parent: int
    faults: int
    """Major ones, its waited-for children's among them."""
    cpu_s: float
    children_s: float
    """CPU of the children that it waited for, and of theirs."""
    threads: int
    started: int
    """Ticks since boot: with the PID, it names a process for good."""
    resident: int
    """Bytes."""


class Wait(Enum):
    """What a thread in a system call can be waiting for."""

    SOCKET = "one descriptor, which may be a socket"
    POLL = "any of many descriptors"
    DISK = "asynchronous disk operations"
    OTHER = "something else"


class Call(NamedTuple):
    """The system call in which a thread sleeps."""

    wait: Wait
    descriptor: int
    """Its first argument."""


class Socket(NamedTuple):
    """A TCP socket."""

    inode: int
    ends: tuple[bytes, bytes]
    """Its own address and port, and its peer's."""
    moved: int
    """Bytes acknowledged by the peer, and received from it."""


# Numbers of system calls: arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h of Linux.
_SOCKET = "read write readv writev sendfile connect accept accept4 sendto recvfrom sendmsg recvmsg"
_POLL = "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2"
_DISK = "io_getevents io_pgetevents io_uring_enter"
_NUMBERS = {
    "x86_64": {
        _SOCKET: (0, 1, 19, 20, 40, 42, 43, 288, 44, 45, 46, 47),
        _POLL: (7, 271, 23, 270, 232, 281, 441),
        _DISK: (208, 333, 426),
    },
    "aarch64": {
        _SOCKET: (63, 64, 65, 66, 71, 203, 202, 242, 206, 207, 211, 212),
        _POLL: (73, 72, 22, 441),
        _DISK: (4, 292, 426),
    },
}
_KINDS = {_SOCKET: Wait.SOCKET, _POLL: Wait.POLL, _DISK: Wait.DISK}
_CALLS = {
    number: _KINDS[names]
    for names, found in _NUMBERS.get(os.uname().machine, {}).items()
    for number in found
}
"""Empty on other machines."""


def parse_stat(content: bytes) -> Stat | None:
    """``stat`` of a process; its name may hold blanks and parentheses."""
    fields = content.rpartition(b")")[2].split()
    if len(fields) < 22 or len(fields[0]) != 1:
        return None
    try:
        value = [int(field) for field in fields[1:22]]
    except ValueError:
        return None
    if not all(-_MOST <= one < 2 * _MOST for one in value):
        return None
    return Stat(
        state=fields[0].decode("ascii", "replace"),
        parent=value[0],
        faults=value[8] + value[9],
        cpu_s=(value[10] + value[11]) * _TICK,
        children_s=(value[12] + value[13]) * _TICK,
        threads=value[16],
        started=value[18],
        resident=value[20] * _PAGE,
    )


def parse_call(content: bytes) -> Call | None:
    """``syscall`` of a thread; None: it is not in one, or the machine's numbers are unknown."""
    fields = content.split(None, 2)
    try:
        number, first = int(fields[0]), int(fields[1], 16)
    except (ValueError, IndexError):
        return None
    return Call(_CALLS.get(number, Wait.OTHER), first & 0x7FFFFFFF) if _CALLS else None


def parse_fields(content: bytes) -> dict[bytes, int]:
    """Lines of ``name: number``, as in ``io`` and ``status``; a unit after it is not read."""
    found = {}
    for line in content.splitlines():
        name, _, rest = line.partition(b":")
        if first := numbers(rest, 1):
            found[name] = first[0]
    return found


def numbers(content: bytes, most: int) -> list[int]:
    """The whole numbers that it begins with, at most so many (``schedstat``, ``children``)."""
    found = []
    for word in content.split(None, most)[:most]:
        if not word.isdigit() or len(word) > 20:
            break
        found.append(int(word))
    return found


def parse_pressure(content: bytes) -> float | None:
    """Seconds in which some task waited for the resource, since boot (``/proc/pressure``)."""
    for line in content.splitlines():
        if line.startswith(b"some "):
            total = numbers(line.rpartition(b"total=")[2], 1)
            return total[0] / 1e6 if total else None
    return None


_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr: length, type, flags, sequence, port
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_BY_FAMILY, _INFO = 20, 2  # SOCK_DIAG_BY_FAMILY, INET_DIAG_INFO
_STATES = 0xFFF & ~(1 << 10 | 1 << 6)  # all but LISTEN and TIME_WAIT
_REQUEST = struct.Struct("=BBBBI48x")  # struct inet_diag_req_v2: family, TCP, extensions, states
_MESSAGE = 72  # bytes of struct inet_diag_msg
_MOVED = struct.Struct("=120xQQ")  # struct tcp_info: bytes_acked, bytes_received

DIAG_REQUESTS = tuple(
    _HEADER.pack(_HEADER.size + _REQUEST.size, _BY_FAMILY, _DUMP, 1, 0)
    + _REQUEST.pack(family, 6, 1 << (_INFO - 1), 0, _STATES)
    for family in (2, 10)  # AF_INET, AF_INET6
)
"""Messages to NETLINK_SOCK_DIAG that ask for all TCP sockets of the network namespace."""


def parse_sockets(content: bytes) -> tuple[list[Socket], bool]:
    """The TCP sockets in one reply of NETLINK_SOCK_DIAG, and whether it is the last reply."""
    found: list[Socket] = []
    at = 0
    while at + _HEADER.size <= len(content):
        length, kind, *_ = _HEADER.unpack_from(content, at)
        if kind != _BY_FAMILY or length < _HEADER.size or at + length > len(content):
            return found, True  # NLMSG_DONE, NLMSG_ERROR, or damaged
        body = content[at + _HEADER.size : at + length]
        if len(body) >= _MESSAGE:
            own, peer = body[8:24] + body[4:6], body[24:40] + body[6:8]
            inode = int.from_bytes(body[68:72], "little" if _LITTLE else "big")
            found.append(Socket(inode, (own, peer), _moved(body[_MESSAGE:])))
        at += length + 3 & ~3
    return found, False


_LITTLE = struct.pack("=H", 1) == b"\x01\x00"


def _moved(attributes: bytes) -> int:
    for kind, value in _attributes(attributes):
        if kind == _INFO and len(value) >= _MOVED.size:
            return sum(_MOVED.unpack_from(value))
    return 0


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(content):
        length, kind = struct.unpack_from("=HH", content, at)
        if length < 4:
            return
        yield kind, content[at + 4 : at + length]
        at += length + 3 & ~3
