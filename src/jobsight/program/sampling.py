"""Samples of a process tree from /proc: what each process does now, and what it used since.

A process that runs is on a CPU; of one that does not, the most telling thread decides: a disk wait
(state D, or asynchronous disk operations) before a socket wait before any other. How long a process
was on a CPU and in the run queue is exact (the kernel counts it); only what it did in the rest of
its time rests on samples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from jobsight.errors import SourceError
from jobsight.program.procfs import (
    Stat,
    Wait,
    numbers,
    parse_call,
    parse_fields,
    parse_pressure,
    parse_stat,
)
from jobsight.program.profile import Window
from jobsight.program.sockets import Connections, same_network

__all__ = ["Doing", "Sampler", "children_of", "machine", "pressures"]

_MOST_BYTES = 1 << 16


class Doing(Enum):
    """What a process does at a moment."""

    RUNNING = "running, or in the run queue"
    IO = "waiting for a disk"
    CAPACITY = "waiting for memory that was swapped out"
    SOCKET = "waiting for a remote connection"
    WAITING = "waiting for anything else"


@dataclass
class _Process:
    """What is known of a process since the last window.

    Attributes:
        stat: the last one read.
        queue: seconds in the run queue since its start, by the last look.
        wall, cpu, queued: seconds since the last window.
        seen: seconds by what it did.
    """

    stat: Stat
    queue: float
    wall: float = 0.0
    cpu: float = 0.0
    queued: float = 0.0
    seen: dict[Doing, float] = field(default_factory=dict)

    def part(self) -> Window:
        """Its part in a window; what is off the CPU is split as it was seen.

        What was seen ready to run for longer than it ran was in the run queue, or its virtual CPU
        did not run: the kernel counts a wait there only when it ends, and the other not at all.
        """
        on_cpu = min(self.cpu, self.wall)
        running = self.seen.get(Doing.RUNNING, 0.0)
        seen = sum(self.seen.values()) - running
        queued = min(max(self.queued, running - on_cpu), self.wall - on_cpu)
        queued = queued if seen else self.wall - on_cpu
        off = self.wall - on_cpu - queued
        share = off / seen if seen else 0.0
        io, sockets, capacity = (
            share * self.seen.get(what, 0.0) for what in (Doing.IO, Doing.SOCKET, Doing.CAPACITY)
        )
        return Window(0.0, on_cpu, queued, io, sockets, capacity, cpu_s=self.cpu)


class Sampler:
    """Samples processes and their descendants; those that vanish meanwhile are left out.

    Not for several threads. A descendant stays one when its parent ends.

    Attributes:
        missing: class → why a signal of it could not be read.
        running: processes of the last sample.
    """

    def __init__(self, roots: Callable[[], Iterable[int]], *, fresh: bool) -> None:
        """A sampler; nothing is read yet.

        Args:
            roots: the PIDs to begin with, asked at each sample.
            fresh: they start after this, so all that they used counts; else only from now on.

        Raises:
            SourceError: this system does not list the children of processes.
        """
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # noqa: PTH110
            raise SourceError(
                "/proc does not list the children of processes, as Linux with CONFIG_PROC_CHILDREN "
                "does; processes cannot be sampled here"
            )
        self.missing: dict[str, str] = {}
        self.running: dict[int, Stat] = {}
        self._roots = roots
        self._fresh = fresh
        self._processes: dict[tuple[int, int], _Process] = {}
        self._connections = Connections(fresh=fresh)
        self._looked = False
        self._cpu = self._reaped = self._unseen = self._seconds = 0.0
        self._resident = 0
        self._disk = (0, 0)
        if not fresh:
            self.sample(0.0)
            self.window()

    def reap(self, cpu_s: float) -> None:
        """Count the CPU seconds of a process that was waited for here, and of its children."""
        self._reaped += cpu_s

    def sample(self, seconds: float) -> None:
        """Look at all processes.

        Args:
            seconds: since the last sample.
        """
        self.running = dict(self._tree())
        self._looked = False
        own = 0.0
        for pid, stat in self.running.items():
            known = self._processes.get((pid, stat.started))
            if known is None:
                known = _Process(stat._replace(cpu_s=0.0) if self._fresh else stat, 0.0)
                known.queue = 0.0 if self._fresh else _queued(pid, stat)
                if not same_network(pid):
                    self.missing["network"] = "some sockets are in another network namespace"
                self._processes[pid, stat.started] = known
            used = max(stat.cpu_s - known.stat.cpu_s, 0.0)
            known.cpu += used
            own += used
            if stat.state in "ZX":  # how long ago it ended is unknown
                known.wall += used
            else:
                known.wall += seconds
                doing = self._doing(pid, stat, known.stat.faults)
                known.seen[doing] = known.seen.get(doing, 0.0) + seconds
                if stat.threads == 1:
                    _count_queue(pid, known)
            known.stat = stat
        self._fresh = True
        total = sum(one.cpu_s + one.children_s for one in self.running.values()) + self._reaped
        # What ended between two samples: its parent, or `reap`, has its time.
        self._unseen += max(total - self._cpu - own, 0.0) if seconds else 0.0
        self._cpu = total
        self._seconds += seconds
        self._resident = max(self._resident, sum(one.resident for one in self.running.values()))

    @property
    def idle(self) -> bool:
        """Whether no process was seen since the last window."""
        return not self._processes

    def window(self) -> Window:
        """What happened since the last window."""
        for (pid, started), known in self._processes.items():
            stat = self.running.get(pid)
            if stat is not None and stat.started == started and stat.threads > 1:
                _count_queue(pid, known)
        self._connections.look(self.running)
        moved, self._connections.moved = self._connections.moved, 0
        opened, self._connections.opened = self._connections.opened, 0
        disk = self._disk_bytes()
        read, written = (max(now - then, 0) for now, then in zip(disk, self._disk, strict=True))
        found = Window(
            self._seconds,
            on_cpu=min(self._unseen, self._seconds),
            cpu_s=self._unseen,
            moved=moved,
            opened=opened,
            read=read,
            written=written,
            resident=self._resident,
        )
        for known in self._processes.values():
            found += known.part()
        self._processes = {
            (pid, stat.started): _Process(stat, self._processes[pid, stat.started].queue)
            for pid, stat in self.running.items()
        }
        self._disk, self._seconds, self._unseen, self._resident = disk, 0.0, 0.0, 0
        return found

    def _tree(self) -> Iterator[tuple[int, Stat]]:
        """The roots, the descendants known so far, and all children of these, while they run."""
        waiting = [*self._roots(), *(pid for pid, _ in self._processes)]
        started = dict(self._processes.keys())
        met = {os.getpid()}
        while waiting:
            pid = waiting.pop()
            if pid in met:
                continue
            met.add(pid)
            stat = parse_stat(_read(f"/proc/{pid}/stat"))
            if stat is None or started.get(pid, stat.started) != stat.started:
                continue
            if stat.state not in "ZX":
                waiting += children_of(pid, None if stat.threads == 1 else _tasks(pid))
            yield pid, stat

    def _doing(self, pid: int, stat: Stat, faults: int) -> Doing:
        tasks = [str(pid)] if stat.threads == 1 else _tasks(pid)
        states = {}
        for task in tasks:
            one = stat if stat.threads == 1 else parse_stat(_read(f"/proc/{pid}/task/{task}/stat"))
            if one is not None:
                states[task] = one.state
                if one.state == "R":
                    return Doing.RUNNING
        if "D" in states.values():
            status = parse_fields(_read(f"/proc/{pid}/status")) if stat.faults > faults else {}
            return Doing.CAPACITY if status.get(b"VmSwap", 0) > 0 else Doing.IO
        return max(
            (self._waiting(pid, task) for task, state in states.items() if state == "S"),
            key=(Doing.WAITING, Doing.SOCKET, Doing.IO).index,
            default=Doing.WAITING,
        )

    def _waiting(self, pid: int, task: str) -> Doing:
        """What a sleeping thread waits for."""
        try:
            call = parse_call(_read(f"/proc/{pid}/task/{task}/syscall", refused=True))
        except PermissionError:
            self.missing["network"] = "the system calls of these processes may not be read"
            return Doing.WAITING
        if call is None or call.wait is Wait.OTHER:
            return Doing.WAITING
        if call.wait is Wait.DISK:
            return Doing.IO
        descriptor = call.descriptor if call.wait is Wait.SOCKET else None
        remote = self._connections.waits(pid, descriptor)
        if remote is None and not self._looked:
            self._looked = True
            self._connections.look(self.running)
            remote = self._connections.waits(pid, descriptor)
        return Doing.SOCKET if remote else Doing.WAITING

    def _disk_bytes(self) -> tuple[int, int]:
        read = written = 0
        for pid in self.running:
            found = parse_fields(_read(f"/proc/{pid}/io"))
            read += found.get(b"read_bytes", 0)
            written += found.get(b"write_bytes", 0)
        return read, written


def children_of(pid: int, tasks: Iterable[str] | None = None) -> list[int]:
    """The PIDs of a process's children; none where it has ended.

    Args:
        pid: of the process.
        tasks: its threads; None: the main one alone.
    """
    found = (_read(f"/proc/{pid}/task/{task}/children") for task in tasks or (str(pid),))
    return [child for content in found for child in numbers(content, _MOST_BYTES)]


def pressures() -> dict[str, float]:
    """Seconds since boot in which some task of the machine waited, by resource; what is listed."""
    found = {name: parse_pressure(_read(f"/proc/pressure/{name}")) for name in _PRESSURES}
    return {name: value for name, value in found.items() if value is not None}


def machine() -> dict[str, int | str | None]:
    """What measures depend on: CPUs, their model, memory in MB, kernel, host name."""
    names = (line.partition(b":") for line in _read("/proc/cpuinfo").splitlines())
    models = (value for name, _, value in names if name.strip() == b"model name")
    system = os.uname()
    return {
        "host": system.nodename,
        "system": f"{system.sysname} {system.release} {system.machine}",
        "cpu": next(models, b"").decode("ascii", "replace").strip() or None,
        "cpus": os.cpu_count(),
        "memory_mb": parse_fields(_read("/proc/meminfo")).get(b"MemTotal", 0) // 1024 or None,
    }


_PRESSURES = ("cpu", "io", "memory")


def _count_queue(pid: int, known: _Process) -> None:
    queue = _queued(pid, known.stat)
    known.queued += max(queue - known.queue, 0.0)
    known.queue = queue


def _queued(pid: int, stat: Stat) -> float:
    """Seconds that the present threads of a process were in the run queue."""
    tasks = [str(pid)] if stat.threads == 1 else _tasks(pid)
    found = (numbers(_read(f"/proc/{pid}/task/{task}/schedstat"), 2) for task in tasks)
    return sum(values[1] for values in found if len(values) == 2) / 1e9


def _tasks(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []


def _read(path: str, *, refused: bool = False) -> bytes:
    """A small file of /proc; empty where it is gone, or may not be read.

    Raises:
        PermissionError: it may not be read, and `refused` asks for that.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, _MOST_BYTES)
        finally:
            os.close(descriptor)
    except OSError as error:  # it may have ended meanwhile
        if refused and isinstance(error, PermissionError):
            raise
        return b""
