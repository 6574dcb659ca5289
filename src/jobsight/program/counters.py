"""Instructions and last-level cache misses: from hardware counters, or from cachegrind.

Hardware counters are those of perf_event_open(2), opened here and inherited by the command and its
descendants; they count in user mode alone, which needs no privileges where the kernel's
`perf_event_paranoid` is at most 2.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from jobsight.errors import SourceError

__all__ = [
    "Counters",
    "cachegrind_command",
    "last_level_cache",
    "parse_cachegrind",
    "read_cachegrind",
]

HARDWARE, SOFTWARE = 0, 1
INSTRUCTIONS, CACHE_MISSES = 1, 3
"""PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES (of the last level)."""
_SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}
# struct perf_event_attr in its first version: type, size, config, period, sample and read formats,
# flags, and four fields that stay 0. Flags: disabled, inherit, exclude_kernel, exclude_hv,
# enable_on_exec. Read format: the time that it was enabled, and that it counted.
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
_FLAGS = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 12
_TIMES = 1 | 2
_CLOSE_ON_EXEC = 8
CACHE = 32 << 20
"""Bytes of a last-level cache if it is not known: that of eight cores of a server."""
_WAYS, _LINE = 16, 64


class Counters:
    """Two counters of this process's future children: they count from their exec on.

    Attributes:
        missing: why there are none; None: there are.
    """

    def __init__(self, kind: int = HARDWARE, events: Iterable[int] = (INSTRUCTIONS, CACHE_MISSES)):
        """Open them.

        Args:
            kind: PERF_TYPE of the events.
            events: two, which `read` returns in this order.
        """
        self.missing: str | None = None
        self._open: list[int] = []
        self._last = (0.0, 0.0)
        number = _SYSTEM_CALL.get(os.uname().machine)
        if number is None:
            self.missing = "hardware counters are not read on this kind of machine"
            return
        for event in events:
            size = _ATTRIBUTES.size
            attributes = _ATTRIBUTES.pack(kind, size, event, 0, 0, _TIMES, _FLAGS, 0, 0, 0)
            library = ctypes.CDLL(None, use_errno=True)
            found = library.syscall(
                ctypes.c_long(number), ctypes.create_string_buffer(attributes, size),
                ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1), ctypes.c_ulong(_CLOSE_ON_EXEC),
            )  # fmt: skip
            if found < 0:
                self.missing = _refusal(ctypes.get_errno())
                self.close()
                return
            self._open.append(found)

    def read(self) -> tuple[float | None, float | None]:
        """What both counted since the last call; None: they are missing.

        Where the hardware counted only part of the time, the rest is extrapolated.
        """
        if self.missing is not None:
            return None, None
        now = tuple(_value(os.read(one, 24)) for one in self._open)
        pairs = zip(now, self._last, strict=True)
        first, second = (max(value - last, 0.0) for value, last in pairs)
        self._last = (now[0], now[1])
        return first, second

    def close(self) -> None:
        """Close them."""
        while self._open:
            os.close(self._open.pop())


def _value(content: bytes) -> float:
    value, enabled, counted = struct.unpack("=QQQ", content)
    return value * (enabled / counted) if counted else 0.0


def _refusal(number: int) -> str:
    if number in (errno.EACCES, errno.EPERM):
        why = "hardware counters are not allowed (kernel.perf_event_paranoid)"
    else:
        why = "this machine has no hardware counters (perf_event_open)"
    return f"{why}; --cachegrind estimates them"


def last_level_cache(caches: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """Bytes of this machine's last-level cache; `CACHE` where the kernel does not report it.

    Cachegrind's own look at the processor finds the caches of a whole package, under some
    hypervisors in one with a single way.
    """
    found = [CACHE]
    with suppress(OSError, ValueError, KeyError):
        levels = {int((one / "level").read_text()): one for one in caches.glob("index*")}
        size = (levels[max(levels, default=0)] / "size").read_text().strip()
        found.append(int(size.removesuffix("K")) << 10)
    return found[-1]


def cachegrind_command(valgrind: str, folder: str, command: Sequence[str], cache: int) -> list[str]:
    """The command under cachegrind, with a file per process in a folder.

    Args:
        valgrind: its path.
        folder: for its files.
        command: to be run.
        cache: bytes of the last-level cache; it simulates the next smaller power of two.
    """
    size = 1 << (cache.bit_length() - 1)
    return [
        valgrind, "--tool=cachegrind", "--cache-sim=yes", "--trace-children=yes", "--quiet",
        f"--LL={size},{_WAYS},{_LINE}",
        f"--cachegrind-out-file={folder}/%p.out", f"--log-file={folder}/%p.log", "--", *command,
    ]  # fmt: skip


def parse_cachegrind(head: bytes, tail: bytes) -> tuple[float, float] | None:
    """Last-level misses and instructions in cachegrind's output; None: it has no totals.

    Its format: ``events:`` names the columns of ``summary:``, the last line
    (https://valgrind.org/docs/manual/cg-manual.html).

    Args:
        head: the file's beginning.
        tail: its end.
    """
    names = _after(head, b"events:")
    values = _after(tail, b"summary:")
    counts = {
        name: float(value)
        for name, value in zip(names, values, strict=False)
        if value.isdigit() and len(value) < 20
    }
    if not {b"Ir", b"ILmr", b"DLmr", b"DLmw"} <= counts.keys() or not counts[b"Ir"]:
        return None
    return counts[b"ILmr"] + counts[b"DLmr"] + counts[b"DLmw"], counts[b"Ir"]


def _after(content: bytes, label: bytes) -> list[bytes]:
    lines = (line for line in content.splitlines() if line.startswith(label))
    return next(lines, b"").removeprefix(label).split()


_ENDS = 1 << 16


def read_cachegrind(folder: Path) -> tuple[float, float]:
    """Last-level misses and instructions of all processes.

    Raises:
        SourceError: no process left any.
    """
    misses = instructions = 0.0
    for path in folder.glob("*.out"):
        with suppress(OSError), path.open("rb") as stream:
            head = stream.read(_ENDS)
            stream.seek(-min(_ENDS, path.stat().st_size), os.SEEK_END)
            if found := parse_cachegrind(head, stream.read()):
                misses, instructions = misses + found[0], instructions + found[1]
    if not instructions:
        raise SourceError("cachegrind counted nothing; does the command run under valgrind?")
    return misses, instructions
